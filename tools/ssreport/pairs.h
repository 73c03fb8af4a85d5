/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIRS_H
#define SSREPORT_PAIRS_H

/* Runs that a manifest, or labels, say were side by side: a foreground and its background. */

#include <stdbool.h>
#include <stddef.h>

#include "interference.h"
#include "run.h"

struct ssreport_report;

/* One step of the background, and what both did in it. */
struct ssreport_pair_step {
    double target, load; /* of the background; parts of 1 */
    int half;            /* as in steps.h */
    size_t occurrence;   /* the n-th time, from 1, that its half holds this level */
    double foreground;   /* iterations per second; NaN: it was not there or did not count */
    double background;
};

struct ssreport_pair {
    struct ssreport_run *foreground;
    const struct ssreport_run *background;
    char environment[64];  /* with where it was measured, if that was not inside */
    const char *placement; /* where nothing is said of these three, "-" */
    const char *program;   /* of the foreground */
    const char *background_program;
    size_t row, column; /* of its programs among all foregrounds, and backgrounds, of the set */
    struct ssreport_pair_step *steps;
    size_t count;
    struct ssreport_interference interference;
};

/* Finds all pairs; what a foreground lacks is noted in its record. -1: no memory. */
int ssreport_pairs_find(struct ssreport_report *report);

void ssreport_pairs_free(struct ssreport_report *report);

/* What pairs must have in common to be compared. */
enum {
    SSREPORT_PAIR_ENVIRONMENT = 1,
    SSREPORT_PAIR_PLACEMENT = 2,
    SSREPORT_PAIR_FOREGROUND = 4,
    SSREPORT_PAIR_BACKGROUND = 8,
    SSREPORT_PAIR_ROUND = 16,
    SSREPORT_PAIR_PROGRAMS = SSREPORT_PAIR_FOREGROUND | SSREPORT_PAIR_BACKGROUND,
};

/* Whether they are of one set and the same in all of these. */
bool ssreport_pair_is_like(
    const struct ssreport_pair *pair, const struct ssreport_pair *other, unsigned what);

/* Whether no pair before it is like it. */
bool ssreport_pair_is_first(const struct ssreport_report *report, size_t pair, unsigned what);

/* The step of another pair with the same half, level and occurrence; NULL: there is none. */
const struct ssreport_pair_step *ssreport_pair_step_like(
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step);

/* Whether it ran under emulation, which says nothing about real machines. */
bool ssreport_pair_is_emulated(const struct ssreport_pair *pair);

#endif
