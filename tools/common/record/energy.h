/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENERGY_H
#define SSREPORT_ENERGY_H

/* Power that was sampled beside a run, once a second, and what it comes to. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

#include "record_warnings.h"

struct ssreport_power {
    double at;    /* seconds since 1970 */
    double watts; /* NaN: nothing was known in that second */
};

struct ssreport_energy {
    struct ssreport_power *samples;
    size_t count, capacity;
    bool shared; /* with all that ran at the same time */
};

/* From energy.csv in a folder. -1, with the error set: there is none, or it cannot be read. */
int ssreport_energy_read(struct ssreport_energy *energy, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error);

void ssreport_energy_free(struct ssreport_energy *energy);

struct ssreport_cost {
    size_t seconds; /* of which power is known */
    size_t unknown; /* of which it is known that there was none to be had */
    double watt_hours;
    double watts; /* mean; NaN: nothing is known */
};

/* Between two times, seconds since 1970; each sample counts as one watt-second per watt. */
struct ssreport_cost ssreport_energy_between(
    const struct ssreport_energy *energy, double from, double to);

#endif
