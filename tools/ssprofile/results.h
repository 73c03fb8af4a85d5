/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RESULTS_H
#define SSPROFILE_RESULTS_H

/* results.csv: the results of benchmarks on machines. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

#define SSPROFILE_RESULTS_HEADING                                                                  \
    "machine,limits,benchmark,lower_is_better,class,repetition,result\n"

struct ssprofile_repetition {
    char *label; /* without "rep-"; whole numbers without leading or fractional zeros */
    double result;
};

/* A benchmark and its results. The key is name and class: a name may occur in two classes. */
struct ssprofile_benchmark {
    char *name, *class;
    bool lower_is_better; /* lower results are better, as for a duration */
    struct ssprofile_repetition *repetitions;
    size_t count, capacity;
};

/* The results of one machine under one throttle. */
struct ssprofile_profile {
    char *machine, *limits;
    struct ssprofile_benchmark *benchmarks;
    size_t count, capacity;
};

/* The contents of a file. Zeroed: empty. */
struct ssprofile_results {
    struct ssprofile_profile *profiles;
    size_t count, capacity;
};

/*
 * Reads a file. Fails with "FILE:LINE: ..." if a row is invalid. A last line without a newline is
 * skipped if there is a profile.json in the same folder, because the file was then being written.
 * Free the results even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error);

/* Returns the profile of a machine under a throttle; NULL if absent. */
SS_MUST_USE SS_NONNULL() const struct ssprofile_profile *ssprofile_results_profile(
    const struct ssprofile_results *results, const char *machine, const char *limits);

void ssprofile_results_free(struct ssprofile_results *results);

/* Returns why a name could not be read back from a table of results; NULL if it could be. */
SS_NONNULL() const char *ssprofile_name_fault(const char *name);

/* Returns the benchmark with this name and class; NULL if absent. */
SS_MUST_USE SS_NONNULL() const struct ssprofile_benchmark *ssprofile_profile_find(
    const struct ssprofile_profile *profile, const char *name, const char *class);

#endif
