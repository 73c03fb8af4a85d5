/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_POINTS_H
#define SSREPORT_POINTS_H

/* Response times at one rate, joined with the load, duty and power at the same time. */

#include "group_by.h"
#include "report.h"

/* Means between two times: parts of 1, and watts. NaN if unknown. */
struct ssreport_joined {
    double load, target, duty, watts;
    double busiest;         /* load of the busiest CPU set that the service may use */
    double watts_deviation; /* standard deviation over seconds */
    double watts_seconds;   /* time with known power */
};

struct ssreport_rate_point {
    const struct ssreport_responses *of;
    const struct ssreport_run *beside; /* showstopper's record from the same time; may be NULL */
    size_t step;                       /* number of the step, from 1; 0: figures of the whole run */
    struct ssreport_stretch stretch;   /* `rate` is NaN in a closed loop */
    double seconds;                    /* length of the counted time */
    double success_ratio, throughput;
    double in_time; /* part of the due requests that succeeded before the last request became due */
    struct ssreport_joined joined;
};

/*
 * Returns the record of showstopper from the same time: in the same group or, without a group, in
 * the same folder of runs. NULL if absent.
 */
const struct ssreport_run *ssreport_responses_beside(
    const struct ssreport_report *report, const struct ssreport_responses *responses);

/*
 * Returns means between two times, in seconds since 1970. Load and power are those that were
 * recorded with the requests if `beside` is NULL; power also if `beside` has none.
 */
struct ssreport_joined ssreport_responses_join(const struct ssreport_responses *responses,
    const struct ssreport_run *beside, double from, double to);

/* Fills the points of the report. Returns -1 if memory is exhausted. */
int ssreport_points_find(struct ssreport_report *report);

/* Returns whether both points belong to one series: they differ only in rate or run. */
bool ssreport_rate_point_is_series(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);

/* Returns whether both points belong to one service in one environment, however it is throttled. */
bool ssreport_rate_point_is_service(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);
bool ssreport_rate_point_is_service_at_any_arrival(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);

struct stats_groups ssreport_points_by_series(const struct ssreport_report *report);
struct stats_groups ssreport_points_by_service(const struct ssreport_report *report);

/*
 * Describes a series, such as "mediawiki, averageq, 50 %"; without a workload, by the title of its
 * record.
 */
void ssreport_rate_point_describe(const struct ssreport_rate_point *point, char *text, size_t size);

/*
 * Names a series within its service, such as "pin=free cap 10" or "averageq 50 %"; "" if nothing
 * distinguishes it.
 */
SS_NONNULL()
SS_WRITES(2, 3)
void ssreport_rate_point_name_level(
    const struct ssreport_rate_point *point, char *text, size_t size);

#endif
