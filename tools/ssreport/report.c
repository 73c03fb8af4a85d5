/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names of quantities that a summary has, too, are those of the summary. */
// clang-format off
static const struct ssreport_column run_columns[] = {
    {"record", "record"}, {"set", NULL}, {"state", "state"}, {"version", NULL}, {"command", NULL},
    {"started", NULL},
    {"ended_by", NULL},
    {"instances", "instances"}, {"cpu_count", "CPUs"}, {"duration_seconds", "counted, s", 1},
    {"samples", "samples"},
    {"target_mean", "target, %", 2, true}, {"load_mean", "load, %", 2, true},
    {"others", "others, %", 1, true, true},
    {"error_mean_percent", "mean error, %", 3}, {"error_mse_e4", "mean squared error, %\u00b2", 3},
    {"error_p95_percent", "95 % within, %", 2}, {"settling_seconds", NULL},
    {"duty_mean", "duty, %", 2, true}, {"switches_per_second", "switches, /s", 1},
    {"iterations", NULL}, {"iterations_per_second", "throughput, /s", 3},
    {"iterations_per_second_bound", "at most, /s", 3, false, true},
    {"iteration_seconds_mean", "iteration, s", 4}, {"iteration_seconds_deviation", NULL},
    {"iteration_seconds_median", NULL}, {"iteration_seconds_p95", "95 % within, s", 4},
    {"iteration_seconds_p99", NULL},
    {"own_cpu", NULL}, {"wake_lateness_p99_us", "late wake-up (99 %), \u00b5s"},
    {"steal_mean", "steal, %", 2, true, true},
    {"notes", NULL},
};
static const struct ssreport_column step_columns[] = {
    {"record", "record"}, {"step", "step"}, {"half", "half"},
    {"begin_seconds", NULL}, {"end_seconds", NULL},
    {"from_seconds", "from, s", 1}, {"to_seconds", "to, s", 1}, {"target", "target, %", 2, true},
    {"samples", "samples"}, {"load", "load, %", 2, true}, {"load_low", NULL}, {"load_high", NULL},
    {"error_mean_percent", "mean error, %", 3}, {"error_mse_e4", "mean squared error, %\u00b2", 3},
    {"iterations_per_second", "throughput, /s", 3},
    {"iterations_per_second_bound", "at most, /s", 3, false, true}, {"intervals", "whole intervals"},
    {"intervals_mean", "their mean, /s", 3},
    {"iterations_per_second_low", "its confidence, from", 3}, {"iterations_per_second_high", "to", 3},
    {"others", "others in the run, %", 1, true, true},
};
static const struct ssreport_column fit_columns[] = {
    {"record", "record"}, {"over", "over"}, {"points", "points"},
    {"intercept", "intercept, /s", 4}, {"intercept_error", "\u00b1", 4}, {"intercept_p", "p", 3},
    {"slope", "slope, /s", 4}, {"slope_error", "\u00b1", 4}, {"slope_p", "p", 3},
    {"r_squared", "R\u00b2", 4}, {"note", "note"},
};
static const struct ssreport_column error_columns[] = {
    {"record", NULL}, {"from_percent", NULL}, {"to_percent", NULL}, {"samples", NULL},
    {"share", NULL},
};
static const struct ssreport_column duty_columns[] = {
    {"record", NULL}, {"instance", NULL}, {"duty_mean", NULL}, {"duty_min", NULL},
    {"duty_max", NULL}, {"known_seconds", NULL},
};
static const struct ssreport_column throughput_columns[] = {
    {"record", NULL}, {"from_seconds", NULL}, {"to_seconds", NULL}, {"load", NULL},
    {"iterations", NULL}, {"iterations_per_second", NULL},
};
// clang-format on

static void add_run(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_record *record = &run->record;
    SSREPORT_TEXTS(sheet, record->name);
    SSREPORT_NUMBERS(sheet, run->set + 1);
    SSREPORT_TEXTS(sheet, record->interrupted ? "interrupted" : "whole", record->version,
        record->command, record->started, record->ended_by);
    SSREPORT_NUMBERS(sheet, record->instance_count, record->cpu_count,
        ssreport_record_counted_to(record) - record->counted_from, (double)run->figures.samples,
        run->figures.target_mean, run->figures.load_mean, run->others,
        run->figures.error_mean_percent, run->figures.error_mse_e4, run->figures.error_p95_percent,
        record->settling, run->figures.duty_mean, record->switches, record->iterations_done,
        run->figures.throughput, run->figures.throughput_bound, run->figures.iteration.mean,
        run->figures.iteration.deviation, run->figures.iteration.median, run->figures.iteration.p95,
        run->figures.iteration.p99, record->own_cpu, record->lateness_p99_us, record->steal);
    SSREPORT_TEXTS(sheet, record->notes.text);
}

static void add_failure(struct ssreport_sheet *sheet, const struct ssreport_failure *failure) {
    SSREPORT_TEXTS(sheet, failure->name);
    SSREPORT_NUMBERS(sheet, NAN);
    SSREPORT_TEXTS(sheet, "not reported");
    for (size_t i = 3; i + 1 < sheet->column_count; i++)
        SSREPORT_NUMBERS(sheet, NAN);
    SSREPORT_TEXTS(sheet, failure->why);
}

