/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput_topic.h"

#include <math.h>
#include <string.h>

#include "html_page.h"
#include "methods.h"
#include "predict.h"

// clang-format off
static const struct table_column load_columns[] = {
    {"workload", "workload"}, {"method", "method"}, {"round", "round"}, {"instances", "instances"},
    {"step", "step", .if_known = true}, {"half", NULL}, {"target", "target, %", 2, true},
    {"load", "load, %", 2, true}, {"iterations_per_second", "iterations/s", 3},
};
static const struct table_column method_columns[] = {
    {"set", NULL}, {"environment", "environment"}, {"measured_in", NULL}, {"workload", "workload"},
    {"method", "method"}, {"tau_seconds", "mean round, s", 3}, {"round", "round"},
    {"target", "target, %", 2, true}, {"half", NULL}, {"load", "load, %", 2, true},
    {"iterations_per_second", "throughput, /s", 4}, {"baseline", "baseline"},
    {"baseline_iterations_per_second", "its throughput there", 4},
    {"deviation_percent", "deviation, %", 2}, {"others", "others, %", 1, true, true},
    {"note", "note"}, {"record", NULL}, {"variant", "variant", .if_known = true},
    {"cpus", "CPUs", .if_known = true},
};
static const struct table_column deviation_columns[] = {
    {"set", NULL}, {"environment", "environment", .text = {"in", 10}}, {"measured_in", NULL},
    {"workload", "workload", .text = {"workload", 12}}, {"method", "method", .text = {"method", 12}},
    {"tau_seconds", "mean round, s", 3}, {"baseline", "baseline", .text = {"baseline", 13}},
    {"points", "points"}, {"compared", "within its loads", .text = {"steps", 6}},
    {"load_least", "loads from, %", 1, true}, {"load_most", "to", 1, true},
    {"deviation_mean_percent", "deviation, mean, %", 2, .text = {"mean", 9}},
    {"deviation_least_percent", "least", 2, .text = {"least", 9}},
    {"deviation_most_percent", "largest", 2, .text = {"most", 9}},
    {"others_most", "other processes, at most, %", 1, true, true},
    {"variant", "variant", .if_known = true}, {"cpus", "CPUs", .if_known = true},
};
static const struct table_column prediction_columns[] = {
    {"set", NULL}, {"environment", "in"}, {"measured_in", NULL},
    {"workload", "workload", .text = {"workload", 10}}, {"method", "method", .text = {"method", 10}},
    {"tau_seconds", NULL}, {"points", "steps"},
    {"load_least", "loads from, %", 1, true},
    {"load_most", "to", 1, true}, {"trace", NULL}, {"seconds", NULL},
    {"inside", "of the trace within, %", 1, true, .text = {"within%", 9}},
    {"outside", NULL}, {"free", NULL},
    {"predicted_iterations_per_second", "predicted, /s", 4, .text = {"predicted", 11}},
    {"low", "from", 4}, {"high", "to", 4}, {"record", "replay", .text = {"replay", 19}},
    {"speed", "speed", 2},
    {"measured_iterations_per_second", "measured, /s", 4, .text = {"measured", 11}},
    {"difference_percent", "predicted is off by, %", 2, .text = {"off, %", 9}}, {"note", "note"},
    {"variant", "variant", .if_known = true}, {"command", "command", .if_known = true},
    {"instances", "instances", .if_known = true}, {"cpus", "CPUs", .if_known = true},
    {"placement", "placement", .if_known = true},
};

static const struct table_sheet tables[] = {
    TABLE_INIT("prediction", "Throughput over a trace, predicted from the local curve",
        prediction_columns),
    TABLE_INIT("loads", "Throughput at each load", load_columns),
    TABLE_INIT("methods",
        "Throughput at each load, against the baseline (cdc: constant duty cycle, 1cdc: of one "
        "instance)", method_columns),
    TABLE_INIT("methods-deviation",
        "Deviation of each method from the baseline without control", deviation_columns),
    {.name = NULL},
};
// clang-format on

static bool is_throughput(const struct ssreport_run *run) {
    return run->experiment && strcmp(run->experiment, "throughput") == 0 && !run->role;
}

static void add_load_row(struct table_sheet *sheet, const struct ssreport_run *run) {
    TABLE_ROW(sheet, CELL("workload", run->workload), CELL("method", run->method),
        CELL("round", run->round > 0 ? run->round : NAN),
        CELL("instances", run->record.instance_count));
}

static void add_steps(struct table_sheet *sheet, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        add_load_row(sheet, run);
        TABLE_CELLS(sheet, CELL("step", i + 1),
            CELL("half", ssreport_steps_direction(&run->steps, step->half)),
            CELL("target", step->target), CELL("load", step->load.mean),
            CELL("iterations_per_second", step->throughput));
    }
}

/* Adds a row for the whole run, which may be too short for a step. */
static void add_run(struct table_sheet *sheet, const struct ssreport_run *run) {
    add_load_row(sheet, run);
    TABLE_CELLS(sheet, CELL("step", NAN), CELL("half", ""),
        CELL("target", run->target > 0 ? run->target : run->figures.target_mean),
        CELL("load", run->figures.load_mean),
        CELL("iterations_per_second", run->figures.throughput));
}

