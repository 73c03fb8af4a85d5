/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RESPONSES_H
#define RECORD_RESPONSES_H

/*
 * A record of ssrequest: requests.csv (a line for each second), response-times.csv (the
 * response times of each second in buckets; older records lack it) and requests.json (the figures
 * of the whole run). Times are seconds; moments are seconds since 1970.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "energy.h"
#include "idle.h"
#include "record.h"
#include "record_verdict.h"
#include "record_warnings.h"
#include "statistics.h"

#define SSREPORT_RESPONSES_TABLE    "requests.csv"
#define SSREPORT_RESPONSES_TIMES    "response-times.csv"
#define SSREPORT_RESPONSES_DOCUMENT "requests.json"

/* Response times of requests; NaN if unknown. */
struct ssreport_response {
    double mean, p50, p95, p99, most;
    bool estimated; /* percentiles are estimated from those of each second */
    struct ssreport_sureness mean_sureness;
};

/* Response times are measured from this moment. */
enum ssreport_origin {
    SSREPORT_INTENDED, /* when the request was due */
    SSREPORT_ACTUAL,   /* when the request was sent */
    SSREPORT_ORIGINS,
};

/* Successes that ended in one second, in one bucket of response times. */
struct ssreport_response_bucket {
    unsigned bucket; /* see base/histogram.h */
    uint64_t counts[SSREPORT_ORIGINS];
};

struct ssreport_response_second {
    double at;         /* moment of the end; NaN in virtual time */
    double begin, end; /* seconds since the run began */
    double rate;       /* requests per second; NaN in a closed loop */
    double due, sent, refused, completed, failed, timeouts, bytes; /* in this second: numbers of
                                                                      requests, and bytes */
    double waiting, unfinished;                                    /* at the end of this second */
    double lateness_most;
    struct ssreport_response response[SSREPORT_ORIGINS]; /* successes that ended in this second */
    const struct ssreport_response_bucket *buckets; /* all successes that ended in this second */
    size_t bucket_count;                            /* 0 if not recorded completely */
    unsigned bucket_bits;                           /* width of the buckets */
};

/* Load that ssload measured during a run. */
struct ssreport_response_load {
    double at, load;
    double cpu; /* number of the CPU; NaN: all measured CPUs */
};

/* The highest rate at which a requirement on the response time holds. */
struct ssreport_capacity {
    char *demand;        /* "p95=2s"; NULL without a search */
    double held, failed; /* highest rate at which the requirement held, lowest rate at which it did
                            not */
    double held_times, failed_times;
    bool lower_bound; /* the generator failed at `failed`, not the service */
    bool upper_bound; /* response times at `held` were not stationary */
};

/* Requests of a run to one URL; response times of successes from when they were sent. */
struct ssreport_at_target {
    char *url;
    double sent, succeeded, failed, unfinished;
    double mean, p95, p99; /* seconds */
};

struct ssreport_responses {
    char *name;        /* path of the record */
    const char *title; /* the part of the name that is shown */
    char *path;
    struct ssreport_place place;
    int set; /* 0: the first set, 1: the set of --against */
    struct ssreport_notes notes;
    struct ssreport_verdict verdict;
    bool interrupted; /* the figures of the whole run are missing */
    bool is_damaged;  /* requests.json has no figures */

    /* Figures of the whole run; NULL and NaN if unknown. */
    char *version, *arrival, *profile, *targets, *when_full, *causes;
    bool closed;           /* each client sends its next request after an answer */
    double rate;           /* intended requests per second of a constant profile */
    double profile_length; /* seconds; the last requests may end later */
    double cap, timeout, begin, ended, duration;
    double intended, sent, refused, waiting, unfinished, succeeded, failed, timeouts, bytes;
    double success_ratio, throughput, unfinished_most, own_cpu;
    double lateness_p99, lateness_most;
    struct ssreport_response successes[SSREPORT_ORIGINS], all[SSREPORT_ORIGINS];
    struct ssreport_capacity capacity;
    struct ssreport_at_target *per_target; /* NULL in records of earlier versions */
    size_t per_target_count;

