/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_SPENT_H
#define SHOWSTOPPER_TREE_SPENT_H

#include <showstopper/contract.h>
#include <showstopper/feedback.h>

#include "loop/board.h"

/*
 * How much CPU time one instance has used: the clocks of its living processes, what their parents
 * have waited for, and the last known clocks of processes that ended without anybody waiting for
 * them. A process that lives between two readings counts if its parent waits for it.
 */

struct ss_spent_process {
    pid_t pid;
    pid_t parent; /* of those counted; 0: none of them */
    uint64_t used;
    uint64_t waited;   /* by children that it has waited for */
    uint64_t waited_0; /* when it was first seen */
    uint64_t before;   /* counted for nothing: used before it was known */
    uint64_t ended;    /* used by children that have disappeared since it was first seen */
    uint64_t lost;     /* the part of that which it has not waited for */
};

struct ss_spent_list {
    struct ss_spent_process *items;
    uint32_t count;
    uint32_t room;
};

struct ss_spent {
    struct ss_board *board;
    uint32_t row;
    struct ss_spent_list now;
    struct ss_spent_list last;
    pid_t latest;   /* the last pid that was assigned when `now` was listed */
    uint64_t lost;  /* of processes whose counted parents are gone, too */
    uint64_t total; /* nanoseconds since some point in the past; never falls */
    ss_time due;    /* no reading before, so that readings cost little of a CPU */
};

void ss_spent_open(struct ss_spent *spent, struct ss_board *board, uint32_t row);
void ss_spent_close(struct ss_spent *spent);

/* A reading of all instances together: what their executors have read last. */
void ss_spent_count(struct ss_board *board, uint32_t cpus, struct ss_counters *counters);

/* Takes a reading unless the last one was too costly for that. Returns the total. */
uint64_t ss_spent_read(struct ss_spent *spent, ss_time now);

#endif
