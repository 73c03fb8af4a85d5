/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_BESIDE_H
#define SSREPORT_BESIDE_H

/* The load that an independent program, ssload, has seen beside a run. */

#include <stddef.h>

#include "record.h"

struct ssreport_beside {
    size_t samples;   /* that lie in the counted time of the run; 0: the rest is NaN */
    double load_mean; /* part of 1 */
    double error_mean_percent, error_mse_e4;
};

/*
 * From beside.csv in the record's folder. What has no target of its own has that of the run. Where
 * there is no such file there are no samples; what is wrong with it is noted.
 */
struct ssreport_beside ssreport_beside_read(struct ssreport_record *record, const char *folder);

#endif
