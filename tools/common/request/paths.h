/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_PATHS_H
#define REQUEST_PATHS_H

/* The files that a run reads and writes. Two outputs to one file would overwrite each other. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

struct ssrequest_path {
    const char *option; /* such as "--json" */
    const char *path;   /* NULL if not given */
    bool read;          /* an input, which may be shared */
};

/*
 * Fails if an output is the same file as another output or an input, even by another name.
 * `printed` is a descriptor to which the run also prints, or -1. Outputs may share a device such as
 * /dev/null.
 */
SS_MUST_USE SS_NONNULL(1) int ssrequest_paths_check(
    const struct ssrequest_path *paths, size_t count, int printed, struct ss_error *error);

#endif
