/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_FIGURES_H
#define SHOWSTOPPER_MEASURE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Statistics of control quality, for all programs. The error of a sample is target minus load, so a
 * load above the target is a negative error.
 */
struct ss_figures {
    size_t count;
    double target_sum;
    double load_sum;
    double error_sum;
    double square_sum;
    double *absolute_errors; /* |error| of each sample, for quantiles */
    size_t room;
};

/*
 * Adds a sample; loads are from 0 to 1. Returns false, without counting it, if memory is exhausted.
 */
bool ss_figures_add(struct ss_figures *figures, double target, double load);

void ss_figures_free(struct ss_figures *figures);

/* These functions return NaN without samples. */
double ss_figures_target_mean(const struct ss_figures *figures);
double ss_figures_load_mean(const struct ss_figures *figures);
double ss_figures_error_mean_percent(const struct ss_figures *figures);
double ss_figures_error_mse_e4(const struct ss_figures *figures);
double ss_figures_error_p95_percent(struct ss_figures *figures);

/* Returns the fraction of the samples whose error, up or down, is larger than `size`. */
double ss_figures_fraction_beyond(const struct ss_figures *figures, double size);

/*
 * Finds when the error began to stay within 5 % for 2 s. Initialize it to zero, and add every
 * sample since the start of control.
 */
struct ss_settling {
    double since; /* seconds since the start of control */
    bool within;
    bool settled;
};

/*
 * Adds a sample that covers the time from `start` to `end`, in seconds since the start of control.
 */
void ss_settling_add(struct ss_settling *settling, double start, double end, double error);

/* Returns when the error settled, in seconds since the start of control; NaN if it never did. */
double ss_settling_seconds(const struct ss_settling *settling);

#endif
