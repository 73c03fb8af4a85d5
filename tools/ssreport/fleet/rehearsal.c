/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearsal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The maximum chance that fewer than `expected` nodes are within their intervals. */
#define SURPRISE 0.025

static bool predicts(const struct ssreport_fleet_node *node, const char *trace) {
    return !node->failed && node->covered > 0 && (!trace || strcmp(node->trace, trace) == 0);
}

/*
 * Each of the n + 1 ranks among n values is equally likely for a further value, and n + 1 - 2 k of
 * them are between the k-th smallest and the k-th largest value.
 */
static size_t rank_of_bound(size_t count) {
    return (size_t)((1 - SSREPORT_PREDICTED) / 2 * (double)(count + 1) + 1e-9);
}

static struct ssreport_interval interval_of(double *values, size_t count) {
    size_t rank = rank_of_bound(count);
    ssreport_median_of(values, count); /* sorts them */
    return (struct ssreport_interval){values[rank - 1], values[count - rank]};
}

static size_t collect(
    const struct ssreport_fleet *fleet, const char *trace, double *errors, double *aparts) {
    size_t count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        if (!predicts(&fleet->nodes[i], trace))
            continue;
        errors[count] = fleet->nodes[i].error;
        aparts[count++] = fleet->nodes[i].apart;
    }
    return count;
}

bool ssreport_predict(struct ssreport_prediction *prediction, const struct ssreport_fleet *fleet,
    const struct ssreport_fleet_node *node) {
    *prediction = (struct ssreport_prediction){.error = {NAN, NAN}, .apart = {NAN, NAN}};
    double *errors = calloc(2 * fleet->count + 1, sizeof *errors);
    if (!errors)
        return false;
    double *aparts = errors + fleet->count;
    size_t count = collect(fleet, node->trace, errors, aparts);
    prediction->any_trace = rank_of_bound(count) == 0;
    if (prediction->any_trace)
        count = collect(fleet, NULL, errors, aparts);
    if (rank_of_bound(count) > 0) {
        prediction->nodes = count;
        prediction->error = interval_of(errors, count);
        prediction->apart = interval_of(aparts, count);
    }
    free(errors);
    return true;
}

bool ssreport_is_within(struct ssreport_interval interval, double value) {
    return value >= interval.low && value <= interval.high;
}

void ssreport_prediction_add(struct ssreport_prediction_count *count,
    const struct ssreport_prediction *prediction, const struct ssreport_fleet_node *node) {
    if (prediction->nodes == 0 || !(node->covered > 0))
        return;
    count->nodes++;
    count->error += ssreport_is_within(prediction->error, node->error);
    count->apart += ssreport_is_within(prediction->apart, node->apart);
}

/* Returns the chance that exactly `within` of `nodes` are within their intervals. */
static double chance_of(size_t within, size_t nodes) {
    double n = (double)nodes, k = (double)within;
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(SSREPORT_PREDICTED) +
               (n - k) * log(1 - SSREPORT_PREDICTED));
}

void ssreport_prediction_end(struct ssreport_prediction_count *count) {
    double fewer = 0;
    count->expected = 0;
    while (count->expected < count->nodes) {
        fewer += chance_of(count->expected, count->nodes);
        if (fewer > SURPRISE)
            break;
        count->expected++;
    }
}
