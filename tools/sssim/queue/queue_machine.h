/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_MACHINE_H
#define SSSIM_QUEUE_MACHINE_H

/* The machine under a simulated service: its frequency, contention, and power. */

#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

/*
 * Returns the speed at frequency f relative to that at the base frequency: work takes beta base / f
 * + 1 - beta times as long.
 */
double queue_frequency_speed(double frequency, double base, double beta);

/* Contention of n servers or workers: each has the speed 1 / (1 + a (n-1) + b n (n-1)). */
struct queue_contention {
    double a, b;
};

double queue_contention_speed(const struct queue_contention *contention, double n) SS_NONNULL();

/* Requests per second that n servers or workers can serve. */
struct queue_capacity {
    double n, rate;
};

/*
 * Fits contention to capacities by least squares of the relative errors, with a and b of at least
 * 0. Sets `alone`, which may be NULL, to the capacity of one server or worker. Fails with fewer
 * than three different n, or if they do not determine the result.
 */
SS_MUST_USE SS_NONNULL(1, 2, 5) int queue_contention_fit(struct queue_contention *contention,
    const struct queue_capacity *points, size_t count, double *alone, struct ss_error *error);

/* Reads columns `n` and `requests_per_second` of a file, and fits contention to them. */
SS_MUST_USE SS_NONNULL() int queue_contention_read(
    struct queue_contention *contention, const char *path, struct ss_error *error);

struct queue_watts {
    double busy, watts;
};

/* Power by the number of busy CPUs, interpolated between measured points. */
struct queue_power {
    struct queue_watts *points; /* in ascending order, from an idle machine to all CPUs busy */
    size_t count, room;
};

/* Reads columns `busy` and `watts` of a file. Free `power` even on failure. */
SS_MUST_USE SS_NONNULL() int queue_power_read(
    struct queue_power *power, const char *path, struct ss_error *error);
SS_NONNULL() void queue_power_free(struct queue_power *power);

/*
 * Returns the power in watts with `busy` CPUs at a frequency, which is relative to the base. At 2/3
 * of the base frequency, power falls to 95 % without busy CPUs and to 82 % with all; the saving is
 * proportional to the distance from the base.
 */
SS_NONNULL()
double queue_power_at(const struct queue_power *power, double busy, double relative_frequency);

/* Adds up energy, busy time (summed over the CPUs) and idle time (without any busy CPU). */
struct queue_meter {
    const struct queue_power *power; /* NULL if unknown */
    double relative_frequency;
    ss_time since;
    double seconds, busy_seconds, idle_seconds, joules;
};

/* Adds the time up to `now`, in which `busy` CPUs were busy. */
SS_NONNULL() void queue_meter_advance(struct queue_meter *meter, double busy, ss_time now);

SS_NONNULL() void queue_meter_clear(struct queue_meter *meter);

#endif
