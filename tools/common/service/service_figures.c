/* SPDX-License-Identifier: Apache-2.0 */
#include "service_figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/student.h"
#include "capacity_trial.h"
#include "loop/rate.h"
#include "measure/figures.h"

#define PER_WINDOW (SS_WINDOW_DEFAULT / SS_RATE_INTERVAL)

/* The confidence interval is computed from at least this many batches of intervals. */
#define BATCHES_MIN 20
#define PER_BATCH   (2 * SS_SECOND / SS_RATE_INTERVAL)

/* The cost of a request is steady if it changes by less than this from 10 s to the next 10 s. */
#define COST_CHANGE_MIN 0.02
#define PER_SPAN        (10 * SS_SECOND / SS_RATE_INTERVAL)

/* 97.5 % quantile of the normal distribution. */
#define NORMAL_QUANTILE 1.959964

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
    double seconds, allowed, used, granted, answers; /* all but the last one in seconds */
};

static struct sums add_up(const struct service_interval *intervals, size_t count) {
    struct sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        sums.seconds += intervals[i].seconds;
        sums.allowed += intervals[i].cpus * intervals[i].seconds;
        sums.used += intervals[i].used;
        sums.granted += intervals[i].target * intervals[i].cpus * intervals[i].seconds;
        sums.answers += (double)intervals[i].answers;
    }
    return sums;
}

/*
 * Returns half the width of the confidence interval of requests per CPU time, a ratio of sums; NaN
 * with too few intervals. Computes it from batches, and doubles their length while successive ones
 * are correlated and enough remain.
 */
static double find_half_interval(const struct service_interval *intervals, size_t count,
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
            struct sums sums = add_up(&intervals[i * size], size);
            off[i] = sums.answers - ratio * sums.used;
            squares += off[i] * off[i];
        }

        *correlated = !request_values_are_uncorrelated(off, (int)batches);
        double n = (double)batches, used = all->used * (double)(size * batches) / (double)count;
        if (!*correlated || batches / 2 < BATCHES_MIN)
            return ss_student_quantile(n - 1) * sqrt(squares * n / (n - 1)) / used;
    }
}

static void judge_windows(
    struct request_held_load *held, const struct service_interval *intervals, size_t count) {
    struct ss_figures figures = {0};
    double most = -INFINITY;

    for (size_t i = 0; i + PER_WINDOW <= count; i += PER_WINDOW) {
        struct sums sums = add_up(&intervals[i], PER_WINDOW);
        if (!(sums.seconds > 0) || isnan(sums.granted))
            continue;

        ss_figures_add(&figures, sums.granted / sums.allowed, sums.used / sums.allowed);
        most = fmax(most, (sums.used - sums.granted) / sums.allowed);
    }

    held->target_mean = ss_figures_target_mean(&figures);
    held->load_mean = ss_figures_load_mean(&figures);
    held->error_mean_percent = ss_figures_error_mean_percent(&figures);
    held->error_mse_e4 = ss_figures_error_mse_e4(&figures);
    held->overshoot_percent = figures.count > 0 ? 100 * most : NAN;

    ss_figures_free(&figures);
}

/* Returns how many of the first intervals belong to the same episode. */
static size_t count_episode(const struct service_interval *intervals, size_t count) {
    size_t same = 0;
    while (same < count && intervals[same].episode == intervals[0].episode)
        same++;
    return same;
}

/* Returns when the load settled in one episode. */
static double find_episode_settling(const struct service_interval *intervals, size_t count) {
    struct ss_settling settling = {0};
    for (size_t i = 0; i + PER_WINDOW <= count; i += PER_WINDOW) {
        struct sums sums = add_up(&intervals[i], PER_WINDOW);
        double end = ss_time_seconds(intervals[i + PER_WINDOW - 1].end);
        double start = fmax(round(1000 * (end - sums.seconds)) / 1000, 0);
        if (!isnan(sums.granted))
            ss_settling_add(&settling, start, end, (sums.granted - sums.used) / sums.allowed);
    }

    return ss_settling_seconds(&settling);
}

/* Returns how long the slowest episode took to settle; NaN if one never did. */
static double find_settling(const struct service_interval *intervals, size_t count) {
    double longest = count > 0 ? 0 : NAN;
    for (size_t length; count > 0; intervals += length, count -= length) {
        length = count_episode(intervals, count);
        double seconds = find_episode_settling(intervals, length);
        longest = isnan(seconds) || isnan(longest) ? NAN : fmax(longest, seconds);
    }
    return longest;
}

