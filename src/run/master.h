/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_MASTER_H
#define SHOWSTOPPER_RUN_MASTER_H

#include <showstopper/contract.h>

#include "command/plan.h"
#include "record/outcome.h"

/*
 * Runs the plan from the first fork to the last reap. Returns 0 with the outcome, or -1 with
 * `error` set and as much of `outcome` as is known. In either case ends all processes of the run,
 * except instances with --keep and attached ones without --end.
 */
SS_MUST_USE int ss_master_run(
    struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error);

#endif
