/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RESULTS_H
#define SSPROFILE_RESULTS_H

/* results.csv: what benchmarks gave on machines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

#include "warnings.h"

#define SSPROFILE_WITHOUT "without" /* `limits` of a machine that is not throttled */

struct ssprofile_repetition {
    char *label; /* without "rep-" */
    double result;
    uint64_t line;
};

/* The key is name and class: a name may occur in two classes. */
struct ssprofile_benchmark {
    char *name, *class;
    bool lower;         /* is better: a duration */
    bool contradictory; /* rows differ in `lower`: of no use */
    uint64_t line;      /* of its first row */
    struct ssprofile_repetition *repetitions;
    size_t count, capacity;
};

/* One machine under one throttle. */
struct ssprofile_profile {
    char *machine, *limits;
    struct ssprofile_benchmark *benchmarks;
    size_t count, capacity;
};

/* All of a file. Zeroed: none. */
struct ssprofile_results {
    struct ssprofile_profile *profiles;
    size_t count, capacity;
    struct ssprofile_warnings warnings; /* "FILE:LINE: ..." */
};

/*
 * Reads a file. Rows that make no sense are left out, each with a warning. -1: it is no such table,
 * it cannot be read, or no row of it makes sense; free the results in any case.
 */
SS_NONNULL(1, 2)
int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error);

/* The same from a descriptor, which is closed. */
SS_NONNULL(1, 3)
int ssprofile_results_read_descriptor(
    struct ssprofile_results *results, int descriptor, const char *name, struct ss_error *error);

void ssprofile_results_free(struct ssprofile_results *results);

/*
 * What "FILE[:MACHINE[:LIMITS]]" names; FILE may be a folder with a results.csv. Without LIMITS it
 * is the machine without a throttle or the only one there is. An existing path is taken as a whole,
 * so that it may have colons.
 */
struct ssprofile_choice {
    char path[4200];
    char machine[512]; /* "": the only one */
    char limits[512];  /* "": not said */
};

SS_NONNULL(1, 2)
int ssprofile_choose(struct ssprofile_choice *choice, const char *text, struct ss_error *error);

/* The profile that is meant; NULL: there is none, or there are several, which the error names. */
SS_NONNULL(1, 2)
const struct ssprofile_profile *ssprofile_results_find(const struct ssprofile_results *results,
    const struct ssprofile_choice *choice, struct ss_error *error);

/* NULL: it has none of this name and class. */
SS_NONNULL()
const struct ssprofile_benchmark *ssprofile_profile_find(
    const struct ssprofile_profile *profile, const char *name, const char *class);

#endif
