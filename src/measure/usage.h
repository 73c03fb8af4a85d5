/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_USAGE_H
#define SHOWSTOPPER_MEASURE_USAGE_H

/*
 * Finds which processes use the CPUs while the load cannot follow the target. A reading visits all
 * processes, so readings are taken only while samples are in doubt, and when counting begins,
 * pauses and ends. The former take at most a hundredth of a CPU.
 */

#include "loop/board.h"
#include "measure/doubt.h"
#include "measure/load.h"
#include "platform/platform.h"

enum ss_process_owner {
    SS_OWNER_UNKNOWN,
    SS_OWNER_OTHER,
    SS_OWNER_BESIDE,   /* belongs to the experiment: see --beside */
    SS_OWNER_INSTANCE, /* part of an instance's tree */
    SS_OWNER_EXECUTOR, /* waits for an instance */
    SS_OWNER_CREW,     /* master or guardian */
};

struct ss_process_usage {
    struct ss_process_times times;
    enum ss_process_owner owner;
};

/* CPU time so far, in nanoseconds, by owner. */
struct ss_usage_by_owner {
    uint64_t instances; /* the instances' trees, including reaped processes */
    uint64_t own;       /* master, guardian and executors */
    uint64_t beside;    /* processes of --beside and their descendants, including reaped ones */
    uint32_t attached;  /* number of attached programs, and processes of --beside, that have not
                           ended */
};

/*
 * Adds up the use of processes by tree, and sorts the processes by pid. The time of an ended
 * process counts for the process that reaped it. Once the master has reaped an executor, the time
 * of the executor and its instances counts for the master.
 */
struct ss_usage_by_owner ss_usage_add_up(
    struct ss_board *board, pid_t master, struct ss_process_usage *processes, size_t count);

struct ss_usage_sum {
    double capacity; /* this and the next four: nanoseconds of CPU time */
    double instances;
    double others;
    double own;
    double idle;
    double periods; /* periods of the quota */
    double throttled;
};

struct ss_usage {
    struct ss_board *board;
    struct ss_load_meter meter;
    bool measures;       /* the meter is open */
    bool only_instances; /* see struct ss_doubt */
    struct ss_process_usage *processes;
    size_t count, room;
    bool incomplete;               /* memory was exhausted */
    struct ss_usage_by_owner tree; /* CPU times at the last reading */
    struct ss_quota quota;         /* quota at the last reading */
    bool has_last;                 /* a previous reading exists */
    enum ss_doubt_kind since;      /* kind of the samples since that reading */
    bool mixed;                    /* samples since that reading are of different kinds */
    ss_time due;                   /* time of the next reading */
    struct ss_usage_sum latest; /* use between the last two readings; capacity 0 if samples are not
                                   in doubt */
    enum ss_doubt_kind latest_kind;
    struct ss_usage_sum sums[SS_DOUBT_KINDS];
    struct ss_load_meter counting_meter; /* read when counting begins, pauses, continues, ends */
    struct ss_usage_by_owner first;      /* CPU times at its latest reading */
    bool has_first;                  /* `first` is valid; `counted_sum` lacks the use since then */
    struct ss_usage_sum counted_sum; /* use in the counted time before `first` */
    bool paused;                     /* counting has stopped for a pause */
};

/*
 * Opens the meters. If the counters cannot be opened, all use is unknown. `only_instances` as in
 * struct ss_doubt.
 */
void ss_usage_open(struct ss_usage *usage, struct ss_board *board, const struct ss_cpus *cpus,
    bool only_instances);

/* Begins the counted time at `now`, with a reading. */
void ss_usage_begin(struct ss_usage *usage, ss_time now);

/*
 * Returns the fraction of the measured CPUs that processes other than ours, the instances' and
 * those of --beside have used since counting began; NaN if unknown, for example because an attached
 * program has ended. Call it once, before instances are ended.
 */
SS_NONNULL() double ss_usage_of_others(struct ss_usage *usage);

/* Exclude the time between the two calls from the use of other processes. Each takes a reading. */
SS_NONNULL() void ss_usage_pause(struct ss_usage *usage);
SS_NONNULL() void ss_usage_continue(struct ss_usage *usage);

/* Forgets the last reading: the time up to the next one counts for no sample. */
void ss_usage_drop(struct ss_usage *usage);

/*
 * Reports the kind of the sample that ends now. Takes a reading if the sample is in doubt and a
 * reading is due.
 */
void ss_usage_follow(struct ss_usage *usage, enum ss_doubt_kind kind, ss_time now);

/*
 * Returns the fraction of the CPUs that other processes use if they are the reason why the load
 * misses the target now; NaN otherwise.
 */
SS_NONNULL() double ss_usage_blamed_on_others(const struct ss_usage *usage);

/*
 * Sets the doubt's CPU use and idle time, which are NaN if unknown, its quota and `only_instances`.
 */
void ss_usage_describe(const struct ss_usage *usage, struct ss_doubt *doubt);

void ss_usage_close(struct ss_usage *usage);

#endif
