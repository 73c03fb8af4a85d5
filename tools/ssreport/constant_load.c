/* SPDX-License-Identifier: Apache-2.0 */

/* How well constant loads were held, by workload, method and target. */

#include <math.h>
#include <stdlib.h>

#include "experiment_order.h"

// clang-format off
static const struct ssreport_column constant_columns[] = {
    {"set", NULL}, {"workload", "workload"}, {"method", "method"},
    {"tau_seconds", "mean round, s", 3}, {"target", "target, %", 0, true}, {"runs", "runs"},
    {"instances", NULL}, {"stands_for", "instances stand for, %", 2, true},
    {"load_mean", "load, %", 2, true},
    {"error_mean_percent", "mean error, %", 3},
    {"error_mean_percent_published", "published", 3}, {"published_is", "which is"},
    {"error_mse_e4", "mean squared error, %\u00b2", 3},
    {"error_mse_e4_published", "published", 3},
    {"beside_runs", NULL}, {"beside_load_mean", "load by ssload, %", 2, true},
    {"beside_error_mean_percent", "its mean error, %", 3},
    {"beside_error_mse_e4", "its mean squared error, %\u00b2", 3},
    {"others_most", "others, at most, %", 1, true, true},
};
// clang-format on

/* Figures are means over the repetitions, of which `run` is the first. */
struct cell {
    const struct ssreport_run *run;
    size_t runs;
    double load, error, squared;
    double others; /* the most; NaN: not known */

    /* Of the runs beside which ssload was running. */
    size_t beside_runs;
    double beside_load, beside_error, beside_squared;
};

#define MEAN_ERROR "constant-load-mean-error"
#define MSE        "constant-load-mse"

static const struct published_cell *find_published(const struct ssreport_report *report,
    const struct ssreport_run *run, const char *table, const char *column) {
    char target[32];
    snprintf(target, sizeof target, "%.6g", 100 * run->target);
    return published_find(
        &report->published, table, (const char *const[]){run->workload, target}, column);
}

/* NaN unless it was measured with rounds of the same mean length. */
static double published(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *name) {
    const struct published_table *table = published_find_table(&report->published, name);
    if (table && run->tau > 0 && fabs(run->tau - table->tau) > 1e-6)
        return NAN;
    return published_number(find_published(report, run, name, run->method));
}

static void add_cell(struct ssreport_report *report, const struct cell *cell) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_CONSTANT_LOAD];
    const struct ssreport_run *run = cell->run;
    double runs = (double)cell->runs;
    double error = published(report, run, MEAN_ERROR);
    bool probable = published_has_word(
        &report->published, find_published(report, run, MEAN_ERROR, "probable"), run->method);
    SSREPORT_NUMBERS(sheet, run->set + 1);
    SSREPORT_TEXTS(sheet, run->workload, run->method);
    SSREPORT_NUMBERS(sheet, run->tau > 0 ? run->tau : NAN, run->target, runs,
        run->record.instance_count, run->stands_for > 0 ? run->stands_for : NAN, cell->load / runs,
        cell->error / runs, error);
    SSREPORT_TEXTS(sheet, isnan(error) ? "" : probable ? "probable" : "certain");
    SSREPORT_NUMBERS(sheet, cell->squared / runs, published(report, run, MSE));
    double beside = (double)cell->beside_runs;
    SSREPORT_NUMBERS(sheet, beside, cell->beside_load / beside, cell->beside_error / beside,
        cell->beside_squared / beside, cell->others);
}

int ssreport_report_constant_load(struct ssreport_report *report) {
    report->sheets[SSREPORT_CONSTANT_LOAD] = SSREPORT_SHEET(
        "constant-load", "Constant load: errors, and those that were published", constant_columns);
    struct ssreport_run **runs = ssreport_series_of(report, "accuracy");
    if (!runs)
        return -1;
    for (struct ssreport_run **run = runs; *run;) {
        struct cell cell = {.run = *run, .others = NAN};
        for (; *run && ssreport_series_is_one(cell.run, *run); run++) {
            const struct ssreport_figures *figures = &(*run)->figures;
            if (figures->samples == 0)
                continue;
            cell.load += figures->load_mean;
            cell.error += figures->error_mean_percent;
            cell.squared += figures->error_mse_e4;
            cell.others = fmax(cell.others, (*run)->others);
            cell.runs++;
            const struct ssreport_beside *beside = &(*run)->beside;
            if (beside->samples == 0)
                continue;
            cell.beside_load += beside->load_mean;
            cell.beside_error += beside->error_mean_percent;
            cell.beside_squared += beside->error_mse_e4;
            cell.beside_runs++;
        }
        if (cell.runs > 0)
            add_cell(report, &cell);
    }
    free(runs);
    return 0;
}
