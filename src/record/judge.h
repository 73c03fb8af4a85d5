/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_JUDGE_H
#define SHOWSTOPPER_RECORD_JUDGE_H

#include <showstopper/contract.h>

#include "record/outcome.h"

/* Sets the evidence of control: samples, errors, wake-ups, steal and other processes. */
SS_NONNULL()
void ss_judge_control(struct ss_outcome *outcome, const struct ss_outcome_input *input);

/*
 * Sets the evidence of iterations. Call this when no more of them can end. Does not judge changes
 * of the throughput if the target or the allowance of a group changed, which would explain them.
 */
SS_NONNULL()
void ss_judge_iterations(struct ss_outcome *outcome, const struct ss_iterations *iterations);

/* Reaches the verdict. Call this when everything else of the outcome is known. */
SS_NONNULL() void ss_judge_run(struct ss_outcome *outcome, const struct ss_plan *plan);

#endif
