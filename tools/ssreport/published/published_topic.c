/* SPDX-License-Identifier: Apache-2.0 */
#include "published_topic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html_page.h"
#include "options/option.h"
#include "published_plots.h"
#include "replay.h"
#include "run_order.h"
#include "within.h"

// clang-format off
static const struct table_column constant_columns[] = {
    {"set", NULL}, {"workload", "workload", .text = {"workload", 10}},
    {"method", "method", .text = {"method", 12}},
    {"tau_seconds", "mean round, s", 3, .text = {"round,s", 7}},
    {"target", "target, %", 0, true, .text = {"target%", 8}}, {"runs", "runs"},
    {"instances", NULL}, {"stands_for", "instances stand for, %", 2, true},
    {"load_mean", "load, %", 2, true, .text = {"load, %", 8}},
    {"error_mean_percent", "mean error, %", 3, .text = {"error", 8}},
    {"error_mean_percent_published", "published", 3, .text = {"publ.", 8}},
    {"published_is", "which is"},
    {"error_mse_e4", "mean squared error, %\u00b2", 3, .text = {"MSE", 9}},
    {"error_mse_e4_published", "published", 3, .text = {"publ.", 9}},
    {"beside_runs", NULL}, {"beside_load_mean", "load by ssload, %", 2, true},
    {"beside_error_mean_percent", "its mean error, %", 3},
    {"beside_error_mse_e4", "its mean squared error, %\u00b2", 3},
    {"others_most", "other processes, at most, %", 1, true, true},
};
static const struct table_column run_columns[] = {
    {"workload", "workload"}, {"target", "target, %", 0, true}, {"method", "method"},
    {"tau_seconds", "mean round, s", 3}, {"round", "round"}, {"instances", "instances"},
    {"stands_for", "instances stand for, %", 2, true}, {"load_mean", "load, %", 2, true},
    {"error_mean_percent", "mean error, %", 3},
    {"error_mse_e4", "mean squared error, %\u00b2", 3},
    {"iterations_per_second", "iterations/s", 3},
    {"beside_load_mean", "load by ssload, %", 2, true},
    {"beside_error_mean_percent", "its mean error, %", 3},
    {"beside_error_mse_e4", "its mean squared error, %\u00b2", 3},
};
static const struct table_column within_columns[] = {
    {"set", NULL}, {"method", "method"}, {"runs", "runs"},
    {"bound_percent", "mean error at most, %"}, {"within_runs", "in runs"},
    {"within_percent", "of them, %", 1},
    {"all_platforms_percent", "published, all platforms, %", .if_known = true},
    {"linux_percent", "published, physical Linux, %", .if_known = true},
    {"published_values", "published mean errors"},
    {"published_within_percent", "within the bound, %", 1},
    {"published_most_percent", "largest, %", 2},
};
static const struct table_column replay_columns[] = {
    {"set", NULL}, {"workload", "workload", .text = {"workload", 10}},
    {"method", "method", .text = {"method", 12}}, {"tau_seconds", "mean round, s", 3, .if_known = true},
    {"trace", "trace", .text = {"trace", 14}},
    {"round", NULL}, {"speed", "speed", 2, .text = {"speed", 7}}, {"seconds", "counted, s", 1},
    {"load_mean", "load, %", 2, true},
    {"error_mean_percent", "mean error, %", 3, .text = {"error", 8}},
    {"error_mean_percent_published", "published for another trace", 3, .if_known = true},
    {"error_mse_e4", "mean squared error, %\u00b2", 3, .text = {"MSE", 8}},
    {"error_mse_e4_published_least", "published for another trace, from", 2, .if_known = true},
    {"error_mse_e4_published_most", "to", 2, .if_known = true}, {"iterations", NULL},
    {"iterations_per_second", "throughput, /s", 3, .text = {"throughput", 11}},
    {"against_speed", "against speed", 2},
    {"ratio", "ratio of throughput", 4, .text = {"ratio", 8}},
    {"in_proportion", "in proportion to time"},
    {"others", "others, %", 1, true, true}, {"note", "note"}, {"record", NULL},
};
static const struct table_column published_columns[] = {
    {"tables", "table"}, {"source", "source"}, {"what", "what it holds"}, {"file", "file"},
    {"values", "values"}, {"printed", "printed here"}, {"beside", "beside"}, {"note", "note"},
};
static const struct table_column value_columns[] = {
    {"file", NULL}, {"key_1", NULL}, {"key_2", NULL}, {"key_3", NULL}, {"column", NULL},
    {"value", NULL}, {"printed", NULL},
};
static const struct table_column throughput_columns[] = {
    {"set", NULL}, {"of", "of a"}, {"workload", "workload", .text = {"workload", 10}},
    {"method", "method", .text = {"method", 12}}, {"round", NULL},
    {"speed", "speed", 2, .text = {"speed", 6}}, {"published_seconds", "published in, s"},
    {"iterations_per_second", "here, /s", 3, .text = {"here", 9}},
    {"linux_iterations_per_second", "published, Linux", 2, .text = {"Linux", 7}},
    {"aix_iterations_per_second", "published, AIX", 2, .text = {"AIX", 7}},
    {"ratio", "here, to speed 1", 3, .text = {"here/1x", 8}},
    {"linux_ratio", "Linux, to speed 1", 3, .text = {"Linux", 7}},
    {"aix_ratio", "AIX, to speed 1", 3, .text = {"AIX", 7}},
    {"record", NULL},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("constant-load", "Constant load: errors, and those that were published",
        constant_columns),
    TABLE_INIT("constant-load-runs", "Constant load: errors of each run", run_columns),
    TABLE_INIT("constant-load-within", "Constant load: how often it was held", within_columns),
    TABLE_INIT("replay-within", "Replay: how often the trace was followed", within_columns),
    TABLE_INIT("published", "What was published", published_columns),
    TABLE_INIT("published-values", "Published values", value_columns),
    TABLE_INIT("replay", "One trace at several speeds", replay_columns),
    TABLE_INIT("throughput-published",
        "Throughput over a trace, and what was published in Table 3", throughput_columns),
    {.name = NULL},
};
// clang-format on