static void add_steps(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(sheet, (double)(i + 1), step->half ? step->half : NAN, step->begin,
            step->end, step->from, step->to, step->target, (double)step->load.count,
            step->load.mean, step->load.low, step->load.high, step->error_mean_percent,
            step->error_mse_e4, step->throughput, step->throughput_bound, (double)step->rates.count,
            step->rates.mean, step->rates.low, step->rates.high, run->others);
    }
}

static void add_fit(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_fit *fit = &run->fit;
    if (!run->record.has_iterations)
        return;
    SSREPORT_TEXTS(sheet, run->record.name, run->fits_steps ? "steps" : "intervals");
    SSREPORT_NUMBERS(sheet, (double)fit->count, fit->intercept, fit->intercept_error,
        fit->intercept_p, fit->slope, fit->slope_error, fit->slope_p, fit->r_squared);
    SSREPORT_TEXTS(sheet, ssreport_fit_missing(fit));
}

static void add_errors(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_distribution *errors = &run->errors;
    for (size_t i = 0; i < SSREPORT_BINS && run->figures.samples > 0; i++) {
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(sheet, i > 0 ? errors->from + (double)i * errors->width : -INFINITY,
            i + 1 < SSREPORT_BINS ? errors->from + (double)(i + 1) * errors->width : INFINITY,
            (double)errors->counts[i], (double)errors->counts[i] / (double)run->figures.samples);
    }
}

static void add_duties(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->record.instance_room; i++) {
        const struct ssreport_instance *instance = &run->record.instances[i];
        if (!(instance->all.known > 0))
            continue;
        struct ssreport_range range = ssreport_instance_range(instance);
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(sheet, (double)instance->number,
            instance->all.running / instance->all.known, range.least, range.most,
            instance->all.known);
    }
}

static void add_throughput(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_rates *rates = &run->rates;
    for (size_t i = 0; i < rates->count; i++) {
        double from = rates->from + (double)i * rates->interval;
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(sheet, from, from + rates->interval,
            ssreport_run_load(&run->record, from, from + rates->interval),
            rates->parts[i] * rates->interval, rates->parts[i]);
    }
}

/* ---- titles ---- */

/* Shortens the prefix to the folders that a path begins with, too. */
static void share_prefix(struct ssreport_report *report, const char *path) {
    if (*path != '/')
        return;
    size_t length = 0;
    if (!report->prefix)
        report->prefix = strdup(path);
    if (!report->prefix)
        return;
    for (size_t i = 0; report->prefix[i] && report->prefix[i] == path[i]; i++)
        length = path[i] == '/' && path[i + 1] ? i + 1 : length;
    report->prefix[length] = '\0';
}

static const char *without_prefix(const struct ssreport_report *report, const char *path) {
    size_t length = report->prefix ? strlen(report->prefix) : 0;
    return length > 0 && strncmp(path, report->prefix, length) == 0 ? path + length : path;
}

void ssreport_report_choose_titles(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++)
        share_prefix(report, report->runs[i].record.name);
    for (size_t i = 0; i < report->response_count; i++)
        share_prefix(report, report->responses[i].name);
    for (size_t i = 0; i < report->run_count; i++)
        report->runs[i].record.title = without_prefix(report, report->runs[i].record.name);
    for (size_t i = 0; i < report->response_count; i++)
        report->responses[i].title = without_prefix(report, report->responses[i].name);
}

void ssreport_report_fill(struct ssreport_report *report) {
    struct ssreport_sheet *sheets = report->sheets;
    sheets[SSREPORT_RUNS] = SSREPORT_SHEET("runs", "Runs", run_columns);
    sheets[SSREPORT_STEPS] =
        SSREPORT_SHEET("steps", "Steps: stretches of constant target", step_columns);
    sheets[SSREPORT_FITS] = SSREPORT_SHEET(
        "fits", "Throughput = intercept + slope \u00b7 load (load from 0 to 1)", fit_columns);
    sheets[SSREPORT_ERRORS] = SSREPORT_SHEET("errors", "Distribution of errors", error_columns);
    sheets[SSREPORT_DUTY] = SSREPORT_SHEET("duty", "Duty of each instance", duty_columns);
    sheets[SSREPORT_THROUGHPUT] =
        SSREPORT_SHEET("throughput", "Throughput over time", throughput_columns);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        add_run(&sheets[SSREPORT_RUNS], run);
        add_steps(&sheets[SSREPORT_STEPS], run);
        add_fit(&sheets[SSREPORT_FITS], run);
        add_errors(&sheets[SSREPORT_ERRORS], run);
        add_duties(&sheets[SSREPORT_DUTY], run);
        add_throughput(&sheets[SSREPORT_THROUGHPUT], run);
    }
    for (size_t i = 0; i < report->together_count; i++)
        add_fit(&sheets[SSREPORT_FITS], &report->together[i]);
    for (size_t i = 0; i < report->failure_count; i++)
        add_failure(&sheets[SSREPORT_RUNS], &report->failures[i]);
    for (int i = 0; i < SSREPORT_SHEETS; i++)
        sheets[i].prefix = report->prefix;
}

void ssreport_report_name_empty(const struct ssreport_report *report, char *text, size_t size) {
    *text = '\0';
    for (size_t i = 0; i < SSREPORT_SHEETS; i++) {
        const struct ssreport_sheet *sheet = &report->sheets[i];
        size_t used = strlen(text);
        if (ssreport_sheet_rows(sheet) == 0)
            snprintf(text + used, size - used, "%s%s.csv", used > 0 ? ", " : "", sheet->name);
    }
}
