/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SPEED_H
#define SSSIM_SPEED_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/*
 * The speed of a machine that is not always equally fast: constant in windows of equal length,
 * lognormal with mean 1, and autoregressive from window to window. Two trials with the same options
 * see the same speed at the same time.
 */

struct speed_options {
    double deviation;   /* standard deviation of the speed; 0: constant */
    double correlation; /* of the logarithms of the speeds in successive windows, 0 to below 1 */
    double launch;  /* standard deviation of a factor that an instance keeps from start to end */
    ss_time window; /* length of a window; above 0 if there is a deviation */
    ss_time uptime; /* how long the machine ran before the trial */
    uint64_t seed;
};

struct speed {
    struct speed_options options;
    uint64_t random; /* state of the random number generator */
    double normal;   /* logarithm of the speed in standard deviations */
    double factor;   /* the speed in this window */
    ss_time until;   /* end of this window; SS_TIME_NEVER if the speed is constant */
};

/* Opens the speed of a trial that starts at `start`. */
SS_NONNULL()
void speed_open(struct speed *speed, const struct speed_options *options, ss_time start);

/* Enters the next window. */
SS_NONNULL()
void speed_next(struct speed *speed);

#endif
