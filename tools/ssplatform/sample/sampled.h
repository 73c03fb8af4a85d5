/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_SAMPLED_H
#define SSPLATFORM_SAMPLED_H

/* A source of samples, and the loop that records them. */

#include <showstopper/error.h>
#include <showstopper/time.h>
#include <stdio.h>

struct sample_source {
    void (*print_columns)(FILE *stream, void *source);

    /*
     * Writes the cells of a sample. `elapsed` is the time since the previous sample. It is 0 in the
     * first call, which only reads counters; the output of that call is dropped.
     */
    void (*print_sample)(FILE *stream, void *source, ss_time elapsed);
    void *source;
};

/* Returns when the sample after the one due at `last` is due. Missed samples are skipped. */
ss_time sample_due(ss_time last, ss_time now);

/*
 * Truncates the file, prints `open`, and writes a sample to the file every second, at absolute
 * times, until SIGTERM or SIGINT ends the process with status 0. A sample after missed ones covers
 * their time, too. Returns only if the file cannot be written.
 */
SS_MUST_USE SS_NONNULL(1, 2) int sample_loop(
    const struct sample_source *source, const char *path, struct ss_error *error);

#endif
