/* SPDX-License-Identifier: Apache-2.0 */
#include "methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two targets that differ by less are one. */
#define SAME 1e-4

/* Numbers stand in a manifest with ten digits. */
#define SAME_NUMBER 1e-9

/* What runs without control, or with a constant duty, in the order of preference. */
static const char *const baselines[] = {"nbench", "nbench-fit", "1cdc", NULL};

// clang-format off
static const struct ssreport_column method_columns[] = {
    {"set", NULL}, {"environment", "environment"}, {"measured_in", NULL}, {"workload", "workload"},
    {"method", "method"}, {"tau_seconds", "mean round, s", 3}, {"round", "round"},
    {"target", "target, %", 2, true}, {"half", NULL}, {"load", "load, %", 2, true},
    {"iterations_per_second", "throughput, /s", 4}, {"baseline", "baseline"},
    {"baseline_iterations_per_second", "its throughput there", 4},
    {"deviation_percent", "deviation, %", 2}, {"others", "others, %", 1, true, true},
    {"note", "note"}, {"record", NULL},
};
static const struct ssreport_column deviation_columns[] = {
    {"set", NULL}, {"environment", "environment"}, {"measured_in", NULL}, {"workload", "workload"},
    {"method", "method"}, {"tau_seconds", "mean round, s", 3}, {"baseline", "baseline"},
    {"points", "points"}, {"compared", "within its loads"}, {"load_least", "loads from, %", 1, true},
    {"load_most", "to", 1, true}, {"deviation_mean_percent", "deviation, mean, %", 2},
    {"deviation_least_percent", "least", 2}, {"deviation_most_percent", "largest", 2},
    {"others_most", "others, at most, %", 1, true, true},
};
// clang-format on

static bool is_point(const struct ssreport_run *run) {
    return ssreport_is_word(run->experiment, "throughput") && !run->role && run->workload &&
           run->method && run->record.has_iterations;
}

static bool is_one_group(const struct ssreport_run *left, const struct ssreport_run *right) {
    return left->set == right->set && ssreport_is_one_environment(left, right) &&
           ssreport_is_same(left->measured_in, right->measured_in) &&
           ssreport_is_word(left->workload, right->workload);
}

bool ssreport_methods_is_first(const struct ssreport_report *report, size_t run) {
    for (size_t i = 0; i < run; i++) {
        if (is_point(&report->runs[i]) && is_one_group(&report->runs[i], &report->runs[run]))
            return false;
    }
    return is_point(&report->runs[run]);
}

bool ssreport_methods_is_one(const struct ssreport_run *left, const struct ssreport_run *right) {
    return ssreport_is_word(left->method, right->method) &&
           fabs(left->tau - right->tau) <= SAME_NUMBER;
}

void ssreport_methods_name(char *name, size_t size, const struct ssreport_run *run) {
    int used = snprintf(name, size, "%.60s", run->method);
    if (run->tau > 0 && used > 0 && (size_t)used < size)
        snprintf(name + used, size - (size_t)used, ", %g ms", 1000 * run->tau);
}

/* ---- points ---- */

/* Of the run or, if that changes, of the step. */
static double target_of(const struct ssreport_method_point *point) {
    return point->run->target > 0 ? point->run->target : point->step->target;
}

static int compare_numbers(double left, double right) {
    return (left > right) - (left < right);
}

static int compare_points(const void *left, const void *right) {
    const struct ssreport_method_point *one = left, *other = right;
    int order = strcmp(one->run->method, other->run->method);
    if (order == 0 && !ssreport_methods_is_one(one->run, other->run))
        order = compare_numbers(one->run->tau, other->run->tau);
    if (order == 0 && fabs(target_of(one) - target_of(other)) > SAME)
        order = compare_numbers(target_of(one), target_of(other));
    return order ? order : compare_numbers(one->step->load.mean, other->step->load.mean);
}

static int collect(struct ssreport_methods *methods, const struct ssreport_report *report,
    const struct ssreport_run *of) {
    size_t room = 1;
    for (size_t i = 0; i < report->run_count; i++)
        room += report->runs[i].steps.count;
    methods->points = calloc(room, sizeof *methods->points);
    if (!methods->points)
        return -1;
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        for (size_t j = 0; is_point(run) && is_one_group(run, of) && j < run->steps.count; j++) {
            const struct ssreport_step *step = &run->steps.items[j];
            if (isfinite(step->throughput) && isfinite(step->load.mean))
                methods->points[methods->count++] =
                    (struct ssreport_method_point){.run = run, .step = step};
        }
    }
    qsort(methods->points, methods->count, sizeof *methods->points, compare_points);
    return 0;
}

/* ---- the baseline ---- */

static bool is_baseline(const struct ssreport_methods *methods, const struct ssreport_run *run) {
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
    return compare_numbers(one->load, other->load);
}

/* Repetitions of a target make one knot. */
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

/* The knots on both sides of a load; NULL: it is outside. */
static const struct ssreport_knot *find_knot(const struct ssreport_methods *methods, double load) {
    for (size_t i = 1; i < methods->knots; i++) {
        const struct ssreport_knot *knot = &methods->knot[i - 1];
        if (load >= knot[0].load && load <= knot[1].load)
            return knot;
    }
    return NULL;
}

double ssreport_methods_baseline(const struct ssreport_methods *methods, double load) {
    const struct ssreport_knot *knot = find_knot(methods, load);
    if (!knot)
        return NAN;
    double from = knot[0].load, to = knot[1].load;
    double part = to > from ? (load - from) / (to - from) : 0.5;
    return knot[0].throughput + part * (knot[1].throughput - knot[0].throughput);
}

