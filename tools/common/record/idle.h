/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_IDLE_H
#define RECORD_IDLE_H

/* Idle states and frequency of CPUs, sampled once a second during a run. */

#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "record_warnings.h"
#include "statistics.h"

#define SSREPORT_IDLE_STATES_MAX 16

struct ssreport_idle_second {
    double at;        /* seconds since 1970 */
    double active;    /* part of the time in which CPUs were not idle; NaN if unknown */
    double frequency; /* mean of the CPUs in MHz; NaN if unknown */

    /* Parts of the idle time in each state; NaN without idle time. */
    double shares[SSREPORT_IDLE_STATES_MAX];
};

struct ssreport_idle {
    char states[SSREPORT_IDLE_STATES_MAX][32]; /* names, the lightest first */
    size_t state_count;
    struct ssreport_idle_second *seconds;
    size_t count, capacity;
};

/* Reads idle.csv in a folder. Returns -1 with the error set if it is missing or unreadable. */
SS_MUST_USE SS_NONNULL(1, 2, 3, 4) int ssreport_idle_read(struct ssreport_idle *idle,
    const char *folder, struct ssreport_notes *notes, struct ss_error *error);

SS_NONNULL(1) void ssreport_idle_free(struct ssreport_idle *idle);

/* How long CPUs were in an idle state; NaN if unknown. */
struct ssreport_idle_state {
    double residency;       /* part of all of the time */
    double share;           /* part of the idle time */
    double share_deviation; /* standard deviation of the shares of the seconds */
};

struct ssreport_residency {
    struct ssreport_mean active, frequency; /* over seconds */
    struct ssreport_idle_state states[SSREPORT_IDLE_STATES_MAX];
};

/*
 * Sets the figures of the seconds that end between two times, in seconds since 1970. Returns -1 if
 * memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1, 4) int ssreport_idle_between(
    const struct ssreport_idle *idle, double from, double to, struct ssreport_residency *residency);

#endif
