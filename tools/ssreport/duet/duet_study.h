/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_STUDY_H
#define SSREPORT_DUET_STUDY_H

/* A study of tools/experiments/duet: its blocks and its decision. */

#include <showstopper/contract.h>

#include "duet_turns.h"
#include "report.h"
#include "sequential.h"
#include "worth.h"

enum duet_order {
    DUET_TURN,      /* blocks of four fresh runs */
    DUET_ALTERNATE, /* blocks of two processes that run in turn */
    DUET_BESIDE, /* blocks of two runs, each with A and B at once; the second run swaps their places
                  */
};

/* A study begins with this number of blocks that compare A with A. */
#define DUET_FIRST 10

/*
 * One of the four runs of a block, or of two with DUET_ALTERNATE; with DUET_BESIDE, two run at the
 * same time. Figures of a missing run are NaN.
 */
struct duet_run {
    double figure; /* iterations or requests per second, or seconds */
    double beside; /* iterations per second of the background */
    double wall;   /* start, in seconds since 1970 */
    bool is_b;
    const char *name; /* name of the record; NULL if the run is missing */
};

struct duet_block {
    struct duet_run runs[4]; /* in the order in which they ran */

    /*
     * With DUET_ALTERNATE: the process that has the first turn, the other process, and the
     * background; NULL if absent. The records belong to the report.
     */
    const struct ssreport_record *processes[2], *background;
    const struct ssreport_responses *services[2]; /* requests to these processes */
};

/* Blocks that compare the same two commands, up to the first incomplete one. */
struct duet_blocks {
    struct duet_block *items;
    size_t carried, room;
    const char *unmeasured; /* the first run without a figure; NULL if absent */

    /* Only blocks in which all runs have a figure. The arrays are owned, like `items`. */
    size_t count;
    size_t *numbers;     /* numbers of the blocks, from 1 */
    double *differences; /* differences of the logarithms of figures, B minus A */
    enum stats_order *orders;
    double *seconds; /* durations; sorted once the study has been read */
    size_t seconds_count;
    double *beside; /* the same for the background, if the block has one */
    size_t beside_count;
};

enum duet_decision {
    DUET_CONTINUES, /* more blocks are needed */
    DUET_PRECISE,   /* the interval is as narrow as requested */
    DUET_PASSED,    /* B is worse by less than the limit */
    DUET_FAILED,    /* B is worse by more than the limit */
    DUET_ENDED,     /* time is up */
};

/* A difference in percent of A, positive if B is worse; bounds are infinite if unknown. */
struct duet_percent {
    double mean, low, high;
};

struct duet_study {
    bool is_present; /* the report has such a study */
    size_t manifest; /* its number, see struct ssreport_run */
    bool has_others; /* the report has further such studies, which are left out */
    bool failed;     /* memory was exhausted */
    /* comparison in which too many blocks lack a figure; NULL if all are complete */
    const struct duet_blocks *lacking;
    enum duet_order order;
    struct duet_turns turns; /* with DUET_ALTERNATE */
    bool of_two_processes;   /* each comparison is one block; each group of turns gives a value */
    bool by_time;            /* the figure is a time: lower is better */
    const char *a, *b, *beside; /* as in the plan; "" if absent */
    const char *response; /* figure of requests: mean, p50, p95, p99 or throughput; "" if absent */
    double until, fail_above; /* percent; NaN if not given */
    double at_most;           /* seconds; NaN if the study has no end */
    struct duet_blocks same, different;
    size_t planned; /* number of blocks of A and B; 0 if the study has no end */

    struct stats_look look; /* the deciding look, or the last one */
    enum duet_decision decision;
    struct duet_percent worse;
    struct duet_percent worse_same; /* `worse` of A against A */
    bool same_differs;              /* the interval of A against A excludes 0 at 99 % */
    /* Difference of the background between A and B in percent of A, positive if B's did more. */
    struct duet_percent beside_more;
    bool beside_differs;
    bool beside_unknown;         /* most blocks lack the background's throughput */
    struct ssreport_worth worth; /* of the records */
    struct ssreport_notes notes; /* faults of files of requests */
};

/*
 * Reads the runs of a study and judges them. Its texts belong to the report. Returns -1 if memory
 * is exhausted.
 */
SS_MUST_USE SS_NONNULL() int duet_study_read(
    struct duet_study *study, const struct ssreport_report *report);

SS_NONNULL()
void duet_study_free(struct duet_study *study);

/* Returns the minimum number of blocks of each comparison that an answer requires. */
SS_NONNULL()
size_t duet_study_first(const struct duet_study *study);

/* Returns the look after `count` blocks of A and B. */
SS_NONNULL()
struct stats_look duet_study_look(const struct duet_study *study, size_t count);

#endif
