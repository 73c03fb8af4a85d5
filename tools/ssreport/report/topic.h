/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_TOPIC_H
#define SSREPORT_TOPIC_H

/*
 * A topic of the report: its tables, and what it says on the page and on the terminal. Each is a
 * folder with a row of this kind; topics.c lists the rows. Their order is the order of everything
 * that a report has: tables, findings, sections, text.
 */

#include <showstopper/error.h>

#include "page_parts.h"
#include "report.h"

struct ssreport_topic {
    const char *name;
    const struct table_sheet *tables; /* without rows; the last one has no name */

    /* All functions may be NULL. */

    /* Fills the tables, adds notes to records and sentences to the findings. */
    int (*build)(struct ssreport_report *report, struct ss_error *error);

    /*
     * Fills the headline, which is all zero but for `finding`, with the question that the records
     * answer. Returns false if this topic has nothing to say on them.
     */
    bool (*ask)(const struct ssreport_report *report, struct ssreport_headline *headline);

    /* Fills tables that have the notes of all topics, after these are built. */
    void (*finish)(struct ssreport_report *report);

    /* The sections of the page; what it says on a single run; and, after all sections, the rest. */
    void (*page)(struct ssreport_page *page, const struct ssreport_report *report);
    void (*run)(struct ssreport_page *page, const struct ssreport_report *report,
        const struct ssreport_run *run);
    void (*details)(struct ssreport_page *page, const struct ssreport_report *report);

    /* On the terminal, in 80 columns. */
    void (*text)(FILE *stream, const struct ssreport_report *report);

    void (*free)(struct ssreport_report *report);
};

#endif
