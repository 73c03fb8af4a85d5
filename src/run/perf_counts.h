/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_PERF_COUNTS_H
#define SHOWSTOPPER_RUN_PERF_COUNTS_H

#include "loop/board.h"
#include "measure/perf.h"

/*
 * An executor's part of --counters: it counts the events of its instances, and writes the totals to
 * its row when the master requests them and when an instance has ended.
 *
 * The events are opened on the leader itself, before it executes the command. They must not be
 * inherited from the executor: the kernel may exchange the events of parent and child when it
 * switches from one to the other, and the exec of the first child would then consume the enabling
 * of all other children's events.
 */
struct ss_perf_counts {
    const struct ss_board *board;
    struct ss_row *row;
    struct ss_perf_meter meter;
    uint32_t answered; /* the last request that was answered */
};

void ss_perf_counts_open(
    struct ss_perf_counts *counts, const struct ss_board *board, struct ss_row *row);

/* Starts to count a new instance. Call this before its leader executes the command. */
void ss_perf_counts_start(struct ss_perf_counts *counts, pid_t leader);

/* Starts to count a running instance: all threads of the process and of its descendants. */
void ss_perf_counts_attach(struct ss_perf_counts *counts, pid_t pid);

/* Publishes the totals if the master has requested them. */
void ss_perf_counts_answer(struct ss_perf_counts *counts);

/*
 * Publishes the totals and stops counting. Call this when the instance has ended or was released.
 */
void ss_perf_counts_end(struct ss_perf_counts *counts);

#endif
