/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_APART_H
#define SSPLATFORM_APART_H

/*
 * hwloc, in a process of its own: it ends the process where it thinks that the kernel cannot have
 * said so, and what else we have to say must not go with it.
 *
 * It invents what the kernel does not tell: one node, one package, as many CPUs as we run on.
 * Nothing of it is to be believed that does not cover exactly the CPUs that are online.
 */

#include <hwloc.h>
#include <stdio.h>

#include "base/cpus.h"

/* Called in the process apart. */
typedef void ssplatform_write_apart(FILE *stream, hwloc_topology_t topology, const void *context);

/* What `write` wrote about the machine or the one below `root`; NULL: nothing is known. free() it.
 */
char *ssplatform_apart(const char *root, ssplatform_write_apart *write, const void *context);

struct ss_cpus ssplatform_cpus_of(hwloc_obj_t object);

/* Whether every CPU is in one and only one object of the type. */
bool ssplatform_covers(
    hwloc_topology_t topology, hwloc_obj_type_t type, const struct ss_cpus *online);

#endif
