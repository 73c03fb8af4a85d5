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

/* Returns a cell of the statement about an experiment. */
static const struct published_cell *stated(
    const struct ssreport_report *report, const char *experiment, const char *column) {
    return published_find(&report->published, "within", (const char *const[]){experiment}, column);
}

static double print(
    const struct ssreport_report *report, const char *experiment, const char *column) {
    return published_print(&report->published, stated(report, experiment, column));
}

/* Without a `method`, returns whether a statement is about a method, which a table may call `name`.
 */
static bool is_of(const struct ssreport_report *report, const char *experiment, const char *method,
    const char *name) {
    return method ? published_is_word(&report->published, name, method)
                  : stated(report, experiment, name) != NULL;
}

static bool has_method(const struct ssreport_run *run, const void *experiment) {
    return ssreport_is_word(run->experiment, experiment) && run->figures.samples > 0 && run->method;
}

/* Counts the runs of a set. */
static struct part count_runs(const struct ssreport_report *report, int set, const char *experiment,
    const char *method, double bound) {
    struct part part = {0};
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (has_method(run, experiment) && run->set == set &&
            is_of(report, experiment, method, run->method))
            add(&part, run->figures.error_mean_percent, bound);
    }
    return part;
}

/* Counts the published mean errors. In their tables, a method is a column or the second key. */
static struct part count_published(const struct ssreport_report *report, const char *experiment,
    const char *method, double bound) {
    const struct published *published = &report->published;
    const struct published_cell *of = stated(report, experiment, "of");
    struct part part = {0};
    for (size_t i = 0; of && i < published->cell_count; i++) {
        const struct published_cell *cell = &published->cells[i];
        if (strcmp(published->tables[cell->table].name, of->text) == 0 &&
            (is_of(report, experiment, method, cell->column) ||
                is_of(report, experiment, method, cell->keys[1])))
            add(&part, published_number(cell), bound);
    }
    return part;
}

/* Adds a row for a method; for all of Showstopper's, with the statement, if it is NULL. */
static void add_row(
    const struct ssreport_report *report, size_t index, int set, const char *method) {
    const char *experiment = experiments[index].name;
    struct table_sheet *sheet = ssreport_table(report, experiments[index].table);
    double bound = published_number(stated(report, experiment, "bound_percent"));
    struct part runs = count_runs(report, set, experiment, method, bound);
    struct part published = count_published(report, experiment, method, bound);
    if (runs.count == 0 || isnan(bound))
        return;
    TABLE_ROW(sheet, CELL("set", set + 1), CELL("method", method ? method : ALL),
        CELL("runs", runs.count), CELL("bound_percent", print(report, experiment, "bound_percent")),
        CELL("within_runs", runs.within), CELL("within_percent", percent(&runs)),
        CELL("published_values", published.count),
        CELL("published_within_percent", percent(&published)),
        CELL("published_most_percent", published.count > 0 ? published.most : NAN));
    if (!method)
        TABLE_CELLS(sheet,
            CELL("all_platforms_percent", print(report, experiment, "all_platforms_percent")),
            CELL("linux_percent", print(report, experiment, "linux_percent")));
}

int ssreport_within_fill(const struct ssreport_report *report) {
    for (size_t index = 0; index < sizeof experiments / sizeof *experiments; index++) {
        SS_OWNED(groups)
        struct stats_groups methods = ssreport_runs_group(
            report, SSREPORT_BY_SET | SSREPORT_BY_METHOD, has_method, experiments[index].name);
        if (!methods.first)
            return -1;
        for (int set = 0; set < 2; set++) {
            add_row(report, index, set, NULL);
            for (size_t i = 0; i < methods.count; i++) {
                const struct ssreport_run *run = &report->runs[methods.first[i]];
                if (run->set == set)
                    add_row(report, index, set, run->method);
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
