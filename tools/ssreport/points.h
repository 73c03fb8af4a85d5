/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_POINTS_H
#define SSREPORT_POINTS_H

/* Response times at one rate, with what was measured beside them at the same time. */

#include "responses.h"
#include "run.h"

struct ssreport_report;

/* What was measured between two moments; NaN: not known. Parts of 1 and watts. */
struct ssreport_joined {
    double load, target, duty, watts;
};

struct ssreport_rate_point {
    const struct ssreport_responses *of;
    const struct ssreport_run *beside; /* NULL: no record of showstopper is of the same time */
    size_t step;                       /* from 1; 0: all of the run, by its own figures */
    struct ssreport_stretch stretch;   /* `rate` is NaN in a closed loop */
    double seconds;                    /* for which requests were due */
    double success_ratio, throughput;
    double in_time; /* what part of those due succeeded while others still became due */
    struct ssreport_joined joined;
};

/*
 * The record of showstopper that was made at the same time: of the same group or, without one, of
 * the same folder of runs. NULL: there is none.
 */
const struct ssreport_run *ssreport_responses_beside(
    const struct ssreport_report *report, const struct ssreport_responses *responses);

/* `beside` may be NULL: what lies beside the requests themselves is taken. */
struct ssreport_joined ssreport_responses_join(const struct ssreport_responses *responses,
    const struct ssreport_run *beside, double from, double to);

/* Fills the report's points. -1: no memory. */
int ssreport_points_find(struct ssreport_report *report);

/* Whether both are of one series: only the rate differs, or the run that it was asked in. */
bool ssreport_rate_point_is_series(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);

/* Whether both are of one service in one environment, throttled in whatever way. */
bool ssreport_rate_point_is_service(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other);

/* Whether no point before this one is of its series. */
bool ssreport_rate_point_is_first(const struct ssreport_report *report, size_t at);

/* "mediawiki, averageq, 50 %": of what is known of a series; its record's name where nothing is. */
void ssreport_rate_point_describe(const struct ssreport_rate_point *point, char *text, size_t size);

#endif
