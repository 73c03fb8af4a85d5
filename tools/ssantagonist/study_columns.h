/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_STUDY_COLUMNS_H
#define SSANTAGONIST_STUDY_COLUMNS_H

/*
 * The suspects and options with which a study began, in columns of its first run. Later calls take
 * them from there: processes end and start meanwhile, pids are used again, and other suspects or
 * another seed would give other codes than those by which the runs throttled.
 */

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "antagonist_stages.h"

struct json_object;

/* Returns run.json of a run, to free with json_object_put(); NULL unless the run is done. */
struct json_object *study_read_run(const char *study, const char *run) SS_NONNULL();

/* Prints the columns, each after a blank. The column with the pids is not among them. */
SS_NONNULL()
void study_columns_print(
    const struct stages_options *options, const struct suspects *suspects, FILE *stream);

/*
 * If the first run is done, adds its suspects, sets the options that they depend on, and returns 1;
 * otherwise returns 0. Fails if the options of this call contradict the columns.
 */
SS_MUST_USE SS_NONNULL() int study_columns_read(
    struct stages_options *options, struct suspects *suspects, struct ss_error *error);

#endif
