/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_FLEET_OPTIONS_H
#define SSSIM_FLEET_OPTIONS_H

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "options/arguments.h"

struct fleet_options {
    uint64_t nodes;
    const char *traces;  /* a folder of traces; NULL: `words` set the target */
    const char *record;  /* a new folder; NULL: nothing is recorded */
    ss_time late;        /* mean of the exponential lateness of a start */
    ss_time clock;       /* standard deviation of the normal offset of a clock */
    ss_time clock_error; /* maximum error of a measured offset, uniformly distributed */
    double failures;     /* part of the nodes that fail at a random moment */
    ss_time interval;    /* time between samples in records */
    uint64_t seed;
    uint64_t jobs; /* number of processes; 0: one for each CPU */
    int help, version;
    char **words; /* options of sssim for each node, ended by NULL; NULL if absent */
    struct ss_option_store store;
};

extern const struct ss_argument fleet_rows[];

/* Parses a command line; argv[0] is the command's name. Free the store even on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int fleet_options_parse(
    struct fleet_options *options, char **argv, struct ss_error *error);

#endif
