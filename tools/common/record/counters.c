/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "csv.h"
#include "record.h"

/* Seconds that the first row covers; other rows cover the time since the previous row. */
#define USUAL_LENGTH 1.0

/* Tolerance for the times of rows, in seconds. */
#define SLACK 0.02

enum { ELAPSED, RUNNABLE, FIRST };

struct reader {
    struct ssreport_record *record;
    double elapsed; /* elapsed time of the previous row; NaN if none */
    double last;    /* end of the previous row */

    /* End of the last row that has the counter: its next value covers the time since then. */
    double since[SSREPORT_COUNTERS];
};

static bool take_second(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    struct ssreport_counters *counters = &reader->record->counters;
    struct ssreport_second second;
    double elapsed;
    if (!sstrace_field_number(&fields[ELAPSED], false, &elapsed) || isinf(elapsed) ||
        !sstrace_field_number(&fields[RUNNABLE], false, &second.runnable))
        return false;
    for (int i = 0; i < SSREPORT_COUNTERS; i++) {
        double *count = &second.counts[i];
        if (!sstrace_field_number(&fields[FIRST + i], false, count) || *count < 0 || isinf(*count))
            return false;
    }
    if (isnan(elapsed))
        return true; /* the row belongs to the warm-up */
    bool is_first = isnan(reader->elapsed);
    if (elapsed <= reader->elapsed)
        return false;
    reader->elapsed = elapsed;
    /* Nothing is counted in a pause, so it does not lengthen the row that spans it. */
    second.end = ssreport_record_run_time(reader->record, elapsed);
    second.begin = is_first ? second.end - USUAL_LENGTH : reader->last;
    reader->last = second.end;
    for (int i = 0; i < SSREPORT_COUNTERS; i++) {
        second.since[i] = is_first ? second.begin : reader->since[i];
        reader->since[i] = isnan(second.counts[i]) ? second.since[i] : second.end;
    }
    if (!SS_GROW(counters->seconds, counters->count + 1, counters->capacity))
        return false;
    counters->seconds[counters->count++] = second;
    return true;
}

int ssreport_counters_read(struct ssreport_record *record, struct ss_error *error) {
    static const char *const columns[] = {"elapsed_seconds", "runnable", "instructions", "cycles",
        "stalled_frontend", "stalled_backend", "l1d_references", "l1d_misses", "cache_references",
        "cache_misses", "page_faults", "context_switches", "migrations", "task_clock_seconds",
        "l2_references", "l2_misses", NULL};
    _Static_assert(sizeof columns / sizeof *columns - 1 == FIRST + SSREPORT_COUNTERS,
        "a counter has no column");
    struct reader reader = {.record = record, .elapsed = NAN};
    struct ssreport_csv csv = {.name = "counters.csv",
        .columns = columns,
        .optional = ~1U,
        .take = take_second,
        .context = &reader};
    return ssreport_csv_read(record->folder, &csv, &record->notes, error);
}

void ssreport_counters_free(struct ssreport_counters *counters) {
    free(counters->seconds);
    *counters = (struct ssreport_counters){0};
}

struct ssreport_counted ssreport_counters_between(
    const struct ssreport_counters *counters, double from, double to) {
    struct ssreport_counted counted = {0};
    double runnable = 0, runnable_known = 0;
    for (size_t i = 0; i < counters->count; i++) {
        const struct ssreport_second *second = &counters->seconds[i];
        double length = second->end - second->begin;
        if (second->begin < from - SLACK || second->end > to + SLACK)
            continue;
        counted.rows++;
        counted.seconds += length;
        runnable += isnan(second->runnable) ? 0 : second->runnable * length;
        runnable_known += isnan(second->runnable) ? 0 : length;
        for (int j = 0; j < SSREPORT_COUNTERS; j++) {
            if (isnan(second->counts[j]) || second->since[j] < from - SLACK)
                continue;
            counted.sums[j] += second->counts[j];
            counted.known[j] += second->end - second->since[j];
        }
    }
    counted.runnable = runnable / runnable_known;
    for (int j = 0; j < SSREPORT_COUNTERS; j++) {
        if (!(counted.known[j] > 0))
            counted.sums[j] = NAN;
    }
    return counted;
}

double ssreport_counted_rate(
    const struct ssreport_counted *counted, enum ssreport_counter counter) {
    return counted->sums[counter] / counted->known[counter];
}

double ssreport_counted_share(const struct ssreport_counted *counted, enum ssreport_counter one,
    enum ssreport_counter other) {
    double of = ssreport_counted_rate(counted, other);
    return of > 0 ? ssreport_counted_rate(counted, one) / of : NAN;
}
