/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SWEEP_H
#define SSSIM_SWEEP_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "grid.h"

/*
 * Makes all runs of a grid over the command line. Prints a table followed by its conclusion, or
 * CSV, with the conclusion on standard error. All runs are checked before the first begins, so that
 * an error in the last one shows early.
 */
SS_MUST_USE SS_NONNULL(1, 2) int sweep_run(
    const struct grid *grid, char **argv, bool csv, struct ss_error *error);

#endif
