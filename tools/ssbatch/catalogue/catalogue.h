/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_CATALOGUE_H
#define SSBATCH_CATALOGUE_H

/* Workloads by name, from text files; showstopper-catalogue(5) describes their format. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>

enum ssbatch_key {
    SSBATCH_COMMAND,
    SSBATCH_ITERATION,
    SSBATCH_REPEAT,
    SSBATCH_WARMUP,
    SSBATCH_FOLDER, /* "scratch" */
    SSBATCH_MEMORY,
    SSBATCH_SETUP,
    SSBATCH_STOP,
    SSBATCH_NOTE,
    SSBATCH_NEEDS,
    SSBATCH_PUBLISHED,
    SSBATCH_KEYS,
};

struct ssbatch_workload {
    const char *name;
    const char *file;                 /* the file that defines it */
    const char *values[SSBATCH_KEYS]; /* NULL if absent */
    bool typed; /* defined on a command line, where the shell has expanded variables; no {work} */
};

/* A workload that is not in a file. */
struct ssbatch_definition {
    const char *name;
    const char *command;   /* quoted words */
    const char *iteration; /* NULL: no expression for iterations */
    bool repeat;           /* --repeat, even with an expression */
};

/* Workloads of one or more files. Zero-initialized: empty. */
struct ssbatch_catalogue {
    struct ssbatch_workload *items; /* owned; in the order of the files */
    size_t count, room;
    char **texts; /* owned: names, files and values */
    size_t text_count, text_room;
};

void ssbatch_catalogue_free(struct ssbatch_catalogue *catalogue);

/* Adds a workload. The catalogue does not copy the texts, so they must outlive it. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_catalogue_define(struct ssbatch_catalogue *catalogue,
    const struct ssbatch_definition *definition, struct ss_error *error);

/*
 * Adds the workloads of a file, except names that the catalogue already has, so that the first file
 * that defines a name wins. Messages begin with "FILE:LINE: ". Free the catalogue even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_catalogue_read(
    struct ssbatch_catalogue *catalogue, const char *path, struct ss_error *error);

/*
 * Adds the workloads of the default catalogues: those that SHOWSTOPPER_CATALOGUE lists, then the
 * user's, then the installed one. Call this after reading those of --catalogue.
 */
SS_MUST_USE SS_NONNULL(1) int ssbatch_catalogue_read_default(
    struct ssbatch_catalogue *catalogue, struct ss_error *error);

/* Returns the workload of this name; NULL with the error set if no catalogue has it. */
SS_MUST_USE SS_NONNULL(1, 2) const struct ssbatch_workload *ssbatch_catalogue_find(
    const struct ssbatch_catalogue *catalogue, const char *name, struct ss_error *error);

/* Fails if the key cannot have this value. */
SS_MUST_USE SS_NONNULL(2) int ssbatch_catalogue_check_value(
    enum ssbatch_key key, const char *value, struct ss_error *error);

#endif
