/* SPDX-License-Identifier: Apache-2.0 */

/* One trace at several speeds: does a faster replay tell the same as the original? */

#include <math.h>
#include <stdlib.h>

#include "experiment_order.h"

/* Speeds stand in a manifest with ten digits. */
#define SAME_SPEED 1e-6

// clang-format off
static const struct ssreport_column replay_columns[] = {
    {"set", NULL}, {"workload", "workload"}, {"method", "method"},
    {"round", NULL}, {"speed", "speed", 2}, {"seconds", "counted, s", 1},
    {"load_mean", "load, %", 2, true}, {"error_mean_percent", "mean error, %", 3},
    {"error_mse_e4", "mean squared error, %\u00b2", 3},
    {"error_mse_e4_published_least", "published at six speeds, from", 2},
    {"error_mse_e4_published_most", "to", 2},
    {"iterations", NULL}, {"iterations_per_second", "throughput, /s", 3},
    {"against_speed", "against speed", 2}, {"ratio", "ratio of throughput", 4},
    {"in_proportion", "in proportion to time"},
    {"others", "others, %", 1, true, true}, {"note", "note"}, {"record", NULL},
};
// clang-format on

static double published(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *end) {
    char column[64];
    snprintf(column, sizeof column, "%.40s_%s", run->method ? run->method : "", end);
    return published_number(published_find(
        &report->published, "replay-mse-range", (const char *const[]){run->workload, ""}, column));
}

/*
 * Throughput against that of the original is the same as iterations against what the length of the
 * run lets expect.
 */
static void add_run(
    struct ssreport_report *report, struct ssreport_run *run, const struct ssreport_run *original) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_REPLAY];
    const struct ssreport_record *record = &run->record;
    double seconds = ssreport_record_counted_to(record) - record->counted_from;
    bool forbidden = original && !ssreport_others_permit(run->others, original->others);
    double ratio = original && !forbidden && original->figures.throughput > 0
                       ? run->figures.throughput / original->figures.throughput
                       : NAN;
    /* Where no iteration ended there is no ratio, but one that it cannot exceed. */
    double most = original ? run->figures.throughput_bound / original->figures.throughput : NAN;
    bool in_proportion = fabs(ratio - 1) <= report->settings.deviation;
    bool is_known = isfinite(ratio) || (!forbidden && most < 1 - report->settings.deviation);
    SSREPORT_NUMBERS(sheet, run->set + 1);
    SSREPORT_TEXTS(sheet, run->workload, run->method);
    SSREPORT_NUMBERS(sheet, run->round > 0 ? run->round : NAN, run->speed, seconds,
        run->figures.load_mean, run->figures.error_mean_percent, run->figures.error_mse_e4,
        published(report, run, "min"), published(report, run, "max"),
        run->figures.throughput * seconds, run->figures.throughput,
        original ? original->speed : NAN, ratio);
    SSREPORT_TEXTS(sheet, !is_known ? "" : in_proportion ? "yes" : "no");
    SSREPORT_NUMBERS(sheet, run->others);
    SSREPORT_TEXTS(sheet, forbidden ? "not compared: others used another part of the machine" : "",
        record->name);
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

/* That of speed 1, or else the slowest; runs are in the order of their speeds. NULL: none counts.
 */
static const struct ssreport_run *find_original(struct ssreport_run *const *runs, size_t count) {
    const struct ssreport_run *slowest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(runs[i]->figures.throughput))
            continue;
        if (fabs(runs[i]->speed - 1) <= SAME_SPEED)
            return runs[i];
        if (!slowest)
            slowest = runs[i];
    }
    return slowest;
}

int ssreport_report_replay(struct ssreport_report *report) {
    report->sheets[SSREPORT_REPLAY] =
        SSREPORT_SHEET("replay", "One trace at several speeds", replay_columns);
    struct ssreport_run **runs = ssreport_series_of(report, "replay");
    if (!runs)
        return -1;
    for (size_t first = 0, next; runs[first]; first = next) {
        next = first + 1;
        while (runs[next] && runs[next]->round == runs[first]->round &&
               ssreport_series_is_one(runs[first], runs[next]))
            next++;
        const struct ssreport_run *original = find_original(runs + first, next - first);
        for (size_t i = first; i < next; i++)
            add_run(report, runs[i], original);
    }
    free(runs);
    return 0;
}
