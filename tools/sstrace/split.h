/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SPLIT_H
#define SSTRACE_SPLIT_H

/* --split: a table of many machines becomes a folder with a trace of each. */

#include <showstopper/contract.h>

#include "trace_options.h"

/*
 * Reads the table once and writes the folder, whole or not at all. Memory use depends on the number
 * of machines, not of rows.
 */
SS_MUST_USE SS_NONNULL(1) int sstrace_split_run(
    const struct sstrace_request *request, struct ss_error *error);

/*
 * Writes the name of a machine's file: the name of the machine, with %XX for unsafe bytes, and
 * `suffix`. Fails if the machine has no name, or if the result is too long for a file system.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_split_name(
    char file[256], const char *machine, const char *suffix, struct ss_error *error);

#endif
