/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_ITERATION_TABLE_H
#define SHOWSTOPPER_RECORD_ITERATION_TABLE_H

#include <showstopper/contract.h>

#include "base/histogram.h"
#include "base/lines.h"
#include "measure/iterations.h"

#define SS_ITERATION_TABLE_HEADING "elapsed_seconds,command,bucket_seconds,iterations\n"

/*
 * The table iteration-times.csv: a row for each used bucket of each command, second by second and,
 * at the end, for the whole run. Holds two histograms for each command, however long the run is.
 */
struct ss_iteration_table {
    struct ss_histogram *second; /* the current second, by command */
    struct ss_histogram *whole;  /* the seconds before it, by command */
    uint32_t commands;           /* number of commands; 0 if closed */
    uint64_t seconds;            /* number of seconds written so far */
};

/* Returns -1 if memory is exhausted. */
SS_NONNULL()
SS_MUST_USE int ss_iteration_table_open(struct ss_iteration_table *table, uint32_t commands);

/* Frees the histograms. Writes nothing. */
SS_NONNULL() void ss_iteration_table_close(struct ss_iteration_table *table);

/*
 * Adds a counted iteration that ended when control had lasted for `elapsed`. If its second is
 * already written, the iteration counts in the current second. Allocates nothing.
 */
SS_NONNULL()
void ss_iteration_table_add(struct ss_iteration_table *table, struct ss_lines *lines,
    const struct ss_iteration *iteration, ss_time elapsed);

/* Writes the current second if it has ended by `elapsed`. */
SS_NONNULL()
void ss_iteration_table_advance(
    struct ss_iteration_table *table, struct ss_lines *lines, ss_time elapsed);

/* Writes the last second and the whole run. */
SS_NONNULL()
void ss_iteration_table_finish(struct ss_iteration_table *table, struct ss_lines *lines);

#endif
