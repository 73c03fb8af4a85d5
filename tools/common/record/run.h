/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include <showstopper/error.h>

#include "curve.h"
#include "energy.h"
#include "host_samples.h"
#include "idle.h"
#include "record.h"
#include "steps.h"

struct ssreport_figures {
    size_t samples;
    double target_mean, load_mean; /* 0 to 1 */
    double error_mean_percent, error_mse_e4, error_p95_percent;
    double duty_mean;
    double throughput;       /* iterations per second; NaN if unknown */
    double throughput_bound; /* upper bound if no iteration ended, otherwise NaN */

    /* Lengths of the iterations that ended in the counted time, in seconds; NaN if unknown. */
    struct {
        double mean, deviation, median, p95, p99;
    } iteration;
};

#define SSREPORT_BINS 40

/* Distribution of the errors; the outer bins include everything beyond. */
struct ssreport_distribution {
    double from, width; /* percent */
    size_t counts[SSREPORT_BINS];
};

/* A record and everything computed from it. */
struct ssreport_run {
    struct ssreport_record record;
    struct ssreport_place place;
    int set; /* 0: the first set, 1: the set of --against */
    struct ssreport_figures figures;
    struct ssreport_distribution errors;
    struct ssreport_steps steps;
    struct ssreport_rates rates;
    struct ssreport_fit fit; /* throughput over load, through steps if there are enough, otherwise
                                through intervals */
    bool fits_steps;
    struct ssreport_curve curve;  /* curve through the same points, if they are steps */
    double confidence;            /* confidence of the line's intervals, such as 0.95 */
    double *loads, *throughputs;  /* points of the line; `loads` owns both */
    double least_load, most_load; /* smallest and largest load of these points */
    size_t exceeded;              /* number of excluded steps or intervals, see note_exceeded() */

    struct ssreport_energy energy;
    struct ssreport_idle idle; /* empty if not recorded */
    struct ssreport_beside beside;
    struct ssreport_surroundings surroundings;

    /* Values from a manifest, otherwise from labels; NULL and 0 if absent. */
    char *experiment, *workload, *method, *placement, *role, *group;
    char *trace;               /* name of the trace that a replay follows */
    char *published;           /* see ssreport_run_published() */
    char *environment;         /* see ssreport_run_environment() */
    char *measured_in;         /* `inside` or `host` of the environment */
    char *power_source;        /* what the samples of power cover */
    double target, stands_for; /* load from 0 to 1 that the run represents, because instances that
                                  are never stopped set the load themselves */
    double tau;                /* mean length of a round, seconds */
    double speed;              /* speed of a replay: 2 is twice as fast as the trace */
    double round;              /* number of the round, from 1 */
    double others;             /* part of the machine used by other processes; NaN if unknown */
    size_t manifest;           /* number of the manifest or study, from 1; 0 if none */
    /* loads at which a study determines and predicts the throughput; 0 if absent */
    double at, predict;
    double bursts; /* length of bursts at full load, seconds; 0 without bursts */
    char *knees;   /* loads at which throughput may bend, "0.5,0.75" */

    /* Columns of the study's plan; empty and NULL if absent. */
    struct ssreport_columns columns;
    double axis;   /* value of the column along which figures are compared; 0 if absent */
    char *variant; /* columns in which the records differ and that have no member above:
                      "size=large" */
    char *family;  /* like `variant`, without the number of instances */
};

/*
 * Reads a record and computes its figures. Returns -1 with the error set if nothing can be
 * reported. Free the run in either case.
 */
int ssreport_run_read(struct ssreport_run *run, const char *path, const char *name,
    const struct ssreport_settings *settings, struct ss_error *error);

void ssreport_run_free(struct ssreport_run *run);

/*
 * The name of the machine itself as an environment. Earlier versions recorded it as `none`, or not
 * at all.
 */
#define SSREPORT_HOST "host"
const char *ssreport_environment_name(const char *label);

/* Returns whether the verdict on the record is "invalid". Pictures mark the points of such runs. */
bool ssreport_run_is_invalid(const struct ssreport_run *run);

const char *ssreport_run_environment(const struct ssreport_run *run);
bool ssreport_run_is_on_host(const struct ssreport_run *run);

/*
 * Returns the program whose published figures the run is compared with, such as dacapo/fop; its
 * workload if the study names no other.
 */
const char *ssreport_run_published(const struct ssreport_run *run);

/* Fits the line through the steps or intervals. Returns -1 if memory is exhausted. */
int ssreport_run_fit(struct ssreport_run *run);

/* Means of several samples, the duty of those in which it is known; NaN without such samples. */
struct ssreport_means {
    double target, load, duty;
};

/* Returns the means of the samples whose middle is between two times. */
struct ssreport_means ssreport_run_means(
    const struct ssreport_record *record, double from, double to);

#endif
