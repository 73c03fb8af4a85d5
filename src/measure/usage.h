/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_USAGE_H
#define SHOWSTOPPER_MEASURE_USAGE_H

/*
 * Which processes use the CPUs while the load cannot follow the target. A reading walks over all
 * processes, so it is taken only while samples are in doubt, and never so often that it costs more
 * than a hundredth of a CPU.
 */

#include "loop/board.h"
#include "measure/doubt.h"
#include "measure/load_sample.h"
#include "platform/platform.h"

enum ss_process_owner {
    SS_OWNER_UNKNOWN,
    SS_OWNER_STRANGER,
    SS_OWNER_INSTANCE, /* it belongs to some instance's tree */
    SS_OWNER_EXECUTOR, /* it waits for an instance */
    SS_OWNER_CREW,     /* master or guardian */
};

struct ss_process_usage {
    struct ss_process_times times;
    enum ss_process_owner owner;
};

/* CPU time so far, in nanoseconds. */
struct ss_usage_tree {
    uint64_t instances; /* their trees, with all that they have waited for */
    uint64_t own;       /* master, guardian and executors */
};

/*
 * Adds up what the processes used, by the tree they belong to. They are sorted by pid in place. The
 * time of a process that has ended counts for the one that reaped it; once the master has reaped an
 * executor, the executor's own time counts for the master with that of its instances.
 */
struct ss_usage_tree ss_usage_add_up(
    const struct ss_board *board, pid_t master, struct ss_process_usage *processes, size_t count);

struct ss_usage_sum {
    double capacity; /* all in nanoseconds of CPU time */
    double instances;
    double others;
    double own;
    double idle;
    double periods; /* of the quota */
    double throttled;
};

struct ss_usage {
    const struct ss_board *board;
    struct ss_load_meter meter;
    bool measures; /* the meter is open */
    struct ss_process_usage *processes;
    size_t count, capacity;
    struct ss_usage_tree tree; /* of the last reading */
    struct ss_quota quota;     /* likewise */
    bool has_last;             /* there is one that the next can be compared with */
    enum ss_doubt_kind since;  /* what all samples since then were */
    bool mixed;                /* they were not all the same */
    ss_time due;               /* no reading before */
    struct ss_usage_sum sums[SS_DOUBT_KINDS];
};

/* It also works, and knows nothing, where the counters cannot be opened. */
void ss_usage_open(
    struct ss_usage *usage, const struct ss_board *board, const struct ss_cpus *cpus);

/* From here on samples count; what was before is not looked at. */
void ss_usage_begin(struct ss_usage *usage, ss_time now);

/* The next sample begins now, and not where the last one ended. */
void ss_usage_drop(struct ss_usage *usage);

/* What the sample that ends now was. */
void ss_usage_follow(struct ss_usage *usage, enum ss_doubt_kind kind, ss_time now);

/* Sets the doubt's use, idle time and quota; NaN where nothing is known. */
void ss_usage_tell(const struct ss_usage *usage, struct ss_doubt *doubt);

void ss_usage_close(struct ss_usage *usage);

#endif
