/* SPDX-License-Identifier: Apache-2.0 */
#include "summary_text.h"

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "options/option.h"
#include "pair_findings.h"

/* Steps are printed where there are no more runs. */
#define STEPS_OF_MAX 4

/* So many findings on single pairs, and so many pairs, are printed. */
#define SENTENCES_MAX 12
#define PAIRS_MAX     40

/* Its end tells more of a path than its beginning. */
static void print_name(FILE *stream, const char *name, int width) {
    char shown[96];
    snprintf(shown, sizeof shown, "%s", ss_words_show(name).text);
    size_t length = strlen(shown);
    if (length <= (size_t)width)
        fprintf(stream, "%-*s", width, shown);
    else
        fprintf(stream, "..%s", shown + length - (size_t)width + 2);
}

/* A dash where it is not known. */
static void print_number(FILE *stream, int width, int decimals, double number) {
    if (fabs(number) < 0.5 * pow(10, -decimals))
        number = 0; /* no negative one */
    if (isfinite(number))
        fprintf(stream, " %*.*f", width, decimals, number);
    else
        fprintf(stream, " %*s", width, "-");
}

/* A throughput, or the most that it can be if there was no iteration. */
static void print_throughput(FILE *stream, int width, double throughput, double bound) {
    char text[40];
    snprintf(text, sizeof text, "<= %.3g", bound);
    if (isfinite(bound))
        fprintf(stream, " %*s", width, text);
    else
        print_number(stream, width, 3, throughput);
}

static void print_runs(FILE *stream, const struct ssreport_report *report) {
    fprintf(stream, "%-23s %7s %7s %7s %10s %8s %10s\n", "run", "samples", "target", "load",
        "mean error", "MSE", "throughput");
    fprintf(stream, "%-23s %7s %7s %7s %10s %8s %10s\n", "", "", "%", "%", "%", "%^2", "/s");
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        print_name(stream, ssreport_record_title(&run->record), 23);
        print_number(stream, 7, 0, (double)run->figures.samples);
        print_number(stream, 7, 2, 100 * run->figures.target_mean);
        print_number(stream, 7, 2, 100 * run->figures.load_mean);
        print_number(stream, 10, 3, run->figures.error_mean_percent);
        print_number(stream, 8, 3, run->figures.error_mse_e4);
        print_throughput(stream, 10, run->figures.throughput, run->figures.throughput_bound);
        fprintf(stream, "%s%s\n", run->record.interrupted ? " !" : "",
            ssreport_others_disturb(run->others) ? " *" : "");
    }
    for (size_t i = 0; i < report->run_count; i++) {
        if (report->runs[i].record.interrupted) {
            fputs("! interrupted\n", stream);
            break;
        }
    }
    for (size_t i = 0; i < report->run_count; i++) {
        if (isfinite(report->runs[i].figures.throughput_bound)) {
            fputs("<= no iteration ended: the throughput is at most this\n", stream);
            break;
        }
    }
    for (size_t i = 0; i < report->run_count; i++) {
        if (ssreport_others_disturb(report->runs[i].others)) {
            fprintf(stream, "* disturbed: other processes used more than %g %% of the machine\n",
                100 * SSREPORT_OTHERS_MAX);
            break;
        }
    }
}

/* Its own mean stands with the interval: that of all the step need not lie in it. */
static void print_rates(FILE *stream, const struct ssreport_mean *rates) {
    if (rates->count == 1)
        fputs("  one: no spread", stream);
    else if (rates->count > 1)
        fprintf(
            stream, "  %.4g +- %.2g of %zu", rates->mean, rates->high - rates->mean, rates->count);
}

static void explain_rates(
    FILE *stream, const struct ssreport_run *run, const struct ssreport_settings *settings) {
    char text[200];
    size_t most = 0;
    for (size_t i = 0; i < run->steps.count; i++)
        most = run->steps.items[i].rates.count > most ? run->steps.items[i].rates.count : most;
    if (most < 2)
        return;
    snprintf(text, sizeof text,
        "(mean +- half of its %g %% confidence interval, of so many whole intervals of %g s; what "
        "fills none is only in the throughput beside it)",
        100 * settings->confidence, settings->interval);
    ss_option_print_wrapped(stream, 0, text);
}

