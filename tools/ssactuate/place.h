/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_PLACE_H
#define SSACTUATE_PLACE_H

#include "actuator.h"

/* The CPUs and the control group of a command. */
struct ssactuate_place {
    struct ss_limit_group group;
    bool has_group;
    struct ss_cpus mask; /* the command's CPUs; all that may be used if it is not masked */
    bool masked;
};

/* Returns the limits (bits 1 << SS_LIMIT_...) that a plan needs a group for. */
SS_NONNULL()
unsigned ssactuate_place_limits(
    const struct ssactuate_machine *machine, struct ssactuate_plan *plan);

/*
 * Chooses the CPUs of a plan: the first ones, up to the number in `cpus`, of those in `pin`. Puts
 * them into plan->cpus.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_place_choose(struct ssactuate_place *place,
    const struct ssactuate_machine *machine, struct ssactuate_plan *plan, struct ss_error *error);

/*
 * Finds a group PREFIX-PID with these limits. If it cannot have a cpuset, affinity alone pins; if
 * it cannot have the other limits, this fails.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_place_find(struct ssactuate_place *place,
    const struct ssactuate_machine *machine, unsigned limits, const char *prefix,
    struct ss_error *error);

/* Makes the group that was found. */
SS_MUST_USE SS_NONNULL() int ssactuate_place_make(
    struct ssactuate_place *place, struct ss_error *error);

/* Sets the limits that the group has. */
SS_MUST_USE SS_NONNULL() int ssactuate_place_limit(
    const struct ssactuate_place *place, const struct ssactuate_plan *plan, struct ss_error *error);

#endif
