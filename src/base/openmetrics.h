/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_OPENMETRICS_H
#define SHOWSTOPPER_BASE_OPENMETRICS_H

#include <stdio.h>

#include <showstopper/contract.h>

/*
 * Writes metrics as OpenMetrics text. Its other types and its timestamps are left out because the
 * textfile collector of node_exporter, which reads the older format of Prometheus, refuses them.
 */
enum ss_metric_type {
    SS_METRIC_GAUGE,
    SS_METRIC_COUNTER, /* `_total` is appended to the name of its values */
};

struct ss_metric {
    const char *name; /* ends with the unit */
    const char *unit; /* NULL for a plain count */
    enum ss_metric_type type;
    const char *help;
};

struct ss_metrics {
    FILE *stream;
    const struct ss_metric *last; /* the metric whose values are being written */
};

/*
 * Writes a value, preceded by the metric's heading if it is the first one. The values of a metric
 * must be written one after another. NaN is skipped. `labels` alternates names and values, and ends
 * with NULL.
 */
SS_NONNULL()
void ss_metrics_put(struct ss_metrics *metrics, const struct ss_metric *metric,
    const char *const *labels, double value);

/* Writes the end marker, without which a reader considers the text truncated. */
SS_NONNULL() void ss_metrics_end(struct ss_metrics *metrics);

#endif
