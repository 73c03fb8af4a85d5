/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_REPORT_H
#define SSPLATFORM_REPORT_H

#include <stdio.h>

#include <showstopper/error.h>

/*
 * Describes the machine, or the one of which `root` holds /proc and /sys, as one JSON object: the
 * same keys everywhere, null for what is not known. `root` is NULL for the machine itself. Fails
 * where the root cannot be read, before anything is written.
 */
int ssplatform_report(FILE *stream, const char *root, struct ss_error *error);

/* How two workloads share the CPUs. */
enum ssplatform_placement {
    SSPLATFORM_PER_CHIP,   /* each has chips of its own */
    SSPLATFORM_PER_CORE,   /* each has cores of its own on every chip */
    SSPLATFORM_PER_THREAD, /* each has threads of its own on every core */
};

/*
 * Writes two disjoint sets of equally many CPUs, of those that we may use, as A/B; or one line that
 * says why that is impossible, and returns 1.
 */
int ssplatform_sets(
    FILE *stream, const char *root, enum ssplatform_placement placement, struct ss_error *error);

#endif
