/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_DOUBT_H
#define SHOWSTOPPER_MEASURE_DOUBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/*
 * A sample is in doubt if the load missed the target although the duty was already at its limit.
 * What the user should change depends on the cause.
 */
enum ss_doubt_kind {
    SS_DOUBT_NONE,
    SS_DOUBT_BELOW, /* below the target with all instances always running */
    SS_DOUBT_ABOVE, /* above the target with all instances stopped */
    SS_DOUBT_KINDS,
};

/* Everything known about the samples in doubt of one kind. */
struct ss_doubt {
    enum ss_doubt_kind kind;
    double fraction; /* fraction of the counted samples that is of this kind */

    /* Use of the measured CPUs in these samples, 0 to 1; NaN if unknown. */
    double instances_use;
    double others_use; /* processes other than ours and the instances' */
    double own_use;    /* Showstopper's own processes */
    double idle;

    bool only_instances; /* the load is that of the instances alone (-f own): others do not count */
    bool attached;       /* the instances are processes that the run did not start */
    uint32_t instances;  /* number of instances of the run */
    double running;      /* mean number of instances still alive */
    uint32_t cpus;       /* number of measured CPUs */
    double quota_cpus;   /* CPUs that our control group may use; 0 without a limit */
    double throttled;    /* fraction of the quota's periods in which it was used up */
    const char *open_loop; /* the control module, if it ignores the load; otherwise NULL */
};

enum ss_doubt_cause {
    SS_DOUBT_QUOTA,     /* the control group may use no more */
    SS_DOUBT_ENDED,     /* some instances had ended */
    SS_DOUBT_OPEN_LOOP, /* no module follows the load */
    SS_DOUBT_BUSY,      /* no CPU is idle: other processes use them */
    SS_DOUBT_FEW,       /* CPUs are idle: more instances could use them */
    SS_DOUBT_OWN,       /* Showstopper itself uses more than other processes */
    SS_DOUBT_OTHERS,    /* other processes use more than the target */
    SS_DOUBT_ESCAPED,   /* the instances use more than the target: not all are stopped */
};

/* Returns the most important cause that applies. */
enum ss_doubt_cause ss_doubt_cause(const struct ss_doubt *doubt);

/* Prints a sentence with the figures and, if possible, a remedy. */
SS_WRITES(1, 2) void ss_doubt_print(char *buffer, size_t size, const struct ss_doubt *doubt);

#endif
