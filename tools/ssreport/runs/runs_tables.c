/* SPDX-License-Identifier: Apache-2.0 */
#include "runs_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "run_order.h"

/* Number of equidistant loads at which the table curve has values. */
#define LOADS 41

/* Columns have the names that summary.json uses for the same quantities. */
// clang-format off
static const struct table_column run_columns[] = {
    {"record", "record"}, {"set", NULL}, {"state", "state"},
    {"verdict", "verdict"}, {"version", NULL}, {"command", NULL},
    {"started", NULL},
    {"ended_by", NULL},
    {"instances", "instances"}, {"cpu_count", "CPUs"}, {"duration_seconds", "counted, s", 1},
    {"samples", "samples"},
    {"target_mean", "target, %", 2, true}, {"load_mean", "load, %", 2, true},
    {"others", "others, %", 1, true, true},
    {"error_mean_percent", "mean error, %", 3}, {"error_mse_e4", "MSE, %\u00b2", 3},
    {"error_p95_percent", "95 % within, %", 2}, {"settling_seconds", NULL},
    {"duty_mean", "duty, %", 2, true}, {"switches_per_second", "switches, /s", 1},
    {"iterations", NULL}, {"iterations_per_second", "throughput, /s", 3, .if_known = true},
    {"iterations_per_second_bound", "at most, /s", 3, false, true},
    {"iteration_seconds_mean", "iteration, s", 4, .if_known = true},
    {"iteration_seconds_deviation", NULL},
    {"iteration_seconds_median", NULL},
    {"iteration_seconds_p95", "95 % within, s", 4, .if_known = true},
    {"iteration_seconds_p99", NULL},
    {"own_cpu", NULL}, {"wake_lateness_p99_us", "late by (99 %), \u00b5s"},
    {"steal_mean", "steal, %", 2, true, true},
    {"notes", NULL},
};
static const struct table_column step_columns[] = {
    {"record", "record"}, {"step", "step"}, {"half", "half"},
    {"begin_seconds", NULL}, {"end_seconds", NULL},
    {"from_seconds", "from, s", 1}, {"to_seconds", "to, s", 1}, {"target", "target, %", 2, true},
    {"samples", "samples"}, {"load", "load, %", 2, true}, {"load_low", NULL}, {"load_high", NULL},
    {"error_mean_percent", "mean error, %", 3}, {"error_mse_e4", "mean squared error, %\u00b2", 3},
    {"iterations_per_second", "throughput, /s", 3},
    {"iterations_per_second_bound", "at most, /s", 3, false, true}, {"intervals", "whole intervals"},
    {"intervals_mean", "their mean, /s", 3},
    {"iterations_per_second_low", "its confidence, from", 3}, {"iterations_per_second_high", "to", 3},
    {"others", "other processes in the run, %", 1, true, true},
};
static const struct table_column fit_columns[] = {
    {"record", "record"}, {"over", "over"}, {"points", "points"},
    {"intercept", "intercept, /s", 4}, {"intercept_error", "\u00b1", 4}, {"intercept_p", "p", 3},
    {"slope", "slope, /s", 4}, {"slope_error", "\u00b1", 4}, {"slope_p", "p", 3},
    {"r_squared", "R\u00b2", 4}, {"note", "note"},
};
static const struct table_column curve_columns[] = {
    {"record", "record"}, {"points", NULL}, {"bandwidth", NULL}, {"load", "load, %", 2, true},
    {"iterations_per_second", "throughput, /s", 4}, {"low", "its confidence, from", 4},
    {"high", "to", 4}, {"line", "straight line", 4}, {"line_low", NULL}, {"line_high", NULL},
};

const struct table_sheet ssreport_runs_tables[] = {
    TABLE_SHADED("runs", "Runs", run_columns, "verdict"),
    TABLE_INIT("steps", "Steps: stretches of constant target", step_columns),
    TABLE_INIT("fits", "Throughput = intercept + slope \u00b7 load (load from 0 to 1)",
        fit_columns),
    TABLE_INIT("curve", "Throughput against load: local curve", curve_columns),
    {.name = NULL},
};
// clang-format on

