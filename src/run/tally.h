/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_TALLY_H
#define SHOWSTOPPER_RUN_TALLY_H

#include "loop/board.h"
#include "measure/perf.h"

/*
 * An executor's part of --counters: it counts the events of its instances and writes the totals to
 * its row when the master asks for them, and when an instance has ended.
 *
 * The events are opened of the leader itself, before it executes the command. They must not be
 * inherited from the executor: the kernel may exchange the events of parent and child when it
 * switches from one to the other, and the exec of the first child would then use up what enables
 * those of all others.
 */
struct ss_tally {
    const struct ss_board *board;
    struct ss_row *row;
    struct ss_perf_meter meter;
    uint32_t answered; /* the last request that was answered */
};

void ss_tally_open(struct ss_tally *tally, const struct ss_board *board, struct ss_row *row);

/* A new instance: its leader has yet to execute the command. */
void ss_tally_start(struct ss_tally *tally, pid_t leader);

/* An instance that runs already: the threads and descendants that it has. */
void ss_tally_attach(struct ss_tally *tally, pid_t pid);

/* Tells the totals if the master has asked for them. */
void ss_tally_answer(struct ss_tally *tally);

/* The instance has ended, and nothing is left of it. */
void ss_tally_end(struct ss_tally *tally);

#endif
