/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CORES_H
#define SSSIM_CORES_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* The maximum number of frequency steps. */
#define CORES_STEPS_MAX 64

/* With up to this many busy cores, busy CPUs work at this speed. */
struct cores_step {
    double cores;
    double speed;
};

/*
 * How fast busy CPUs work: pairs of CPUs may be the hardware threads of a core, and the frequency
 * may depend on the number of busy cores. Zeroed: every CPU is a core and works at the speed 1.
 */
struct cores {
    double gain; /* work of two busy threads of a core, relative to one thread alone, 1 to 2; 0:
                    every CPU is a core */
    bool overlaps_at_random; /* busy CPUs are a random choice; otherwise they fill cores first */
    struct cores_step steps[CORES_STEPS_MAX]; /* ordered by cores; with more cores the speed is 1 */
    size_t step_count;
};

/* Parses the steps: "2:1.3,4:1.15" is 1.3 with up to two busy cores, 1.15 with three or four. */
SS_MUST_USE SS_NONNULL(1, 2) int cores_parse_steps(
    struct cores *cores, const char *text, struct ss_error *error);

/*
 * Returns the mean work that a busy CPU does per unit of time while `busy` of the CPUs are busy. If
 * `busy` is no whole number, one of these CPUs is busy for a part of the time.
 */
SS_NONNULL()
double cores_speed(const struct cores *cores, double cpus, double busy);

#endif
