/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CORES_H
#define SSSIM_CORES_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#define CORES_STEPS_MAX 64

/* The speed while at most this many cores are busy. */
struct cores_step {
    double cores;
    double speed;
};

/*
 * The speed of busy CPUs. Pairs of CPUs may be hardware threads of a core, and the frequency may
 * depend on the number of busy cores. Zeroed: every CPU is a core of speed 1.
 */
struct cores {
    double gain; /* work of two busy threads of a core relative to one, 1 to 2; 0: no pairs */
    bool overlaps_at_random; /* busy CPUs are chosen at random; otherwise they fill cores first */
    struct cores_step
        steps[CORES_STEPS_MAX]; /* ordered by cores; beyond the last one, the speed is 1 */
    size_t step_count;
};

/* Parses steps: "2:1.3,4:1.15" is 1.3 for up to two busy cores, 1.15 for three or four. */
SS_MUST_USE SS_NONNULL(1, 2) int cores_parse_steps(
    struct cores *cores, const char *text, struct ss_error *error);

/*
 * Returns the mean work of a busy CPU per unit of time while `busy` CPUs are busy: with 1.5, one
 * CPU all the time and another one half of the time.
 */
SS_NONNULL()
double cores_speed(const struct cores *cores, double cpus, double busy);

#endif
