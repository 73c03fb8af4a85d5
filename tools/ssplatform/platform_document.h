/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_REPORT_H
#define SSPLATFORM_REPORT_H

#include <stdio.h>

#include <showstopper/error.h>

/*
 * Writes one JSON object that describes the machine whose /proc and /sys are below `root`, or this
 * machine if `root` is NULL. Keys are the same on every machine; unknown values are null. Fails
 * before writing if the root cannot be read.
 */
int ssplatform_report(FILE *stream, const char *root, struct ss_error *error);

/* How two workloads share the CPUs. */
enum ssplatform_placement {
    SSPLATFORM_PER_CHIP,   /* each has chips of its own */
    SSPLATFORM_PER_CORE,   /* each has cores of its own on every chip */
    SSPLATFORM_PER_THREAD, /* each has threads of its own on every core */
};

/*
 * Writes two disjoint sets of equal size, of the CPUs that this process may use, as A/B. If that is
 * impossible, writes one line that says why, and returns 1.
 */
int ssplatform_sets(
    FILE *stream, const char *root, enum ssplatform_placement placement, struct ss_error *error);

#endif
