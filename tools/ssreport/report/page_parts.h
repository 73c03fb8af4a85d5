/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAGE_PARTS_H
#define SSREPORT_PAGE_PARTS_H

/* Parts of which topics make their sections of the page. */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "sheet.h"

/* With more records each has only its first picture, over time: a picture takes 20 kB. */
#define SSREPORT_PICTURED_MAX 40

struct ssreport_page {
    FILE *stream;
    unsigned pictures;                          /* so far */
    struct ss_error without;                    /* why there are no pictures */
    const struct ssreport_topic *const *topics; /* NULL after the last */
};

/* A section with a heading. */
SS_NONNULL(1, 2) void ssreport_page_open(struct ssreport_page *page, const char *heading);
SS_NONNULL(1) void ssreport_page_close(struct ssreport_page *page);

/* A section that is one table, if this has rows. */
SS_NONNULL(1, 2, 3)
void ssreport_page_section(
    struct ssreport_page *page, const struct table_sheet *sheet, const char *heading);

/* Says that published figures are from elsewhere. */
SS_NONNULL(1) void ssreport_page_published(struct ssreport_page *page);

/* A file for a script of gnuplot; NULL if there are no pictures. */
SS_NONNULL(1) FILE *ssreport_page_script(const struct ssreport_page *page);

/* The picture that the script draws, unless `drawn` is false. Closes the script. */
SS_NONNULL(1, 2, 4)
void ssreport_page_figure(
    struct ssreport_page *page, FILE *script, bool drawn, const char *caption);

/* The color of a placement in pictures, as "#0072b2"; NULL if it has another name. */
SS_NONNULL(1) const char *ssreport_placement_color(const char *placement);

#endif
