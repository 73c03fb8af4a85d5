/* SPDX-License-Identifier: Apache-2.0 */

#include "constant_load.h"

#include <math.h>
#include <stdlib.h>

#include "run_order.h"

/*
 * A row of the table constant-load. Members are sums over the repetitions, which add_cell() divides
 * by their number; `run` is the first.
 */
struct cell {
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

static void add_cell(struct ssreport_report *report, const struct cell *cell) {
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

static void add_run(struct cell *cell, const struct ssreport_run *run) {
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

int ssreport_constant_load_fill(struct ssreport_report *report) {
    struct ssreport_run **runs = ssreport_series_of(report, "accuracy");
    if (!runs)
        return -1;
    for (struct ssreport_run **run = runs; *run;) {
        struct cell cell = {.run = *run, .others = NAN};
        for (; *run && ssreport_series_is_one(cell.run, *run); run++) {
            add_row_of_run(report, *run);
            add_run(&cell, *run);
        }
        if (cell.runs > 0)
            add_cell(report, &cell);
    }
    free(runs);
    return 0;
}
