/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outcome.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Warn if Showstopper itself used more than this fraction of one CPU. */
#define DOUBTFUL_OWN 0.05

void ss_outcome_open(struct ss_outcome *outcome) {
    *outcome = (struct ss_outcome){
        .ended_by = "error",
        .duration_seconds = NAN,
        .target_mean = NAN,
        .load_mean = NAN,
        .capacity_changed_seconds = NAN,
        .error_mean_percent = NAN,
        .error_mse_e4 = NAN,
        .error_p95_percent = NAN,
        .settling_seconds = NAN,
        .duty_mean = NAN,
        .steal_mean = NAN,
        .switches_per_second = NAN,
        .iterations = NAN,
        .rate = {NAN, NAN, NAN, NAN},
        .iterations_in_bursts = NAN,
        .lines_unmatched = NAN,
        .iteration_times = {NAN, NAN, NAN, NAN, NAN},
        .own_cpu = NAN,
        .wake_p50_us = NAN,
        .wake_p99_us = NAN,
        .wake_max_us = NAN,
        .record = {.folder = -1, .mark = -1},
    };
    ss_evidence_clear(&outcome->evidence);
    outcome->verdict = ss_verdict_reach(&outcome->evidence);
}

void ss_outcome_close(struct ss_outcome *outcome) {
    ss_throughput_free(&outcome->throughput);
    ss_ends_free(&outcome->ends);
    free(outcome->per_command);
    outcome->per_command = outcome->per_instance = NULL;
}

static void format_warning(char text[SS_WARNING_SIZE], const char *format, va_list arguments) {
    if (vsnprintf(text, SS_WARNING_SIZE, format, arguments) >= SS_WARNING_SIZE)
        strcpy(text + SS_WARNING_SIZE - sizeof "...", "...");
    ss_letter_hide_controls(text, '?'); /* the text may quote a sensor or a file name */
}

void ss_outcome_warn(struct ss_outcome *outcome, const char *format, ...) {
    if (outcome->warning_count >= SS_WARNINGS_MAX) {
        int left = ++outcome->warnings_omitted;
        outcome->warning_count = SS_WARNINGS_MAX + 1;
        snprintf(outcome->warnings[SS_WARNINGS_MAX], SS_WARNING_SIZE, "and %d more warning%s", left,
            left == 1 ? "" : "s");
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    format_warning(outcome->warnings[outcome->warning_count++], format, arguments);
    va_end(arguments);
}

void ss_outcome_warn_of_loss(struct ss_outcome *outcome, const char *format, ...) {
    char text[SS_WARNING_SIZE];
    va_list arguments;
    va_start(arguments, format);
    format_warning(text, format, arguments);
    va_end(arguments);
    ss_outcome_warn(outcome, "%s", text);
    if (!*outcome->loss)
        strcpy(outcome->loss, text);
}

void ss_outcome_warn_of_own(struct ss_outcome *outcome) {
    /* A run without samples was so short that this is the cost of its start. */
    if (outcome->samples > 0 && outcome->own_cpu > DOUBTFUL_OWN)
        ss_outcome_warn(outcome,
            "Showstopper itself used %.0f %% of one CPU: use a longer round (-D) to reduce it",
            100 * outcome->own_cpu);
}

int ss_outcome_check(
    const struct ss_outcome *outcome, double tolerance_percent, struct ss_error *error) {
    double mean = outcome->error_mean_percent;
    if (isnan(tolerance_percent) || fabs(mean) <= tolerance_percent)
        return 0;
    if (isnan(mean))
        return ss_error_set(error, SS_STATUS_TOLERANCE,
            "--tolerance: the mean error is unknown, because no sample was counted");
    return ss_error_set(error, SS_STATUS_TOLERANCE,
        "--tolerance: the mean error, %+.2f %%, is outside of +-%g %%", mean, tolerance_percent);
}
