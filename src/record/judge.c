/* SPDX-License-Identifier: Apache-2.0 */
#include "record/judge.h"

#include <math.h>
#include <string.h>

/* Open-loop control does not follow the load, so its error is not judged. */
static void judge_errors(struct ss_outcome *outcome, const struct ss_outcome_input *input) {
    double *figures = outcome->evidence.figures;
    if (input->plan->set.modules[SS_KIND_CONTROL].table.control.open_loop)
        return;
    figures[SS_CHECK_MEAN_ERROR] = outcome->error_mean_percent;
    figures[SS_CHECK_MEAN_SQUARED_ERROR] = outcome->error_mse_e4;
    figures[SS_CHECK_SAMPLES_OFF] =
        100 * ss_figures_fraction_beyond(&input->monitor->figures, SS_OFF_TARGET);
}

void ss_judge_control(struct ss_outcome *outcome, const struct ss_outcome_input *input) {
    const struct ss_monitor *monitor = input->monitor;
    double *figures = outcome->evidence.figures;
    double due = (double)(monitor->figures.count + monitor->lost_counted);

    figures[SS_CHECK_SAMPLES] = (double)monitor->figures.count;
    if (monitor->figures.count == 0)
        return;

    judge_errors(outcome, input);
    /* In a round, an instance stops once and continues once. */
    double round = 2 * input->instances_with_rounds / outcome->switches_per_second;
    if (isfinite(round) && round > 0)
        figures[SS_CHECK_LATE_WAKE_UPS] = 100 * (outcome->wake_p99_us / 1e6) / round;
    figures[SS_CHECK_SAMPLES_LOST] =
        100 * (double)(monitor->lost_counted + monitor->late_samples) / due;
    figures[SS_CHECK_STEAL] = 100 * outcome->steal_mean;
    figures[SS_CHECK_OTHERS] = 100 * input->others;
}

void ss_judge_iterations(struct ss_outcome *outcome, const struct ss_iterations *iterations) {
    double rates[SS_STATIONARITY_MAX];
    uint32_t instance;
    struct ss_evidence *evidence = &outcome->evidence;
    size_t windows = ss_stationarity_windows((double)iterations->ended);

    evidence->figures[SS_CHECK_ITERATIONS] = (double)iterations->ended;
    if (windows == 0 || outcome->target_varied || outcome->capacity.changes > 0)
        return;

    ss_windows_split(&iterations->parts_in_time, iterations->to, windows, rates);
    evidence->throughput = ss_stationarity_find(rates, windows);
    if (ss_iterations_find_changed(iterations, evidence->throughput.at, &instance))
        evidence->throughput.instance_plus_1 = instance + 1;
    evidence->figures[SS_CHECK_THROUGHPUT] = 100 * ss_stationarity_change(&evidence->throughput);
}

static double find_interruption(const char *ended_by) {
    if (strcmp(ended_by, "failure") == 0)
        return SS_INTERRUPTED_BY_FAILURE;
    if (strcmp(ended_by, "error") == 0)
        return SS_INTERRUPTED_BY_ERROR;
    return strcmp(ended_by, "signal") == 0 ? SS_INTERRUPTED_BY_SIGNAL : 0;
}

void ss_judge_run(struct ss_outcome *outcome, const struct ss_plan *plan) {
    double *figures = outcome->evidence.figures;
    size_t failed = ss_ends_failed(&outcome->ends);
    /* Without a duration, a run is complete when its programs have finished. */
    bool early = strcmp(outcome->ended_by, "workloads") != 0 || plan->duration != SS_TIME_NEVER;
    figures[SS_CHECK_FAILED_INSTANCES] = 100 * (double)failed / plan->instances;
    figures[SS_CHECK_ENDED_EARLY] =
        early ? 100 * (double)(outcome->ends.count - failed) / plan->instances : 0;
    figures[SS_CHECK_LINES_LOST] = (double)outcome->lines_lost;
    figures[SS_CHECK_INTERRUPTED] = find_interruption(outcome->ended_by);
    outcome->verdict = ss_verdict_reach(&outcome->evidence);
}