static void print_steps(
    FILE *stream, const struct ssreport_run *run, const struct ssreport_settings *settings) {
    if (run->steps.count < 2)
        return;
    fputs("\nsteps of ", stream);
    fprintf(stream, "%s\n", ss_words_show(ssreport_record_title(&run->record)).text);
    fprintf(stream, "%4s %7s %7s %7s %7s %8s %9s  %s\n", "step", "from, s", "to, s", "target",
        "load", "mean", "through-", run->record.has_iterations ? "throughput in" : "");
    fprintf(stream, "%4s %7s %7s %7s %7s %8s %9s  %s\n", "", "", "", "%", "%", "error, %",
        "put, /s", run->record.has_iterations ? "whole intervals" : "");
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        fprintf(stream, "%4zu", i + 1);
        print_number(stream, 7, 1, step->from);
        print_number(stream, 7, 1, step->to);
        print_number(stream, 7, 2, 100 * step->target);
        print_number(stream, 7, 2, 100 * step->load.mean);
        print_number(stream, 8, 3, step->error_mean_percent);
        print_throughput(stream, 9, step->throughput, step->throughput_bound);
        print_rates(stream, &step->rates);
        fputc('\n', stream);
    }
    explain_rates(stream, run, settings);
}

static void print_fit(FILE *stream, const struct ssreport_run *run) {
    const struct ssreport_fit *fit = &run->fit;
    const char *missing = ssreport_fit_missing(fit);
    /* One constant load gives no line. */
    if (!run->record.has_iterations || !run->fits_steps)
        return;
    if (missing) {
        fprintf(stream, "least squares: %s\n", missing);
        return;
    }
    char text[300];
    int used = snprintf(text, sizeof text, "least squares: %.4g %c %.4g x load /s", fit->intercept,
        fit->slope < 0 ? '-' : '+', fabs(fit->slope));
    if (isfinite(fit->r_squared))
        used += snprintf(text + used, sizeof text - (size_t)used, ", R^2 %.4f", fit->r_squared);
    if (isfinite(fit->slope_p))
        used += snprintf(text + used, sizeof text - (size_t)used, ", p %.1e", fit->slope_p);
    snprintf(text + used, sizeof text - (size_t)used, ", of %zu points", fit->count);
    ss_option_print_wrapped(stream, 0, text);
}

/* ---- tables of experiments ---- */

/*
 * A column of a table in the order in which it is shown; texts are cut to the width. Numbers have
 * as many decimals as on the page, so that both show the same figure.
 */
struct shown {
    const char *name, *heading;
    int width;
};

static const struct shown constant_columns[] = {{"workload", "workload", 10},
    {"method", "method", 12}, {"tau_seconds", "round,s", 7}, {"target", "target%", 8},
    {"load_mean", "load, %", 8}, {"error_mean_percent", "error", 8},
    {"error_mean_percent_published", "publ.", 8}, {"error_mse_e4", "MSE", 9},
    {"error_mse_e4_published", "publ.", 9}, {NULL}};
static const struct shown replay_columns[] = {{"workload", "workload", 10},
    {"method", "method", 12}, {"speed", "speed", 7}, {"error_mean_percent", "error", 8},
    {"error_mse_e4", "MSE", 8}, {"error_mse_e4_published_least", "publ.", 7},
    {"error_mse_e4_published_most", "to", 7}, {"iterations_per_second", "throughput", 11},
    {"ratio", "ratio", 8}, {NULL}};
static const struct shown deviation_columns[] = {{"environment", "in", 10},
    {"workload", "workload", 12}, {"method", "method", 12}, {"baseline", "baseline", 13},
    {"compared", "steps", 6}, {"deviation_mean_percent", "mean", 9},
    {"deviation_least_percent", "least", 9}, {"deviation_most_percent", "most", 9}, {NULL}};
static const struct shown prediction_columns[] = {{"workload", "workload", 10},
    {"method", "method", 10}, {"record", "replay", 19}, {"inside", "within%", 9},
    {"predicted_iterations_per_second", "predicted", 11},
    {"measured_iterations_per_second", "measured", 11}, {"difference_percent", "off, %", 9},
    {NULL}};
