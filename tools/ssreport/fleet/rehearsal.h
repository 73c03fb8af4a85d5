/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REHEARSAL_H
#define SSREPORT_REHEARSAL_H

/* Predicts the nodes of a fleet from the nodes of another fleet, usually a simulated one. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "fleet.h"
#include "statistics.h"

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
