/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_SAMPLE_POWER_H
#define SSPLATFORM_SAMPLE_POWER_H

/* Samples power in watts, from the kernel's files or from a command. */

#include "sampled.h"
#include "sys_tree.h"

#define SAMPLE_FILES_MAX 64

enum sample_power_kind { SAMPLE_RAPL, SAMPLE_HWMON, SAMPLE_BATTERY, SAMPLE_COMMAND };

struct sample_power {
    enum sample_power_kind kind;
    const char *command; /* for SAMPLE_COMMAND */
    struct sys_tree tree;
    char *files[SAMPLE_FILES_MAX]; /* folders of packages or batteries, or one file; owned */
    size_t count;
    char scope[1024]; /* measured parts, such as "rapl: CPU packages only (package-0)" */
    bool has_before;
    double before[SAMPLE_FILES_MAX]; /* microjoules of each package at the last sample */
};

/*
 * Finds the source `name` of the machine whose /sys is below `root`: rapl, hwmon, battery, auto
 * (the first of these that exists) or a command that prints watts. Returns whether it exists. Free
 * `power` in either case.
 */
SS_NONNULL() bool sample_power_find(struct sample_power *power, const char *name, const char *root);
SS_NONNULL() void sample_power_free(struct sample_power *power);

/* Returns the source of samples. An unknown value is an empty cell. */
SS_NONNULL() struct sample_source sample_power_source(struct sample_power *power);

/* Returns the mean power over this many seconds; NaN if it is unknown in all of them. */
SS_NONNULL() double sample_power_mean(struct sample_power *power, unsigned seconds);

/* Waits until the power in a second is at most `watts`, up to this many seconds. */
SS_NONNULL() void sample_power_await(struct sample_power *power, double watts, unsigned seconds);

#endif
