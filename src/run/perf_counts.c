/* SPDX-License-Identifier: Apache-2.0 */
#include "run/perf_counts.h"

#include <math.h>

/* Limits the walk through the tree of descendants, which may grow during the walk. */
#define DEPTH_MAX 64

void ss_perf_counts_open(
    struct ss_perf_counts *counts, const struct ss_board *board, struct ss_row *row) {
    *counts = (struct ss_perf_counts){
        .board = board,
        .row = row,
        .meter = {.calls = &ss_platform_perf},
        .answered = atomic_load(&board->counts_requested),
    };
    atomic_store(&row->counts_unknown, UINT32_MAX);
}

/* Starts to count a thread. Skips it if memory is exhausted. */
static void count_thread(struct ss_perf_counts *counts, pid_t thread, bool after_exec) {
    size_t left = counts->meter.uncounted;
    if (ss_perf_add(&counts->meter, thread, after_exec) < 0)
        return;
    atomic_fetch_add(&counts->row->uncounted, (uint32_t)(counts->meter.uncounted - left));
}

void ss_perf_counts_start(struct ss_perf_counts *counts, pid_t leader) {
    count_thread(counts, leader, true);
}

struct walk {
    struct ss_perf_counts *counts;
    int depth;
};

static void add_thread(void *context, pid_t thread) {
    struct walk *walk = context;
    count_thread(walk->counts, thread, false);
}

static void add_process(void *context, pid_t pid) {
    struct walk *walk = context;
    ss_platform_process_threads(pid, add_thread, walk);
    if (++walk->depth < DEPTH_MAX)
        ss_platform_process_children(pid, add_process, walk);
    walk->depth--;
}

void ss_perf_counts_attach(struct ss_perf_counts *counts, pid_t pid) {
    struct walk walk = {.counts = counts};
    add_process(&walk, pid);
}

static void publish(struct ss_perf_counts *counts) {
    double increments[SS_PERF_EVENTS];
    uint32_t unknown = 0;

    ss_perf_read(&counts->meter, increments);
    for (int event = 0; event < SS_PERF_EVENTS; event++) {
        _Atomic uint64_t *total = &counts->row->counts[event];
        if (isnan(increments[event]))
            unknown |= UINT32_C(1) << event;
        else
            atomic_store(total,
                ss_word_from_double(ss_double_from_word(atomic_load(total)) + increments[event]));
    }

    atomic_store(&counts->row->counts_unknown, unknown);
}

void ss_perf_counts_answer(struct ss_perf_counts *counts) {
    uint32_t requested = atomic_load(&counts->board->counts_requested);
    if (requested == counts->answered || counts->meter.count == 0)
        return;
    counts->answered = requested;
    publish(counts);
}

void ss_perf_counts_end(struct ss_perf_counts *counts) {
    if (counts->meter.count > 0)
        publish(counts);
    ss_perf_close(&counts->meter);
    counts->meter.calls = &ss_platform_perf;
}
