/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_PLATFORM_DOCUMENT_H
#define SSPLATFORM_PLATFORM_DOCUMENT_H

#include <stdio.h>

#include <showstopper/error.h>

#include "base/json.h"
#include "sys_tree.h"

/* Version of the layout of the document. */
#define SSPLATFORM_SCHEMA 1

typedef void ssplatform_topology_writer(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online);

/*
 * Writes one JSON object that describes the machine whose /proc and /sys are below `root`, or this
 * machine if `root` is NULL. The keys are the same on every machine; unknown values are null, and
 * so is the topology if `write_topology` is NULL. If the root cannot be read, fails before writing
 * anything.
 */
int ssplatform_report(FILE *stream, const char *root, ssplatform_topology_writer *write_topology,
    struct ss_error *error);

/* Writes a topology whose values are all null. */
ssplatform_topology_writer ssplatform_write_unknown_topology;

#endif
