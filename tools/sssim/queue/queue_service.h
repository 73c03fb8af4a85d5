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
 * A service in virtual time: servers, each with its own workers and queue; workers take the oldest
 * request first. A server that was stopped resumes where it stopped. Late work is done by a server
 * of its own, the last one, with a worker for each CPU.
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
    const double *speeds; /* speed of each server, above 0; NULL if all are 1 */
    ss_time work;         /* CPU time of a request at speed 1, or its mean */
    int spread;           /* enum queue_spread */
    int given_up;         /* enum queue_given_up */
    double cpus;          /* CPUs for all workers and the late work; 0 for one per worker */
    double background;    /* number of these CPUs that the service uses all the time */
    double late;          /* fraction of the work that is done after the answer */
    ss_time late_by;      /* time between the answer and this work */
    double change;        /* factor of the work once it has changed */
    ss_time change_from;  /* when the work begins to change */
    ss_time change_over;  /* how long it takes to change */
    double between_runs;  /* relative standard deviation of the work from run to run */
    double per_episode;   /* fraction of its variance that is drawn for each episode */
    uint64_t seed;
};

struct queue_job;
struct queue_worker;
struct queue_server;

struct queue_service {
    struct queue_service_options options;
    double factor;    /* factor of the work of each request in this run and episode */
    uint32_t episode; /* from 0 */
    struct sleepers *sleepers;
    uint32_t first; /* number of the first worker's sleeper */
    struct queue_server *servers;
    struct queue_worker *workers;
    struct queue_job **jobs; /* job of each slot; NULL if unused or given up */
    struct queue_job *spare;
    uint32_t busy;           /* number of workers that have work and whose server runs */
    double share;            /* fraction of a CPU that each busy worker gets */
    ss_time since;           /* time of `used` */
    double used;             /* CPU time so far, in nanoseconds */
    uint64_t served, wasted; /* completed requests; of these, requests whose client had given up */
    struct queue_job *late;  /* late work that is not due yet, ordered by time */
    struct queue_job **late_tail;
};

/*
 * Opens a service whose sleepers have the numbers from `first`. Slots are below `slots`. Close the
 * service even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int queue_service_open(struct queue_service *service,
    const struct queue_service_options *options, struct sleepers *sleepers, uint32_t first,
    uint64_t slots, struct ss_error *error);

SS_NONNULL() void queue_service_close(struct queue_service *service);

static inline uint64_t queue_service_workers(const struct queue_service_options *options) {
    return (uint64_t)options->servers * options->workers;
}

/* Returns the number of CPUs that the service may use. */
SS_NONNULL() double queue_service_cpus(const struct queue_service_options *options);

/*
 * Returns the number of sleepers: one for each worker, including those of late work, and one for
 * the next late work.
 */
SS_NONNULL() uint32_t queue_service_sleepers(const struct queue_service_options *options);

/* Begins another episode: new connections may change the work of a request. */
SS_NONNULL() void queue_service_renew(struct queue_service *service);

/* Returns the number of CPUs that are busy now. */
SS_NONNULL() double queue_service_busy(const struct queue_service *service);

/* Returns the CPU time used until `now`, in nanoseconds. */
SS_NONNULL() double queue_service_used(struct queue_service *service, ss_time now);

/*
 * Server `number` accepts a request, whose work depends only on the seed and the request's number.
 * Fails if memory is exhausted.
 */
SS_NONNULL()
int queue_service_take(
    struct queue_service *service, uint32_t number, uint32_t slot, uint64_t request, ss_time now);

/*
 * Completes the request of the worker whose sleeper is due, and sets `slot` to the request's slot.
 * The worker takes the next request. Returns false if no client waits for an answer: it had given
 * up, or the sleeper is one of the late work.
 */
SS_NONNULL()
bool queue_service_wake(
    struct queue_service *service, uint32_t sleeper, uint32_t *slot, ss_time now);

/* Records that the client of a request has given up. */
SS_NONNULL() void queue_service_give_up(struct queue_service *service, uint32_t slot);

SS_NONNULL()
void queue_service_set_running(
    struct queue_service *service, uint32_t server, bool runs, ss_time now);

#endif
