/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_EXPERIMENT_H
#define SSSIM_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * An experiment folder as tools/experiments creates it: a folder for each record, and
 * manifest.csv, which describes the records. Not open if zeroed.
 */
struct experiment {
    const char *path; /* owned by the caller; NULL if not open */
    char *rows;       /* rows of the manifest */
    size_t size;
    FILE *stream; /* stream that writes to `rows` */
    int folder;   /* descriptor of the folder, which `path` may no longer name */
};

/* A record of a pair of runs. Times are in seconds; 0 if unknown. */
struct experiment_row {
    const char *role, *workload, *method;
    uint32_t instances;
    uint32_t first_cpu, cpus;
    double warmup, settle, seconds, hold, edge;
    uint64_t seed, round;
};

/* Creates the folder, which must not exist. */
SS_MUST_USE SS_NONNULL(1, 2) int experiment_open(
    struct experiment *experiment, const char *path, struct ss_error *error);

/*
 * Creates the folder of a pair. Sets `name` to its name, which is the group of both records in the
 * manifest. The folder of each record in it is named after the record's role.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3)
    SS_WRITES(3, 4) int experiment_add_pair(struct experiment *experiment,
        const struct experiment_row rows[2], char *name, size_t size, struct ss_error *error);

/* Returns the path of a record, for the caller to free; NULL without memory. */
SS_NONNULL()
char *experiment_record_path(
    const struct experiment *experiment, const char *pair, const char *role);

/* Adds a complete pair to the manifest. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int experiment_finish_pair(struct experiment *experiment,
    const struct experiment_row rows[2], const char *name, struct ss_error *error);

/* Removes the folder of an unfinished pair, if it is empty. */
SS_NONNULL() void experiment_drop_pair(const struct experiment *experiment, const char *name);

/* Closes the experiment. Removes its folder if no pair was finished. */
SS_NONNULL() void experiment_close(struct experiment *experiment);

#endif
