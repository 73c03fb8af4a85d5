/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_TOPOLOGY_DOCUMENT_H
#define SSPLATFORM_TOPOLOGY_DOCUMENT_H

#include "base/json.h"
#include "placement.h"

/* Writes sockets, cores, nodes and caches, as ssplatform_report() requires. */
void ssplatform_write_topology(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online);

/*
 * Divides the CPUs that this process may use into two disjoint sets of equal size, and writes them
 * as A/B. If that is impossible, writes the reason instead, and returns 1.
 */
int ssplatform_write_sets(
    FILE *stream, const char *root, enum topology_division division, struct ss_error *error);

#endif
