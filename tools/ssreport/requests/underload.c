/* SPDX-License-Identifier: Apache-2.0 */
#include "underload.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "levels.h"
#include "points.h"

/*
 * Response times of all requests, from when they were due, or of successes, from when they were
 * sent.
 */
enum { HONEST, AS_PUBLISHED, BASES };
#define MEAN     SSREPORT_MEAN
#define P95      SSREPORT_P95
#define CRITERIA SSREPORT_CRITERIA

static const char *const basis_names[BASES] = {"intended, all", "actual, successes"};
static const char *const criterion_names[CRITERIA] = {"mean", "p95"};
static const double limits[CRITERIA] = {SSREPORT_UNDERLOADED_MEAN, SSREPORT_UNDERLOADED_P95};

/* The points of a series at one rate. */
struct level_rate {
    double rate;
    size_t points;
    double times[BASES][CRITERIA]; /* seconds, means over the points */
    double watts, busiest;         /* NaN if unknown at a point */
};

/* A series: a service at one level of its knobs. */
struct level {
    const struct ssreport_rate_point *first;
    struct level_rate *rates; /* in ascending order */
    size_t count;
    struct ssreport_limit limits[BASES][CRITERIA];
};

struct ssreport_limit ssreport_limit_find(
    const double *rates, const double *values, size_t count, double limit) {
    struct ssreport_limit found = {NAN, NAN, NAN};
    size_t first = 0;
    while (first < count && values[first] < limit)
        first++;
    if (first > 0)
        found.last = rates[first - 1];
    if (first == count)
        return found;
    found.first = rates[first];
    if (first > 0 && isfinite(values[first]))
        found.crossing = found.last + (limit - values[first - 1]) * (found.first - found.last) /
                                          (values[first] - values[first - 1]);
    return found;
}

/*
 * Returns the limit of both criteria together. If one has no crossing, the result has a crossing
 * only if the other crosses its limit before the last rate at which both hold.
 */
static struct ssreport_limit first_of(
    const struct ssreport_limit *one, const struct ssreport_limit *other) {
    struct ssreport_limit first = {
        .last = isnan(one->last + other->last) ? NAN : fmin(one->last, other->last),
        .first = fmin(one->first, other->first),
        .crossing = fmin(one->crossing, other->crossing)};
    bool unknown = (isfinite(one->first) && isnan(one->crossing)) ||
                   (isfinite(other->first) && isnan(other->crossing));
    if (unknown && !(first.crossing <= first.last))
        first.crossing = NAN;
    return first;
}

/*
 * Returns the 95th percentile if the part `failed` of the requests took longer than all successes:
 * a higher percentile of the successes, interpolated between known ones.
 */
static double shift_p95(const struct ssreport_response *response, double failed) {
    double at = 0.95 / (1 - failed);
    if (failed >= 0.05)
        return INFINITY;
    if (failed == 0)
        return response->p95;
    if (at <= 0.99)
        return response->p95 + (at - 0.95) / 0.04 * (response->p99 - response->p95);
    return response->p99 + (at - 0.99) / 0.01 * (response->most - response->p99);
}

void ssreport_point_times(
    const struct ssreport_rate_point *point, double times[SSREPORT_CRITERIA]) {
    const struct ssreport_stretch *stretch = &point->stretch;
    const struct ssreport_response *all = &point->of->all[SSREPORT_INTENDED];
    const struct ssreport_response *successes = &stretch->response[SSREPORT_INTENDED];
    double lost = stretch->refused + stretch->failed, answered = stretch->completed;
    if (point->step == 0 && isfinite(all->mean) && isfinite(all->p95)) {
        times[MEAN] = all->mean;
        times[P95] = stretch->refused >= 0.05 * stretch->due ? INFINITY : all->p95;
        return;
    }
    if (!(answered > 0)) {
        times[MEAN] = times[P95] = stretch->due > 0 ? INFINITY : NAN;
        return;
    }
    double timeout = fmax(point->of->timeout, successes->most);
    times[MEAN] = lost > 0 ? (answered * successes->mean + lost * timeout) / (answered + lost)
                           : successes->mean;
    times[P95] = shift_p95(successes, lost / (answered + lost));
}

