/* SPDX-License-Identifier: Apache-2.0 */
#include "methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "findings.h"
#include "run_order.h"

/* Targets that differ by less than this are equal. */
#define SAME 1e-4

#define ONE_METHOD (SSREPORT_BY_WORKLOAD | SSREPORT_BY_METHOD | SSREPORT_BY_TAU)

/*
 * Methods without control or with a constant duty. If their ranges are equally wide, the first is
 * used.
 */
static const char *const baselines[] = {"nbench", "nbench-fit", "1cdc", NULL};

static bool is_point(const struct ssreport_run *run, const void *context) {
    (void)context;
    return ssreport_is_word(run->experiment, "throughput") && !run->role && run->workload &&
           run->method && run->record.has_iterations;
}

struct stats_groups ssreport_methods_group(const struct ssreport_report *report) {
    return ssreport_runs_group(report,
        SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_FAMILY | SSREPORT_BY_CPUS, is_point,
        NULL);
}

bool ssreport_methods_is_one(const struct ssreport_run *left, const struct ssreport_run *right) {
    return ssreport_run_compare(left, right, ONE_METHOD) == 0;
}

void ssreport_methods_name(char *name, size_t size, const struct ssreport_run *run) {
    int used = snprintf(name, size, "%.60s", run->method);
    if (run->tau > 0 && used > 0 && (size_t)used < size)
        used += snprintf(name + used, size - (size_t)used, ", %g ms", 1000 * run->tau);
    if (run->variant && used > 0 && (size_t)used < size)
        snprintf(name + used, size - (size_t)used, ", %s", run->variant);
}

/* Returns the target of the run or, if the run has several, of the step. */
static double target_of(const struct ssreport_method_point *point) {
    return point->run->target > 0 ? point->run->target : point->step->target;
}

static int compare_points(const void *left, const void *right) {
    const struct ssreport_method_point *one = left, *other = right;
    double targets[] = {target_of(one), target_of(other)};
    return STATS_ORDER(ssreport_run_compare(one->run, other->run, ONE_METHOD),
        fabs(targets[0] - targets[1]) <= SAME ? 0
                                              : ssreport_compare_numbers(targets[0], targets[1]),
        ssreport_compare_numbers(one->step->load.mean, other->step->load.mean));
}

static int collect(struct ssreport_methods *methods, const struct ssreport_report *report,
    const struct stats_groups *groups, size_t group) {
    size_t room = 1;
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i])
        room += report->runs[i].steps.count;
    methods->points = calloc(room, sizeof *methods->points);
    if (!methods->points)
        return -1;
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i]) {
        const struct ssreport_run *run = &report->runs[i];
        for (size_t j = 0; j < run->steps.count; j++) {
            const struct ssreport_step *step = &run->steps.items[j];
            if (isfinite(step->throughput) && isfinite(step->load.mean))
                methods->points[methods->count++] =
                    (struct ssreport_method_point){.run = run, .step = step};
        }
    }
    qsort(methods->points, methods->count, sizeof *methods->points, compare_points);
    return 0;
}

bool ssreport_methods_is_baseline(
    const struct ssreport_methods *methods, const struct ssreport_run *run) {
    return methods->baseline && ssreport_methods_is_one(run, methods->baseline);
}

static double range_of(const struct ssreport_methods *methods, const struct ssreport_run *run) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < methods->count; i++) {
        const struct ssreport_method_point *point = &methods->points[i];
        if (!ssreport_methods_is_one(point->run, run))
            continue;
        least = fmin(least, point->step->load.mean);
        most = fmax(most, point->step->load.mean);
    }
    return most - least;
}

static void choose_baseline(struct ssreport_methods *methods) {
    double widest = 0;
    for (size_t i = 0; baselines[i]; i++) {
        for (size_t j = 0; j < methods->count; j++) {
            const struct ssreport_run *run = methods->points[j].run;
            double range = strcmp(run->method, baselines[i]) == 0 ? range_of(methods, run) : 0;
            if (!(range > widest))
                continue;
            widest = range;
            methods->baseline = run;
        }
    }
}

static int by_load(const void *left, const void *right) {
    const struct ssreport_knot *one = left, *other = right;
    return ssreport_compare_numbers(one->load, other->load);
}