/*
 * A row of the table constant-load. Members are sums over the repetitions, which
 * add_constant_load() divides by their number; `run` is the first.
 */
struct constant_load {
    const struct ssreport_run *run;
    size_t runs;
    double load, error, squared;
    double others; /* largest part that other processes used; NaN if unknown */

    /* Runs that ssload also measured: */
    size_t beside_runs;
    double beside_load, beside_error, beside_squared;
};

#define MEAN_ERROR "constant-load-mean-error"
#define MSE        "constant-load-mse"

/*
 * Tolerance for published targets in percentage points: a target of 33 % is compared with the
 * published 1/3.
 */
#define TARGET_WITHIN 0.5

static const struct published_cell *find_published(const struct ssreport_report *report,
    const struct ssreport_run *run, const char *table, const char *column) {
    char target[32];
    snprintf(target, sizeof target, "%.6g", 100 * run->target);
    return published_find_near(&report->published, table,
        (const char *const[]){ssreport_run_published(run), target}, column, TARGET_WITHIN);
}

/* Returns the published value; NaN if it was measured with another tau. */
static double published(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *name) {
    const struct published_table *table = published_find_table(&report->published, name);
    if (table && run->tau > 0 && fabs(run->tau - table->tau) > 1e-6)
        return NAN;
    return published_print(&report->published, find_published(report, run, name, run->method));
}

static void add_constant_load(struct ssreport_report *report, const struct constant_load *cell) {
    const struct ssreport_run *run = cell->run;
    double runs = (double)cell->runs, beside = (double)cell->beside_runs;
    double error = published(report, run, MEAN_ERROR);
    const struct published_cell *words = find_published(report, run, MEAN_ERROR, "probable");
    bool probable = published_has_word(&report->published, words, run->method);
    published_print(&report->published, words);
    TABLE_ROW(ssreport_table(report, "constant-load"), CELL("set", run->set + 1),
        CELL("workload", run->workload), CELL("method", run->method),
        CELL("tau_seconds", run->tau > 0 ? run->tau : NAN), CELL("target", run->target),
        CELL("runs", cell->runs), CELL("instances", run->record.instance_count),
        CELL("stands_for", run->stands_for > 0 ? run->stands_for : NAN),
        CELL("load_mean", cell->load / runs), CELL("error_mean_percent", cell->error / runs),
        CELL("error_mean_percent_published", error),
        CELL("published_is", isnan(error) ? ""
                             : probable   ? "probable"
                                          : "certain"),
        CELL("error_mse_e4", cell->squared / runs),
        CELL("error_mse_e4_published", published(report, run, MSE)),
        CELL("beside_runs", cell->beside_runs),
        CELL("beside_load_mean", cell->beside_load / beside),
        CELL("beside_error_mean_percent", cell->beside_error / beside),
        CELL("beside_error_mse_e4", cell->beside_squared / beside),
        CELL("others_most", cell->others));
}

