/* SPDX-License-Identifier: Apache-2.0 */
#include "within.h"

#include <math.h>

#include "base/owned.h"
#include "run_order.h"

/* Published bound of the mean error, in percent of the machine. */
#define WITHIN 5.0

#define TABLE "constant-load-within"

struct part {
    size_t count, within;
};

static void add(struct part *part, double error) {
    if (isnan(error))
        return;
    part->count++;
    part->within += fabs(error) <= WITHIN;
}

static double percent(const struct part *part) {
    return 100 * (double)part->within / (double)part->count;
}

static bool is_counted(const struct ssreport_run *run) {
    return ssreport_is_word(run->experiment, "accuracy") && run->figures.samples > 0;
}

static bool has_method(const struct ssreport_run *run, const void *context) {
    (void)context;
    return is_counted(run) && run->method;
}

/* Counts the runs of a set with this method; all of its runs if the method is NULL. */
static struct part count_runs(const struct ssreport_report *report, int set, const char *method) {
    struct part part = {0};
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (is_counted(run) && run->set == set &&
            (!method || ssreport_is_word(run->method, method)))
            add(&part, run->figures.error_mean_percent);
    }
    return part;
}

/* Counts the published mean errors of a method; of all methods if it is NULL. */
static struct part count_published(const struct ssreport_report *report, const char *method) {
    const struct published *published = &report->published;
    const struct published_table *table =
        published_find_table(published, "constant-load-mean-error");
    struct part part = {0};
    for (size_t i = 0; table && i < published->cell_count; i++) {
        const struct published_cell *cell = &published->cells[i];
        if (&published->tables[cell->table] == table &&
            (!method || published_is_word(published, cell->column, method)))
            add(&part, published_number(cell));
    }
    return part;
}

static void add_row(const struct ssreport_report *report, int set, const char *method) {
    struct part runs = count_runs(report, set, method);
    struct part published = count_published(report, method);
    if (runs.count > 0)
        TABLE_ROW(ssreport_table(report, TABLE), CELL("set", set + 1),
            CELL("method", method ? method : "all"), CELL("runs", runs.count),
            CELL("within_runs", runs.within), CELL("within_percent", percent(&runs)),
            CELL("published_values", published.count),
            CELL("published_within_percent", percent(&published)));
}

int ssreport_within_fill(const struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups methods =
        ssreport_runs_group(report, SSREPORT_BY_SET | SSREPORT_BY_METHOD, has_method, NULL);
    if (!methods.first)
        return -1;
    for (int set = 0; set < 2; set++) {
        add_row(report, set, NULL);
        for (size_t i = 0; i < methods.count; i++) {
            const struct ssreport_run *run = &report->runs[methods.first[i]];
            if (run->set == set)
                add_row(report, set, run->method);
        }
    }
    return 0;
}

void ssreport_within_print(FILE *stream, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, TABLE);
    if (table_rows(sheet) > 0)
        fprintf(stream, "The mean load is within %g %% of the target in %.0f %% of %.0f %s.\n",
            WITHIN, table_cell_at(sheet, 0, "within_percent")->number,
            table_cell_at(sheet, 0, "runs")->number,
            table_cell_at(sheet, 0, "runs")->number > 1 ? "runs" : "run");
}
