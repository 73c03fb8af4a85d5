/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_ENERGY_H
#define RECORD_ENERGY_H

/* Power, sampled about once a second during a run, and energy. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

#include "record_warnings.h"

struct ssreport_power {
    double at;      /* seconds since 1970 */
    double watts;   /* NaN if unknown */
    double seconds; /* since the previous sample, for which the power counts */
};

struct ssreport_energy {
    struct ssreport_power *samples; /* in the order of time */
    size_t count, capacity;
    double elapsed; /* of the last row read, in seconds; NaN if unknown */
    double refused; /* see ssreport_row_follows() */
    bool shared;    /* the power includes everything that ran at the same time */
};

/*
 * Reads energy.csv in a folder. Returns -1 with the error set if the file is missing or unreadable.
 */
int ssreport_energy_read(struct ssreport_energy *energy, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error);

void ssreport_energy_free(struct ssreport_energy *energy);

struct ssreport_cost {
    double seconds; /* time with known power */
    double unknown; /* seconds for which the source had no value */
    double watt_hours;
    double watts;     /* mean power; NaN if unknown */
    double deviation; /* standard deviation of the samples (n - 1); NaN with fewer than two */
};

/* Sums up the samples between two times, in seconds since 1970. */
struct ssreport_cost ssreport_energy_between(
    const struct ssreport_energy *energy, double from, double to);

#endif
