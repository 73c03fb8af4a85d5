/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_THROTTLE_H
#define SSSIM_QUEUE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

struct trial;

/*
 * Stops and continues servers with the executors of a trial that has one instance for each server
 * and a fixed duty. Works with any dithering module.
 */
struct queue_throttle {
    struct trial *trial; /* NULL: the servers always run */
    ss_time zero;        /* the trial's time at which requests begin */
};

struct queue_throttle_options {
    uint32_t servers;
    double duty; /* more than 0, up to 1 */
    ss_time tau; /* mean length of a round */
    uint64_t seed;
};

/*
 * Opens the throttle. The seed determines the point of a round at which requests begin. Close it
 * even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2) int queue_throttle_open(struct queue_throttle *throttle,
    const struct queue_throttle_options *options, struct ss_error *error);

SS_NONNULL()
void queue_throttle_close(struct queue_throttle *throttle);

/* Returns when a server may be stopped or continued next, as time since requests began. */
SS_NONNULL()
ss_time queue_throttle_next(const struct queue_throttle *throttle);

/* Stops or continues servers. Call this at the time that queue_throttle_next() returned. */
SS_MUST_USE SS_NONNULL(1) int queue_throttle_wake(
    struct queue_throttle *throttle, struct ss_error *error);

SS_NONNULL()
bool queue_throttle_lets_run(const struct queue_throttle *throttle, uint32_t server);

#endif