/* Finds the knots of the baseline: the mean of all repetitions at each target. */
static int find_knots(struct ssreport_methods *methods) {
    methods->knot = calloc(methods->count + 1, sizeof *methods->knot);
    if (!methods->knot)
        return -1;
    size_t same = 0;
    double target = NAN;
    for (size_t i = 0; methods->baseline && i < methods->count; i++) {
        const struct ssreport_method_point *point = &methods->points[i];
        if (!ssreport_methods_is_one(point->run, methods->baseline) || point->step->is_exceeded)
            continue;
        if (!(fabs(target_of(point) - target) <= SAME)) {
            target = target_of(point);
            methods->knot[methods->knots++] =
                (struct ssreport_knot){.others_least = NAN, .others_most = NAN};
            same = 0;
        }
        struct ssreport_knot *knot = &methods->knot[methods->knots - 1];
        same++;
        knot->load += (point->step->load.mean - knot->load) / (double)same;
        knot->throughput += (point->step->throughput - knot->throughput) / (double)same;
        knot->others_least = fmin(knot->others_least, point->run->others);
        knot->others_most = fmax(knot->others_most, point->run->others);
    }
    qsort(methods->knot, methods->knots, sizeof *methods->knot, by_load);
    return 0;
}

/* Returns the lower of the two knots around a load; NULL outside of the baseline. */
static const struct ssreport_knot *find_knot(const struct ssreport_methods *methods, double load) {
    for (size_t i = 1; i < methods->knots; i++) {
        const struct ssreport_knot *knot = &methods->knot[i - 1];
        if (load >= knot[0].load && load <= knot[1].load)
            return knot;
    }
    return NULL;
}

/* Returns the baseline at a load, interpolated between its targets; NaN outside of them. */
static double find_baseline(const struct ssreport_methods *methods, double load) {
    const struct ssreport_knot *knot = find_knot(methods, load);
    if (!knot)
        return NAN;
    double from = knot[0].load, to = knot[1].load;
    double part = to > from ? (load - from) / (to - from) : 0.5;
    return knot[0].throughput + part * (knot[1].throughput - knot[0].throughput);
}

/*
 * Returns whether a point must not be compared, because at this load other processes used a
 * different part of the machine than during the baseline.
 */
static bool is_forbidden(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point) {
    const struct ssreport_knot *knot = find_knot(methods, point->step->load.mean);
    double others = point->run->others;
    return knot && !ssreport_methods_is_baseline(methods, point->run) &&
           !(ssreport_others_permit(others, knot[0].others_least) &&
               ssreport_others_permit(others, knot[0].others_most) &&
               ssreport_others_permit(others, knot[1].others_least) &&
               ssreport_others_permit(others, knot[1].others_most));
}

double ssreport_methods_deviation(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point) {
    double baseline = find_baseline(methods, point->step->load.mean);
    return baseline > 0 && !point->step->is_exceeded && !is_forbidden(methods, point)
               ? 100 * (point->step->throughput / baseline - 1)
               : NAN;
}

int ssreport_methods_of(struct ssreport_methods *methods, const struct ssreport_report *report,
    const struct stats_groups *groups, size_t group) {
    *methods = (struct ssreport_methods){0};
    if (collect(methods, report, groups, group) < 0)
        return -1;
    choose_baseline(methods);
    return find_knots(methods);
}

void ssreport_methods_free(struct ssreport_methods *methods) {
    free(methods->points);
    free(methods->knot);
    *methods = (struct ssreport_methods){0};
}

/* Adds a row to one of the tables, and sets the cells that both tables have in common. */
static void add_row(struct table_sheet *sheet, const struct ssreport_run *run) {
    TABLE_ROW(sheet, CELL("set", run->set + 1), CELL("environment", ssreport_run_environment(run)),
        CELL("measured_in", run->measured_in), CELL("workload", run->workload),
        CELL("method", run->method), CELL("tau_seconds", run->tau > 0 ? run->tau : NAN),
        CELL("variant", run->variant), CELL("cpus", run->record.load_cpus));
}

static const char *describe_point(const struct ssreport_methods *methods,
    const struct ssreport_method_point *point, double baseline) {
    if (point->step->is_exceeded)
        return "not compared: iterations take longer than the step";
    if (!methods->baseline)
        return "no baseline";
    if (ssreport_methods_is_baseline(methods, point->run))
        return "the baseline itself";
    if (isnan(baseline))
        return "outside the loads of the baseline";
    if (is_forbidden(methods, point))
        return "not compared: other processes used a different share of the machine";
    return ssreport_others_disturb(point->run->others) ? "disturbed by other processes" : "";
}

