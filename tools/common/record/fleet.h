/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_FLEET_H
#define RECORD_FLEET_H

/*
 * The records of a replay on many nodes, made by `ssfleet replay` or `sssim fleet`: a folder with
 * fleet.csv and a record of each node. Each record is read once and summed up, so that memory use
 * does not depend on the length of records.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "record_verdict.h"
#include "record_warnings.h"

#define SSREPORT_FLEET_BINS 240  /* time bins, whose width doubles if the replay is longer */
#define SSREPORT_FLEET_SPAN 10.0 /* length in seconds of the spans for `apart` */
#define SSREPORT_FLEET_ROWS 60   /* rows of the map; with more nodes, several share a row */

/* A clock is trusted if its offset and the error of the offset are at most this many seconds. */
#define SSREPORT_CLOCK_TRUSTED 0.05

/* Times are in seconds, loads are parts of 1. Unknown numbers are NaN. */
struct ssreport_fleet_node {
    char *name, *record, *trace; /* `record` is a path in the folder of the fleet */
    char *reason;                /* reason for the failure; may be empty */
    bool failed;
    struct ssreport_verdict verdict; /* empty if its record has none */
    double start;                    /* planned start, by the clock of ssfleet, since 1970 */
    double offset, offset_error;     /* offset of the node's clock, and its error */
    char *clock;                     /* what synchronizes the clock; may be empty */
    double clock_error;              /* maximum error that `clock` reports */
    double late;                     /* time from the planned start to the start of the trace */
    double cpus;
    double covered;          /* total length of the counted samples, without pauses */
    double ended;            /* time from the planned start to the end of the last of them */
    double load, target;     /* means over the covered time */
    double error, error_abs; /* mean of target - load, and of its absolute value */
    double apart; /* mean absolute error over spans of SSREPORT_FLEET_SPAN, independent of the
                     length of samples */
};

/* Sums over the nodes that have samples in a span of time, in CPU seconds. */
struct ssreport_fleet_sum {
    double cpu, load, target;
};

struct ssreport_fleet {
    char *name; /* path of the folder */
    int set;
    struct ssreport_fleet_node *nodes;
    size_t count, capacity;
    size_t faulty; /* number of nodes with invalid samples */
    size_t rows;   /* rows of the map: node i is in row i * rows / count */
    double width;  /* width of a bin */
    struct ssreport_fleet_sum bins[SSREPORT_FLEET_BINS];
    struct ssreport_fleet_sum map[SSREPORT_FLEET_ROWS][SSREPORT_FLEET_BINS];
};

SS_NONNULL(1) bool ssreport_fleet_is_in(const char *folder);

/* Reads a fleet. A node whose record cannot be read has failed. Free the fleet in either case. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_fleet_read(struct ssreport_fleet *fleet,
    const char *folder, struct ssreport_notes *notes, struct ss_error *error);

/* Also returns true if the clock was not measured. */
SS_NONNULL(1) bool ssreport_fleet_trusts_clock(const struct ssreport_fleet_node *node);

/* Returns the number of bins up to the last one with samples of more than a few nodes. */
SS_NONNULL(1) size_t ssreport_fleet_used(const struct ssreport_fleet *fleet);

SS_NONNULL(1) void ssreport_fleet_free(struct ssreport_fleet *fleet);

#endif
