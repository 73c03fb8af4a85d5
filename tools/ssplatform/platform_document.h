/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_PLATFORM_DOCUMENT_H
#define SSPLATFORM_PLATFORM_DOCUMENT_H

#include <stdio.h>

#include <showstopper/error.h>

#include "placement.h"

/* The layout of the document. */
#define SSPLATFORM_SCHEMA 1

/*
 * Writes one JSON object that describes the machine whose /proc and /sys are below `root`, or this
 * machine if `root` is NULL. The keys are the same on every machine; unknown values are null. If
 * the root cannot be read, fails before writing anything.
 */
int ssplatform_report(FILE *stream, const char *root, struct ss_error *error);

/*
 * Divides the CPUs that this process may use into two disjoint sets of equal size, and writes them
 * as A/B. If that is impossible, writes the reason instead, and returns 1.
 */
int ssplatform_sets(
    FILE *stream, const char *root, enum topology_division division, struct ss_error *error);

#endif
