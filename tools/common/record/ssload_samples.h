/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_SSLOAD_SAMPLES_H
#define RECORD_SSLOAD_SAMPLES_H

/* The load that ssload, an independent program, measured during a run. */

#include <stddef.h>

#include "record.h"

struct ssreport_beside {
    size_t samples;   /* number of samples in the counted time of the run; if 0, the other fields
                         are NaN */
    double load_mean; /* mean load, from 0 to 1 */
    double error_mean_percent, error_mse_e4;
};

/*
 * Reads beside.csv in the record's folder, which is optional. A sample without a target gets the
 * run's target. Problems are noted.
 */
struct ssreport_beside ssreport_beside_read(struct ssreport_record *record, const char *folder);

#endif
