/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_FLEET_NODE_H
#define SSSIM_FLEET_NODE_H

/* One simulated node of a fleet: what chance gives it, its run, and its record. */

#include <stdbool.h>

#include "fleet_options.h"

/* The planned start: 2000-01-01T00:00:00Z, in seconds since 1970. */
#define FLEET_START 946684800.0

struct fleet_node {
    /* Drawn, in seconds. */
    double late;
    double offset;   /* of its clock */
    double measured; /* the offset as measured */
    double fails;    /* part of the run after which it fails; 1: never */

    /* Results: means over the time in which it was controlled, as parts of 1. */
    double covered; /* that time in seconds */
    double load, target;
};

/* Draws the node with this number. */
SS_NONNULL(1, 2)
void fleet_node_draw(struct fleet_node *node, const struct fleet_options *options, uint64_t number);

/*
 * Simulates the node, which follows `trace` unless that is NULL. With a folder, writes its record
 * there.
 */
SS_MUST_USE SS_NONNULL(1, 2) int fleet_node_run(struct fleet_node *node,
    const struct fleet_options *options, uint64_t number, const char *trace,
    struct ss_error *error);

#endif