static const struct shown energy_columns[] = {{"record", "run", 23}, {"seconds", "seconds", 9},
    {"watts", "W", 9}, {"watt_hours", "Wh", 11}, {"iterations_per_watt_hour", "per Wh", 13},
    {"relative", "relative", 10}, {NULL}};

static const struct shown comparison_columns[] = {{"environment_a", "env. of A", 10},
    {"environment_b", "env. of B", 10}, {"placement", "placement", 10},
    {"foreground", "foreground", 11}, {"background", "background", 11}, {"steps", "steps", 6},
    {"ratio_min", "min", 7}, {"ratio_median", "median", 7}, {"ratio_max", "max", 7}, {NULL}};
static const struct shown interference_columns[] = {{"environment", "in", 10},
    {"placement", "placement", 11}, {"foreground", "foreground", 12},
    {"background", "background", 12}, {"round", "round", 6}, {"metric_percent", "metric", 9},
    {"low_percent", "from", 9}, {"high_percent", "to", 9}, {NULL}};

static const struct ssreport_column *find_column(
    const struct ssreport_sheet *sheet, const char *name) {
    const struct ssreport_column *column = sheet->columns;
    while (strcmp(column->name, name) != 0)
        column++;
    return column;
}

static void print_table(FILE *stream, const struct ssreport_sheet *sheet, const char *title,
    const struct shown *columns) {
    if (ssreport_sheet_rows(sheet) == 0)
        return;
    fprintf(stream, "\n%s\n", title);
    for (const struct shown *shown = columns; shown->name; shown++) {
        bool is_text = ssreport_sheet_cell(sheet, 0, shown->name)->text != NULL;
        fprintf(
            stream, is_text && shown->width >= 10 ? "%-*s" : "%*s", shown->width, shown->heading);
    }
    for (size_t row = 0; row < ssreport_sheet_rows(sheet); row++) {
        fputc('\n', stream);
        for (const struct shown *shown = columns; shown->name; shown++) {
            const struct ssreport_column *column = find_column(sheet, shown->name);
            const struct ssreport_cell *cell = ssreport_sheet_cell(sheet, row, shown->name);
            if (cell->text)
                print_name(stream, ssreport_sheet_shown(sheet, cell->text), shown->width);
            else
                print_number(stream, shown->width - 1, column->decimals,
                    column->percent ? 100 * cell->number : cell->number);
        }
    }
    fputc('\n', stream);
}

/* What the power covers, each source once. */
static void print_sources(FILE *stream, const struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        bool again = run->energy.count == 0;
        for (size_t j = 0; j < i; j++)
            again |= report->runs[j].energy.count > 0 &&
                     ssreport_is_same(report->runs[j].power_source, run->power_source);
        if (again)
            continue;
        fputs("power covers ", stream);
        ss_option_print_wrapped(stream, 13,
            run->power_source ? ss_words_show(run->power_source).text : "what is not known");
    }
}

static void print_energy(FILE *stream, const struct ssreport_report *report) {
    if (!ssreport_report_has_energy(report)) {
        fputs("energy: no power was recorded\n", stream);
        return;
    }
    print_table(stream, &report->sheets[SSREPORT_ENERGY],
        "energy; iterations per watt-hour, relative to per-chip or the first such run",
        energy_columns);
    print_sources(stream, report);
}

static void print_experiments(FILE *stream, const struct ssreport_report *report) {
    print_table(stream, &report->sheets[SSREPORT_CONSTANT_LOAD],
        "constant load; mean error in %, mean squared error (MSE) in %^2", constant_columns);
    print_table(stream, &report->sheets[SSREPORT_METHODS_DEVIATION],
        "methods; deviation of throughput from the baseline, in %", deviation_columns);
    print_table(stream, &report->sheets[SSREPORT_PREDICTION],
        "prediction; throughput over the part of the trace within known loads, /s",
        prediction_columns);
    print_table(stream, &report->sheets[SSREPORT_REPLAY],
        "replay; mean error in %, MSE in %^2, ratio of throughput to the original speed's",
        replay_columns);
}

