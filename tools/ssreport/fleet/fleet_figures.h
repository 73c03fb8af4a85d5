/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FLEET_FIGURES_H
#define SSREPORT_FLEET_FIGURES_H

/*
 * Figures of a fleet as a whole, and predictions of its nodes from those of another fleet, usually
 * a simulated one.
 */

#include <stdio.h>

#include <showstopper/contract.h>

#include "fleet.h"
#include "statistics.h"

/* Loads are parts of 1, times are in seconds. Unknown numbers are NaN. */
struct ssreport_whole {
    size_t nodes, failed, measured; /* nodes in fleet.csv, failed nodes, nodes with samples */
    double cpus;                    /* CPUs of the nodes with samples */
    double duration;                /* up to the end of the last sample */
    double load, target;            /* means over all CPUs, while they have samples */
    double error, error_abs; /* mean over time of target - load of all, and of its absolute value */
    struct ssreport_interval errors; /* 5 % and 95 % quantile of the nodes' mean errors */
    double error_worst;              /* the mean error of a node that is farthest from 0 */
    double late_median, late_most;   /* delay of the starts after the planned time */
    double spread;                   /* time from the first to the last start */
    double clock_error;              /* the largest error of a clock's offset */
    size_t untrusted;                /* number of clocks that are not trusted */
};

/* Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL(1, 2) bool ssreport_whole_of(
    struct ssreport_whole *whole, const struct ssreport_fleet *fleet);

/* The probability that a node is within its interval. */
#define SSREPORT_PREDICTED 0.9

struct ssreport_prediction {
    size_t nodes; /* number of nodes used; 0: too few for an interval */
    /* nodes of all traces were used, because too few follow the trace of the node */
    bool any_trace;
    /* predicted intervals of the node's `error` and `apart` */
    struct ssreport_interval error, apart;
};

/*
 * Predicts a node from the nodes of a fleet that did not fail: from those that follow the same
 * trace, if there are enough. The bounds are the k-th smallest and the k-th largest value, with the
 * largest k for which a further node is between them with probability SSREPORT_PREDICTED, for any
 * distribution. Returns false if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) bool ssreport_predict(struct ssreport_prediction *prediction,
    const struct ssreport_fleet *fleet, const struct ssreport_fleet_node *node);

/* Nodes that the same nodes predict. */
struct ssreport_prediction_group {
    const char *trace; /* NULL: nodes of any trace predict them */
    size_t predicting, predicted;
};

/* Numbers of nodes. */
struct ssreport_prediction_count {
    size_t nodes; /* nodes that have an interval and samples */
    size_t error, apart;
    size_t expected; /* at least this number is within each interval in 97.5 % of all cases, if
                        predictions are right */
    struct ssreport_prediction_group *groups;
    size_t group_count, group_room;
};

/*
 * Counts a node, whose trace must remain valid. After the last one, even if memory was exhausted,
 * call ssreport_prediction_end(), which sets `expected`. Both return false if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) bool ssreport_prediction_add(
    struct ssreport_prediction_count *count, const struct ssreport_prediction *prediction,
    const struct ssreport_fleet_node *node);

SS_MUST_USE SS_NONNULL(1) bool ssreport_prediction_end(struct ssreport_prediction_count *count);

/* Returns whether an interval contains a value; false if either is unknown. */
bool ssreport_is_within(struct ssreport_interval interval, double value);

#endif
