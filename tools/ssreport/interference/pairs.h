/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIRS_H
#define SSREPORT_PAIRS_H

/* Runs side by side, as a manifest or labels say: a foreground and its background. */

#include <stdbool.h>
#include <stddef.h>

#include "group_by.h"
#include "interference.h"
#include "report.h"

/* A step of the background, and the throughput of both sides. */
struct ssreport_pair_step {
    double target, load; /* of the background; parts of 1 */
    int half;            /* as in steps.h */
    size_t occurrence;   /* the n-th time, from 1, that its half holds this level */
    double foreground;   /* iterations per second; NaN: absent or not counted */
    double background;
};

struct ssreport_pair {
    struct ssreport_run *foreground;
    const struct ssreport_run *background;
    char environment[64];  /* with where it was measured, if that was not inside */
    const char *placement; /* this and the next two are "-" if unknown */
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

/* Properties that pairs may have in common. */
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

/* The pairs that are of one set and the same in all of these. */
SS_NONNULL(1)
struct stats_groups ssreport_pairs_group(const struct ssreport_report *report, unsigned what);

/* The step of another pair with the same half, level and occurrence; NULL if absent. */
const struct ssreport_pair_step *ssreport_pair_step_like(
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step);

/* Whether it ran under emulation, which says nothing about real machines. */
bool ssreport_pair_is_emulated(const struct ssreport_pair *pair);

#endif
