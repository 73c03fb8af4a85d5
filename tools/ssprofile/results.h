/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RESULTS_H
#define SSPROFILE_RESULTS_H

/* results.csv: the results of benchmarks on machines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

#include "warnings.h"

#define SSPROFILE_WITHOUT "without" /* `limits` of a machine that is not throttled */

#define SSPROFILE_RESULTS_HEADING                                                                  \
    "machine,limits,benchmark,lower_is_better,class,repetition,result\n"

struct ssprofile_repetition {
    char *label; /* without "rep-"; a whole number has no zeros around it */
    double result;
    uint64_t line;
};

/* The key is name and class: a name may occur in two classes. */
struct ssprofile_benchmark {
    char *name, *class;
    bool lower;         /* is better: a duration */
    bool contradictory; /* rows differ in `lower`: it cannot be compared */
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
 * Reads a file. Invalid rows are left out, each with a warning. A last line without its end is left
 * out if a profile.json is in the same folder: then it is part of a row that was being written. In
 * any other file it counts if it has all fields. -1: it is not a table of results, it cannot be
 * read, or it has no valid row; free the results in any case.
 */
SS_NONNULL(1, 2)
int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error);

/* Reads from a descriptor, which is closed: for tests. */
SS_NONNULL(1, 3)
int ssprofile_results_read_descriptor(
    struct ssprofile_results *results, int descriptor, const char *name, struct ss_error *error);

/*
 * Adds a result to a profile made in memory, as the next repetition of the benchmark of this name
 * and class, which need not have others. -1: no memory.
 */
SS_NONNULL()
int ssprofile_profile_add(
    struct ssprofile_profile *profile, const struct ssprofile_benchmark *benchmark, double result);

void ssprofile_profile_free(struct ssprofile_profile *profile);

void ssprofile_results_free(struct ssprofile_results *results);

/* Why a name written to a table of results would not be read back; NULL if it would. */
SS_NONNULL() const char *ssprofile_name_fault(const char *name);

/* NULL if the profile has no benchmark of this name and class. */
SS_NONNULL()
const struct ssprofile_benchmark *ssprofile_profile_find(
    const struct ssprofile_profile *profile, const char *name, const char *class);

#endif
