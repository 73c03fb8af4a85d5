/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_PATHS_H
#define SHOWSTOPPER_BASE_PATHS_H

/* The files that a run reads and writes. Two outputs to one file would overwrite each other. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

struct ss_path {
    const char *option; /* such as "--json" */
    const char *path;   /* NULL if not given */
    bool read;          /* an input, which may be shared */
};

/*
 * Fails if an output is the same file as another output or an input, even by another name.
 * `printed` is a descriptor to which the run also prints without --quiet, or -1. Outputs may share
 * a device such as /dev/null.
 */
SS_MUST_USE SS_NONNULL(1) int ss_paths_check(
    const struct ss_path *paths, size_t count, int printed, struct ss_error *error);

/* Fails with "PATH: REASON"; the reason is that of errno. */
SS_NONNULL(1) int ss_paths_fail(const char *path, struct ss_error *error);

/*
 * Drops empty parts of PATH, which are the current folder: another user may own that. Call
 * this before anything is searched; a part "." stays.
 */
void ss_paths_drop_empty(void);

#endif