static void add_row_of_run(struct ssreport_report *report, const struct ssreport_run *run) {
    const struct ssreport_figures *figures = &run->figures;
    TABLE_ROW(ssreport_table(report, "constant-load-runs"), CELL("workload", run->workload),
        CELL("target", run->target), CELL("method", run->method),
        CELL("tau_seconds", run->tau > 0 ? run->tau : NAN),
        CELL("round", run->round > 0 ? run->round : NAN),
        CELL("instances", run->record.instance_count),
        CELL("stands_for", run->stands_for > 0 ? run->stands_for : NAN),
        CELL("load_mean", figures->load_mean),
        CELL("error_mean_percent", figures->error_mean_percent),
        CELL("error_mse_e4", figures->error_mse_e4),
        CELL("iterations_per_second", figures->throughput),
        CELL("beside_load_mean", run->beside.load_mean),
        CELL("beside_error_mean_percent", run->beside.error_mean_percent),
        CELL("beside_error_mse_e4", run->beside.error_mse_e4));
}

static void add_run(struct constant_load *cell, const struct ssreport_run *run) {
    const struct ssreport_figures *figures = &run->figures;
    const struct ssreport_beside *beside = &run->beside;
    if (figures->samples == 0)
        return;
    cell->load += figures->load_mean;
    cell->error += figures->error_mean_percent;
    cell->squared += figures->error_mse_e4;
    cell->others = fmax(cell->others, run->others);
    cell->runs++;
    if (beside->samples == 0)
        return;
    cell->beside_load += beside->load_mean;
    cell->beside_error += beside->error_mean_percent;
    cell->beside_squared += beside->error_mse_e4;
    cell->beside_runs++;
}

static int fill_constant_load(struct ssreport_report *report) {
    struct ssreport_run **runs = ssreport_series_of(report, "accuracy");
    if (!runs)
        return -1;
    for (struct ssreport_run **run = runs; *run;) {
        struct constant_load cell = {.run = *run, .others = NAN};
        for (; *run && ssreport_series_is_one(cell.run, *run); run++) {
            add_row_of_run(report, *run);
            add_run(&cell, *run);
        }
        if (cell.runs > 0)
            add_constant_load(report, &cell);
    }
    free(runs);
    return 0;
}

/* Lists the published tables, including those without values. */
static void fill_published(const struct ssreport_report *report) {
    const struct published *published = &report->published;
    for (size_t i = 0; i < published->table_count && published->cell_count > 0; i++) {
        const struct published_table *table = &published->tables[i];
        size_t values = published_count(published, table, false);
        bool has_file = *table->name != '\0';
        char file[PUBLISHED_WORD + 4] = "";
        if (has_file)
            snprintf(file, sizeof file, "%s.csv", table->name);
        TABLE_ROW(ssreport_table(report, "published"), CELL("tables", table->tables),
            CELL("source", table->source), CELL("what", table->what), CELL("file", file),
            CELL("values", values), CELL("printed", published_count(published, table, true)),
            CELL("beside", table->beside),
            CELL("note", has_file && values == 0 ? "the file has no values, or cannot be read"
                                                 : table->note));
    }
}