bool ssreport_methods_is_forbidden(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point) {
    const struct ssreport_knot *knot = find_knot(methods, point->step->load.mean);
    double others = point->run->others;
    return knot && !is_baseline(methods, point->run) &&
           !(ssreport_others_permit(others, knot[0].others_least) &&
               ssreport_others_permit(others, knot[0].others_most) &&
               ssreport_others_permit(others, knot[1].others_least) &&
               ssreport_others_permit(others, knot[1].others_most));
}

double ssreport_methods_deviation(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point) {
    double baseline = ssreport_methods_baseline(methods, point->step->load.mean);
    return baseline > 0 && !point->step->is_exceeded &&
                   !ssreport_methods_is_forbidden(methods, point)
               ? 100 * (point->step->throughput / baseline - 1)
               : NAN;
}

int ssreport_methods_of(struct ssreport_methods *methods, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    *methods = (struct ssreport_methods){0};
    if (collect(methods, report, run) < 0)
        return -1;
    choose_baseline(methods);
    return find_knots(methods);
}

void ssreport_methods_free(struct ssreport_methods *methods) {
    free(methods->points);
    free(methods->knot);
    *methods = (struct ssreport_methods){0};
}

/* ---- tables ---- */

static void add_group(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    SSREPORT_NUMBERS(sheet, run->set + 1);
    SSREPORT_TEXTS(
        sheet, ssreport_run_environment(run), run->measured_in, run->workload, run->method);
    SSREPORT_NUMBERS(sheet, run->tau > 0 ? run->tau : NAN);
}

static void add_point(struct ssreport_sheet *sheet, const struct ssreport_methods *methods,
    const struct ssreport_method_point *point) {
    const struct ssreport_run *run = point->run;
    const struct ssreport_step *step = point->step;
    bool is_own = is_baseline(methods, run);
    double baseline = ssreport_methods_baseline(methods, step->load.mean);
    char name[100] = "";
    if (methods->baseline)
        ssreport_methods_name(name, sizeof name, methods->baseline);
    add_group(sheet, run);
    SSREPORT_NUMBERS(sheet, run->round > 0 ? run->round : NAN, target_of(point),
        step->half ? step->half : NAN, step->load.mean, step->throughput);
    SSREPORT_TEXTS(sheet, name);
    SSREPORT_NUMBERS(
        sheet, baseline, is_own ? NAN : ssreport_methods_deviation(methods, point), run->others);
    SSREPORT_TEXTS(sheet,
        step->is_exceeded    ? "not compared: iterations take longer than the step"
        : !methods->baseline ? "no baseline"
        : is_own             ? "the baseline itself"
        : isnan(baseline)    ? "outside the loads of the baseline"
        : ssreport_methods_is_forbidden(methods, point)
            ? "not compared: others used another part of the machine"
        : ssreport_others_disturb(run->others) ? "disturbed by others"
                                               : "",
        run->record.name);
}

/* All points of a method, of which `first` is one. */
static void add_method(
    struct ssreport_sheet *sheet, const struct ssreport_methods *methods, size_t first) {
    const struct ssreport_run *run = methods->points[first].run;
    double sum = 0, least = INFINITY, most = -INFINITY, from = INFINITY, to = -INFINITY;
    double others = NAN;
    size_t count = 0, compared = 0;
    char name[100] = "";
    for (size_t i = first;
         i < methods->count && ssreport_methods_is_one(methods->points[i].run, run); i++) {
        const struct ssreport_method_point *point = &methods->points[i];
        double deviation = ssreport_methods_deviation(methods, point);
        count++;
        from = fmin(from, point->step->load.mean);
        to = fmax(to, point->step->load.mean);
        others = fmax(others, point->run->others);
        if (isnan(deviation) || is_baseline(methods, run))
            continue;
        compared++;
        sum += deviation;
        least = fmin(least, deviation);
        most = fmax(most, deviation);
    }
    if (methods->baseline)
        ssreport_methods_name(name, sizeof name, methods->baseline);
    add_group(sheet, run);
    SSREPORT_TEXTS(sheet, is_baseline(methods, run) ? "itself" : name);
    SSREPORT_NUMBERS(sheet, (double)count, (double)compared, from, to, sum / (double)compared,
        least, most, others);
}

static void add_methods(struct ssreport_report *report, const struct ssreport_methods *methods) {
    for (size_t i = 0; i < methods->count; i++) {
        add_point(&report->sheets[SSREPORT_METHODS], methods, &methods->points[i]);
        if (i == 0 || !ssreport_methods_is_one(methods->points[i - 1].run, methods->points[i].run))
            add_method(&report->sheets[SSREPORT_METHODS_DEVIATION], methods, i);
    }
}

int ssreport_report_methods(struct ssreport_report *report) {
    report->sheets[SSREPORT_METHODS] = SSREPORT_SHEET("methods",
        "Throughput at each load, against the baseline (cdc: constant duty cycle, 1cdc: of one "
        "instance)",
        method_columns);
    report->sheets[SSREPORT_METHODS_DEVIATION] = SSREPORT_SHEET("methods-deviation",
        "Deviation of each method from the baseline without control", deviation_columns);
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_methods methods;
        if (!ssreport_methods_is_first(report, i))
            continue;
        int result = ssreport_methods_of(&methods, report, &report->runs[i]);
        if (result == 0)
            add_methods(report, &methods);
        ssreport_methods_free(&methods);
        if (result < 0)
            return -1;
    }
    return 0;
}
