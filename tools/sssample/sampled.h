/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSAMPLE_SAMPLED_H
#define SSSAMPLE_SAMPLED_H

/* What a source of samples has, and its loop. */

#include <showstopper/error.h>
#include <showstopper/time.h>
#include <stdio.h>

struct sssample_source {
    void (*print_columns)(FILE *stream, void *source);

    /*
     * Writes the cells of a sample. `spent` is the time since the sample before; the first call,
     * with 0, only reads counters, and what it writes is dropped.
     */
    void (*print_sample)(FILE *stream, void *source, ss_time spent);
    void *source;
};

/* Appends the line of a sample: the wall clock in nanoseconds since 1970, and the time since the
 * beginning. */
SS_NONNULL()
void sssample_print(FILE *stream, const struct sssample_source *source, int64_t wallclock,
    ss_time elapsed, ss_time spent);

/*
 * Writes samples to the file, once a second at absolute times, until SIGTERM or SIGINT ends the
 * process with status 0. Prints `open` first. Returns only if the file cannot be written.
 */
SS_NONNULL(1, 2)
int sssample_loop(const struct sssample_source *source, const char *path, struct ss_error *error);

#endif
