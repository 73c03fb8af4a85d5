/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_SERVICE_H
#define SSSIM_QUEUE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "sleepers.h"

/*
 * A service in virtual time: servers, each with its own workers, CPUs and queue; workers take the
 * oldest request first. A server that was stopped resumes where it stopped.
 */

enum queue_spread {
    QUEUE_CONSTANT,
    QUEUE_EXPONENTIAL,
};

/* The fate of a request whose client gives up, in the order of the option's choices. */
enum queue_given_up {
    QUEUE_SERVE, /* the service does not notice, and completes the request */
    QUEUE_SKIP,  /* the request is completed only if work on it has begun */
};

struct queue_service_options {
    uint32_t servers;
    uint32_t workers;     /* number of workers of each server */
    const double *speeds; /* speed of each server, more than 0; NULL: all are 1 */
    ss_time work;         /* CPU time of a request at speed 1, or its mean */
    int spread;           /* enum queue_spread */
    int given_up;         /* enum queue_given_up */
    uint64_t seed;
};

struct queue_job;
struct queue_worker;
struct queue_server;

struct queue_service {
    struct queue_service_options options;
    struct sleepers *sleepers;
    uint32_t first; /* number of the first worker's sleeper */
    struct queue_server *servers;
    struct queue_worker *workers;
    struct queue_job **jobs; /* job of each slot; NULL: unused, or given up */
    struct queue_job *spare;
    uint32_t busy;           /* number of workers that have a request and whose server runs */
    uint64_t served, wasted; /* completed requests; those whose client had given up before */
};

/*
 * Opens a service whose workers are the sleepers with numbers from `first`. Slots are below
 * `slots`. Close the service even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int queue_service_open(struct queue_service *service,
    const struct queue_service_options *options, struct sleepers *sleepers, uint32_t first,
    uint64_t slots, struct ss_error *error);

SS_NONNULL()
void queue_service_close(struct queue_service *service);

static inline uint64_t queue_service_workers(const struct queue_service_options *options) {
    return (uint64_t)options->servers * options->workers;
}

/*
 * Server `number` accepts a request, whose work depends only on the seed and the request's number.
 * Fails if memory is exhausted.
 */
SS_NONNULL()
int queue_service_take(
    struct queue_service *service, uint32_t number, uint32_t slot, uint64_t request, ss_time now);

/*
 * Completes the request of the worker whose sleeper is due, and sets `slot` to the request's slot.
 * The worker takes the next request. Returns false if the client of the completed request had given
 * up.
 */
SS_NONNULL()
bool queue_service_wake(
    struct queue_service *service, uint32_t sleeper, uint32_t *slot, ss_time now);

/* Notes that the client of a request has given up. */
SS_NONNULL()
void queue_service_give_up(struct queue_service *service, uint32_t slot);

SS_NONNULL()
void queue_service_let_run(struct queue_service *service, uint32_t server, bool runs, ss_time now);

#endif