static void find_published(const struct ssreport_rate_point *point, double times[CRITERIA]) {
    const struct ssreport_response *actual = &point->stretch.response[SSREPORT_ACTUAL];
    bool answered = point->stretch.completed > 0;
    times[MEAN] = answered ? actual->mean : INFINITY;
    times[P95] = answered ? actual->p95 : INFINITY;
}

bool ssreport_point_is_underloaded(const struct ssreport_rate_point *point) {
    double times[CRITERIA];
    ssreport_point_times(point, times);
    return times[MEAN] < limits[MEAN] && times[P95] < limits[P95];
}

static struct level_rate rate_of(const struct ssreport_rate_point *point) {
    struct level_rate rate = {.rate = point->stretch.rate,
        .points = 1,
        .watts = point->joined.watts,
        .busiest = point->joined.busiest};
    ssreport_point_times(point, rate.times[HONEST]);
    find_published(point, rate.times[AS_PUBLISHED]);
    return rate;
}

static double mean_with(double mean, size_t count, double value) {
    return (mean * (double)count + value) / ((double)count + 1);
}

/* Adds a point to the means at its rate. */
static void merge(struct level_rate *into, const struct level_rate *rate) {
    for (int i = 0; i < BASES * CRITERIA; i++)
        into->times[i / CRITERIA][i % CRITERIA] = mean_with(into->times[i / CRITERIA][i % CRITERIA],
            into->points, rate->times[i / CRITERIA][i % CRITERIA]);
    into->watts = mean_with(into->watts, into->points, rate->watts);
    into->busiest = mean_with(into->busiest, into->points, rate->busiest);
    into->points++;
}

static void add_point(struct level *level, const struct ssreport_rate_point *point) {
    struct level_rate rate = rate_of(point);
    size_t at = level->count;
    if (isnan(rate.rate))
        return;
    while (at > 0 && ssreport_compare_numbers(level->rates[at - 1].rate, rate.rate) > 0)
        at--;
    if (at > 0 && ssreport_compare_numbers(level->rates[at - 1].rate, rate.rate) == 0) {
        merge(&level->rates[at - 1], &rate);
        return;
    }
    for (size_t i = level->count++; i > at; i--)
        level->rates[i] = level->rates[i - 1];
    level->rates[at] = rate;
}

static int find_limits(struct level *level) {
    SS_OWNED(free) double *rates = calloc(2 * level->count + 1, sizeof *rates);
    if (!rates)
        return -1;
    double *values = rates + level->count;
    for (int i = 0; i < BASES * CRITERIA; i++) {
        for (size_t j = 0; j < level->count; j++) {
            rates[j] = level->rates[j].rate;
            values[j] = level->rates[j].times[i / CRITERIA][i % CRITERIA];
        }
        level->limits[i / CRITERIA][i % CRITERIA] =
            ssreport_limit_find(rates, values, level->count, limits[i % CRITERIA]);
    }
    return 0;
}

/*
 * Makes a level from the points of a series: all of them or, if `round` is not NaN, only those of
 * this round.
 */
static int make_level(struct level *level, const struct ssreport_report *report,
    const struct stats_groups *groups, size_t group, double round) {
    size_t count = 0;
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i])
        count++;
    *level = (struct level){.first = &report->points[groups->first[group]],
        .rates = calloc(count, sizeof *level->rates)};
    if (!level->rates)
        return -1;
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i]) {
        if (isnan(round) || ssreport_compare_numbers(report->points[i].of->round, round) == 0)
            add_point(level, &report->points[i]);
    }
    return find_limits(level);
}

static void name_series(struct table_sheet *sheet, const struct ssreport_responses *of) {
    TABLE_CELLS(sheet, CELL("set", of->set + 1), CELL("workload", of->workload),
        CELL("method", of->method), CELL("environment", of->environment),
        CELL("throttle_target", of->target > 0 ? of->target : NAN), CELL("arrival", of->arrival),
        CELL("variant", of->variant), CELL("knobs", of->knobs),
        CELL("balance", of->knobs ? of->balance : NULL), CELL("cap", of->knobs ? of->cap : NAN));
}

