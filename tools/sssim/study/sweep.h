/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SWEEP_H
#define SSSIM_SWEEP_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "grid.h"

/*
 * Makes all runs of a grid over the command line. Prints a table that ends in what it shows, or
 * CSV, and what it shows on standard error. All runs are tried before the first begins, so that
 * nothing is wrong with the last.
 */
SS_MUST_USE SS_NONNULL(1, 2) int sweep_run(
    const struct grid *grid, char **argv, bool csv, struct ss_error *error);

#endif
