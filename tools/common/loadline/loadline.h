/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOADLINE_LOADLINE_H
#define LOADLINE_LOADLINE_H

/*
 * Computes the part F of its maximum throughput that a machine reaches at a load, from levels of
 * load that were each held twice in a round: on the way up and on the way down.
 *
 * For each visit, T is the throughput and L the observed load. Let d = ln(T / L) up - ln(T / L)
 * down at a level, for R rounds and n levels above idle, and let r be the residuals of d around a
 * line over the levels of its round. Then
 *
 *     s^2 = sum(r^2) / (2 R (n - 2)) / R
 *     ln F(L) = mean ln T(L) - mean ln T(full)
 *
 * with standard error s and R (n - 2) degrees of freedom: each mean has half the variance of one
 * way, and the difference has two means. The line over the levels removes drift, which cancels in
 * the means: a machine that steadily slows down loses more at levels whose two visits are further
 * apart.
 */

#include <showstopper/contract.h>

#include "statistics.h"

#define LOADLINE_LEVELS_MAX 64
#define LOADLINE_ROUNDS_MAX 64

enum loadline_way {
    LOADLINE_UP,
    LOADLINE_DOWN,
    LOADLINE_WAYS,
};

/* One visit of a level. */
struct loadline_visit {
    double target, load; /* 0 to 1 */
    double throughput;   /* operations per second */
    double watts;        /* mean power; NaN if unknown */
    int round;           /* from 1 */
    enum loadline_way way;
};

struct loadline_level {
    double target;
    double load;                   /* mean over the visits */
    double log_mean;               /* mean of ln T over the visits */
    double log_way[LOADLINE_WAYS]; /* mean of ln T over the visits of each way */
    double watts;                  /* mean over the visits; NaN if unknown in any */
    size_t visits;
};

/* Levels above idle, in the order of their loads. */
struct loadline {
    struct loadline_level levels[LOADLINE_LEVELS_MAX];
    size_t count;
    size_t full;                    /* index of the level with the maximum throughput */
    bool is_capped;                 /* a level below the highest is the maximum */
    struct ssreport_sureness error; /* uncertainty of ln F at a level */
    double hysteresis;              /* mean of d */
    struct ssreport_sureness hysteresis_error;
    double idle_watts; /* power at a load of 0; NaN if unknown */
    size_t rounds;
    size_t left_out; /* levels left out because a visit is missing or has no throughput */
};

/*
 * Skips levels that lack a throughput in any round or way. If a level is visited more than once in
 * a round and way, the first visit counts. Returns NULL, or the reason why there is no line.
 */
SS_READS(2, 3)
SS_MUST_USE SS_NONNULL(1) const
    char *loadline_of(struct loadline *line, const struct loadline_visit *visits, size_t count);

/*
 * Returns F at a load, with its confidence interval. Interpolates along a curve through four
 * levels, or with a knee if the levels show one; the interval includes the possible error of that
 * shape. Returns NaN above the highest level, and at loads further below the lowest level than the
 * next level is above it.
 */
SS_NONNULL()
struct ssreport_band loadline_done(const struct loadline *line, double load, double confidence);

/* Like loadline_done(), but returns the throughput in operations per second. */
SS_NONNULL()
struct ssreport_band loadline_throughput(
    const struct loadline *line, double load, double confidence);

struct loadline_bands {
    struct ssreport_band done, throughput;
};

/*
 * Computes F and the throughput of a level by its index, because several levels have the same load
 * if the machine is saturated.
 */
SS_NONNULL()
void loadline_bands_of_level(
    const struct loadline *line, size_t level, double confidence, struct loadline_bands *bands);

#endif
