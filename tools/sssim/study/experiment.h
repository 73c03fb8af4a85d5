/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_EXPERIMENT_H
#define SSSIM_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#define EXPERIMENT_PATH 4096

/*
 * The folder of an experiment as tools/experiments makes it: a folder for each record, and
 * manifest.csv, which says what each of them is. Zeroed: none.
 */
struct experiment {
    char path[EXPERIMENT_PATH]; /* "": none */
    char *rows;                 /* of the manifest */
    size_t size;
    FILE *stream; /* into `rows` */
};

/* A record of a pair of runs. Times are seconds; 0: unknown. */
struct experiment_row {
    const char *role, *workload, *method;
    uint32_t instances;
    uint32_t first_cpu, cpus;
    double warmup, settle, seconds, hold, edge;
    uint64_t seed, round;
};

/* Makes the folder, which must not exist. */
SS_MUST_USE SS_NONNULL(1, 2) int experiment_open(
    struct experiment *experiment, const char *path, struct ss_error *error);

/*
 * Makes the folder of a pair, and gives its name, which is the group of both of its records. A
 * record's own folder in it is named after its role.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3)
    SS_WRITES(3, 4) int experiment_add_pair(struct experiment *experiment,
        const struct experiment_row rows[2], char *name, size_t size, struct ss_error *error);

/* The path of one record. */
SS_NONNULL()
SS_WRITES(4, 5)
void experiment_print_path(const struct experiment *experiment, const char *pair, const char *role,
    char *path, size_t size);

/* Both records of a pair are whole: the manifest names them from now on. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int experiment_finish_pair(struct experiment *experiment,
    const struct experiment_row rows[2], const char *name, struct ss_error *error);

/* Removes the folder of a pair that was not finished, if it is empty. */
SS_NONNULL()
void experiment_drop_pair(const struct experiment *experiment, const char *name);

/* An experiment without a pair leaves no folder behind. */
SS_NONNULL()
void experiment_close(struct experiment *experiment);

#endif
