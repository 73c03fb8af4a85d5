/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CONCLUSION_H
#define SSSIM_CONCLUSION_H

#include <showstopper/contract.h>

#include "grid.h"
#include "trial.h"

/*
 * Writes the conclusion of a sweep, in one sentence. `rows` are the figures of all runs in order;
 * the last axis varies fastest. Modules, their options and the number of instances are choices; any
 * other swept option is a condition, over which the figures of a choice are averaged.
 */
SS_NONNULL()
SS_WRITES(1, 2)
void conclusion_make(
    char *buffer, size_t size, const struct grid *grid, const struct trial_figures *rows);

#endif
