/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIRS_H
#define SSREPORT_PAIRS_H

/*
 * Pairs of runs side by side, as a manifest or labels describe them: a foreground and its
 * background.
 */

#include <stdbool.h>
#include <stddef.h>

#include "group_by.h"
#include "interference.h"
#include "isolation.h"
#include "report.h"

/* A step of the background, with the throughput of both sides. */
struct ssreport_pair_step {
    double target, load; /* target and load of the background, 0 to 1 */
    int half;            /* half of the staircase, see struct ssreport_step */
    size_t occurrence;   /* how often its half has held this level, up to and including this step */
    double foreground;   /* iterations per second; NaN if absent or not counted */
    double background;
    double watts; /* mean power of the machine during the step; NaN if unknown */
};

struct ssreport_pair {
    struct ssreport_run *foreground;
    const struct ssreport_run *background;
    char environment[80];  /* name of the environment, where the pair was measured if not inside of
                              it, and the background's mean round if the first pair has another */
    const char *placement; /* "-" if unknown, like the next two members */
    const char *program;   /* program of the foreground */
    const char *background_program;
    bool is_one_program; /* both sides run the same program */
    /* throughput alone: of the foreground's program, and of the background's */
    struct ssreport_isolation alone[2];
    /* indexes of its programs among the foregrounds and backgrounds of the set */
    size_t row, column;
    struct ssreport_pair_step *steps;
    size_t count;
    struct ssreport_interference interference;
};

/*
 * Finds all pairs. Problems of a pair become notes in the foreground's record. Returns -1 if memory
 * is exhausted.
 */
int ssreport_pairs_find(struct ssreport_report *report);

void ssreport_pairs_free(struct ssreport_report *report);

enum {
    SSREPORT_PAIR_ENVIRONMENT = 1,
    SSREPORT_PAIR_PLACEMENT = 2,
    SSREPORT_PAIR_FOREGROUND = 4,
    SSREPORT_PAIR_BACKGROUND = 8,
    SSREPORT_PAIR_ROUND = 16,
    SSREPORT_PAIR_PROGRAMS = SSREPORT_PAIR_FOREGROUND | SSREPORT_PAIR_BACKGROUND,
};

/* Returns whether two pairs of one set agree in every property in `what`. */
bool ssreport_pair_is_like(
    const struct ssreport_pair *pair, const struct ssreport_pair *other, unsigned what);

/* Returns whether two pairs are of one study. */
SS_NONNULL(1, 2)
bool ssreport_pair_is_of_study(const struct ssreport_pair *pair, const struct ssreport_pair *other);

/* Like ssreport_run_is_closer(), for pairs. */
SS_NONNULL(1, 2)
bool ssreport_pair_is_closer(const struct ssreport_pair *pair, const struct ssreport_pair *other,
    const struct ssreport_pair *found);

/* Groups the pairs of one set that agree in every property in `what`. */
SS_NONNULL(1)
struct stats_groups ssreport_pairs_group(const struct ssreport_report *report, unsigned what);

/* Returns the step of another pair with the same half, level and occurrence; NULL if absent. */
const struct ssreport_pair_step *ssreport_pair_step_like(
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step);

/*
 * Returns whether a pair ran under emulation, so that its figures say nothing about real machines.
 */
bool ssreport_pair_is_emulated(const struct ssreport_pair *pair);

#endif
