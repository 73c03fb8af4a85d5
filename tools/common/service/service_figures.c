/* SPDX-License-Identifier: Apache-2.0 */
#include "service_figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "capacity_trial.h"
#include "loop/rate.h"
#include "measure/figures.h"

#define PER_WINDOW (SS_WINDOW_DEFAULT / SS_RATE_INTERVAL)

/* The confidence interval is computed from at least this many batches of intervals. */
#define BATCHES_MIN 20
#define PER_BATCH   (2 * SS_SECOND / SS_RATE_INTERVAL)

/* The cost of a request is steady if it changes by less than this from 10 s to the next. */
#define COST_STEADY 0.02
#define PER_STRETCH (10 * SS_SECOND / SS_RATE_INTERVAL)

/* 97.5 % quantile of the normal distribution. */
#define NORMAL 1.959964

int service_figures_add(struct service_figures *figures, const struct service_interval *interval) {
    if (!SS_GROW(figures->intervals, figures->count + 1, figures->room))
        return -1;
    figures->intervals[figures->count++] = *interval;
    return 0;
}

const struct service_interval *service_figures_last(const struct service_figures *figures) {
    return figures->count > 0 ? &figures->intervals[figures->count - 1] : NULL;
}

void service_figures_free(struct service_figures *figures) {
    free(figures->intervals);
    *figures = (struct service_figures){0};
}

/* Sums of intervals. */
struct sums {
    double seconds, used, granted, answers;
};

static struct sums add_up(const struct service_interval *intervals, size_t count, double cpus) {
    struct sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        sums.seconds += intervals[i].seconds;
        sums.used += intervals[i].used;
        sums.granted += intervals[i].target * cpus * intervals[i].seconds;
        sums.answers += (double)intervals[i].answers;
    }
    return sums;
}

/* Returns the 97.5 % quantile of Student's distribution, to a thousandth from 10 degrees on. */
static double student(double degrees) {
    const double z = NORMAL, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/*
 * Computes the interval of requests per CPU time, a ratio of sums, by batches, which are made
 * longer while successive ones are correlated and enough are left.
 */
static double find_deviation(const struct service_interval *intervals, size_t count,
    const struct sums *all, bool *correlated) {
    double ratio = all->answers / all->used, off[2 * BATCHES_MIN * 2];
    size_t size = PER_BATCH;
    while (count / size >= sizeof off / sizeof *off)
        size *= 2;
    for (;; size *= 2) {
        size_t batches = count / size;
        double squares = 0;
        if (batches < BATCHES_MIN)
            return NAN;
        for (size_t i = 0; i < batches; i++) {
            struct sums sums = add_up(&intervals[i * size], size, 0);
            off[i] = sums.answers - ratio * sums.used;
            squares += off[i] * off[i];
        }
        *correlated = !request_steady_is_uncorrelated(off, (int)batches);
        double n = (double)batches, used = all->used * (double)(size * batches) / (double)count;
        if (!*correlated || batches / 2 < BATCHES_MIN)
            return student(n - 1) * sqrt(squares * n / (n - 1)) / used;
    }
}

static void judge_windows(
    struct request_held *held, const struct service_interval *intervals, size_t count) {
    struct ss_figures figures = {0};
    double most = -INFINITY;
    for (size_t i = 0; i + PER_WINDOW <= count; i += PER_WINDOW) {
        struct sums sums = add_up(&intervals[i], PER_WINDOW, held->cpus);
        double cpus = held->cpus * sums.seconds;
        if (!(sums.seconds > 0) || isnan(sums.granted))
            continue;
        ss_figures_add(&figures, sums.granted / cpus, sums.used / cpus);
        most = fmax(most, (sums.used - sums.granted) / cpus);
    }
    held->target_mean = ss_figures_target_mean(&figures);
    held->load_mean = ss_figures_load_mean(&figures);
    held->error_mean_percent = ss_figures_error_mean_percent(&figures);
    held->error_mse_e4 = ss_figures_error_mse_e4(&figures);
    held->overshoot_percent = figures.count > 0 ? 100 * most : NAN;
    ss_figures_free(&figures);
}

static double find_settling(const struct service_figures *figures, double cpus) {
    struct ss_settling settling = {0};
    for (size_t i = 0; i + PER_WINDOW <= figures->count; i += PER_WINDOW) {
        const struct service_interval *last = &figures->intervals[i + PER_WINDOW - 1];
        struct sums sums = add_up(&figures->intervals[i], PER_WINDOW, cpus);
        double end = ss_time_seconds(last->end);
        double start = fmax(round(1000 * (end - sums.seconds)) / 1000, 0);
        if (!isnan(sums.granted))
            ss_settling_add(
                &settling, start, end, (sums.granted - sums.used) / cpus / sums.seconds);
    }
    return ss_settling_seconds(&settling);
}

/*
 * Returns by how much the cost of a request changed between the last two stretches of 10 s; 0 if
 * that is less than 2 %, or could be noise: `noise` is the standard error of the cost over all of
 * the time, relative.
 */
static double find_cost_change(
    const struct service_interval *intervals, size_t count, double noise) {
    if (count < 2 * PER_STRETCH)
        return NAN;
    struct sums before = add_up(&intervals[count - 2 * PER_STRETCH], PER_STRETCH, 0);
    struct sums last = add_up(&intervals[count - PER_STRETCH], PER_STRETCH, 0);
    double change = last.used / last.answers / (before.used / before.answers) - 1;
    double expected = noise * sqrt(2 * (double)count / PER_STRETCH);
    return fabs(change) > fmax(COST_STEADY, 3 * fmax(expected, 0)) ? change : 0;
}

void service_figures_finish(
    const struct service_figures *figures, ss_time settle, struct request_held *held) {
    size_t first = 0;
    while (first < figures->count &&
           ss_time_since(figures->intervals[first].end, SS_RATE_INTERVAL) < settle)
        first++;
    const struct service_interval *intervals = figures->intervals + first;
    size_t count = figures->count - first;
    struct sums all = add_up(intervals, count, held->cpus);
    double cpus_granted = all.granted / all.seconds, off = NAN;

    judge_windows(held, intervals, count);
    held->seconds = all.seconds;
    held->settled_seconds = find_settling(figures, held->cpus);
    held->cost = all.answers > 0 ? all.used / all.answers : NAN;
    held->rate = cpus_granted / held->cost;
    if (!isnan(held->cost))
        off = cpus_granted * find_deviation(intervals, count, &all, &held->correlated);
    held->cost_change = find_cost_change(intervals, count, off / NORMAL / held->rate);
    held->rate_low = held->rate - off;
    held->rate_high = held->rate + off;
}
