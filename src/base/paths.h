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
    bool is_input;      /* an input, which may be shared */
};

/*
 * Fails if an output is the same file as another output or an input, even under another name.
 * `printed` is a descriptor to which the run also prints unless --quiet is given, or -1. Several
 * outputs may share a device such as /dev/null.
 */
SS_MUST_USE SS_NONNULL(1) int ss_paths_check(
    const struct ss_path *paths, size_t count, int printed, struct ss_error *error);

/* Sets the error to "PATH: " and the reason in errno. Returns -1. */
SS_NONNULL(1) int ss_paths_fail(const char *path, struct ss_error *error);

/*
 * Removes empty entries from PATH. They mean the current folder, which another user may own. Call
 * this before the first search. An explicit "." is kept.
 */
void ss_paths_drop_empty(void);

#endif
