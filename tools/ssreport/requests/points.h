/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_POINTS_H
#define SSREPORT_POINTS_H

/* Response times at one rate, joined with load, duty and power of the same time. */

#include "group_by.h"
#include "report.h"

/* Means between two moments; NaN: unknown. Parts of 1 and watts. */
struct ssreport_joined {
    double load, target, duty, watts;
};

struct ssreport_rate_point {
    const struct ssreport_responses *of;
    const struct ssreport_run *beside; /* showstopper's record of the same time; may be NULL */
    size_t step;                       /* from 1; 0: all of the run, by its own figures */
    struct ssreport_stretch stretch;   /* `rate` is NaN in a closed loop */
    double seconds;                    /* for which requests were due */
    double success_ratio, throughput;
    double in_time; /* what part of those due succeeded while others still became due */
    struct ssreport_joined joined;
};

/*
 * The record of showstopper that was made at the same time: of the same group or, without one, of
 * the same folder of runs. NULL if absent.
 */
const struct ssreport_run *ssreport_responses_beside(
    const struct ssreport_report *report, const struct ssreport_responses *responses);

/* Without a run (`beside` is NULL) uses load and power recorded next to the requests. */
struct ssreport_joined ssreport_responses_join(const struct ssreport_responses *responses,
    const struct ssreport_run *beside, double from, double to);

/* Fills the report's points. -1: no memory. */
int ssreport_points_find(struct ssreport_report *report);

/* Whether both are of one series: only the rate differs, or the run. */
bool ssreport_rate_point_is_series(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);

/* Whether both are of one service in one environment, however it is throttled. */
bool ssreport_rate_point_is_service(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);

struct stats_groups ssreport_points_by_series(const struct ssreport_report *report);
struct stats_groups ssreport_points_by_service(const struct ssreport_report *report);

/* "mediawiki, averageq, 50 %": what is known of a series, or else the name of its record. */
void ssreport_rate_point_describe(const struct ssreport_rate_point *point, char *text, size_t size);

#endif
