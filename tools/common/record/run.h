/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUN_H
#define SSREPORT_RUN_H

#include <showstopper/error.h>

#include "curve.h"
#include "energy.h"
#include "host_samples.h"
#include "rates.h"
#include "record.h"
#include "ssload_samples.h"
#include "steps.h"

/* What the samples of the counted time come to. */
struct ssreport_figures {
    size_t samples;
    double target_mean, load_mean; /* parts of 1 */
    double error_mean_percent, error_mse_e4, error_p95_percent;
    double duty_mean;
    double throughput; /* iterations per second of the counted time; NaN: not counted, or none */
    double throughput_bound; /* its maximum if no iteration ended; else NaN */

    /* How long the iterations took that ended then, in seconds; NaN: not known. */
    struct {
        double mean, deviation, median, p95, p99;
    } iteration;
};

#define SSREPORT_BINS 40

/* How often an error occurred; those beyond an end are in the bin there. */
struct ssreport_distribution {
    double from, width; /* percent */
    size_t counts[SSREPORT_BINS];
};

/* A record and all that is made of it. */
struct ssreport_run {
    struct ssreport_record record;
    int set; /* 0: the first one, 1: what it is held against */
    struct ssreport_figures figures;
    struct ssreport_distribution errors;
    struct ssreport_steps steps;
    struct ssreport_rates rates;
    struct ssreport_fit fit; /* throughput against load, over the steps or else the intervals */
    bool fits_steps;
    struct ssreport_curve curve;  /* through the same points, if they are steps */
    double confidence;            /* of what is said of the line, as in 0.95 */
    double *loads, *throughputs;  /* the points that it is laid through; `loads` owns both */
    double least_load, most_load; /* of these points */
    size_t exceeded;              /* steps or intervals left out, see note_exceeded() */

    struct ssreport_energy energy;
    struct ssreport_beside beside;
    struct ssreport_surroundings surroundings;

    /* From a manifest, or else from labels; NULL and 0: neither says anything of it. */
    char *experiment, *workload, *method, *placement, *role, *group;
    char *environment;         /* see ssreport_run_environment() */
    char *measured_in;         /* `inside` or `host` of the environment */
    char *power_source;        /* what its samples of power cover */
    double target, stands_for; /* parts of 1; whole instances stand for a load of their own */
    double tau;                /* mean length of a round, seconds */
    double speed;              /* of a replay: 2 is twice as fast as the trace */
    double round;              /* from 1 */
    double others;             /* part of the machine that other processes used; NaN: not known */
    size_t manifest;           /* which one names it, from 1; 0: none */
};

/* Reads and reckons. -1: there is nothing to report; to be freed in any case. */
int ssreport_run_read(struct ssreport_run *run, const char *path, const char *name,
    const struct ssreport_settings *settings, struct ss_error *error);

void ssreport_run_free(struct ssreport_run *run);

/* The machine itself, in no environment. Records of earlier versions call it `none`, or nothing. */
#define SSREPORT_HOST "host"
const char *ssreport_environment_name(const char *label);

/* The environment that it ran in. */
const char *ssreport_run_environment(const struct ssreport_run *run);
bool ssreport_run_is_on_host(const struct ssreport_run *run);

/* Lays the line through steps and rates that are there. -1: no memory. */
int ssreport_run_fit(struct ssreport_run *run);

/* Mean load of the samples that lie between two times; NaN: there is none. */
double ssreport_run_load(const struct ssreport_record *record, double from, double to);

#endif
