/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ROUND_MEANS_H
#define SSREPORT_ROUND_MEANS_H

#include "pairs.h"

/* The interference of all rounds of a pair with one placement in one environment. */
struct ssreport_round_mean {
    const struct ssreport_pair *pair;  /* of the first round */
    double percent;                    /* NaN: unknown */
    struct ssreport_interval interval; /* of several rounds: of their mean, Student's t */
    size_t rounds;                     /* with a metric */
    bool agree;                        /* both halves of the staircase do, in each round */
    bool significant;                  /* several rounds: 0 is not within the interval */
};

/* Pairs in groups of this kind. `first` is NULL without memory. */
struct stats_groups ssreport_round_groups(const struct ssreport_report *report);

SS_NONNULL(1, 2)
struct ssreport_round_mean ssreport_round_mean_of(
    const struct ssreport_report *report, const struct stats_groups *groups, size_t group);

#endif
