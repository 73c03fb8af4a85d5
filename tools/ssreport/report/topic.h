/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_TOPIC_H
#define SSREPORT_TOPIC_H

/*
 * A topic of the report: its tables, and its output on the page and on the terminal. Each topic is
 * a folder that defines one topic; topics.c lists all, in the order of tables, findings, sections
 * and text.
 */

#include <showstopper/error.h>

#include "page_parts.h"
#include "report.h"

struct ssreport_topic {
    const char *name;
    const struct table_sheet *tables; /* tables without rows; the last table has no name */

    /* Any of these functions may be NULL. */

    /* Fills the tables, and adds notes to records and sentences to the findings. */
    int (*build)(struct ssreport_report *report, struct ss_error *error);

    /*
     * Fills the headline, which is zeroed except for `finding`, with the question that the records
     * answer. Returns false if this topic does not apply to them.
     */
    bool (*ask)(const struct ssreport_report *report, struct ssreport_headline *headline);

    /* Fills tables that contain the notes of all topics, after all topics are built. */
    void (*finish)(struct ssreport_report *report);

    /* Print sections of the page, parts of the section about a run, and the end of the page. */
    void (*page)(struct ssreport_page *page, const struct ssreport_report *report);
    void (*run)(struct ssreport_page *page, const struct ssreport_report *report,
        const struct ssreport_run *run);
    void (*details)(struct ssreport_page *page, const struct ssreport_report *report);

    /* Prints to the terminal, in 80 columns. */
    void (*text)(FILE *stream, const struct ssreport_report *report);

    void (*free)(struct ssreport_report *report);
};

#endif
