/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_INTERFERENCE_H
#define SSREPORT_INTERFERENCE_H

#include "statistics.h"

/* The slopes of both halves agree if the angle between them is below this, in degrees. */
#define SSREPORT_ANGLE_AGREES 3.0

/* A coefficient is significant if its p-value is below this. */
#define SSREPORT_SIGNIFICANT 0.05

/* One step of a staircase. */
struct ssreport_point {
    double load;       /* observed load of the background, 0 to 1 */
    double throughput; /* throughput of the foreground */
    int half;          /* 1 or 2; a point with another half, or with a NaN, is ignored */
};

/*
 * The cost of a background to a foreground: by how many percent the foreground's throughput falls
 * from an idle background to one at full load. Negative if it rises.
 */
struct ssreport_interference {
    struct ssreport_fit fits[2]; /* lines of the two halves */
    double halves[2];            /* interference of each half in percent; NaN without a line, or if
                                    the line begins at 0 */
    double metric;               /* mean of both halves; NaN if either is NaN */
    struct ssreport_interval half_intervals[2], interval; /* intervals of `halves` and of `metric`,
                                                             in percent */
    double angle;     /* angle between the normalized slopes, in degrees */
    bool agree;       /* the angle is below SSREPORT_ANGLE_AGREES */
    bool significant; /* slopes and intercepts of both halves are significant */
};

/*
 * Computes the interference. The interval of a half is Fieller's, by Student's t with n - 2 degrees
 * of freedom. For the mean of both halves, the squared distances between the value of each half and
 * its bounds are added (MOVER); t then has the degrees of freedom of the sum after Welch and
 * Satterthwaite. Returns -1 if memory is exhausted.
 */
int ssreport_interference_of(const struct ssreport_point *points, size_t count, double confidence,
    struct ssreport_interference *interference);

/* Like ssreport_interference_of(), from lines that were fitted through both halves. */
struct ssreport_interference ssreport_interference_of_fits(
    const struct ssreport_fit *first, const struct ssreport_fit *second, double confidence);

/* Returns why the metric or its interval is unknown; NULL if both are known. */
const char *ssreport_interference_missing(const struct ssreport_interference *interference);

#endif