static void fill_loads(struct ssreport_report *report) {
    struct table_sheet *sheet = ssreport_table(report, "loads");
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (!is_throughput(run))
            continue;
        if (run->steps.count > 1)
            add_steps(sheet, run);
        else
            add_run(sheet, run);
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    fill_loads(report);
    if (ssreport_methods_fill(report) < 0)
        return ss_error_memory(error);
    return report->trace ? ssreport_report_predict(report, report->trace, error) : 0;
}

/* Writes ", " before all but the first of several parts. */
static void add_part(char *text, size_t size, const char *part) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.100s", used > 0 ? ", " : "", part);
}

/* Returns whether other rows differ in a column; in the variant, other rows of the method. */
static bool differs(const struct table_sheet *sheet, size_t row, const char *column) {
    bool is_variant = strcmp(column, "variant") == 0, any = false;
    for (size_t i = 0; i < table_rows(sheet); i++)
        any |= table_compare(sheet, i, row, column) != 0 &&
               !(is_variant && table_compare(sheet, i, row, "method") != 0);
    return any;
}

/* Writes "serial, 4 CPUs: ": what distinguishes the row from others of the table. */
static void name_place(char name[640], const struct ssreport_report *report, size_t row) {
    static const char *const columns[] = {
        "workload", "variant", "environment", "measured_in", "cpus", "set"};
    const struct table_sheet *sheet = ssreport_table(report, "methods-deviation");
    *name = '\0';
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const struct table_cell *cell = table_cell_at(sheet, row, columns[i]);
        char cpus[40];
        if (!differs(sheet, row, columns[i]))
            continue;
        if (strcmp(columns[i], "set") == 0) {
            add_part(name, 600, ssreport_report_set_name(report, (int)cell->number - 1));
        } else if (cell->text && *cell->text) {
            add_part(name, 600, cell->text);
        } else if (isfinite(cell->number)) {
            snprintf(cpus, sizeof cpus, "%.4g CPU%s", cell->number, cell->number == 1 ? "" : "s");
            add_part(name, 600, cpus);
        }
    }
    strcat(name, *name ? ": " : "");
}

/* The answer is the method that deviates most from the baseline. */
static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    const struct table_sheet *sheet = ssreport_table(report, "methods-deviation");
    double furthest = NAN;
    for (size_t i = 0; i < table_rows(sheet); i++) {
        double mean = table_cell_at(sheet, i, "deviation_mean_percent")->number;
        if (!isfinite(mean) || fabs(mean) <= furthest)
            continue;
        furthest = fabs(mean);
        double least = table_cell_at(sheet, i, "deviation_least_percent")->number;
        double most = table_cell_at(sheet, i, "deviation_most_percent")->number;
        char place[640];
        name_place(place, report, i);
        snprintf(headline->answer, sizeof headline->answer,
            "%s%.100s differs most: at the same load its throughput is %.1f %% %s than that of "
            "%.100s (%.1f to %.1f %%; steps compared: %.0f).",
            place, table_cell_at(sheet, i, "method")->text, furthest, mean < 0 ? "lower" : "higher",
            table_cell_at(sheet, i, "baseline")->text, mean < 0 ? -most : least,
            mean < 0 ? -least : most, table_cell_at(sheet, i, "compared")->number);
    }
    if (isfinite(furthest))
        strcpy(headline->question, "Do all methods give the same throughput at the same load?");
    return isfinite(furthest);
}

static void print_methods(struct ssreport_page *page, const struct ssreport_report *report) {
    if (table_rows(ssreport_table(report, "methods")) == 0)
        return;
    ssreport_page_open(page, "Methods");
    fputs("<p>The baseline is <code>nbench</code> (as many uncontrolled instances as the target "
          "has CPUs), <code>nbench-fit</code> (as many as give the load) or <code>1cdc</code> (one "
          "instance with a constant duty cycle), whichever covers the wider range of loads. "
          "<code>cdc</code> is a constant duty cycle of all instances, without feedback. The "
          "baseline is interpolated between its targets, and nothing is known about loads beyond "
          "them.</p>\n",
        page->stream);
    ssreport_methods_print(page, report);
    page_sheet(page->stream, ssreport_table(report, "methods-deviation"));
    ssreport_page_close(page);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *prediction = ssreport_table(report, "prediction");
    print_methods(page, report);
    if (table_rows(prediction) == 0)
        return;
    ssreport_page_open(page, "Prediction");
    fputs("<p>The trace: <code>", page->stream);
    table_html_text(page->stream, report->trace);
    fputs("</code></p>\n", page->stream);
    page_sheet(page->stream, prediction);
    ssreport_page_close(page);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    table_print_text(stream, ssreport_table(report, "methods-deviation"),
        "methods; deviation of throughput from the baseline, in %");
    table_print_text(stream, ssreport_table(report, "prediction"),
        "prediction; throughput over the part of the trace within known loads, /s");
}

const struct ssreport_topic ssreport_throughput_topic = {
    .name = "throughput",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
    .text = print_text,
};
