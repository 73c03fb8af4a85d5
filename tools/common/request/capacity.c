/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

static int parse_figure(
    const char *name, struct request_criterion *criterion, struct ss_error *error) {
    criterion->is_mean = strcmp(name, "mean") == 0;
    if (criterion->is_mean)
        return 0;

    double percent;
    if (name[0] != 'p' || ss_units_percent(name + 1, &percent, NULL) != 0 || percent <= 0 ||
        percent > 100)
        return ss_error_fail(
            error, "'%s' is not a statistic: use mean, or a percentile such as p95 or p99.9", name);
    criterion->share = percent / 100;
    return 0;
}

int request_criterion_parse(
    const char *text, struct request_criterion *criterion, struct ss_error *error) {
    *criterion = (struct request_criterion){0};
    const char *equals = strchr(text, '=');
    char name[16] = "";

    if (!equals || (size_t)(equals - text) >= sizeof name)
        return ss_error_fail(
            error, "'%s' is not of the form STATISTIC=TIME: use mean=1s or p95=2s", text);

    memcpy(name, text, (size_t)(equals - text));
    if (parse_figure(name, criterion, error) != 0)
        return -1;

    if (ss_units_time(equals + 1, &criterion->limit, error) != 0)
        return ss_error_wrap(error, "%s", text);
    if (criterion->limit == 0)
        return ss_error_fail(error, "%s: the time must be more than 0", text);
    return 0;
}

static double figure_of(
    const struct request_criterion *criterion, const struct ss_histogram *times) {
    return criterion->is_mean ? ss_histogram_mean(times)
                              : ss_histogram_quantile(times, criterion->share);
}

double request_criterion_figure(
    const struct request_criterion *criterion, const struct request_tally *tally) {
    /* Use the longer one: failures may take longer than successes, or be much faster. */
    double successes = figure_of(criterion, &tally->successes[REQUEST_INTENDED]);
    double all = figure_of(criterion, &tally->all[REQUEST_INTENDED]);
    return all > successes ? all : successes;
}

bool request_criterion_holds(
    const struct request_criterion *criterion, const struct request_tally *tally) {
    double succeeded = (double)tally->outcomes[REQUEST_SUCCESS];
    return succeeded >= REQUEST_SUCCESS_RATIO_MIN * (double)tally->intended &&
           request_criterion_figure(criterion, tally) <= ss_time_seconds(criterion->limit);
}

/* The search ends if even this fraction of the first rate fails. */
#define START_PART_MIN (1.0 / 1024)

void request_capacity_begin(
    struct request_capacity *capacity, const struct request_search *search) {
    *capacity = (struct request_capacity){.search = *search};
}

bool request_trial_is_limited(const struct request_trial *trial) {
    return !trial->held && (trial->generator_is_limit || trial->resource_failures > 0);
}

void request_capacity_add(struct request_capacity *capacity, const struct request_trial *trial) {
    size_t i = 0;
    if (capacity->trial_count == REQUEST_TRIALS_MAX)
        return;

    while (i < capacity->rate_count && capacity->rates[i].rate != trial->rate)
        i++;
    if (i == capacity->rate_count)
        capacity->rates[capacity->rate_count++] = (struct request_trials){.rate = trial->rate};

    *(trial->held ? &capacity->rates[i].held : &capacity->rates[i].failed) += 1;
    capacity->rates[i].unsteady += trial->held && !trial->steady;
    capacity->rates[i].limited += request_trial_is_limited(trial);
    capacity->rates[i].short_of_resources += !trial->held && trial->resource_failures > 0;
    capacity->trials[capacity->trial_count++] = *trial;
}

/*
 * Bounds found so far. `lowest_failed` may be below `highest_held`: rates between them hold in some
 * trials and fail in others.
 */
struct bounds {
    double lowest_failed, highest_held; /* rates so far; INFINITY and 0 if none */
    struct request_trials held, failed; /* as in struct request_capacity_result */
};

static struct bounds find_bounds(const struct request_capacity *capacity) {
    struct bounds bounds = {.lowest_failed = INFINITY};
    for (size_t i = 0; i < capacity->rate_count; i++) {
        const struct request_trials *it = &capacity->rates[i];
        if (it->failed > 0 && it->rate < bounds.lowest_failed)
            bounds.lowest_failed = it->rate;
        if (it->held > 0 && it->rate > bounds.highest_held)
            bounds.highest_held = it->rate;
    }

    for (size_t i = 0; i < capacity->rate_count; i++) {
        const struct request_trials *it = &capacity->rates[i];
        if (it->rate < bounds.lowest_failed && it->rate > bounds.held.rate)
            bounds.held = *it;
        if (it->rate > bounds.highest_held &&
            (bounds.failed.rate == 0 || it->rate < bounds.failed.rate))
            bounds.failed = *it;
    }

    return bounds;
}

/* Returns the next rate while no rate has failed yet, or none has held; 0 if the search is over. */
static double next_outside(const struct request_capacity *capacity, const struct bounds *bounds) {
    const struct request_search *search = &capacity->search;

    if (capacity->rate_count == 0)
        return search->start;
    if (bounds->highest_held == 0)
        return bounds->lowest_failed > search->start * START_PART_MIN ? bounds->lowest_failed / 2
                                                                      : 0;
    if (bounds->highest_held < search->max)
        return fmin(bounds->highest_held * 2, search->max);
    return bounds->held.held < search->repeats ? bounds->held.rate : 0;
}

/*
 * Returns the next rate after some held and some failed: narrows the interval, then repeats its
 * ends. Returns 0 if the search is over.
 */
static double next_inside(const struct request_capacity *capacity, const struct bounds *bounds) {
    const struct request_search *search = &capacity->search;
    double low = bounds->lowest_failed, high = bounds->highest_held;

    if (high < low) {
        if (low - high > search->precision * low)
            return high + (low - high) / 2;
    } else {
        /* Step beyond the uncertain range by its own relative width. */
        double step = fmax(search->precision, (high - low) / high);
        if (bounds->held.rate < low * (1 - step))
            return low * (1 - step);
        if (bounds->failed.rate == 0 || bounds->failed.rate > high * (1 + step))
            return high * (1 + step);
    }

    if (bounds->held.held < search->repeats)
        return bounds->held.rate;
    return bounds->failed.failed < search->repeats ? bounds->failed.rate : 0;
}

bool request_capacity_next(const struct request_capacity *capacity, double *rate) {
    struct bounds bounds = find_bounds(capacity);
    bool inside = bounds.highest_held > 0 && bounds.lowest_failed < INFINITY;
    *rate = inside ? next_inside(capacity, &bounds) : next_outside(capacity, &bounds);
    return *rate > 0 && capacity->trial_count < REQUEST_TRIALS_MAX;
}

struct request_capacity_result request_capacity_result(const struct request_capacity *capacity) {
    struct bounds bounds = find_bounds(capacity);
    struct request_capacity_result result = {
        .held = bounds.held,
        .failed = bounds.failed,
        .agreed = bounds.held.held >= capacity->search.repeats &&
                  bounds.failed.failed >= capacity->search.repeats,
        .upper_bound = bounds.held.unsteady > 0,
        .lower_bound = bounds.failed.limited > 0,
    };

    result.sure = result.agreed && !result.upper_bound && !result.lower_bound &&
                  bounds.failed.rate - bounds.held.rate <= REQUEST_SURE_WIDTH * bounds.failed.rate;
    return result;
}
