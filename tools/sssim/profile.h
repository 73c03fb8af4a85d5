/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_PROFILE_H
#define SSSIM_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

struct profile_stretch {
    ss_time length; /* more than 0 */
    uint32_t threads;
};

/* How many threads of a program are runnable, over the time in which it is not stopped. Zeroed: an
 * empty one. */
struct profile {
    struct profile_stretch *stretches;
    size_t count;
    ss_time length; /* of all together */
};

/*
 * Reads lines of TIME THREADS: from that time on so many are runnable. The first TIME is 0, the
 * last line says where the profile ends. A message names the file and the line.
 */
int profile_read(struct profile *profile, const char *path, struct ss_error *error);

void profile_free(struct profile *profile);

#endif
