/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RESULTS_H
#define SSPROFILE_RESULTS_H

/* results.csv: what benchmarks gave on machines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

#include "index.h"
#include "warnings.h"

#define SSPROFILE_WITHOUT "without" /* `limits` of a machine that is not throttled */

struct ssprofile_repetition {
    char *label; /* without "rep-", and a whole number without zeros around */
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
    struct ssprofile_index labels; /* of the repetitions, if they are many */
};

/* One machine under one throttle. */
struct ssprofile_profile {
    char *machine, *limits;
    struct ssprofile_benchmark *benchmarks;
    size_t count, capacity;
    struct ssprofile_index index; /* of the benchmarks; empty: they are searched */
};

/* All of a file. Zeroed: none. */
struct ssprofile_results {
    struct ssprofile_profile *profiles;
    size_t count, capacity;
    struct ssprofile_warnings warnings; /* "FILE:LINE: ..." */
};

/*
 * Reads a file. Rows that make no sense are left out, each with a warning. A last line without its
 * end is left out beside a profile.json, as it is what is left of a row that was being written;
 * that of any other file counts if it has all its fields. -1: it is no such table, it cannot be
 * read, or no row of it makes sense; free the results in any case.
 */
SS_NONNULL(1, 2)
int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error);

/* The same from a descriptor, which is closed, with nothing beside it. */
SS_NONNULL(1, 3)
int ssprofile_results_read_descriptor(
    struct ssprofile_results *results, int descriptor, const char *name, struct ss_error *error);

void ssprofile_results_free(struct ssprofile_results *results);

/* Why a name written to a table of results would not be read back; NULL: it would. */
SS_NONNULL() const char *ssprofile_name_fault(const char *name);

/*
 * What "FILE[:MACHINE[:LIMITS]]" names; FILE may be a folder with a results.csv. Without LIMITS it
 * is the machine without a throttle or the only one there is. An existing path is taken as a whole,
 * so that it may have colons; so may the name of a machine: which of them are its own, the results
 * tell.
 */
struct ssprofile_choice {
    char path[4200];
    char machine[512]; /* up to the last colon; "": the only one */
    char limits[512];  /* behind it; "": there was none */
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
