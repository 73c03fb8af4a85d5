/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_APART_H
#define SSPLATFORM_APART_H

/*
 * Runs hwloc in a process of its own, because hwloc ends its process if it finds the kernel's data
 * inconsistent, and the rest of the report must survive that.
 *
 * hwloc invents objects that the kernel does not report: one node, one package, as many CPUs as
 * this process may use. Only use types whose objects cover exactly the online CPUs.
 */

#include <hwloc.h>
#include <stdio.h>

#include "base/cpus.h"

/* Writes a part of the report, in hwloc's process. */
typedef void ssplatform_write_apart(FILE *stream, hwloc_topology_t topology, const void *context);

/*
 * Returns what `write` wrote about this machine or the one below `root`, or NULL; free() the
 * result.
 */
char *ssplatform_apart(const char *root, ssplatform_write_apart *write, const void *context);

struct ss_cpus ssplatform_cpus_of(hwloc_obj_t object);

/* Returns whether every online CPU is in exactly one object of the type. */
bool ssplatform_covers(
    hwloc_topology_t topology, hwloc_obj_type_t type, const struct ss_cpus *online);

#endif