/* Lists the published values, and whether a table of this report contains them. */
static void fill_values(const struct ssreport_report *report) {
    const struct published *published = &report->published;
    for (size_t i = 0; i < published->cell_count; i++) {
        const struct published_cell *cell = &published->cells[i];
        char file[PUBLISHED_WORD + 4];
        if (!*cell->text)
            continue;
        snprintf(file, sizeof file, "%s.csv", published->tables[cell->table].name);
        TABLE_ROW(ssreport_table(report, "published-values"), CELL("file", file),
            CELL("key_1", cell->keys[0]), CELL("key_2", cell->keys[1]),
            CELL("key_3", cell->keys[2]), CELL("column", cell->column), CELL("value", cell->text),
            CELL("printed", published->printed[i]));
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    if (fill_constant_load(report) < 0 || ssreport_replay_fill(report) < 0 ||
        ssreport_within_fill(report) < 0)
        return ss_error_memory(error);
    return 0;
}

/* Runs after all topics have marked the values that they print. */
static void finish(struct ssreport_report *report) {
    ssreport_throughput_published_fill(report);
    fill_published(report);
    fill_values(report);
}

static void print_within(FILE *stream, const struct table_sheet *within) {
    fputs("<p>", stream);
    ssreport_within_print(stream, within);
    fputs("</p>\n", stream);
    page_sheet(stream, within);
}

static void print_constant_load(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *loads = ssreport_table(report, "constant-load");
    if (table_rows(loads) == 0)
        return;
    ssreport_page_open(page, "Constant load");
    ssreport_page_published(page);
    print_within(page->stream, ssreport_table(report, "constant-load-within"));
    ssreport_error_plots_print(page, report);
    page_sheet(page->stream, loads);
    ssreport_overlay_plots_print(page, report, "accuracy");
    ssreport_page_close(page);
}

/* Explains why published errors of replays are not directly comparable. */
static void print_traces(FILE *stream) {
    fputs(
        "<p>The published trace is not available: published ranges of the mean squared error are "
        "those of another trace. After a jump of the target, the load needs some rounds to follow, "
        "however fast the trace is played. In a trace with jumps, these rounds can dominate the "
        "error of a fast replay.</p>\n",
        stream);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *replay = ssreport_table(report, "replay");
    const struct table_sheet *throughput = ssreport_table(report, "throughput-published");
    print_constant_load(page, report);
    if (table_rows(replay) == 0 && table_rows(throughput) == 0)
        return;
    ssreport_page_open(page, "Replay at several speeds");
    ssreport_page_published(page);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (run->speed > 0 && *run->record.notes.text)
            page_note(page->stream, ssreport_record_title(&run->record), run->record.notes.text);
    }
    if (table_rows(replay) > 0)
        print_traces(page->stream);
    print_within(page->stream, ssreport_table(report, "replay-within"));
    page_sheet(page->stream, replay);
    ssreport_overlay_plots_print(page, report, "replay");
    if (table_rows(throughput) > 0)
        fputs("<p>Published throughputs are those of the whole system over another trace, on two "
              "other systems. Absolute values depend on the machine; compare how they "
              "change with the speed.</p>\n",
            page->stream);
    page_sheet(page->stream, throughput);
    ssreport_page_close(page);
}

static void print_details(struct ssreport_page *page, const struct ssreport_report *report) {
    if (table_rows(ssreport_table(report, "published")) == 0)
        return;
    ssreport_page_open(page, "Published figures");
    ssreport_page_published(page);
    page_sheet(page->stream, ssreport_table(report, "published"));
    ssreport_page_close(page);
}

static void print_within_wrapped(FILE *stream, const struct table_sheet *within) {
    char text[500] = "";
    FILE *memory = fmemopen(text, sizeof text, "w");
    if (memory)
        ssreport_within_print(memory, within);
    if (memory && fclose(memory) == 0 && *text)
        ss_option_print_wrapped(stream, 0, strtok(text, "\n"));
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    table_print_text(stream, ssreport_table(report, "constant-load"),
        "constant load; mean error in %, mean squared error (MSE) in %^2");
    print_within_wrapped(stream, ssreport_table(report, "constant-load-within"));
    table_print_text(stream, ssreport_table(report, "replay"),
        "replay; mean error in %, MSE in %^2, ratio of throughput to the original speed's");
    print_within_wrapped(stream, ssreport_table(report, "replay-within"));
    table_print_text(stream, ssreport_table(report, "throughput-published"),
        "throughput of a trace, /s, with the published Table 3, and relative to speed 1");
}

const struct ssreport_topic ssreport_published_topic = {
    .name = "published",
    .tables = tables,
    .build = build,
    .finish = finish,
    .page = print_page,
    .details = print_details,
    .text = print_text,
};
