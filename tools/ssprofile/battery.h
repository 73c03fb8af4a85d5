/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_BATTERY_H
#define SSPROFILE_BATTERY_H

/* A battery: a text file with one benchmark per line. */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

struct ssprofile_task {
    char **words; /* owns all texts of the line */
    const char *name, *class, *unit;
    bool lower_is_better;   /* lower results are better */
    char **command;         /* ends with NULL */
    regex_t result_pattern; /* its first group is the result */
};

/* The benchmarks of a battery. Zeroed: empty. */
struct ssprofile_battery {
    struct ssprofile_task *tasks;
    size_t count, capacity;
    char **version; /* command that prints the version of the benchmarks; NULL if absent */
    char *text;     /* text of the file */
};

/*
 * Reads a file. If a line is invalid, fails with status 2 and "FILE:LINE: ...". Free the battery
 * even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_battery_read(
    struct ssprofile_battery *battery, const char *path, struct ss_error *error);

/* Parses a text. Messages contain `name`. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssprofile_battery_parse(
    struct ssprofile_battery *battery, const char *text, const char *name, struct ss_error *error);

/*
 * Replaces the default duration of ssburn's kernels: adds --time to commands of the form 'ssburn
 * kernel NAME', including those in the text. Fails if the battery has none of them.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_battery_set_time(
    struct ssprofile_battery *battery, const char *time, struct ss_error *error);

void ssprofile_battery_free(struct ssprofile_battery *battery);

/* Returns a benchmark by its name and class; NULL if absent. */
SS_MUST_USE SS_NONNULL() const struct ssprofile_task *ssprofile_battery_find_task(
    const struct ssprofile_battery *battery, const char *name, const char *class);

/* Reads a battery. `name` is a path, or the name of an installed battery. */
SS_MUST_USE SS_NONNULL() int ssprofile_battery_find(
    struct ssprofile_battery *battery, const char *name, struct ss_error *error);

/*
 * Parses the result in the first group of the first match. Returns false if the result is not a
 * number above 0.
 */
SS_MUST_USE SS_NONNULL() bool ssprofile_task_result(
    const struct ssprofile_task *task, const char *output, double *result);

/*
 * Puts the numbers from 0 to count - 1 into an order that depends only on the seed. Orders differ
 * between repetitions, so that a drift of the machine does not always affect the same benchmarks; a
 * resumed measurement has the same order.
 */
SS_NONNULL() void ssprofile_shuffle(size_t *order, size_t count, unsigned seed);

#endif
