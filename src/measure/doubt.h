/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_DOUBT_H
#define SHOWSTOPPER_MEASURE_DOUBT_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/*
 * A sample in which the load was off target although the duty could do no more. Why it was decides
 * what the user should change.
 */
enum ss_doubt_kind {
    SS_DOUBT_NONE,
    SS_DOUBT_BELOW, /* below the target with all instances always running */
    SS_DOUBT_ABOVE, /* above it with all of them stopped */
    SS_DOUBT_KINDS,
};

/* What is known of all samples of one kind. */
struct ss_doubt {
    enum ss_doubt_kind kind;
    double part; /* of the counted samples */

    /* Where the time of the measured CPUs went meanwhile, parts of 1; NaN: not known. */
    double instances_use;
    double others_use; /* processes that are neither ours nor the instances' */
    double own_use;    /* Showstopper's own */
    double idle;

    uint32_t instances;    /* of the run */
    double running;        /* of them, on average: the others had ended */
    uint32_t cpus;         /* measured */
    double quota_cpus;     /* how many of them our control group may use; 0: no limit */
    double throttled;      /* part of the quota's periods in which it was used up */
    const char *open_loop; /* the control module, where it does not look at the load; else NULL */
};

enum ss_doubt_cause {
    SS_DOUBT_QUOTA,     /* the control group may use no more */
    SS_DOUBT_ENDED,     /* some instances had ended */
    SS_DOUBT_OPEN_LOOP, /* nothing follows the load */
    SS_DOUBT_BUSY,      /* no CPU is left: others use them */
    SS_DOUBT_FEW,       /* CPUs are idle: more instances could use them */
    SS_DOUBT_OWN,       /* Showstopper itself uses more than all other processes */
    SS_DOUBT_OTHERS,    /* others use more than the target */
    SS_DOUBT_ESCAPED,   /* the instances themselves do: they are not all stopped */
};

/* The one that, taken away, would have the greatest effect. */
enum ss_doubt_cause ss_doubt_cause(const struct ss_doubt *doubt);

/* The same as a sentence with its figures and, where there is something, what to do. */
SS_WRITES(1, 2) void ss_doubt_print(char *buffer, size_t size, const struct ss_doubt *doubt);

#endif
