/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_APART_H
#define TOPOLOGY_APART_H

/*
 * Runs hwloc in a separate process, because hwloc exits if it finds the kernel's data inconsistent,
 * and the caller must survive that.
 *
 * If the kernel does not report nodes, packages or CPUs, hwloc makes up one node, one package, and
 * the CPUs that this process may use. Only use types for which topology_covers() is true.
 */

#include <hwloc.h>
#include <stdio.h>

#include "base/cpus.h"

/* Called in hwloc's process. */
typedef void topology_writer(FILE *stream, hwloc_topology_t topology, const void *context);

/*
 * Returns the text that `write` writes about this machine or, if `root` is not NULL, about the
 * machine recorded in that folder. Returns NULL on failure. free() the result.
 */
char *topology_run_isolated(const char *root, topology_writer *write, const void *context);

struct ss_cpus topology_cpus_of(hwloc_obj_t object);

/* Adds `other` to `cpus`. */
void topology_join(struct ss_cpus *cpus, const struct ss_cpus *other);

/* Returns whether every online CPU is in exactly one object of the type. */
bool topology_covers(
    hwloc_topology_t topology, hwloc_obj_type_t type, const struct ss_cpus *online);

#endif
