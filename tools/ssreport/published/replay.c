/* SPDX-License-Identifier: Apache-2.0 */

#include "replay.h"

#include <math.h>
#include <stdlib.h>

#include "run_order.h"

/* Tolerance for speeds, which a manifest has with ten digits. */
#define SAME_SPEED 1e-6

#define TABLE "throughput-table3"

/* Returns the seconds of a published replay at a speed; the longest of Table 3 has speed 1. */
static double published_seconds(const struct ssreport_report *report, double speed) {
    const struct published *published = &report->published;
    const struct published_table *table = published_find_table(published, TABLE);
    double most = NAN;
    for (size_t i = 0; table && i < published->cell_count; i++) {
        if (&published->tables[published->cells[i].table] == table)
            most = fmax(most, strtod(published->cells[i].keys[2], NULL));
    }
    return most / speed;
}

/* Returns a published value of another trace; the keys of a table are a program, and perhaps a
 * method. */
static double published(const struct ssreport_report *report, const struct ssreport_run *run,
    const char *table, const char *column) {
    const char *const keys[] = {ssreport_run_published(run), run->method};
    return published_print(
        &report->published, published_find(&report->published, table, keys, column));
}

/*
 * Adds a row for a run. The ratio of throughputs is its number of iterations divided by the number
 * expected from its length.
 */
static void add_run(
    struct ssreport_report *report, struct ssreport_run *run, const struct ssreport_run *original) {
    const struct ssreport_record *record = &run->record;
    double seconds = ssreport_record_counted_to(record) - record->counted_from;
    bool forbidden = original && !ssreport_others_permit(run->others, original->others);
    double ratio = original && !forbidden && original->figures.throughput > 0
                       ? run->figures.throughput / original->figures.throughput
                       : NAN;
    /* If no iteration ended, the ratio has only an upper bound. */
    double most = original ? run->figures.throughput_bound / original->figures.throughput : NAN;
    bool in_proportion = fabs(ratio - 1) <= report->settings.deviation;
    bool is_known = isfinite(ratio) || (!forbidden && most < 1 - report->settings.deviation);
    char speed[32], least[64], most_of[64];
    snprintf(speed, sizeof speed, "%.4g", published_seconds(report, run->speed));
    snprintf(least, sizeof least, "%.40s_min", run->method ? run->method : "");
    snprintf(most_of, sizeof most_of, "%.40s_max", run->method ? run->method : "");
    TABLE_ROW(ssreport_table(report, "replay"), CELL("set", run->set + 1),
        CELL("workload", run->workload), CELL("method", run->method),
        CELL("tau_seconds", run->tau > 0 ? run->tau : NAN), CELL("trace", run->trace),
        CELL("round", run->round > 0 ? run->round : NAN), CELL("speed", run->speed),
        CELL("seconds", seconds), CELL("load_mean", run->figures.load_mean),
        CELL("error_mean_percent", run->figures.error_mean_percent),
        CELL("error_mean_percent_published", published(report, run, "replay-mean-error", speed)),
        CELL("error_mse_e4", run->figures.error_mse_e4),
        CELL("error_mse_e4_published_least", published(report, run, "replay-mse-range", least)),
        CELL("error_mse_e4_published_most", published(report, run, "replay-mse-range", most_of)),
        CELL("iterations", run->figures.throughput * seconds),
        CELL("iterations_per_second", run->figures.throughput),
        CELL("against_speed", original ? original->speed : NAN), CELL("ratio", ratio),
        CELL("in_proportion", !is_known       ? ""
                              : in_proportion ? "yes"
                                              : "no"),
        CELL("others", run->others),
        CELL("note",
            forbidden ? "not compared: other processes used a different share of the machine" : ""),
        CELL("record", record->name));
    if (isfinite(ratio) && !in_proportion)
        ssreport_notes_add(&run->record.notes,
            "the iterations are not in proportion to the time scale (%+.1f %% against speed "
            "%.4g), so this speed says nothing about the original",
            100 * (ratio - 1), original->speed);
    else if (is_known && !in_proportion)
        ssreport_notes_add(&run->record.notes,
            "the iterations are not in proportion to the time scale (none ended, so at most %.3g "
            "%% of the throughput at speed %.4g), so this speed says nothing about the original",
            100 * most, original->speed);
}

