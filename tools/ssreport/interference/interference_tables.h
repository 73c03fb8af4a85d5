/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_INTERFERENCE_TABLES_H
#define SSREPORT_INTERFERENCE_TABLES_H

#include "pairs.h"

/*
 * A program that is far from all other programs in a placement, as a foreground or as a background.
 */
struct ssreport_far {
    const char *program, *placement;
    bool as_background;
};

#define SSREPORT_FAR_MAX 32

/* The color range of one environment. */
struct ssreport_shades {
    double most;                               /* absolute percentage that gets the darkest color */
    struct ssreport_far far[SSREPORT_FAR_MAX]; /* programs excluded from the range */
    size_t far_count;
};

/*
 * Returns the range for the environment of this pair. A program is far if the median of its metrics
 * in a placement is more than three interquartile ranges, and more than 5 %, beyond the quartiles
 * of the other programs' medians; there must be at least four other programs. A far program is
 * excluded only if that makes the range smaller.
 */
struct ssreport_shades ssreport_shades_find(
    const struct ssreport_report *report, const struct ssreport_pair *pair);

/* Prints a table for each environment and placement. Darker fields have more interference. */
void ssreport_shades_print(FILE *page, const struct ssreport_report *report);

#endif
