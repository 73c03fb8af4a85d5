/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SHADES_H
#define SSREPORT_SHADES_H

#include "pairs.h"

/* Program that is far from all others in a placement, as a foreground or as a background. */
struct ssreport_far {
    const char *program, *placement;
    bool as_background;
};

#define SSREPORT_FAR_MAX 32

/* The color range of one environment. */
struct ssreport_shades {
    double most;                               /* percent, up or down, that has the fullest color */
    struct ssreport_far far[SSREPORT_FAR_MAX]; /* what is left out of it */
    size_t far_count;
};

/*
 * Of the environment of this pair. A program is far if the median of its metrics in a placement is
 * more than three interquartile ranges beyond the quartiles of the other programs' medians, and
 * more than 5 % beyond them; there must be four others. It is left out only if that makes the range
 * smaller.
 */
struct ssreport_shades ssreport_shades_find(
    const struct ssreport_report *report, const struct ssreport_pair *pair);

/* A table for each environment and placement: the darker the more interference. */
void ssreport_shades_print(FILE *page, const struct ssreport_report *report);

#endif
