/* SPDX-License-Identifier: Apache-2.0 */
#include "run/perf.h"

#include <math.h>
#include <stdlib.h>

#include "platform/platform.h"

#define INTERVAL SS_SECOND

/* How long to wait for the counts of executors. Later ones are added to the next row. */
#define PATIENCE (20 * SS_MILLISECOND)

static void record_missing(struct ss_master *master, const char *text) {
    ss_master_record_event(master, "counters_missing", -1, text, NAN);
    ss_master_print_verbose(master, "counters: %s", text);
}

/*
 * Records which events are not available. This holds for all executors: they have the permissions
 * of the master.
 */
static int report_missing(struct ss_master *master) {
    struct ss_perf_meter probe = {.calls = &ss_platform_perf};
    char text[512];
    int at = 0;
    if (ss_perf_add(&probe, 0, true) < 0)
        return ss_error_memory(master->error);
    while (ss_perf_explain(&probe, &at, text, sizeof text))
        record_missing(master, text);
    ss_perf_close(&probe);
    return 0;
}

int ss_master_open_perf(struct ss_master *master) {
    struct ss_master_perf *perf = &master->perf;
    perf->next = perf->collect_at = SS_TIME_NEVER;
    if (!master->plan->counters)
        return 0;
    perf->totals = calloc(master->plan->instances, sizeof *perf->totals);
    return perf->totals ? report_missing(master) : ss_error_memory(master->error);
}

void ss_master_begin_perf(struct ss_master *master, ss_time now) {
    if (master->plan->counters)
        master->perf.next = ss_time_add(now, INTERVAL);
}

ss_time ss_master_perf_due(const struct ss_master *master) {
    const struct ss_master_perf *perf = &master->perf;
    return perf->collect_at < perf->next ? perf->collect_at : perf->next;
}

/*
 * Adds the events that one executor has counted since the last row. Skips an event that it could
 * not read and that has no new count: if all executors do, the sum stays NaN.
 */
static void add_row(const struct ss_row *row, double totals[SS_PERF_EVENTS], double *values) {
    uint32_t unknown = atomic_load(&row->counts_unknown);
    for (int event = 0; event < SS_PERF_EVENTS; event++) {
        double total = ss_double_from_word(atomic_load(&row->counts[event]));
        double count = total - totals[event];
        if (unknown & UINT32_C(1) << event && count <= 0)
            continue;
        values[event] = isnan(values[event]) ? count : values[event] + count;
        totals[event] = total;
    }
}

static void write_row(struct ss_master *master, ss_time at, long runnable) {
    struct ss_record_counts counts = {.at = at, .runnable = runnable};
    for (int event = 0; event < SS_PERF_EVENTS; event++)
        counts.values[event] = NAN;
    for (uint32_t i = 0; i < master->plan->instances; i++)
        add_row(&master->board->rows[i], master->perf.totals[i], counts.values);
    ss_recorder_counts(master->recorder, &counts);
}

static void request_counts(struct ss_master *master, ss_time now) {
    struct ss_master_perf *perf = &master->perf;
    perf->requested_at = now;
    perf->collect_at = ss_time_add(now, PATIENCE);
    /* Counted before executors wake up for the request. */
    perf->runnable = ss_platform_count_runnable(NULL);
    while (perf->next <= now)
        perf->next += INTERVAL;
    atomic_fetch_add(&master->board->counts_requested, 1);
    for (uint32_t i = 0; i < master->plan->instances; i++)
        ss_platform_wake(&master->board->rows[i].wake);
}

void ss_master_take_perf(struct ss_master *master, ss_time now) {
    struct ss_master_perf *perf = &master->perf;
    if (now >= perf->collect_at) {
        perf->collect_at = SS_TIME_NEVER;
        write_row(master, perf->requested_at, perf->runnable);
    }
    if (now >= perf->next && master->stage < SS_STAGE_ENDING)
        request_counts(master, now);
}

static void record_uncounted(struct ss_master *master) {
    char text[128];
    uint32_t threads = 0;
    for (uint32_t i = 0; i < master->plan->instances; i++)
        threads += atomic_load(&master->board->rows[i].uncounted);
    if (threads == 0)
        return;
    snprintf(text, sizeof text,
        "%u thread%s not counted: too many open files: raise the limit (ulimit -n)",
        (unsigned)threads, threads == 1 ? " was" : "s were");
    record_missing(master, text);
}

void ss_master_end_perf(struct ss_master *master, ss_time now) {
    struct ss_master_perf *perf = &master->perf;
    if (perf->next != SS_TIME_NEVER) {
        if (perf->collect_at != SS_TIME_NEVER)
            write_row(master, perf->requested_at, perf->runnable);
        write_row(master, now, ss_platform_count_runnable(NULL));
        record_uncounted(master);
    }
    free(perf->totals);
}