static void remove_settling(struct service_figures *figures, ss_time settle) {
    size_t kept = 0;
    for (size_t i = 0; i < figures->count; i++) {
        if (ss_time_since(figures->intervals[i].end, SS_RATE_INTERVAL) >= settle)
            figures->intervals[kept++] = figures->intervals[i];
    }
    figures->count = kept;
}

/* Returns the mean number of CPUs, without rounding errors if it never changed. */
static double find_cpus(const struct service_interval *intervals, size_t count, double seconds) {
    double off = 0;
    for (size_t i = 1; i < count; i++)
        off += (intervals[i].cpus - intervals[0].cpus) * intervals[i].seconds;
    return intervals[0].cpus + off / seconds;
}

/* Sets the rate of each episode, scaled to the mean number of CPUs that the target granted. */
static void judge_episodes(struct request_held_load *held, const struct service_interval *intervals,
    size_t count, double cpus_granted) {
    held->episodes = 0;
    for (size_t length; count > 0; intervals += length, count -= length) {
        length = count_episode(intervals, count);
        struct sums sums = add_up(intervals, length);
        if (held->episodes < REQUEST_EPISODES_MAX && sums.used > 0)
            held->episode_rates[held->episodes++] = cpus_granted * sums.answers / sums.used;
    }
}

/* Returns half the width of Student's interval of the mean rate of episodes; NaN with only one. */
static double find_scatter(const struct request_held_load *held) {
    double n = held->episodes, mean = 0, squares = 0;
    if (held->episodes < 2)
        return NAN;

    for (uint32_t i = 0; i < held->episodes; i++)
        mean += held->episode_rates[i] / n;
    for (uint32_t i = 0; i < held->episodes; i++)
        squares += (held->episode_rates[i] - mean) * (held->episode_rates[i] - mean);

    return ss_student_quantile(n - 1) * sqrt(squares / (n - 1) / n);
}

/*
 * Returns the relative change of the cost of a request between the last two spans of 10 s; 0 if
 * it is less than 2 % or could be noise, NaN if the run was shorter. `noise` is the relative
 * standard error of the cost over the whole time.
 */
static double find_cost_change(
    const struct service_interval *intervals, size_t count, double noise) {
    if (count < 2 * PER_SPAN)
        return NAN;

    struct sums before = add_up(&intervals[count - 2 * PER_SPAN], PER_SPAN);
    struct sums last = add_up(&intervals[count - PER_SPAN], PER_SPAN);
    double change = last.used / last.answers / (before.used / before.answers) - 1;
    double expected = noise * sqrt(2 * (double)count / PER_SPAN);
    return fabs(change) > fmax(COST_CHANGE_MIN, 3 * fmax(expected, 0)) ? change : 0;
}

/*
 * Sets the rate and its interval: either the one from the scatter between episodes, which needs at
 * least two, or the one from batches, whichever is wider.
 */
static void judge_rate(struct request_held_load *held, const struct service_interval *intervals,
    size_t count, const struct sums *all) {
    double cpus_granted = all->granted / all->seconds, within = NAN;
    bool correlated = false;

    held->rate = cpus_granted / held->cost;
    if (!isnan(held->cost))
        within = cpus_granted * find_half_interval(intervals, count, all, &correlated);

    judge_episodes(held, intervals, count, cpus_granted);
    double scatter = find_scatter(held), half = fmax(within, scatter);

    held->correlated = correlated && !(scatter >= within);
    held->cost_change = find_cost_change(intervals, count, half / NORMAL_QUANTILE / held->rate);
    held->rate_low = held->rate - half;
    held->rate_high = held->rate + half;
}

void service_figures_finish(
    struct service_figures *figures, ss_time settle, struct request_held_load *held) {
    held->settled_seconds = find_settling(figures->intervals, figures->count);
    remove_settling(figures, settle);
    struct sums all = add_up(figures->intervals, figures->count);

    if (figures->count > 0)
        held->cpus = find_cpus(figures->intervals, figures->count, all.seconds);
    judge_windows(held, figures->intervals, figures->count);
    held->seconds = all.seconds;
    held->cost = all.answers > 0 ? all.used / all.answers : NAN;
    judge_rate(held, figures->intervals, figures->count, &all);
}
