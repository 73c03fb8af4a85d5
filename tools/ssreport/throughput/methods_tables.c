/* SPDX-License-Identifier: Apache-2.0 */

/* Fills the tables methods and methods-deviation, and adds findings about omitted comparisons. */

#include <math.h>

#include "base/owned.h"
#include "findings.h"
#include "methods.h"

/* Adds a row, and sets the cells that both tables have in common. */
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
    if (ssreport_methods_is_forbidden(methods, point))
        return "not compared: other processes used a different share of the machine";
    return ssreport_others_disturb(point->run->others) ? "disturbed by other processes" : "";
}

static void add_point(struct table_sheet *sheet, const struct ssreport_methods *methods,
    const struct ssreport_method_point *point, const char *name) {
    const struct ssreport_run *run = point->run;
    const struct ssreport_step *step = point->step;
    double baseline = ssreport_methods_baseline(methods, step->load.mean);
    double deviation = ssreport_methods_is_baseline(methods, run)
                           ? NAN
                           : ssreport_methods_deviation(methods, point);
    add_row(sheet, run);
    TABLE_CELLS(sheet, CELL("round", run->round > 0 ? run->round : NAN),
        CELL("target", ssreport_methods_target(point)), CELL("half", step->half ? step->half : NAN),
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
        if (!ssreport_methods_is_forbidden(methods, &methods->points[i]))
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
