/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"

/* Sets the figures that compare the sum of the loads with the sum of the targets. */
static void sum_bins(struct ssreport_whole *whole, const struct ssreport_fleet *fleet) {
    struct ssreport_fleet_sum all = {0};
    double apart = 0;
    size_t used = ssreport_fleet_used(fleet);
    for (size_t i = 0; i < used; i++) {
        const struct ssreport_fleet_sum *bin = &fleet->bins[i];
        all.cpu += bin->cpu;
        all.load += bin->load;
        all.target += bin->target;
        apart += fabs(bin->load - bin->target);
    }
    whole->duration = (double)used * fleet->width;
    whole->load = all.load / all.cpu;
    whole->target = all.target / all.cpu;
    whole->error = whole->target - whole->load;
    whole->error_abs = apart / all.cpu;
}

/*
 * Copies the known values of a member of struct ssreport_fleet_node, found by its offset. Returns
 * their number.
 */
static size_t collect_values(const struct ssreport_fleet *fleet, size_t offset, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        double value = *(const double *)((const char *)&fleet->nodes[i] + offset);
        if (isfinite(value))
            values[count++] = value;
    }
    return count;
}

static void count_nodes(struct ssreport_whole *whole, const struct ssreport_fleet *fleet) {
    whole->nodes = fleet->count;
    for (size_t i = 0; i < fleet->count; i++) {
        const struct ssreport_fleet_node *node = &fleet->nodes[i];
        whole->failed += node->failed;
        whole->measured += node->covered > 0;
        whole->untrusted += !ssreport_fleet_trusts_clock(node);
        whole->cpus += node->covered > 0 ? node->cpus : 0;
        if (isfinite(node->offset_error))
            whole->clock_error = fmax(whole->clock_error, node->offset_error);
    }
}

bool ssreport_whole_of(struct ssreport_whole *whole, const struct ssreport_fleet *fleet) {
    double *values = calloc(fleet->count + 1, sizeof *values);
    *whole = (struct ssreport_whole){.errors = {NAN, NAN},
        .error_worst = NAN,
        .late_median = NAN,
        .late_most = NAN,
        .spread = NAN};
    if (!values)
        return false;
    count_nodes(whole, fleet);
    sum_bins(whole, fleet);
    size_t count = collect_values(fleet, offsetof(struct ssreport_fleet_node, error), values);
    if (count > 0) {
        whole->errors.low = ssreport_quantile_of(values, count, 0.05);
        whole->errors.high = ssreport_quantile_of(values, count, 0.95);
        whole->error_worst =
            fabs(values[0]) > fabs(values[count - 1]) ? values[0] : values[count - 1];
    }
    count = collect_values(fleet, offsetof(struct ssreport_fleet_node, late), values);
    if (count > 0) {
        whole->late_median = ssreport_median_of(values, count); /* sorts them */
        whole->late_most = values[count - 1];
        whole->spread = values[count - 1] - values[0];
    }
    free(values);
    return true;
}

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

/* Returns the group of nodes with this prediction; NULL if memory is exhausted. */
static struct ssreport_prediction_group *find_group(struct ssreport_prediction_count *count,
    const struct ssreport_prediction *prediction, const char *trace) {
    for (size_t i = 0; i < count->group_count; i++) {
        struct ssreport_prediction_group *group = &count->groups[i];
        if (prediction->any_trace ? !group->trace : group->trace && !strcmp(group->trace, trace))
            return group;
    }
    if (!SS_GROW(count->groups, count->group_count + 1, count->group_room))
        return NULL;
    struct ssreport_prediction_group *added = &count->groups[count->group_count++];
    *added = (struct ssreport_prediction_group){
        prediction->any_trace ? NULL : trace, prediction->nodes, 0};
    return added;
}

bool ssreport_prediction_add(struct ssreport_prediction_count *count,
    const struct ssreport_prediction *prediction, const struct ssreport_fleet_node *node) {
    if (prediction->nodes == 0 || !(node->covered > 0))
        return true;
    struct ssreport_prediction_group *group = find_group(count, prediction, node->trace);
    if (!group)
        return false;
    group->predicted++;
    count->nodes++;
    count->error += ssreport_is_within(prediction->error, node->error);
    count->apart += ssreport_is_within(prediction->apart, node->apart);
    return true;
}

/*
 * Returns the chance that exactly `within` nodes of a group are within their interval. All have the
 * same interval, which may happen to be narrow, so the distribution is wider than the binomial one:
 * beta-binomial.
 */
static double chance_of(size_t within, const struct ssreport_prediction_group *group) {
    double n = (double)group->predicted, k = (double)within;
    double outside = 2 * (double)rank_of_bound(group->predicting);
    double inside = (double)group->predicting + 1 - outside;
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + lgamma(k + inside) +
               lgamma(n - k + outside) - lgamma(n + inside + outside) + lgamma(inside + outside) -
               lgamma(inside) - lgamma(outside));
}

/*
 * Combines the chances of `known` nodes with those of a further group, as if independent. `own` has
 * room for the chances of the group.
 */
static void combine(
    double *chances, size_t known, double *own, const struct ssreport_prediction_group *group) {
    for (size_t within = 0; within <= group->predicted; within++)
        own[within] = chance_of(within, group);
    for (size_t total = known + group->predicted + 1; total-- > 0;) {
        size_t least = total > known ? total - known : 0;
        double chance = 0;
        for (size_t within = least; within <= group->predicted && within <= total; within++)
            chance += chances[total - within] * own[within];
        chances[total] = chance;
    }
}

bool ssreport_prediction_end(struct ssreport_prediction_count *count) {
    SS_OWNED(free) double *chances = calloc(2 * (count->nodes + 1), sizeof *chances);
    SS_OWNED(free) struct ssreport_prediction_group *groups = count->groups;
    size_t known = 0;
    double fewer = 0;
    count->groups = NULL;
    count->expected = 0;
    if (!chances)
        return false;
    chances[0] = 1;
    for (size_t i = 0; i < count->group_count; i++) {
        combine(chances, known, chances + count->nodes + 1, &groups[i]);
        known += groups[i].predicted;
    }
    while (count->expected < count->nodes) {
        fewer += chances[count->expected];
        if (fewer > SURPRISE)
            break;
        count->expected++;
    }
    return true;
}
