/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_ANTAGONIST_STAGES_H
#define SSANTAGONIST_ANTAGONIST_STAGES_H

/*
 * The runs of a study in their order. Later runs depend on the results of earlier ones:
 *
 *     look         throttles nothing; measures the length of an iteration, and the noise
 *     together-1   throttles all suspects, in groups if there are more of them than codes
 *     together-2   throttles the suspects of groups that were found to hurt; and so on
 *     alone-PID    throttles one suspect that was found to hurt, alone, at a larger depth
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "effects.h"
#include "slots.h"
#include "suspects.h"
#include "watch.h"

#define STAGES_FIRST        "look"
#define STAGES_MAX          40
#define STAGES_LOOK         12  /* slots of the first run */
#define STAGES_TOGETHER     4   /* stages of groups; three are enough for 4,096 suspects */
#define STAGES_ALONE        0.5 /* depth for a suspect that is throttled alone */
#define STAGES_SUSPECTS_MAX (CODES_SUSPECTS_MAX * CODES_SUSPECTS_MAX)

struct stages_options {
    const char *folder; /* folder of the study */
    struct watch_options victim;
    const char *pids, *group; /* where the suspects come from; one of them is NULL */
    double depth;             /* 0: not given, if the study has begun */
    ss_time slot;             /* 0: the first run decides */
    ss_time tau;
    uint64_t seed; /* 0: derived from the suspects */
};

struct stage {
    char name[40];
    size_t groups; /* number of groups, of one suspect or more each */
    size_t
        bounds[CODES_SUSPECTS_MAX + 1];  /* group g: members[bounds[g]] to before [bounds[g + 1]] */
    size_t members[STAGES_SUSPECTS_MAX]; /* indices of suspects */
    double depth;
    double slot; /* seconds */
    struct codes codes;
    bool done;
    struct slots slots;                               /* valid if `done`, like `cpu` */
    double cpu[CODES_SUSPECTS_MAX][2 * CODES_LENGTH]; /* CPUs; NaN: unknown */
    bool unrecorded[CODES_SUSPECTS_MAX];              /* no CPU time of the group is known */
    bool estimated;
    struct effects effects;
};

struct stages {
    const struct stages_options *options;
    const struct suspects *suspects;
    struct stage *items; /* array of STAGES_MAX; owned */
    size_t count;
    struct effects_usual usual[STAGES_SUSPECTS_MAX]; /* CPU time of each suspect in the first run */
};

/* Reads the results of the runs that are done, and adds the next runs. Close in any case. */
SS_MUST_USE SS_NONNULL() int stages_open(struct stages *stages,
    const struct stages_options *options, const struct suspects *suspects, struct ss_error *error);
SS_NONNULL() void stages_close(struct stages *stages);

/* Adds the suspects that the runs that are not done throttle or measure. */
SS_MUST_USE SS_NONNULL() int stages_add_pending(
    const struct stages *stages, struct suspects *suspects, struct ss_error *error);

/* Prints the plan of the runs known so far. */
SS_NONNULL() void stages_print_plan(const struct stages *stages, FILE *stream);

/* Returns whether all runs are done. */
SS_NONNULL() bool stages_are_done(const struct stages *stages);

/*
 * Returns the last estimated stage in which a suspect was throttled alone or, if `alone` is false,
 * together with others; NULL if absent. Sets `group` to the suspect's group.
 */
SS_NONNULL()
const struct stage *stages_of_suspect(
    const struct stages *stages, size_t suspect, bool alone, size_t *group);

#endif