    struct ssreport_response_second *seconds;
    size_t count, room;
    struct ssreport_response_bucket *buckets; /* buckets of all seconds, in order */
    size_t bucket_count, bucket_room;

    /* Measurements made by other programs. */
    struct ssreport_energy energy;
    struct ssreport_idle idle;
    struct ssreport_response_load *loads;
    size_t load_count, load_room;

    char *balance; /* how requests are distributed among several targets; NULL if unknown */

    /* Values of the manifest; NULL and 0 if absent. */
    char *knobs; /* levels of knobs, joined by +, such as "instances=2+pin=free" */
    bool caps_differ, balances_differ; /* records with knobs differ in the cap or balance, which
                                          then is part of the names of series */
    char *experiment, *workload, *method, *group, *environment, *power_source;
    double target, tau, round;
    double edge;        /* see struct ssreport_settings */
    double others;      /* see struct ssreport_run */
    size_t manifest;    /* number of the manifest, from 1; 0 without one */
    double at, predict; /* like `knees`: see struct ssreport_run */
    char *knees;
    char *variant; /* other columns in which records of the workload differ, such as "size=large";
                      NULL if none */

    struct ssreport_columns columns; /* columns of the study's plan; empty if absent */
};

/* Returns whether a folder contains a record of ssrequest, or a file is one of its --json. */
bool ssreport_responses_are_in(const char *path);

/*
 * Reads a record, or a file of ssrequest --json, which has no seconds. Returns -1 with the error
 * set if nothing can be reported. Free the responses in either case.
 */
int ssreport_responses_read(struct ssreport_responses *responses, const char *path,
    const char *name, struct ss_error *error);

void ssreport_responses_free(struct ssreport_responses *responses);

/*
 * Returns the figures of several seconds; NaN if no request succeeded. Percentiles come from the
 * sum of the seconds' buckets. If a second lacks buckets, percentiles are estimated as if times
 * between two known percentiles of a second were evenly spread.
 */
struct ssreport_response ssreport_responses_of(
    const struct ssreport_response_second *seconds, size_t count, enum ssreport_origin origin);

/* Returns the confidence interval of the mean, not below 0; NaN with fewer than two seconds. */
struct ssreport_interval ssreport_response_mean_interval(
    const struct ssreport_response *response, double confidence);

/* Runs with at least this duty count as never stopped in comparisons. */
#define SSREPORT_DUTY_FULL 0.995

/*
 * Returns the time in seconds that stops add to the mean response time if requests are few and each
 * takes `work` seconds without stops. `tau` is the time from one stop to the next. See
 * showstopper-requests(7), "Requests with work".
 */
double ssreport_responses_added_by_stops(double duty, double tau, double work);

struct ssreport_stretch {
    size_t first, count; /* index of the first counted second, and their number */
    double begin, end;   /* the whole stretch, in seconds since the run began */
    double from, to;     /* moments of the counted seconds */
    double rate;         /* requested rate */
    double due, sent, refused, completed, failed, timeouts;
    double lateness_most;
    struct ssreport_response response[SSREPORT_ORIGINS];
};

/*
 * Finds the next stretch, beginning at second `*next`, and advances `*next`. Excludes `edge`
 * seconds, rounded down, at both ends (SSREPORT_EDGE_DEFAULT: as for steps). Returns false if none
 * is left. Seconds after the end of the profile belong to no stretch: their rate of 0 was not
 * requested, and the service may still be busy.
 */
bool ssreport_responses_stretch(const struct ssreport_responses *responses, double edge,
    size_t *next, struct ssreport_stretch *stretch);

/* Returns whether this is a file of ssrequest --json or sssim queue --json. */
SS_NONNULL() bool ssreport_responses_are_file(const char *path);

/*
 * Reads power and load from energy.csv and beside.csv in the record's folder or its parent. Both
 * are optional; problems are noted.
 */
void ssreport_responses_read_beside(struct ssreport_responses *responses);

#endif
