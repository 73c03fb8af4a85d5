/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_GRID_H
#define SSSIM_GRID_H

#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* The runs of `sssim --sweep`: one for each way to take a value of each option that is swept. */

#define GRID_AXES_MAX 16

struct grid_axis {
    char *name;    /* of a long option */
    char **values; /* as a user would write them */
    size_t count;
};

struct grid {
    struct grid_axis axes[GRID_AXES_MAX];
    size_t count; /* axes; 0: nothing is swept */
};

/* Adds what "NAME=VALUE,..." says. The grid is to be closed in any case. */
SS_MUST_USE SS_NONNULL(1, 2) int grid_add_axis(
    struct grid *grid, const char *text, struct ss_error *error);

SS_NONNULL()
void grid_close(struct grid *grid);

SS_NONNULL()
size_t grid_count_runs(const struct grid *grid);

#endif
