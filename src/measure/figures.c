/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"

#define SETTLED_ERROR   0.05
#define SETTLED_SECONDS 2.0

bool ss_figures_add(struct ss_figures *figures, double target, double load) {
    if (!SS_GROW(figures->absolute_errors, figures->count + 1, figures->room))
        return false;
    double error = target - load;
    figures->absolute_errors[figures->count++] = fabs(error);
    figures->target_sum += target;
    figures->load_sum += load;
    figures->error_sum += error;
    figures->square_sum += error * error;
    return true;
}

void ss_figures_free(struct ss_figures *figures) {
    free(figures->absolute_errors);
    *figures = (struct ss_figures){0};
}

static double mean(const struct ss_figures *figures, double sum) {
    return figures->count ? sum / (double)figures->count : NAN;
}

double ss_figures_target_mean(const struct ss_figures *figures) {
    return mean(figures, figures->target_sum);
}

double ss_figures_load_mean(const struct ss_figures *figures) {
    return mean(figures, figures->load_sum);
}

double ss_figures_error_mean_percent(const struct ss_figures *figures) {
    return 100 * mean(figures, figures->error_sum);
}

double ss_figures_error_mse_e4(const struct ss_figures *figures) {
    return 1e4 * mean(figures, figures->square_sum);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double ss_figures_error_p95_percent(struct ss_figures *figures) {
    if (figures->count == 0)
        return NAN;
    qsort(figures->absolute_errors, figures->count, sizeof *figures->absolute_errors, compare);
    size_t rank = (size_t)ceil(0.95 * (double)figures->count);
    return 100 * figures->absolute_errors[rank - 1];
}

double ss_figures_fraction_beyond(const struct ss_figures *figures, double size) {
    size_t beyond = 0;
    for (size_t i = 0; i < figures->count; i++)
        beyond += figures->absolute_errors[i] > size;
    return mean(figures, (double)beyond);
}

void ss_settling_add(struct ss_settling *settling, double start, double end, double error) {
    if (settling->settled)
        return;
    if (fabs(error) > SETTLED_ERROR) {
        settling->within = false;
        return;
    }
    if (!settling->within)
        settling->since = start;
    settling->within = true;
    /*
     * The tolerance allows for samples that end microseconds late; it is far shorter than a sample.
     */
    settling->settled = end - settling->since >= SETTLED_SECONDS - 1e-3;
}

double ss_settling_seconds(const struct ss_settling *settling) {
    return settling->settled ? settling->since : NAN;
}
