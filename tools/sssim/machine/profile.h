/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_PROFILE_H
#define SSSIM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "memory.h"

struct profile_segment {
    ss_time length; /* above 0 */
    uint32_t threads;
    bool has_use; /* the line has ACCESSES WAITING */
    struct memory_use use;
};

/*
 * The activity of a program's threads over its running time, which does not advance while the
 * program is stopped. Empty if zeroed.
 */
struct profile {
    struct profile_segment *segments;
    size_t count;
    ss_time length; /* length of all segments together */
};

/*
 * Reads lines of TIME THREADS [ACCESSES WAITING]. From TIME on, THREADS threads are runnable; each
 * makes ACCESSES accesses to the memory per second and waits for them for WAITING (0 to 1) of its
 * time. The first TIME is 0; the last line ends the profile. Messages name file and line. Free the
 * profile even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2) int profile_read(
    struct profile *profile, const char *path, struct ss_error *error);

/* Reads an open file. Messages contain `path`. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int profile_read_stream(
    struct profile *profile, FILE *stream, const char *path, struct ss_error *error);

SS_NONNULL() void profile_free(struct profile *profile);

#endif
