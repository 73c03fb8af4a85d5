/* SPDX-License-Identifier: Apache-2.0 */
#include "study_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "differences.h"

/*
 * Orders values: an empty one, numbers by value, other texts. A number next to a text, such as 512
 * and 1G, must not be compared as a text: with 1024 there would be no order.
 */
static int compare_values(const struct ssreport_differences *differences, size_t column,
    const struct ssreport_run *left, const struct ssreport_run *right) {
    const char *one = ssreport_columns_get(&left->columns, differences->names[column]);
    const char *other = ssreport_columns_get(&right->columns, differences->names[column]);
    double number = 0, others = 0;
    bool is_number = ssreport_is_number(one, &number);
    bool are_numbers = ssreport_is_number(other, &others);
    if (is_number && are_numbers && number != others)
        return number < others ? -1 : 1;
    if (is_number != are_numbers && *one && *other)
        return is_number ? -1 : 1;
    return strcmp(one, other);
}

static int compare_series(const struct ssreport_differences *differences,
    const struct ssreport_run *left, const struct ssreport_run *right) {
    int order = left->set - right->set;
    for (size_t i = 0; order == 0 && i < differences->count; i++) {
        if (i != differences->axis && !differences->follows[i])
            order = compare_values(differences, i, left, right);
    }
    return order;
}

static int compare_runs(const void *left, const void *right, void *context) {
    const struct ssreport_differences *differences = context;
    int order = compare_series(differences, left, right);
    if (order == 0 && differences->axis < differences->count)
        order = compare_values(differences, differences->axis, left, right);
    return order;
}

/*
 * Returns whether a run belongs to a point. Runs of a service do not: they have no iterations, and
 * other tables count their requests. Runs of duet do not: they are compared in blocks.
 */
static bool is_point(const void *item, void *context) {
    const struct ssreport_run *run = item;
    (void)context;
    return !ssreport_is_word(run->experiment, "latency") &&
           !ssreport_is_word(run->experiment, "duet") && run->columns.count > 0 &&
           run->steps.count < 2 && run->figures.samples > 0;
}

enum figure { LOAD, THROUGHPUT, ITERATION };

static double figure_of(const struct ssreport_run *run, enum figure figure) {
    switch (figure) {
    case LOAD:
        return run->figures.load_mean;
    case THROUGHPUT:
        return run->figures.throughput;
    case ITERATION:
        break;
    }
    return run->figures.iteration.mean;
}

static struct ssreport_mean mean_of(const struct ssreport_study_point *point, enum figure figure,
    double *values, double confidence) {
    size_t count = 0;
    for (size_t i = 0; i < point->rounds; i++) {
        double value = figure_of(point->runs[i], figure);
        if (isfinite(value))
            values[count++] = value;
    }
    return ssreport_mean_of(values, count, confidence);
}

static double least_bound(const struct ssreport_study_point *point) {
    double bound = NAN;
    for (size_t i = 0; i < point->rounds; i++)
        bound = fmin(bound, point->runs[i]->figures.throughput_bound);
    return bound;
}

/*
 * Returns the first run of the same round, if possible of the same study; NULL if absent. Runs
 * without a round are matched by their order.
 */
static const struct ssreport_run *find_round(
    const struct ssreport_study_point *base, const struct ssreport_run *run, size_t number) {
    if (!(run->round > 0))
        return number < base->rounds && !(base->runs[number]->round > 0) ? base->runs[number]
                                                                         : NULL;
    const struct ssreport_run *found = NULL;
    for (size_t i = 0; i < base->rounds; i++) {
        const struct ssreport_run *other = base->runs[i];
        if (other->round == run->round && ssreport_run_is_closer(run, other, found))
            found = other;
    }
    return found;
}

/*
 * Compares two points round by round, so that changes of the machine between rounds affect both
 * points.
 */
static struct ssreport_mean compare_with(const struct ssreport_study_point *point,
    const struct ssreport_study_point *base, double *values, double confidence) {
    size_t count = 0;
    for (size_t i = 0; i < point->rounds; i++) {
        const struct ssreport_run *other = find_round(base, point->runs[i], i);
        double ratio = other ? point->runs[i]->figures.throughput / other->figures.throughput : NAN;
        if (isfinite(ratio))
            values[count++] = ratio;
    }
    return ssreport_mean_of(values, count, confidence);
}

