/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_PLACEMENT_H
#define TOPOLOGY_PLACEMENT_H

#include "apart.h"
#include "sys_tree.h"

/*
 * Placements of workloads. Functions with a topology run in hwloc's process. They return NULL on
 * success, otherwise the reason why this machine does not have the placement.
 */

/* Divisions of the CPUs between two workloads. */
enum topology_division {
    TOPOLOGY_PER_CHIP,   /* each workload has its own chips */
    TOPOLOGY_PER_CORE,   /* each workload has its own cores on every chip */
    TOPOLOGY_PER_THREAD, /* each workload has its own threads on every core */
};

struct topology_usable {
    struct ss_cpus online, usable;
};

/* If the affinity is unknown, all online CPUs are usable. */
SS_NONNULL() struct topology_usable topology_usable_read(const struct sys_tree *tree);

/* Divides the usable CPUs into two disjoint sets of equal size. */
SS_MUST_USE SS_NONNULL() const char *topology_divide(hwloc_topology_t topology,
    const struct topology_usable *usable, enum topology_division division, struct ss_cpus sides[2]);

/* The CPUs that a workload gets. */
enum topology_scheme {
    TOPOLOGY_FIRST, /* the first CPUs by number */
    TOPOLOGY_ONE_NODE,
    TOPOLOGY_ONE_CHIP,
    TOPOLOGY_SPREAD,         /* each CPU is as far as possible from the previous ones */
    TOPOLOGY_SIDE_OF_CHIPS,  /* one side of a division per chip */
    TOPOLOGY_SIDE_OF_CORES,  /* ... per core */
    TOPOLOGY_SIDE_OF_THREADS /* ... per thread */
};

struct topology_request {
    enum topology_scheme scheme;
    uint32_t count; /* number of CPUs; 0: all that the scheme allows */
    int side;       /* 0 or 1, for a side of a division */
};

/*
 * CPUs, ordered so that for each N the first N are as far apart as the scheme allows; by number for
 * TOPOLOGY_FIRST.
 */
struct topology_order {
    uint32_t count;
    uint32_t cpus[SS_CPUS_MAX];
};

/* `topology` may be NULL for TOPOLOGY_FIRST. */
SS_MUST_USE SS_NONNULL(2, 3, 4) const
    char *topology_choose(hwloc_topology_t topology, const struct topology_usable *usable,
        const struct topology_request *request, struct topology_order *order);

/*
 * Like topology_choose(), for this machine or, if `root` is not NULL, for the machine recorded
 * there. Fails if the machine does not have the placement.
 */
SS_MUST_USE SS_NONNULL(2, 3) int topology_place(const char *root,
    const struct topology_request *request, struct topology_order *order, struct ss_error *error);

#endif
