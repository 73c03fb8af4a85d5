/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSAMPLE_SAMPLE_POWER_H
#define SSSAMPLE_SAMPLE_POWER_H

/* Samples power in watts, from the kernel's files or from a command. */

#include <stdbool.h>
#include <stdint.h>

#include "sampled.h"

#define SSSAMPLE_FILES_MAX 64

enum sssample_power_kind { SSSAMPLE_RAPL, SSSAMPLE_HWMON, SSSAMPLE_BATTERY, SSSAMPLE_COMMAND };

struct sssample_power {
    enum sssample_power_kind kind;
    const char *command;             /* for SSSAMPLE_COMMAND */
    char *files[SSSAMPLE_FILES_MAX]; /* folders of packages or batteries, or one file; owned */
    size_t count;
    char scope[1024]; /* measured parts, such as "rapl: CPU packages only (package-0)" */
    bool has_before;
    int64_t before[SSSAMPLE_FILES_MAX]; /* microjoules of each package at the last sample */
};

/*
 * Finds the source `name` below `root`: rapl, hwmon, battery, auto (the first of these that exists)
 * or a command that prints watts. Returns whether it exists. Free `power` in either case.
 */
SS_NONNULL()
bool sssample_power_find(struct sssample_power *power, const char *name, const char *root);
SS_NONNULL() void sssample_power_free(struct sssample_power *power);

/*
 * Returns the source of samples. A sample without a value has an empty cell.
 */
SS_NONNULL() struct sssample_source sssample_power_source(struct sssample_power *power);

/* Returns the mean power over this many seconds; NaN if it is unknown in all of them. */
SS_NONNULL() double sssample_power_mean(struct sssample_power *power, unsigned seconds);

/* Waits until the power in a second is at most `watts`, up to this many seconds. */
SS_NONNULL()
void sssample_power_await(struct sssample_power *power, double watts, unsigned seconds);

#endif
