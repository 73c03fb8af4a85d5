/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_SUMMARY_H
#define SHOWSTOPPER_RECORD_SUMMARY_H

#include <stdio.h>

#include "command/plan.h"
#include "record/outcome.h"

/* For people. */
void ss_summary_print(FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome);

/* What is needed to repeat the run, for machines: one object. */
void ss_summary_print_plan(FILE *stream, const struct ss_plan *plan);

/* For machines: one object. */
void ss_summary_print_json(
    FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome);

/*
 * The JSON form into a file, whole or not at all, or into what is no plain file as it is; "-" is
 * standard output.
 */
int ss_summary_write(const struct ss_plan *plan, const struct ss_outcome *outcome, const char *path,
    struct ss_error *error);

#endif
