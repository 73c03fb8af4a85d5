/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_SUMMARY_H
#define SHOWSTOPPER_RECORD_SUMMARY_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "command/plan.h"
#include "record/outcome.h"

void ss_summary_print(FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome);

/* Prints everything that is needed to repeat the run, as one JSON object. */
void ss_summary_print_plan(FILE *stream, const struct ss_plan *plan);

void ss_summary_print_json(
    FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome);

/*
 * Writes the JSON form to a file, which is replaced as a whole or not at all. A device or a pipe is
 * written directly; "-" is standard output.
 */
SS_MUST_USE int ss_summary_write(const struct ss_plan *plan, const struct ss_outcome *outcome,
    const char *path, struct ss_error *error);

#endif
