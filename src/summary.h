/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SUMMARY_H
#define SHOWSTOPPER_SUMMARY_H

#include <stdio.h>

#include "outcome.h"
#include "plan.h"

/* For people. */
void ss_summary_print(FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome);

/* For machines: one object. */
void ss_summary_print_json(
    FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome);

/* The JSON form into a file, whole or not at all; "-" is standard output. */
int ss_summary_write(const struct ss_plan *plan, const struct ss_outcome *outcome, const char *path,
    struct ss_error *error);

#endif
