/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_OPTIONS_H
#define SSSIM_QUEUE_OPTIONS_H

#include <showstopper/contract.h>

#include "options/arguments.h"
#include "queue_run.h"
#include "rate_options.h"

struct queue_options {
    struct request_given given; /* after request_given_settle() */
    int arrival;                /* enum request_arrival */
    uint64_t seed;
    int when_full;     /* enum request_when_full */
    ss_time timeout;   /* 0: no timeout */
    uint64_t requests; /* 0: no limit */
    ss_time settle;
    ss_time work;
    int spread; /* enum queue_spread */
    uint64_t workers;
    uint64_t servers; /* 0: one for each speed, or 1 without speeds */
    const char *speeds;
    int balance;  /* enum request_balance */
    int given_up; /* enum queue_given_up */
    double duty;
    ss_time tau;
    const char *frequency, *base;
    double beta;
    const char *contention; /* "servers:A,B", "workers:FILE" */
    const char *power_file;
    int json;
    int help;
    int version;
    struct ss_option_store store;

    double speed[REQUEST_TARGETS_MAX]; /* speeds as given, times `factor` */
    double relative_frequency;         /* 1 without --frequency */
    double factor;                     /* effect of frequency and contention on the speed */
    struct queue_contention fitted;    /* NaN without --contention */
    struct queue_power power;          /* no points without --power */
    struct request_profile shape;      /* the rate over time */
};

extern const struct ss_argument queue_rows[];

/* Parses a command line; argv[0] is the command's name. Close the options even on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int queue_options_parse(
    struct queue_options *options, char **argv, struct ss_error *error);

SS_NONNULL()
void queue_options_close(struct queue_options *options);

/* Sets the run's parameters. The run must not outlive the options. */
SS_MUST_USE SS_NONNULL(1, 2) int queue_options_resolve(
    struct queue_options *options, struct queue_run_options *run, struct ss_error *error);

#endif
