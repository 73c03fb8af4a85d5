/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SWEEP_H
#define SSSIM_SWEEP_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "simulation.h"

/* Simulates all runs of a grid, and prints a row for each. Checks all command lines first. */
SS_MUST_USE SS_NONNULL(1, 2) int sweep_run(
    const struct grid *grid, char **argv, bool csv, struct ss_error *error);

#endif
