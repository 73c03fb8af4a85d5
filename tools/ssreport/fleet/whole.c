/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <math.h>
#include <stdlib.h>

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
static size_t collect(const struct ssreport_fleet *fleet, size_t offset, double *values) {
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
    size_t count = collect(fleet, offsetof(struct ssreport_fleet_node, error), values);
    if (count > 0) {
        whole->errors.low = ssreport_quantile_of(values, count, 0.05);
        whole->errors.high = ssreport_quantile_of(values, count, 0.95);
        whole->error_worst =
            fabs(values[0]) > fabs(values[count - 1]) ? values[0] : values[count - 1];
    }
    count = collect(fleet, offsetof(struct ssreport_fleet_node, late), values);
    if (count > 0) {
        whole->late_median = ssreport_median_of(values, count); /* sorts them */
        whole->late_most = values[count - 1];
        whole->spread = values[count - 1] - values[0];
    }
    free(values);
    return true;
}
