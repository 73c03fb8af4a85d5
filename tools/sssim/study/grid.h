/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_GRID_H
#define SSSIM_GRID_H

#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* The runs of `sssim --sweep`: all combinations of the values of the swept options. */

#define GRID_AXES_MAX 16

struct grid_axis {
    char *name;    /* name of the option, in its long form */
    char **values; /* values, as written on a command line */
    size_t count;
};

struct grid {
    struct grid_axis axes[GRID_AXES_MAX];
    size_t count; /* number of axes; 0: no sweep */
};

/* Adds the axis that "NAME=VALUE,..." describes. Close the grid even on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int grid_add_axis(
    struct grid *grid, const char *text, struct ss_error *error);

SS_NONNULL()
void grid_close(struct grid *grid);

SS_NONNULL()
size_t grid_count_runs(const struct grid *grid);

#endif