static void add_limit(struct table_sheet *sheet, const struct level *level, int basis,
    int criterion, const struct ssreport_limit *limit) {
    table_add_row(sheet);
    name_series(sheet, level->first->of);
    TABLE_CELLS(sheet, CELL("rates", level->count), CELL("counted", basis_names[basis]),
        CELL("criterion", criterion < CRITERIA ? criterion_names[criterion] : "both"),
        CELL("limit_seconds", criterion < CRITERIA ? limits[criterion] : NAN),
        CELL("last_rate", limit->last), CELL("first_rate", limit->first),
        CELL("crossing_rate", limit->crossing));
}

/* With a single rate, no limit can be found. */
static void add_limits(struct table_sheet *sheet, const struct level *level) {
    if (level->count < 2)
        return;
    for (int basis = 0; basis < BASES; basis++) {
        const struct ssreport_limit *found = level->limits[basis];
        struct ssreport_limit both = first_of(&found[MEAN], &found[P95]);
        for (int criterion = 0; criterion < CRITERIA; criterion++)
            add_limit(sheet, level, basis, criterion, &found[criterion]);
        add_limit(sheet, level, basis, CRITERIA, &both);
    }
}

const char *ssreport_describe_saturation(double busiest) {
    return isnan(busiest) ? "" : busiest >= SSREPORT_SATURATED ? "yes" : "no";
}

double ssreport_point_idle_watts(const struct ssreport_rate_point *point) {
    struct ssreport_stretch stretch;
    double sum = 0, seconds = 0;
    size_t next = 0;
    if (isnan(point->joined.watts))
        return NAN;
    while (ssreport_responses_stretch(point->of, point->of->edge, &next, &stretch)) {
        if (!(stretch.rate == 0) || stretch.completed + stretch.failed > 0)
            continue;
        struct ssreport_joined joined =
            ssreport_responses_join(point->of, point->beside, stretch.from, stretch.to);
        sum += joined.watts_seconds > 0 ? joined.watts * joined.watts_seconds : 0;
        seconds += joined.watts_seconds;
    }
    return seconds > 0 ? sum / seconds : NAN;
}

/* Adds a row for each idle state at one rate. */
static int add_idle(struct table_sheet *sheet, const struct ssreport_rate_point *point) {
    const struct ssreport_idle *idle = &point->of->idle;
    struct ssreport_residency residency;
    if (idle->count == 0)
        return 0;
    if (ssreport_idle_between(idle, point->stretch.from, point->stretch.to, &residency) < 0)
        return -1;
    for (size_t i = 0; i < idle->state_count && residency.active.count > 0; i++) {
        TABLE_ROW(sheet, CELL("record", point->of->name));
        name_series(sheet, point->of);
        TABLE_CELLS(sheet, CELL("rate", point->stretch.rate),
            CELL("seconds", residency.active.count),
            CELL("frequency_mhz", residency.frequency.mean), CELL("active", residency.active.mean),
            CELL("active_deviation", residency.active.deviation), CELL("state", idle->states[i]),
            CELL("share", residency.states[i].share),
            CELL("share_deviation", residency.states[i].share_deviation));
    }
    return 0;
}

/* Finds the highest common rate. Returns false without one. */
static bool find_common(
    const struct level *one, const struct level *other, const struct level_rate *common[2]) {
    for (size_t i = one->count; i-- > 0;) {
        for (size_t j = other->count; j-- > 0;) {
            common[0] = &one->rates[i];
            common[1] = &other->rates[j];
            if (ssreport_compare_numbers(common[0]->rate, common[1]->rate) == 0)
                return true;
        }
    }
    return false;
}

/*
 * Returns the rate at which a level crosses the first of both limits or, if unknown, its last
 * underloaded rate; NaN if it was never overloaded.
 */
static double capacity_of(const struct level *level) {
    struct ssreport_limit both =
        first_of(&level->limits[HONEST][MEAN], &level->limits[HONEST][P95]);
    return isnan(both.first) ? NAN : isfinite(both.crossing) ? both.crossing : both.last;
}

