/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/conditions.h"

#include <math.h>
#include <string.h>

#define SAMPLE_INTERVAL SS_SECOND

void ss_conditions_begin(struct ss_conditions *conditions, const struct ss_cpus *cpus,
    const struct ss_platform_roots *roots, ss_time now) {
    memset(conditions, 0, sizeof *conditions);
    conditions->roots = roots;
    conditions->cpus = cpus;
    conditions->begin = ss_platform_clock_offsets();
    conditions->due = now;
    conditions->frequency_sums.from = conditions->frequency_counts.from = now;
    ss_conditions_sample(conditions, now);
}

void ss_conditions_sample(struct ss_conditions *conditions, ss_time now) {
    if (now < conditions->due)
        return;
    conditions->due = ss_time_add(now, SAMPLE_INTERVAL);
    double frequency = ss_platform_frequency(conditions->roots, conditions->cpus);
    if (isnan(frequency)) {
        conditions->due = SS_TIME_NEVER;
        return;
    }
    ss_windows_add(&conditions->frequency_sums, now, now, frequency);
    ss_windows_add(&conditions->frequency_counts, now, now, 1);
}

/*
 * Returns the change of the mean frequency from the first third of the time to the last, in
 * percent; NaN if either third has no reading.
 */
static double compute_frequency_change(const struct ss_conditions *conditions, ss_time now) {
    double sums[3], counts[3];
    ss_windows_split(&conditions->frequency_sums, now, 3, sums);
    ss_windows_split(&conditions->frequency_counts, now, 3, counts);
    if (counts[0] < 1 || counts[2] < 1)
        return NAN;
    return 100 * (sums[2] / counts[2] / (sums[0] / counts[0]) - 1);
}

void ss_conditions_end(
    const struct ss_conditions *conditions, ss_time now, struct ss_evidence *evidence) {
    struct ss_clock_offsets end = ss_platform_clock_offsets();
    double *figures = evidence->figures;
    figures[SS_CHECK_FREQUENCY] = compute_frequency_change(conditions, now);
    figures[SS_CHECK_CLOCK] = (double)ss_clock_set_by(&conditions->begin, &end) / 1e6;
    /* The offset never falls, but readings of it are slightly inexact. */
    figures[SS_CHECK_SUSPENDED] = fmax((double)(end.boot - conditions->begin.boot) / 1e9, 0);
}
