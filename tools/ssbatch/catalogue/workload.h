/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_WORKLOAD_H
#define SSBATCH_WORKLOAD_H

/* Prints a workload of the catalogue as lines and words of a plan. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "catalogue.h"

/* The parameters of running a workload. */
struct ssbatch_use {
    const char *role;   /* NULL: the workload has no role, and {side} is "alone" */
    const char *memory; /* replaces the workload's memory; NULL: as in the catalogue */
};

/*
 * Writes the words that follow the options of showstopper: how iterations are counted, `--`, words
 * before the command, each of them after a blank, and the command, with % for the number of the
 * instance. The key `repeat` decides whether the workload runs with --repeat; without the key, it
 * does if it has no expression for iterations.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3, 4) int ssbatch_workload_print(FILE *stream,
    const struct ssbatch_workload *workload, const struct ssbatch_use *use, const char *before,
    struct ss_error *error);

/*
 * Writes a line `before` for each instance, which makes the instance's folder and runs the setup
 * there.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_workload_print_setup(FILE *stream,
    const struct ssbatch_workload *workload, const struct ssbatch_use *use, uint32_t instances,
    struct ss_error *error);

/*
 * Writes the line `once` that calibrates the work of an iteration, if the command has {work}. Two
 * workloads whose values have the same name have the same line.
 */
SS_NONNULL()
void ssbatch_workload_print_once(
    FILE *stream, const struct ssbatch_workload *workload, const struct ssbatch_use *use);

/*
 * Sets `lacks` to what the workload needs and this machine lacks, separated by commas, or to NULL;
 * free() it. The program of the command is needed, even if `needs` does not name it.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_workload_find_lacks(
    const struct ssbatch_workload *workload, char **lacks, struct ss_error *error);

/*
 * Fails if the workload cannot run on this machine; with `even_if_missing`, only prints that after
 * `prefix` to standard error.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_workload_check(const struct ssbatch_workload *workload,
    const char *prefix, bool even_if_missing, struct ss_error *error);

/* Returns whether showstopper can count iterations of the workload. */
SS_NONNULL() bool ssbatch_workload_is_counted(const struct ssbatch_workload *workload);

/*
 * Writes everything that runs of the workload have in common: each word of ssbatch_workload_print()
 * but `--` on its own line, and the setup of one instance. A study continues only if the plan has
 * the same text.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_workload_print_definition(FILE *stream,
    const struct ssbatch_workload *workload, const struct ssbatch_use *use, struct ss_error *error);

/* Returns why the workload is unfit; NULL if it is fit. */
SS_NONNULL() const char *ssbatch_workload_unfit(const struct ssbatch_workload *workload);

/*
 * Writes a line of at most 80 columns for each workload: whether it can run here or, if not, what
 * is missing.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_catalogue_list(
    FILE *stream, const struct ssbatch_catalogue *catalogue, struct ss_error *error);

#endif