static void add_point(struct table_sheet *sheet, const struct ssreport_methods *methods,
    const struct ssreport_method_point *point, const char *name) {
    const struct ssreport_run *run = point->run;
    const struct ssreport_step *step = point->step;
    double baseline = find_baseline(methods, step->load.mean);
    double deviation = ssreport_methods_is_baseline(methods, run)
                           ? NAN
                           : ssreport_methods_deviation(methods, point);
    add_row(sheet, run);
    TABLE_CELLS(sheet, CELL("round", run->round > 0 ? run->round : NAN),
        CELL("target", target_of(point)), CELL("half", step->half ? step->half : NAN),
        CELL("load", step->load.mean), CELL("iterations_per_second", step->throughput),
        CELL("baseline", name), CELL("baseline_iterations_per_second", baseline),
        CELL("deviation_percent", deviation), CELL("others", run->others),
        CELL("note", describe_point(methods, point, baseline)), CELL("record", run->record.name));
}

/* Adds a row for the points of a method, from `first` to `end` - 1. */
static void add_method(struct table_sheet *sheet, const struct ssreport_methods *methods,
    size_t first, size_t end, const char *name) {
    const struct ssreport_run *run = methods->points[first].run;
    double sum = 0, least = INFINITY, most = -INFINITY, from = INFINITY, to = -INFINITY;
    double others = NAN;
    size_t compared = 0;
    for (size_t i = first; i < end; i++) {
        const struct ssreport_method_point *point = &methods->points[i];
        double deviation = ssreport_methods_deviation(methods, point);
        from = fmin(from, point->step->load.mean);
        to = fmax(to, point->step->load.mean);
        others = fmax(others, point->run->others);
        if (isnan(deviation) || ssreport_methods_is_baseline(methods, run))
            continue;
        compared++;
        sum += deviation;
        least = fmin(least, deviation);
        most = fmax(most, deviation);
    }
    add_row(sheet, run);
    TABLE_CELLS(sheet,
        CELL("baseline", ssreport_methods_is_baseline(methods, run) ? "itself" : name),
        CELL("points", end - first), CELL("compared", compared), CELL("load_least", from),
        CELL("load_most", to), CELL("deviation_mean_percent", sum / (double)compared),
        CELL("deviation_least_percent", least), CELL("deviation_most_percent", most),
        CELL("others_most", others));
}

/* Adds a finding about steps that are not compared because of other processes. */
static void find_forbidden(struct ssreport_report *report, const struct ssreport_methods *methods,
    size_t first, size_t end, const char *baseline) {
    const struct ssreport_run *run = methods->points[first].run;
    size_t forbidden = 0;
    double most = 0, baseline_most = 0;
    char name[100];
    for (size_t i = first; i < end; i++) {
        if (!is_forbidden(methods, &methods->points[i]))
            continue;
        forbidden++;
        most = fmax(most, methods->points[i].run->others);
    }
    for (size_t i = 0; i < methods->knots; i++)
        baseline_most = fmax(baseline_most, methods->knot[i].others_most);
    ssreport_methods_name(name, sizeof name, run);
    if (forbidden > 0)
        ssreport_findings_add(report, "others",
            "%.100s: %s is not compared with %s in %zu of %zu steps. Other processes used up to "
            "%.1f %% of the machine with this method and up to %.1f %% with the baseline, which "
            "may explain a difference in throughput.",
            run->workload, name, baseline, forbidden, end - first, 100 * most, 100 * baseline_most);
}

static void add_methods(struct ssreport_report *report, const struct ssreport_methods *methods) {
    char baseline[100] = "";
    if (methods->baseline)
        ssreport_methods_name(baseline, sizeof baseline, methods->baseline);
    for (size_t first = 0, end; first < methods->count; first = end) {
        for (end = first; end < methods->count && ssreport_methods_is_one(methods->points[end].run,
                                                      methods->points[first].run);
             end++)
            add_point(ssreport_table(report, "methods"), methods, &methods->points[end], baseline);
        add_method(ssreport_table(report, "methods-deviation"), methods, first, end, baseline);
        find_forbidden(report, methods, first, end, baseline);
    }
}

int ssreport_methods_fill(struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_methods_group(report);
    int result = groups.first ? 0 : -1;
    for (size_t group = 0; result == 0 && group < groups.count; group++) {
        struct ssreport_methods methods;
        result = ssreport_methods_of(&methods, report, &groups, group);
        if (result == 0)
            add_methods(report, &methods);
        ssreport_methods_free(&methods);
    }
    return result;
}
