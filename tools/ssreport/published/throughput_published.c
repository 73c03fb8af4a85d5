/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput_published.h"

#include <math.h>
#include <stdlib.h>

#define TABLE "throughput-table3"

/* A throughput over a trace in this report, replayed or predicted. */
struct throughput {
    const char *of, *workload, *method, *record;
    double set, round, speed;
    double rate;  /* iterations per second */
    double ratio; /* rate relative to the rate at the original speed; NaN if unknown */
};

double ssreport_published_seconds(const struct ssreport_report *report, double speed) {
    const struct published *published = &report->published;
    const struct published_table *table = published_find_table(published, TABLE);
    double most = NAN;
    for (size_t i = 0; table && i < published->cell_count; i++) {
        if (&published->tables[published->cells[i].table] == table)
            most = fmax(most, strtod(published->cells[i].keys[2], NULL));
    }
    return most / speed;
}

/* Returns the program that a workload represents. */
static const char *program_of(const struct ssreport_report *report, const char *workload) {
    for (size_t i = 0; i < report->run_count; i++) {
        if (ssreport_is_word(report->runs[i].workload, workload))
            return ssreport_run_published(&report->runs[i]);
    }
    return workload;
}

static double published_rate(const struct ssreport_report *report, const char *system,
    const struct throughput *ours, double speed) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%.4g", ssreport_published_seconds(report, speed));
    const char *const keys[] = {system, program_of(report, ours->workload), seconds};
    return published_print(
        &report->published, published_find(&report->published, TABLE, keys, ours->method));
}

/* Adds a row if a value was published for this workload, method and speed. */
static void add_row(const struct ssreport_report *report, const struct throughput *ours) {
    static const struct {
        const char *name, *rate, *ratio, *to_original;
    } systems[] = {
        {"linux", "linux_iterations_per_second", "linux_ratio", "to_linux"},
        {"aix", "aix_iterations_per_second", "aix_ratio", "to_aix"},
    };
    double rates[2];
    for (size_t i = 0; i < 2; i++)
        rates[i] = published_rate(report, systems[i].name, ours, ours->speed);
    if (isnan(rates[0]) && isnan(rates[1]))
        return;
    struct table_sheet *sheet = ssreport_table(report, "throughput-published");
    TABLE_ROW(sheet, CELL("set", ours->set), CELL("of", ours->of), CELL("workload", ours->workload),
        CELL("method", ours->method), CELL("round", ours->round), CELL("speed", ours->speed),
        CELL("published_seconds", ssreport_published_seconds(report, ours->speed)),
        CELL("iterations_per_second", ours->rate), CELL("ratio", ours->ratio),
        CELL("record", ours->record));
    for (size_t i = 0; i < 2; i++) {
        double original = published_rate(report, systems[i].name, ours, 1);
        TABLE_CELLS(sheet, CELL(systems[i].rate, rates[i]),
            CELL(systems[i].ratio, rates[i] / original),
            CELL(systems[i].to_original, ours->rate / rates[i]));
    }
}

void ssreport_throughput_published_fill(const struct ssreport_report *report) {
    for (int is_replay = 1; is_replay >= 0; is_replay--) {
        const struct table_sheet *sheet =
            ssreport_table(report, is_replay ? "replay" : "prediction");
        const char *rate = is_replay ? "iterations_per_second" : "predicted_iterations_per_second";
        for (size_t i = 0; i < table_rows(sheet); i++) {
            const struct throughput ours = {.of = is_replay ? "replay" : "prediction",
                .workload = table_cell_at(sheet, i, "workload")->text,
                .method = table_cell_at(sheet, i, "method")->text,
                .record = table_cell_at(sheet, i, "record")->text,
                .set = table_cell_at(sheet, i, "set")->number,
                .round = is_replay ? table_cell_at(sheet, i, "round")->number : NAN,
                .speed = is_replay ? table_cell_at(sheet, i, "speed")->number : 1,
                .rate = table_cell_at(sheet, i, rate)->number,
                .ratio = is_replay ? table_cell_at(sheet, i, "ratio")->number : NAN};
            /* A prediction with a record is that of a replay, which is compared itself. */
            if (is_replay || !*ours.record)
                add_row(report, &ours);
        }
    }
}
