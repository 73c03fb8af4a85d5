/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_ACTUATE_RUN_H
#define SSACTUATE_ACTUATE_RUN_H

#include "actuate_options.h"
#include "actuator.h"

/*
 * Sets the knobs, runs the command, restores the knobs, and sets `status` to that of the command.
 * With --check, changes nothing and starts no command.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_run(
    const struct ssactuate_options *options, int *status, struct ss_error *error);

/*
 * Sets the knobs to the levels that the policy gives for the current load until the command or
 * process group ends, then restores them.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_follow(
    const struct ssactuate_options *options, int *status, struct ss_error *error);

/* Restores what killed runs have changed. */
SS_MUST_USE SS_NONNULL() int ssactuate_restore(
    const struct ssactuate_options *options, int *status, struct ss_error *error);

#endif
