/* SPDX-License-Identifier: Apache-2.0 */
#include "run/tally.h"

#include <math.h>

/* Levels of descendants: bounds the walk through a tree that grows meanwhile. */
#define DEPTH_MAX 64

void ss_tally_open(struct ss_tally *tally, const struct ss_board *board, struct ss_row *row) {
    *tally = (struct ss_tally){
        .board = board,
        .row = row,
        .meter = {.calls = &ss_platform_perf},
        .answered = atomic_load(&board->counts_wanted),
    };
    atomic_store(&row->counts_unknown, UINT32_MAX);
}

/* Without memory the instance is not counted. */
static void add(struct ss_tally *tally, pid_t thread, bool after_exec) {
    size_t left = tally->meter.left;
    if (ss_perf_add(&tally->meter, thread, after_exec) < 0)
        return;
    atomic_fetch_add(&tally->row->uncounted, (uint32_t)(tally->meter.left - left));
}

void ss_tally_start(struct ss_tally *tally, pid_t leader) {
    add(tally, leader, true);
}

struct walk {
    struct ss_tally *tally;
    int depth;
};

static void add_thread(void *context, pid_t thread) {
    struct walk *walk = context;
    add(walk->tally, thread, false);
}

static void add_process(void *context, pid_t pid) {
    struct walk *walk = context;
    ss_platform_process_threads(pid, add_thread, walk);
    if (++walk->depth < DEPTH_MAX)
        ss_platform_process_children(pid, add_process, walk);
    walk->depth--;
}

void ss_tally_attach(struct ss_tally *tally, pid_t pid) {
    struct walk walk = {.tally = tally};
    add_process(&walk, pid);
}

static void tell(struct ss_tally *tally) {
    double counts[SS_PERF_EVENTS];
    uint32_t unknown = 0;
    ss_perf_read(&tally->meter, counts);
    for (int event = 0; event < SS_PERF_EVENTS; event++) {
        _Atomic uint64_t *total = &tally->row->counts[event];
        if (isnan(counts[event]))
            unknown |= UINT32_C(1) << event;
        else
            atomic_store(total,
                ss_word_from_double(ss_double_from_word(atomic_load(total)) + counts[event]));
    }
    atomic_store(&tally->row->counts_unknown, unknown);
}

void ss_tally_answer(struct ss_tally *tally) {
    uint32_t wanted = atomic_load(&tally->board->counts_wanted);
    if (wanted == tally->answered || tally->meter.count == 0)
        return;
    tally->answered = wanted;
    tell(tally);
}

void ss_tally_end(struct ss_tally *tally) {
    if (tally->meter.count > 0)
        tell(tally);
    ss_perf_close(&tally->meter);
    tally->meter.calls = &ss_platform_perf;
}
