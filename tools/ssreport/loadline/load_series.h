/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOAD_SERIES_H
#define SSREPORT_LOAD_SERIES_H

/* Runs of the experiment loadline, grouped by study and workload, each with a load line and an
 * answer. */

#include "loadline.h"
#include "power.h"
#include "prediction.h"
#include "report.h"

/* One visit of a level, or a burst at full load. */
struct ssreport_load_visit {
    struct loadline_visit visit;
    struct ssreport_response response; /* NaN unless requests were sent */
    bool is_burst;
    bool is_invalid; /* of an invalid record */
};

/* Means over the visits of a level, and the range of the visits; NaN if unknown. */
struct ssreport_load_responses {
    double mean, p50, p95;
    struct ssreport_range p95_range, watts_range;
};

struct ssreport_load_series {
    int set;
    size_t manifest; /* number of the study: rounds of several studies have the same numbers */
    const char *workload, *variant, *environment, *method; /* NULL if unknown */
    const char *name;                                      /* name of the first record */
    char label[512]; /* names the series in tables and sentences */
    bool is_service;
    double highest_rate; /* requests per second; only for a service */
    double at, predict;  /* loads whose remaining throughput, and whose throughput, are asked for; 0
                            if not given */
    bool uses_bursts;    /* bursts at full load were measured */
    bool has_bursts;     /* the maximum is the throughput of bursts at full load */
    struct ssreport_sureness burst_error; /* uncertainty of the logarithm of that throughput */
    double full_load, full_throughput;    /* of the maximum */
    const char *knees;                    /* NULL if unknown */
    struct ssreport_load_visit *visits;
    size_t count, room;
    struct loadline line;
    /* responses at each level of `line` */
    struct ssreport_load_responses responses[LOADLINE_LEVELS_MAX];
    const char *failure; /* why there is no line; NULL if there is one */
    struct ssreport_band done;
    struct loadline_prediction prediction;
    /* why there is no prediction; NULL if there is one, or none was requested */
    const char *unpredicted;
    struct loadline_power power;
    bool has_power;
};

/* Finds the series of the report. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL(1) int ssreport_load_series_find(struct ssreport_report *report);

SS_NONNULL(1) void ssreport_load_series_free(struct ssreport_report *report);

/* Returns the part of the maximum throughput that a level of the line reaches. */
SS_NONNULL(1)
struct ssreport_band ssreport_load_series_done_at(
    const struct ssreport_load_series *series, size_t level, double confidence);

/*
 * Returns how far the maximum is above the throughput at the load in question, relative to that
 * throughput; NaN if unknown.
 */
SS_NONNULL(1) double ssreport_load_series_left(const struct ssreport_load_series *series);

/*
 * Writes how much throughput is left at the load `at`, and the prediction for the load `predict`.
 */
SS_NONNULL(1, 2)
void ssreport_load_series_answer(
    const struct ssreport_load_series *series, char *text, size_t size);

#endif