int ssreport_series_capacity(double *capacity, const struct ssreport_report *report,
    const struct stats_groups *series, size_t group, double round) {
    struct level level;
    int result = make_level(&level, report, series, group, round);
    *capacity = result == 0 ? capacity_of(&level) : NAN;
    free(level.rates);
    return result;
}

/*
 * Returns whether the first level has less of the knob in which both differ or, if they differ in
 * no knob, less power or capacity.
 */
static bool is_less(const struct level *one, const struct level *other,
    const struct level_rate *const at[2], const double capacity[2]) {
    const char *knob = ssreport_levels_knob(one->first->of, other->first->of);
    double amounts[] = {knob ? ssreport_levels_amount(one->first->of, knob) : NAN,
        knob ? ssreport_levels_amount(other->first->of, knob) : NAN};
    if (amounts[0] < amounts[1] || amounts[0] > amounts[1])
        return amounts[0] < amounts[1];
    return isfinite(at[0]->watts + at[1]->watts) ? at[0]->watts < at[1]->watts
                                                 : capacity[0] < capacity[1];
}

static void add_saving(
    struct table_sheet *sheet, const struct level *one, const struct level *other) {
    const struct level_rate *at[2];
    char names[2][256];
    double capacity[] = {capacity_of(one), capacity_of(other)};
    if (!find_common(one, other, at))
        return;
    bool has_power = isfinite(at[0]->watts + at[1]->watts);
    /* Without a source of power, only the costs of knobs are reported. */
    if (!has_power && !(one->first->of->knobs && isfinite(capacity[0] + capacity[1])))
        return;
    if (is_less(one, other, at, capacity)) {
        add_saving(sheet, other, one);
        return;
    }
    double saved = (at[0]->watts - at[1]->watts) / at[0]->watts;
    double lost = (capacity[0] - capacity[1]) / capacity[0];
    const char *saturated = ssreport_describe_saturation(fmin(at[0]->busiest, at[1]->busiest));
    ssreport_rate_point_describe(one->first, names[0], sizeof names[0]);
    ssreport_rate_point_describe(other->first, names[1], sizeof names[1]);
    TABLE_ROW(sheet, CELL("high", names[0]), CELL("low", names[1]), CELL("rate", at[0]->rate),
        CELL("saturated", isnan(at[0]->busiest + at[1]->busiest) ? "" : saturated),
        CELL("high_watts", at[0]->watts), CELL("low_watts", at[1]->watts), CELL("saved", saved),
        CELL("high_capacity", capacity[0]), CELL("low_capacity", capacity[1]), CELL("lost", lost),
        CELL("lost_per_saved", saved > 0 ? lost / saved : NAN),
        CELL("knob", ssreport_levels_knob(one->first->of, other->first->of)),
        CELL("arrival", one->first->of->arrival), CELL("high_knobs", one->first->of->knobs),
        CELL("low_knobs", other->first->of->knobs));
}

static int add_tables(struct ssreport_report *report, const struct level *levels, size_t count) {
    for (size_t i = 0; i < count; i++)
        add_limits(ssreport_table(report, "requests-limits"), &levels[i]);
    for (size_t i = 0; i < report->point_count; i++) {
        if (add_idle(ssreport_table(report, "requests-idle"), &report->points[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (ssreport_rate_point_is_service(levels[i].first, levels[j].first) &&
                ssreport_levels_are_one_step(levels[i].first->of, levels[j].first->of))
                add_saving(ssreport_table(report, "requests-savings"), &levels[i], &levels[j]);
        }
    }
    return 0;
}

int ssreport_underload_fill(struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_points_by_series(report);
    SS_OWNED(free) struct level *levels = calloc(groups.count + 1, sizeof *levels);
    int result = groups.first && levels ? 0 : -1;
    for (size_t i = 0; result == 0 && i < groups.count; i++)
        result = make_level(&levels[i], report, &groups, i, NAN);
    if (result == 0)
        result = add_tables(report, levels, groups.count);
    for (size_t i = 0; levels && i < groups.count; i++)
        free(levels[i].rates);
    return result;
}