/* Returns whether the study of a replay has another speed, so that it can be compared within it. */
static bool has_other_speed(
    struct ssreport_run *const *runs, size_t count, const struct ssreport_run *replay) {
    for (size_t i = 0; i < count; i++) {
        if (ssreport_run_is_of_study(replay, runs[i]) && isfinite(runs[i]->figures.throughput) &&
            fabs(runs[i]->speed - replay->speed) > SAME_SPEED)
            return true;
    }
    return false;
}

/*
 * Returns the run with which a replay is compared: the first one at speed 1 or, if absent, at the
 * slowest speed. Runs of other studies, perhaps of another machine, count only if the study has no
 * other speed. `runs` are ordered by speed. Returns NULL if none has a throughput.
 */
static const struct ssreport_run *find_original(
    struct ssreport_run *const *runs, size_t count, const struct ssreport_run *replay) {
    const struct ssreport_run *found = NULL;
    bool only_own = has_other_speed(runs, count, replay), is_original = false;
    for (size_t i = 0; i < count; i++) {
        const struct ssreport_run *run = runs[i];
        bool is_one = fabs(run->speed - 1) <= SAME_SPEED;
        if (!isfinite(run->figures.throughput) ||
            (only_own && !ssreport_run_is_of_study(replay, run)))
            continue;
        if (!found || (is_one && !is_original) ||
            (fabs(run->speed - found->speed) <= SAME_SPEED &&
                ssreport_run_is_closer(replay, run, found))) {
            found = run;
            is_original = is_one;
        }
    }
    return found;
}

int ssreport_replay_fill(struct ssreport_report *report) {
    struct ssreport_run **runs = ssreport_series_of(report, "replay");
    if (!runs)
        return -1;
    for (size_t first = 0, next; runs[first]; first = next) {
        next = first + 1;
        while (runs[next] && runs[next]->round == runs[first]->round &&
               ssreport_series_is_one(runs[first], runs[next]))
            next++;
        for (size_t i = first; i < next; i++)
            add_run(report, runs[i], find_original(runs + first, next - first, runs[i]));
    }
    free(runs);
    return 0;
}

/* A throughput over a trace in this report, replayed or predicted. */
struct throughput {
    const char *of, *workload, *method, *record;
    double set, round, speed;
    double rate;  /* iterations per second */
    double ratio; /* rate relative to the rate at the original speed; NaN if unknown */
};

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
    snprintf(seconds, sizeof seconds, "%.4g", published_seconds(report, speed));
    const char *const keys[] = {system, program_of(report, ours->workload), seconds};
    return published_print(
        &report->published, published_find(&report->published, TABLE, keys, ours->method));
}

/* Adds a row if a value was published for this workload, method and speed. */
static void add_throughput(const struct ssreport_report *report, const struct throughput *ours) {
    static const struct {
        const char *name, *rate, *ratio;
    } systems[] = {
        {"linux", "linux_iterations_per_second", "linux_ratio"},
        {"aix", "aix_iterations_per_second", "aix_ratio"},
    };
    double rates[2];
    for (size_t i = 0; i < 2; i++)
        rates[i] = published_rate(report, systems[i].name, ours, ours->speed);
    if (isnan(rates[0]) && isnan(rates[1]))
        return;
    struct table_sheet *sheet = ssreport_table(report, "throughput-published");
    TABLE_ROW(sheet, CELL("set", ours->set), CELL("of", ours->of), CELL("workload", ours->workload),
        CELL("method", ours->method), CELL("round", ours->round), CELL("speed", ours->speed),
        CELL("published_seconds", published_seconds(report, ours->speed)),
        CELL("iterations_per_second", ours->rate), CELL("ratio", ours->ratio),
        CELL("record", ours->record));
    for (size_t i = 0; i < 2; i++) {
        double original = published_rate(report, systems[i].name, ours, 1);
        TABLE_CELLS(
            sheet, CELL(systems[i].rate, rates[i]), CELL(systems[i].ratio, rates[i] / original));
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
                add_throughput(report, &ours);
        }
    }
}
