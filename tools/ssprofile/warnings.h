/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_WARNINGS_H
#define SSPROFILE_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#define SSPROFILE_WARNINGS_TOLD 20     /* of one kind on standard error */
#define SSPROFILE_WARNINGS_KEPT 100000 /* of one kind: a file may be all damage */

/* Warnings that differ only in their arguments. */
struct ssprofile_warning_kind {
    const char *format; /* compared by its address */
    size_t count;       /* of warnings, also of those that are not kept */
    size_t left;        /* that are not kept */
    size_t item;        /* which says how many those are */
};

/* What was wrong with data and how it was handled, one line each. Zeroed: none. */
struct ssprofile_warnings {
    char **items;
    size_t count, capacity;
    size_t *kinds_of; /* of each item: which kind */
    size_t kinds_of_capacity;
    struct ssprofile_warning_kind *kinds;
    size_t kind_count, kind_capacity;
    bool failed; /* there was no memory for one of them */
};

/* The format must be a literal: it is what makes a kind. */
SS_FORMAT(2, 3)
void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...);

/* Adds copies of them. */
SS_NONNULL()
void ssprofile_warnings_take(
    struct ssprofile_warnings *into, const struct ssprofile_warnings *from);

/*
 * The first ones of each kind, and how many more there are: for readers. All of them are for
 * programs. Free what is returned.
 */
SS_NONNULL()
struct ssprofile_warnings ssprofile_warnings_shorten(const struct ssprofile_warnings *warnings);

/* Prints "ssprofile: warning: ..." on standard error, shortened. */
void ssprofile_warnings_tell(const struct ssprofile_warnings *warnings);

void ssprofile_warnings_free(struct ssprofile_warnings *warnings);

#endif
