/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESPONSES_H
#define SSREPORT_RESPONSES_H

/*
 * A record of ssrequest: requests.csv, a line for each second, response-times.csv, the response
 * times of each second in buckets (older records lack it), and requests.json, the figures of the
 * whole run. Times are seconds; moments are seconds since 1970.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "energy.h"
#include "record_warnings.h"
#include "statistics.h"

/* Response times of requests; NaN: not known. */
struct ssreport_response {
    double mean, p50, p95, p99, most;
    bool estimated; /* the percentiles, from those of single seconds */
    struct ssreport_sureness mean_sureness;
};

/* From which moment of a request they count. */
enum ssreport_origin {
    SSREPORT_INTENDED, /* when it was due */
    SSREPORT_ACTUAL,   /* when it was sent */
    SSREPORT_ORIGINS,
};

/* How many of the successes that ended in a second have response times in a bucket. */
struct ssreport_response_bucket {
    unsigned bucket; /* see base/histogram.h */
    uint64_t counts[SSREPORT_ORIGINS];
};

struct ssreport_response_second {
    double at;         /* the moment of its end; NaN: virtual time */
    double begin, end; /* since the run began */
    double rate;       /* that was asked for, requests per second; NaN: a closed loop has none */
    double due, sent, refused, completed, failed, timeouts, bytes; /* of this second */
    double waiting, unfinished;                                    /* at its end */
    double lateness_most;
    struct ssreport_response response[SSREPORT_ORIGINS]; /* of the successes that ended in it */
    const struct ssreport_response_bucket *buckets;      /* of all of them */
    size_t bucket_count;                                 /* 0: not recorded, or not completely */
    unsigned bucket_bits;                                /* width of the buckets */
};

/* The load that ssload has seen beside a run. */
struct ssreport_response_load {
    double at, load;
};

/* The highest rate at which a demand on the response time holds. */
struct ssreport_capacity {
    char *demand;        /* "p95=2s"; NULL: it was not searched */
    double held, failed; /* highest rate at which it held, lowest at which it did not */
    double held_times, failed_times;
};

struct ssreport_responses {
    char *name;        /* what it is called here: its path */
    const char *title; /* the part of it that is shown */
    char *path;
    int set; /* 0: the first one, 1: what it is held against */
    struct ssreport_notes notes;
    bool interrupted; /* there are no figures of its own */

    /* From its own figures; NULL and NaN: not known. */
    char *version, *arrival, *profile, *targets, *when_full, *causes;
    bool closed; /* clients that send after their answer */
    double cap, timeout, begin, ended, duration;
    double intended, sent, refused, waiting, unfinished, succeeded, failed, timeouts, bytes;
    double success_ratio, throughput, unfinished_most, own_cpu;
    double lateness_p99, lateness_most;
    struct ssreport_response successes[SSREPORT_ORIGINS], all[SSREPORT_ORIGINS];
    struct ssreport_capacity capacity;

    struct ssreport_response_second *seconds;
    size_t count, room;
    struct ssreport_response_bucket *buckets; /* second by second */
    size_t bucket_count, bucket_room;

    /* What was measured beside it where no record of showstopper tells. */
    struct ssreport_energy energy;
    struct ssreport_response_load *loads;
    size_t load_count, load_room;

    /* From a manifest; NULL and 0: it says nothing of it. */
    char *experiment, *workload, *method, *group, *environment, *power_source;
    double target, tau, round;
    double edge;     /* as of settings */
    double others;   /* as of a run */
    size_t manifest; /* which one names it, from 1; 0: none */
};

/* Whether a folder holds what ssrequest has recorded. */
bool ssreport_responses_are_in(const char *folder);

/* -1: there is nothing to report; to be freed in any case. */
int ssreport_responses_read(struct ssreport_responses *responses, const char *path,
    const char *name, struct ss_error *error);

void ssreport_responses_free(struct ssreport_responses *responses);

/*
 * All figures of these seconds together; NaN if no request succeeded. Percentiles come from the
 * buckets of all seconds, added up. If a second has none, they are estimated: times between two
 * known percentiles of a second are taken to be evenly spread.
 */
struct ssreport_response ssreport_responses_of(
    const struct ssreport_response_second *seconds, size_t count, enum ssreport_origin origin);

/* The confidence interval of the mean, which is not below 0; NaN: of fewer than two seconds. */
struct ssreport_interval ssreport_response_mean_interval(
    const struct ssreport_response *response, double confidence);

/* ---- throttled or not ---- */

/* What is stopped less than this is compared with as if it were not stopped at all. */
#define SSREPORT_DUTY_FULL 0.995

/*
 * How much stops add to the mean response time if requests are few and each takes `work` without
 * stops; tau is from the begin of a stop to the begin of the next. See showstopper-requests(7),
 * "Requests with work".
 */
double ssreport_responses_added_by_stops(double duty, double tau, double work);

/* ---- stretches of constant rate ---- */

struct ssreport_stretch {
    size_t first, count; /* the seconds that count */
    double begin, end;   /* of the whole stretch, since the run began */
    double from, to;     /* of what counts, moments */
    double rate;         /* that was asked for */
    double due, sent, refused, completed, failed, timeouts;
    double lateness_most;
    struct ssreport_response response[SSREPORT_ORIGINS];
};

/*
 * Finds the stretch that begins at or behind a second. As many whole seconds are left out at both
 * ends as `edge` says (SSREPORT_EDGE_DEFAULT: as of steps). False: there are no more; `next` is
 * where to look for the following one.
 */
bool ssreport_responses_stretch(const struct ssreport_responses *responses, double edge,
    size_t *next, struct ssreport_stretch *stretch);

#endif
