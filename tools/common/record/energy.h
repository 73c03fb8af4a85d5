/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_ENERGY_H
#define RECORD_ENERGY_H

/* Power, sampled once a second during a run, and energy. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

#include "record_warnings.h"

struct ssreport_power {
    double at;    /* seconds since 1970 */
    double watts; /* NaN if unknown in that second */
};

struct ssreport_energy {
    struct ssreport_power *samples;
    size_t count, capacity;
    bool shared; /* the power includes everything that ran at the same time */
};

/*
 * Reads energy.csv in a folder. Returns -1 with the error set if the file is missing or unreadable.
 */
int ssreport_energy_read(struct ssreport_energy *energy, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error);

void ssreport_energy_free(struct ssreport_energy *energy);

struct ssreport_cost {
    size_t seconds; /* number of seconds with known power */
    size_t unknown; /* number of seconds in which the source had no value */
    double watt_hours;
    double watts;     /* mean power; NaN if unknown */
    double deviation; /* standard deviation of the power (n - 1); NaN with fewer than two seconds */
};

/* Sums up the samples between two times, in seconds since 1970. Each sample covers one second. */
struct ssreport_cost ssreport_energy_between(
    const struct ssreport_energy *energy, double from, double to);

#endif
