/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_PLACE_H
#define SSACTUATE_PLACE_H

#include "actuator.h"

/* The CPUs and the control group of a command. */
struct ssactuate_place {
    struct limit_group group;
    bool has_group;
    struct ss_cpus mask; /* CPUs of the command */
    bool masked;         /* `mask` excludes CPUs that ssactuate may use */
};

/* Returns the limits (bits 1 << LIMIT_...) that a plan needs a group for. */
SS_MUST_USE SS_NONNULL() unsigned ssactuate_place_limits(
    const struct ssactuate_machine *machine, struct ssactuate_plan *plan);

/*
 * Sets the mask of a command and plan->cpus: to the CPUs of `pin`, or all CPUs; with `cpus`, to the
 * first N of them.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_place_choose(struct ssactuate_place *place,
    const struct ssactuate_machine *machine, struct ssactuate_plan *plan, struct ss_error *error);

/*
 * Finds where to create a group PREFIX-PID with these limits. Does without a cpuset if none is
 * available, because affinity pins as well. Fails if another limit is not available.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_place_find(struct ssactuate_place *place,
    const struct ssactuate_machine *machine, unsigned limits, const char *prefix,
    struct ss_error *error);

/* Creates the group. If that fails, does without a group that would have only a cpuset. */
SS_MUST_USE SS_NONNULL() int ssactuate_place_make(
    struct ssactuate_place *place, struct ss_error *error);

/* Sets the limits of the plan, as far as the group was made for them. */
SS_MUST_USE SS_NONNULL() int ssactuate_place_limit(
    const struct ssactuate_place *place, const struct ssactuate_plan *plan, struct ss_error *error);

#endif
