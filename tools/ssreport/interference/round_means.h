/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ROUND_MEANS_H
#define SSREPORT_ROUND_MEANS_H

#include "pairs.h"

/* The mean interference of a pair with one placement in one environment, over all rounds. */
struct ssreport_round_mean {
    const struct ssreport_pair *pair; /* the pair of the first round */
    double percent;                   /* mean interference; NaN if unknown */
    /* interval of the mean, by Student's t; with one round, that round's interval */
    struct ssreport_interval interval;
    size_t rounds;    /* number of rounds with a metric */
    bool agree;       /* both halves of the staircase agree in every round */
    bool significant; /* the interval excludes 0; with one round, its lines are significant */
};

/* Groups pairs by everything except the round. `first` is NULL if memory is exhausted. */
struct stats_groups ssreport_round_groups(const struct ssreport_report *report);

SS_NONNULL(1, 2)
struct ssreport_round_mean ssreport_round_mean_of(
    const struct ssreport_report *report, const struct stats_groups *groups, size_t group);

#endif
