/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_CPU_TIME_H
#define SHOWSTOPPER_TREE_CPU_TIME_H

#include <showstopper/contract.h>
#include <showstopper/feedback.h>

#include "loop/board.h"
#include "tree/process_sum.h"

/*
 * The CPU time of one instance: that of its living processes, that of dead processes that their
 * parents have waited for, and the last known time of dead processes that were not waited for. A
 * process that lives and dies between two readings counts if its parent waits for it.
 *
 * That sum is complete but late: the time of the living advances with the system's tick, that of
 * the dead in steps of 10 ms. If the system permits it, clocks that the kernel keeps for threads
 * and their descendants fill the time between. These clocks exclude what processes use while they
 * exit, and on a virtual machine they advance while the host runs something else.
 */

/*
 * The CPU time of a set of processes and of all their future descendants, as the kernel counts it
 * for threads. It is exact at any moment and includes processes that live and die between two
 * readings, but excludes what processes use while they exit. All zero: no processes.
 */
struct ss_clocks {
    struct ss_clocks_entry *entries;
    uint32_t count;
    uint32_t room;
};

struct ss_clocks_entry {
    pid_t thread;
    int clock; /* descriptor; -1 if the thread ended before its clock could be opened */
};

struct ss_cpu_time {
    struct ss_board *board;
    uint32_t row;
    struct ss_process_sum sum;
    bool refused; /* the kernel does not let us open clocks */
    struct ss_clocks clocks;
    int self; /* the clock of the executor alone, to subtract from the others; -1: not open */
    uint64_t clock_sum;   /* of the last reading, without the executor */
    uint64_t unlisted;    /* the part of `clock_sum` since the last listing */
    uint64_t by_clocks;   /* recent CPU time according to the clocks */
    uint64_t by_listings; /* the same CPU time according to listings */
    uint64_t listed;      /* total of the last listing; monotonic */
    uint64_t compared;    /* `listed` when the clocks were last compared with it */
    pid_t latest;         /* newest pid of the machine at the last listing */
    uint64_t total;       /* best estimate: nanoseconds since some point in the past */
    uint64_t published;   /* `total`, but monotonic */
    ss_time read_at;      /* time of the last reading */
    bool runs;            /* the instance has been allowed to run since `read_at` */
    double rate;          /* number of CPUs used recently while it ran */
    ss_time due;          /* earliest time of the next listing, which limits the cost */
};

void ss_cpu_time_open(struct ss_cpu_time *meter, struct ss_board *board, uint32_t row);
void ss_cpu_time_close(struct ss_cpu_time *meter);

/*
 * Publishes the last reading for the other executors, and whether the instance runs from `now` on.
 */
void ss_cpu_time_publish(struct ss_cpu_time *meter, bool runs, ss_time now);

/*
 * Adds up all instances: the readings that their executors have published, and for those that are
 * running, an estimate of their use since then. They may use `cpus` CPUs, `capacity` of which make
 * a load of 1.
 */
void ss_cpu_time_sum(
    struct ss_board *board, uint32_t cpus, double capacity, struct ss_counters *counters);

/* Takes a reading, with a listing if one is due. Returns the total. */
uint64_t ss_cpu_time_read(struct ss_cpu_time *meter, ss_time now);

#endif