static const struct shown rate_columns[] = {{"record", "requests", 20}, {"rate", "asked,/s", 9},
    {"throughput", "answered", 9}, {"success_ratio", "ok, %", 7},
    {"intended_mean_seconds", "mean, s", 9}, {"intended_p95_seconds", "95 %, s", 9},
    {"actual_p95_seconds", "sent", 9}, {"load", "load, %", 8}, {NULL}};
static const struct shown capacity_columns[] = {{"record", "requests", 28},
    {"demand", "demand", 14}, {"held_rate", "holds up to, /s", 17},
    {"failed_rate", "fails from, /s", 17}, {NULL}};

/* As of findings, there may be hundreds of rates. */
static void print_requests(FILE *stream, const struct ssreport_report *report) {
    const struct ssreport_sheet *rates = &report->sheets[SSREPORT_REQUESTS_RATES];
    size_t rows = ssreport_sheet_rows(rates);
    print_table(stream, &report->sheets[SSREPORT_REQUESTS_CAPACITY],
        "capacity: the highest rate at which the response time is as demanded", capacity_columns);
    if (rows > PAIRS_MAX)
        fprintf(stream, "\nrequests at %zu rates: see requests-rates.csv (--output)\n", rows);
    else
        print_table(stream, rates,
            "response time of successes from when they were due; \"sent\": 95 % from sending",
            rate_columns);
}

static void print_comparison(FILE *stream, const struct ssreport_report *report) {
    char title[400];
    if (!report->compares)
        return;
    snprintf(title, sizeof title, "throughput, %.128s / %.128s",
        ssreport_report_set_name(report, 0), ssreport_report_set_name(report, 1));
    print_table(stream, &report->sheets[SSREPORT_COMPARISON], title, comparison_columns);
}

/* A table of hundreds of pairs would hide the findings. */
static void print_interference(FILE *stream, const struct ssreport_sheet *sheet) {
    size_t rows = ssreport_sheet_rows(sheet);
    if (rows > PAIRS_MAX)
        fprintf(stream, "\ninterference of %zu pairs: see interference.csv (--output)\n", rows);
    else
        print_table(stream, sheet, "interference metric in %, and its confidence interval",
            interference_columns);
}

/* The answers first: where to pin, and what an environment costs. */
static void print_findings(FILE *stream, const struct ssreport_report *report) {
    size_t rows = ssreport_sheet_rows(&report->sheets[SSREPORT_FINDINGS]), special = 0;
    for (size_t i = 0; i < rows; i++) {
        struct ssreport_finding finding = ssreport_finding_at(report, i);
        if (!finding.is_general && ++special > SENTENCES_MAX)
            continue;
        fputs("- ", stream);
        ss_option_print_wrapped(stream, 2, finding.sentence);
    }
    if (special > SENTENCES_MAX)
        fprintf(stream, "and %zu more of single pairs: see findings.csv (--output)\n",
            special - SENTENCES_MAX);
    if (rows > 0 && report->pair_count > 0)
        fprintf(stream, "(%g %% confidence intervals in brackets)\n",
            100 * report->settings.confidence);
    if (rows > 0)
        fputc('\n', stream);
}

void ssreport_summary_print(FILE *stream, const struct ssreport_report *report) {
    print_findings(stream, report);
    if (report->run_count > 0)
        print_runs(stream, report);
    print_requests(stream, report);
    /* Of more the tables tell. */
    for (size_t i = 0; i < report->run_count && report->run_count <= STEPS_OF_MAX; i++) {
        print_steps(stream, &report->runs[i], &report->settings);
        print_fit(stream, &report->runs[i]);
    }
    for (size_t i = 0; i < report->together_count; i++) {
        fprintf(stream, "\n%s\n", ss_words_show(report->together[i].record.name).text);
        print_fit(stream, &report->together[i]);
    }
    print_experiments(stream, report);
    print_comparison(stream, report);
    print_interference(stream, &report->sheets[SSREPORT_INTERFERENCE]);
    if (report->run_count > 0)
        print_energy(stream, report);
}
