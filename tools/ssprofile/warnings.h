/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_WARNINGS_H
#define SSPROFILE_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

/* The maximum number of warnings of each kind on a terminal. */
#define SSPROFILE_WARNINGS_SHOWN 20

/* The maximum number of each kind in memory: all rows of a file may be invalid. */
#define SSPROFILE_WARNINGS_KEPT 100000

struct ssprofile_warning {
    char *text;
    size_t kind;
};

/* Warnings that differ only in their arguments. */
struct ssprofile_warning_kind {
    const char *format; /* compared by its address */
    size_t count;       /* number of warnings, including those that are not kept */
};

/* Faults of data and how they were handled, one line each. Zeroed: no warnings. */
struct ssprofile_warnings {
    struct ssprofile_warning *items;
    size_t count, capacity;
    struct ssprofile_warning_kind *kinds;
    size_t kind_count, kind_capacity;
    bool failed; /* memory was exhausted, so a warning is missing */
};

/* Adds a warning. The format must be a literal, because it identifies the kind. */
SS_FORMAT(2, 3)
void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...);

/*
 * Returns at most `most` warnings of each kind, and a line with the number of further ones. Free
 * the result.
 */
SS_NONNULL()
struct ssprofile_warnings ssprofile_warnings_shorten(
    const struct ssprofile_warnings *warnings, size_t most);

/* Prints "ssprofile: warning: ..." on standard error, shortened. */
SS_NONNULL() void ssprofile_warnings_print(const struct ssprofile_warnings *warnings);

SS_NONNULL() void ssprofile_warnings_free(struct ssprofile_warnings *warnings);

#endif
