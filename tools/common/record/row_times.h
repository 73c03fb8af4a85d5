/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_ROW_TIMES_H
#define RECORD_ROW_TIMES_H

/* Checks the times of rows that follow each other, because one damaged time would outweigh all. */

#include <stdbool.h>

#include <showstopper/contract.h>

/* A row whose time is more seconds after the previous one is invalid. */
#define SSREPORT_SILENCE_MAX 86400.0

/*
 * Returns whether a row may begin at `begin`, the time of the previous row, and end at `end`. If it
 * is too long, it is invalid, but the next row may confirm its time: then there was a real gap, and
 * `begin` becomes this time. `refused` keeps it between calls, and is 0 before the first one.
 */
SS_NONNULL(1, 2)
static inline bool ssreport_row_follows(double *begin, double *refused, double end) {
    if (!(end - *begin > SSREPORT_SILENCE_MAX))
        return true;
    double last = *refused;
    *refused = end;
    if (!(last > *begin && end > last && end - last <= SSREPORT_SILENCE_MAX))
        return false;
    *begin = last;
    return true;
}

#endif
