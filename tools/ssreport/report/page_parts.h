/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAGE_PARTS_H
#define SSREPORT_PAGE_PARTS_H

/* Functions with which topics print their sections of the page. */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "sheet.h"

/*
 * If there are more records than this, the page shows only the first picture of each run and no
 * pictures of requests over time, because a picture takes 20 kB.
 */
#define SSREPORT_PICTURED_MAX 40

struct ssreport_page {
    FILE *stream;
    unsigned pictures;                          /* number of pictures so far */
    struct ss_error without;                    /* why there are no pictures */
    const struct ssreport_topic *const *topics; /* ended by NULL */
};

SS_NONNULL(1, 2) void ssreport_page_open(struct ssreport_page *page, const char *heading);
SS_NONNULL(1) void ssreport_page_close(struct ssreport_page *page);

/* Prints a section with one table, if the table has rows. */
SS_NONNULL(1, 2, 3)
void ssreport_page_section(
    struct ssreport_page *page, const struct table_sheet *sheet, const char *heading);

/* Prints a note that published figures come from other machines. */
SS_NONNULL(1) void ssreport_page_published(struct ssreport_page *page);

/* Returns a file for a gnuplot script; NULL if pictures cannot be drawn. */
SS_NONNULL(1) FILE *ssreport_page_script(const struct ssreport_page *page);

/* Prints the picture of a script unless `drawn` is false, and closes the script. */
SS_NONNULL(1, 2, 4)
void ssreport_page_figure(
    struct ssreport_page *page, FILE *script, bool drawn, const char *caption);

/* Returns the color of a placement, such as "#0072b2"; NULL for unknown placements. */
SS_NONNULL(1) const char *ssreport_placement_color(const char *placement);

#endif
