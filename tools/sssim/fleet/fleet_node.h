/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_FLEET_NODE_H
#define SSSIM_FLEET_NODE_H

/* One simulated node of a fleet: its random properties, its run, and its record. */

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "options/values.h"

/* The planned start: 2000-01-01T00:00:00Z, in seconds since 1970. */
#define FLEET_START 946684800.0

struct fleet_options {
    uint64_t nodes;
    const char *traces;  /* a folder of traces; NULL if `words` set the target */
    const char *record;  /* a new folder; NULL to record nothing */
    ss_time late;        /* mean of the exponential lateness of a start */
    ss_time clock;       /* standard deviation of the normal offset of a clock */
    ss_time clock_error; /* maximum error of a measured offset, uniformly distributed */
    double failures;     /* fraction of the nodes that fail at a random moment */
    ss_time interval;    /* time between samples in records */
    uint64_t seed;
    uint64_t jobs; /* number of processes; 0 for one per CPU */
    int help, version;
    char **words; /* options of sssim for each node, NULL-terminated */
    struct ss_option_store store;
};

struct fleet_node {
    /* Random properties: */
    double late;     /* delay of the start, in seconds */
    double offset;   /* offset of the node's clock, in seconds */
    double measured; /* the same offset as measured, with its error */
    double fails_at; /* fraction of the run after which the node fails; 1 for never */

    /* Results: */
    double covered;      /* seconds for which the node was under control after --settle */
    double load, target; /* sums over that time: load or target, 0 to 1, times seconds */
};

SS_NONNULL(1, 2)
void fleet_node_draw(struct fleet_node *node, const struct fleet_options *options, uint64_t number);

/*
 * Simulates the node, which follows `trace` in the folder `traces` unless that is NULL. Writes its
 * record below the folder `records`, unless that is -1.
 */
SS_MUST_USE SS_NONNULL(1, 2) int fleet_node_run(struct fleet_node *node,
    const struct fleet_options *options, uint64_t number, int traces, const char *trace,
    int records, struct ss_error *error);

#endif
