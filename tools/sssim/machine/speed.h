/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SPEED_H
#define SSSIM_SPEED_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/*
 * The varying speed of a machine: constant within windows of equal length, lognormal with mean 1,
 * and autoregressive between windows. Two trials with the same options have the same speed at the
 * same time.
 */

struct speed_options {
    double deviation;   /* standard deviation of the speed; 0: constant */
    double correlation; /* between logarithms of the speeds in successive windows, 0 to below 1 */
    double launch;      /* standard deviation of a factor that an instance keeps for its life */
    ss_time window;     /* length of a window; above 0 if `deviation` is */
    ss_time uptime;     /* time for which the machine ran before the trial */
    uint64_t seed;
};

struct speed {
    struct speed_options options;
    uint64_t random; /* state of the random number generator */
    double normal;   /* logarithm of the speed, in standard deviations */
    double factor;   /* speed in this window */
    ss_time until;   /* end of this window; SS_TIME_NEVER if the speed is constant */
};

/* Opens the speed for a trial that starts at `start`. */
SS_NONNULL()
void speed_open(struct speed *speed, const struct speed_options *options, ss_time start);

SS_NONNULL()
void speed_next(struct speed *speed);

#endif