static void list_run(struct table_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_record *record = &run->record;
    const struct ssreport_figures *figures = &run->figures;
    TABLE_ROW(sheet, CELL("record", record->name), CELL("set", run->set + 1),
        CELL("state", record->running       ? "running"
                      : record->interrupted ? "interrupted"
                                            : "whole"),
        CELL("verdict", ss_verdict_word(&record->verdict.verdict)),
        CELL("version", record->version), CELL("command", record->command),
        CELL("started", record->started), CELL("ended_by", record->ended_by),
        CELL("instances", record->instance_count), CELL("cpu_count", record->cpu_count),
        CELL("duration_seconds", ssreport_record_counted_to(record) - record->counted_from),
        CELL("samples", figures->samples), CELL("target_mean", figures->target_mean),
        CELL("load_mean", figures->load_mean), CELL("others", run->others),
        CELL("error_mean_percent", figures->error_mean_percent),
        CELL("error_mse_e4", figures->error_mse_e4),
        CELL("error_p95_percent", figures->error_p95_percent),
        CELL("settling_seconds", record->settling), CELL("duty_mean", figures->duty_mean),
        CELL("switches_per_second", record->switches), CELL("iterations", record->iterations_done),
        CELL("iterations_per_second", figures->throughput),
        CELL("iterations_per_second_bound", figures->throughput_bound),
        CELL("iteration_seconds_mean", figures->iteration.mean),
        CELL("iteration_seconds_deviation", figures->iteration.deviation),
        CELL("iteration_seconds_median", figures->iteration.median),
        CELL("iteration_seconds_p95", figures->iteration.p95),
        CELL("iteration_seconds_p99", figures->iteration.p99), CELL("own_cpu", record->own_cpu),
        CELL("wake_lateness_p99_us", record->lateness_p99_us), CELL("steal_mean", record->steal),
        CELL("notes", record->notes.text));
}

void ssreport_runs_list(struct ssreport_report *report) {
    struct table_sheet *sheet = ssreport_table(report, "runs");
    for (size_t i = 0; i < report->run_count; i++)
        list_run(sheet, &report->runs[i]);
    for (size_t i = 0; i < report->failure_count; i++)
        TABLE_ROW(sheet, CELL("record", report->failures[i].name), CELL("state", "not reported"),
            CELL("notes", report->failures[i].why));
}

static void add_steps(const struct ssreport_report *report, const struct ssreport_run *run) {
    struct table_sheet *sheet = ssreport_table(report, "steps");
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        TABLE_ROW(sheet, CELL("record", run->record.name), CELL("step", i + 1),
            CELL("half", step->half ? step->half : NAN), CELL("begin_seconds", step->begin),
            CELL("end_seconds", step->end), CELL("from_seconds", step->from),
            CELL("to_seconds", step->to), CELL("target", step->target),
            CELL("samples", step->load.count), CELL("load", step->load.mean),
            CELL("load_low", step->load.low), CELL("load_high", step->load.high),
            CELL("error_mean_percent", step->error_mean_percent),
            CELL("error_mse_e4", step->error_mse_e4),
            CELL("iterations_per_second", step->throughput),
            CELL("iterations_per_second_bound", step->throughput_bound),
            CELL("intervals", step->rates.count), CELL("intervals_mean", step->rates.mean),
            CELL("iterations_per_second_low", step->rates.low),
            CELL("iterations_per_second_high", step->rates.high), CELL("others", run->others));
    }
}

static void add_fit(const struct ssreport_report *report, const struct ssreport_run *run) {
    const struct ssreport_fit *fit = &run->fit;
    if (run->record.has_iterations)
        TABLE_ROW(ssreport_table(report, "fits"), CELL("record", run->record.name),
            CELL("over", run->fits_steps ? "steps" : "intervals"), CELL("points", fit->count),
            CELL("intercept", fit->intercept), CELL("intercept_error", fit->intercept_error),
            CELL("intercept_p", fit->intercept_p), CELL("slope", fit->slope),
            CELL("slope_error", fit->slope_error), CELL("slope_p", fit->slope_p),
            CELL("r_squared", fit->r_squared), CELL("note", ssreport_fit_missing(fit)));
}

static void add_curve(const struct ssreport_report *report, const struct ssreport_run *run) {
    const struct ssreport_curve *curve = &run->curve;
    for (int i = 0; i < LOADS && curve->count > 0; i++) {
        /* Rounding errors must not exceed the end of the curve. */
        double load = i + 1 < LOADS ? curve->least + (curve->most - curve->least) * i / (LOADS - 1)
                                    : curve->most;
        struct ssreport_band local = ssreport_curve_at(curve, load, run->confidence);
        struct ssreport_band line = ssreport_fit_at(&run->fit, load, run->confidence);
        TABLE_ROW(ssreport_table(report, "curve"), CELL("record", run->record.name),
            CELL("points", curve->count), CELL("bandwidth", curve->bandwidth), CELL("load", load),
            CELL("iterations_per_second", local.y), CELL("low", local.low),
            CELL("high", local.high), CELL("line", line.y), CELL("line_low", line.low),
            CELL("line_high", line.high));
    }
}

