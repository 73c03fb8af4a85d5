/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_CPU_TIME_H
#define SHOWSTOPPER_TREE_CPU_TIME_H

#include <showstopper/contract.h>
#include <showstopper/feedback.h>

#include "loop/board.h"
#include "tree/clocks.h"

/*
 * How much CPU time one instance has used: the clocks of its living processes, what their parents
 * have waited for, and the last known clocks of processes that ended without anybody waiting for
 * them. A process that lives between two readings counts if its parent waits for it.
 *
 * That is complete but known late: clocks move with the system's tick, and what was waited for is
 * told in steps of 10 ms. So where the system allows it, clocks that the kernel keeps for threads
 * and their descendants tell what happens meanwhile. These lack what processes use while they exit,
 * and on a virtual machine they go on while the host runs something else.
 */

struct ss_cpu_time_process {
    pid_t pid;
    pid_t parent; /* of those counted; 0: none of them */
    uint64_t used;
    uint64_t waited;   /* by children that it has waited for */
    uint64_t waited_0; /* when it was first seen */
    uint64_t before;   /* counted for nothing: used before it was known */
    uint64_t ended;    /* used by children that have disappeared since it was first seen ... */
    uint64_t ending;   /* ... but before the last listing, which may be too late for `waited` */
    uint64_t lost;     /* the part of that which it has not waited for */
};

struct ss_cpu_time_list {
    struct ss_cpu_time_process *items;
    uint32_t count;
    uint32_t room;
};

struct ss_cpu_time {
    struct ss_board *board;
    uint32_t row;
    struct ss_cpu_time_list now;
    struct ss_cpu_time_list last;
    bool refused; /* the kernel keeps no clocks for us */
    struct ss_clocks clocks;
    int self;          /* the clock of the executor alone, which is in the sum of the others; -1:
                          none */
    uint64_t seen;     /* the sum without it, at the last reading */
    uint64_t unlisted; /* how much of it is later than the last listing */
    uint64_t clocked;  /* what the clocks told of late ... */
    uint64_t told;     /* ... and what listings did */
    uint64_t known;    /* by listings, which never falls */
    uint64_t compared; /* ... and what it was when the clocks were last compared with it */
    pid_t latest;      /* the last pid that was assigned when `now` was listed */
    uint64_t lost;     /* of processes that have gone with all of their counted parents */
    uint64_t total;    /* nanoseconds since some point in the past, as well as is known */
    uint64_t shown;    /* the same, but never falls */
    ss_time read_at;   /* when that was */
    bool runs;         /* since then, the instance has been allowed to run */
    double rate;       /* CPUs used of late while it was */
    ss_time due;       /* no listing before, so that it costs little of a CPU */
};

void ss_cpu_time_open(struct ss_cpu_time *meter, struct ss_board *board, uint32_t row);
void ss_cpu_time_close(struct ss_cpu_time *meter);

/* Tells the other executors what was read last, and whether the instance runs from `now` on. */
void ss_cpu_time_publish(struct ss_cpu_time *meter, bool runs, ss_time now);

/*
 * A reading of all instances together: what their executors have told last, and what those that run
 * since then are likely to have used meanwhile.
 */
void ss_cpu_time_sum(struct ss_board *board, uint32_t cpus, struct ss_counters *counters);

/* Takes a reading unless the last one was too costly for that. Returns the total. */
uint64_t ss_cpu_time_read(struct ss_cpu_time *meter, ss_time now);

#endif