static const struct ssreport_study_point *find_base(
    const struct ssreport_study_points *points, const struct ssreport_study_point *point) {
    for (size_t i = 0; i < points->count && points->items[i].series == 0; i++) {
        const struct ssreport_study_point *base = &points->items[i];
        if (base->at == point->at || (isnan(base->at) && isnan(point->at)))
            return base;
    }
    return NULL;
}

static int compare_rounds(const void *left, const void *right) {
    return ssreport_compare_numbers((*(const struct ssreport_run *const *)left)->round,
        (*(const struct ssreport_run *const *)right)->round);
}

static int compare_points(const void *left, const void *right, void *context) {
    return compare_runs(((const struct ssreport_study_point *)left)->first,
        ((const struct ssreport_study_point *)right)->first, context);
}

static void add_point(struct ssreport_study_points *points, const struct ssreport_report *report,
    const struct stats_groups *groups, size_t group, size_t *used) {
    const struct ssreport_differences *differences = &report->differences;
    struct ssreport_study_point *point = &points->items[points->count++];
    *point = (struct ssreport_study_point){
        .first = &report->runs[groups->first[group]], .at = NAN, .runs = points->runs + *used};
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i])
        point->runs[point->rounds++] = &report->runs[i];
    *used += point->rounds;
    qsort(point->runs, point->rounds, sizeof(*point->runs), compare_rounds);
    if (differences->axis < differences->count)
        ssreport_is_number(
            ssreport_columns_get(&point->first->columns, differences->names[differences->axis]),
            &point->at);
}

/* Numbers the series; points are sorted by series. */
static void number_series(
    struct ssreport_study_points *points, const struct ssreport_differences *differences) {
    for (size_t i = 0; i < points->count; i++) {
        struct ssreport_study_point *point = &points->items[i];
        if (i > 0)
            point->series = point[-1].series +
                            (compare_series(differences, point[-1].first, point->first) != 0);
        points->series = point->series + 1;
    }
}

static void set_figures(struct ssreport_study_points *points, double confidence, double *values) {
    for (size_t i = 0; i < points->count; i++) {
        struct ssreport_study_point *point = &points->items[i];
        const struct ssreport_study_point *base = find_base(points, point);
        point->load = mean_of(point, LOAD, values, confidence);
        point->throughput = mean_of(point, THROUGHPUT, values, confidence);
        point->iteration = mean_of(point, ITERATION, values, confidence);
        point->bound = least_bound(point);
        point->relative = base && point->series > 0 ? compare_with(point, base, values, confidence)
                                                    : ssreport_mean_of(values, 0, confidence);
    }
}

int ssreport_study_points_find(
    struct ssreport_study_points *points, const struct ssreport_report *report) {
    struct ssreport_differences *differences = (struct ssreport_differences *)&report->differences;
    const struct stats_key key = {.size = sizeof *report->runs,
        .compare = compare_runs,
        .includes = is_point,
        .context = differences};
    SS_OWNED(groups)
    struct stats_groups groups = stats_group_by(report->runs, report->run_count, &key);
    SS_OWNED(free) double *values = calloc(report->run_count + 1, sizeof *values);
    size_t used = 0;
    *points = (struct ssreport_study_points){
        .items = calloc(groups.count + 1, sizeof *points->items),
        .runs = calloc(report->run_count + 1, sizeof(*points->runs)),
    };
    if (!groups.first || !values || !points->items || !points->runs)
        return -1;
    for (size_t group = 0; group < groups.count; group++)
        add_point(points, report, &groups, group, &used);
    qsort_r(points->items, points->count, sizeof *points->items, compare_points, differences);
    number_series(points, differences);
    set_figures(points, report->settings.confidence, values);
    return 0;
}

void ssreport_study_points_free(struct ssreport_study_points *points) {
    free(points->items);
    free(points->runs);
    *points = (struct ssreport_study_points){0};
}

void ssreport_study_series(char name[200], const struct ssreport_report *report,
    const struct ssreport_study_point *point) {
    const struct ssreport_differences *differences = &report->differences;
    size_t used = 0;
    *name = '\0';
    if (report->compares)
        used = (size_t)snprintf(
            name, 200, "%.60s", ssreport_report_set_name(report, point->first->set));
    for (size_t i = 0; i < differences->count && used < 190; i++) {
        const char *value = ssreport_columns_get(&point->first->columns, differences->names[i]);
        if (i != differences->axis && !differences->follows[i])
            used += (size_t)snprintf(name + used, 200 - used, "%s%s%s%s%.60s", used > 0 ? ", " : "",
                *value ? "" : "no ", differences->names[i], *value ? "=" : "", value);
    }
}
