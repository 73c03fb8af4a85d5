/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_RUN_H
#define SSSIM_QUEUE_RUN_H

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "generator.h"
#include "queue_machine.h"
#include "queue_service.h"
#include "service_control.h"

/* Sends requests to a simulated service in virtual time, with the generator of ssrequest. */

struct queue_run_options {
    const struct request_profile *profile; /* NULL in a closed loop */
    enum request_arrival arrival;
    struct request_rules rules; /* the servers are the targets */
    ss_time timeout;            /* SS_TIME_NEVER if clients wait forever */
    ss_time settle;             /* requests that end before this, or before this much time of
                                   control, are not counted */
    uint64_t seed;
    struct queue_service_options service;
    double duty;                        /* duty of each server; 1 if never stopped */
    ss_time tau;                        /* mean length of a round of stops */
    const struct queue_power *power;    /* NULL if unknown */
    double relative_frequency;          /* frequency divided by the base; 0 counts as 1 */
    const struct service_options *held; /* NULL if the profile sets the rate */
    ss_time held_for;                   /* how long the rate is controlled */
};

struct queue_run_result {
    ss_time settled;  /* time at which counting began */
    ss_time left_out; /* time between the episodes of a held service, which is not counted */
    ss_time sending;  /* time at which sending ended */
    ss_time end;      /* time at which sending or, if later, the last request ended */
    uint64_t wasted;  /* number of requests that were completed after their client had given up */
    struct queue_meter meter;      /* covers the time from --settle to the end of sending */
    struct request_held_load held; /* valid if the load of the service was held */
};

/* Simulates a run, and counts its requests in an open tally. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int queue_run(const struct queue_run_options *options,
    struct request_tally *tally, struct queue_run_result *result, struct ss_error *error);

#endif
