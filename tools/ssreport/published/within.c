/* SPDX-License-Identifier: Apache-2.0 */
#include "within.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "run_order.h"

/* Experiments with a published statement in within.csv, and our tables about them. */
static const struct {
    const char *name, *table;
} experiments[] = {{"accuracy", "constant-load-within"}, {"replay", "replay-within"}};

/* The name of all methods that a statement is about. */
#define ALL "showstopper"

struct part {
    size_t count, within;
    double most; /* largest magnitude */
};

static void add(struct part *part, double error, double bound) {
    if (isnan(error))
        return;
    part->count++;
    part->within += fabs(error) <= bound;
    part->most = fmax(part->most, fabs(error));
}

static double percent(const struct part *part) {
    return 100 * (double)part->within / (double)part->count;
}

/* A row: the runs of a set and experiment with a method; with any of Showstopper's if it is NULL.
 */
struct row {
    const struct ssreport_report *report;
    const char *experiment, *method;
    int set;
    double bound;
};

/* Returns a cell of the statement about the experiment. */
static const struct published_cell *stated(const struct row *row, const char *column) {
    return published_find(
        &row->report->published, "within", (const char *const[]){row->experiment}, column);
}

static double print(const struct row *row, const char *column) {
    return published_print(&row->report->published, stated(row, column));
}

/* Returns whether the row includes a method with this name. */
static bool includes(const struct row *row, const char *name) {
    return row->method ? published_is_word(&row->report->published, name, row->method)
                       : stated(row, name) != NULL;
}

static bool has_method(const struct ssreport_run *run, const void *experiment) {
    return ssreport_is_word(run->experiment, experiment) && run->figures.samples > 0 && run->method;
}

static struct part count_runs(const struct row *row) {
    struct part part = {0};
    for (size_t i = 0; i < row->report->run_count; i++) {
        const struct ssreport_run *run = &row->report->runs[i];
        if (has_method(run, row->experiment) && run->set == row->set && includes(row, run->method))
            add(&part, run->figures.error_mean_percent, row->bound);
    }
    return part;
}

/* Counts the published mean errors. In their tables, a method is a column or the second key. */
static struct part count_published(const struct row *row) {
    const struct published *published = &row->report->published;
    const struct published_cell *of = stated(row, "of");
    struct part part = {0};
    for (size_t i = 0; of && i < published->cell_count; i++) {
        const struct published_cell *cell = &published->cells[i];
        if (strcmp(published->tables[cell->table].name, of->text) == 0 &&
            (includes(row, cell->column) || includes(row, cell->keys[1])))
            add(&part, published_number(cell), row->bound);
    }
    return part;
}

static void add_row(struct table_sheet *sheet, struct row row) {
    row.bound = published_number(stated(&row, "bound_percent"));
    struct part runs = count_runs(&row), published = count_published(&row);
    if (runs.count == 0 || isnan(row.bound))
        return;
    TABLE_ROW(sheet, CELL("set", row.set + 1), CELL("method", row.method ? row.method : ALL),
        CELL("runs", runs.count), CELL("bound_percent", print(&row, "bound_percent")),
        CELL("within_runs", runs.within), CELL("within_percent", percent(&runs)),
        CELL("published_values", published.count),
        CELL("published_within_percent", percent(&published)),
        CELL("published_most_percent", published.count > 0 ? published.most : NAN));
    if (!row.method)
        TABLE_CELLS(sheet, CELL("all_platforms_percent", print(&row, "all_platforms_percent")),
            CELL("linux_percent", print(&row, "linux_percent")));
}

int ssreport_within_fill(const struct ssreport_report *report) {
    for (size_t index = 0; index < sizeof experiments / sizeof *experiments; index++) {
        struct table_sheet *sheet = ssreport_table(report, experiments[index].table);
        struct row row = {.report = report, .experiment = experiments[index].name};
        SS_OWNED(groups)
        struct stats_groups methods = ssreport_runs_group(
            report, SSREPORT_BY_SET | SSREPORT_BY_METHOD, has_method, row.experiment);
        if (!methods.first)
            return -1;
        for (row.set = 0; row.set < 2; row.set++) {
            row.method = NULL;
            add_row(sheet, row);
            for (size_t i = 0; i < methods.count; i++) {
                const struct ssreport_run *run = &report->runs[methods.first[i]];
                row.method = run->method;
                if (run->set == row.set)
                    add_row(sheet, row);
            }
        }
    }
    return 0;
}

void ssreport_within_print(FILE *stream, const struct table_sheet *sheet) {
    if (table_rows(sheet) == 0 || !ssreport_is_word(table_cell_at(sheet, 0, "method")->text, ALL))
        return;
    double runs = table_cell_at(sheet, 0, "runs")->number;
    double stated_percent = table_cell_at(sheet, 0, "all_platforms_percent")->number;
    double linux_percent = table_cell_at(sheet, 0, "linux_percent")->number;
    fprintf(stream,
        "The mean error is at most %g %% in %.0f %% of %.0f %s of Showstopper. Published: in %g %% "
        "on all platforms",
        table_cell_at(sheet, 0, "bound_percent")->number,
        table_cell_at(sheet, 0, "within_percent")->number, runs, runs > 1 ? "runs" : "run",
        stated_percent);
    if (!isnan(linux_percent))
        fprintf(stream, ", in %g %% on physical machines with Linux", linux_percent);
    if (stated_percent < table_cell_at(sheet, 0, "published_within_percent")->number)
        fprintf(stream,
            ", by another measure: all published mean errors that are legible are at most %.3g %%",
            table_cell_at(sheet, 0, "published_most_percent")->number);
    fputs(".\n", stream);
}