/*
 * Returns whether a run can be pooled. Beside another run, throughput does not depend on the run's
 * own load alone.
 */
static bool has_curve(const struct ssreport_run *run, const void *context) {
    (void)context;
    return !run->role && run->record.has_iterations;
}

static int copy_steps(struct ssreport_run *pooled, const struct ssreport_run *run) {
    struct ssreport_steps *steps = &pooled->steps;
    size_t count = steps->count + run->steps.count;
    struct ssreport_step *moved = reallocarray(steps->items, count + 1, sizeof *moved);
    if (!moved)
        return -1;
    for (size_t i = 0; i < run->steps.count; i++) {
        moved[steps->count + i] = run->steps.items[i];
        moved[steps->count + i].is_invalid = ssreport_run_is_invalid(run);
    }
    steps->items = moved;
    steps->count = count;
    return 0;
}

/* Returns whether runs of the report differ in this property. */
static bool differ(const struct ssreport_report *report, unsigned by) {
    for (size_t i = 1; i < report->run_count; i++) {
        if (ssreport_run_compare(&report->runs[0], &report->runs[i], by) != 0)
            return true;
    }
    return false;
}

/*
 * Names what distinguishes the runs from those of other pools. Returns -1 if memory is exhausted.
 */
static int set_name(const struct ssreport_report *report, struct ssreport_run *pooled,
    const struct ssreport_run *one) {
    char instances[40] = "", cpus[40] = "", tau[40] = "";
    size_t size, shown = 0;
    FILE *name = open_memstream(&pooled->record.name, &size);
    bool has_command = !one->workload && differ(report, SSREPORT_BY_COMMAND);
    if (has_command)
        snprintf(instances, sizeof instances, "%.0f instance%s", one->record.instance_count,
            one->record.instance_count == 1 ? "" : "s");
    if (differ(report, SSREPORT_BY_CPUS))
        snprintf(cpus, sizeof cpus, "%.4g CPU%s", one->record.load_cpus,
            one->record.load_cpus == 1 ? "" : "s");
    if (one->tau > 0 && differ(report, SSREPORT_BY_TAU))
        snprintf(tau, sizeof tau, "tau %g ms", 1000 * one->tau);
    const char *const parts[] = {has_command ? one->record.command : one->workload,
        *instances ? instances : NULL, *cpus ? cpus : NULL, one->variant, one->placement,
        one->method, *tau ? tau : NULL, one->trace, one->environment, one->measured_in,
        ssreport_is_word(one->experiment, "throughput") ? NULL : one->experiment};
    pooled->record.has_iterations = true;
    if (!name)
        return -1;
    fputs("all runs", name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i])
            fprintf(name, "%s %.80s", shown++ > 0 ? "," : ":", parts[i]);
    }
    fputs(one->set == 0 ? "" : " (second set)", name);
    return fclose(name) == 0 ? 0 : -1;
}

static int pool_group(
    struct ssreport_report *report, const struct stats_groups *groups, size_t group) {
    struct ssreport_run *pooled = &report->pooled[report->pooled_count];
    const struct ssreport_run *first = &report->runs[groups->first[group]];
    size_t runs = 0;
    *pooled = (struct ssreport_run){
        .set = first->set, .confidence = report->settings.confidence, .others = NAN};
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i], runs++) {
        if (copy_steps(pooled, &report->runs[i]) < 0)
            return -1;
    }
    if (runs < 2 || pooled->steps.count < 3) {
        ssreport_steps_free(&pooled->steps);
        return 0;
    }
    report->pooled_count++;
    return set_name(report, pooled, first) == 0 ? ssreport_run_fit(pooled) : -1;
}

/*
 * Pools the steps of all runs with one workload and method in one environment, and fits a curve to
 * them. Returns -1 if memory is exhausted.
 */
static int pool_runs(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_runs_group(report,
        SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |
            SSREPORT_BY_PLACEMENT | SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_TRACE |
            SSREPORT_BY_CPUS | SSREPORT_BY_COMMAND,
        has_curve, NULL);
    report->pooled = calloc(report->run_count + 1, sizeof *report->pooled);
    if (!report->pooled || !groups.first)
        return -1;
    for (size_t group = 0; group < groups.count; group++) {
        if (pool_group(report, &groups, group) < 0)
            return -1;
    }
    return 0;
}

int ssreport_runs_fill(struct ssreport_report *report) {
    if (pool_runs(report) < 0)
        return -1;
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        add_steps(report, run);
        add_fit(report, run);
        add_curve(report, run);
    }
    for (size_t i = 0; i < report->pooled_count; i++) {
        add_fit(report, &report->pooled[i]);
        add_curve(report, &report->pooled[i]);
    }
    return 0;
}
