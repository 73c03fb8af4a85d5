/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_SUGGEST_H
#define SHOWSTOPPER_BASE_SUGGEST_H

#include <stddef.h>

#include <showstopper/error.h>

/*
 * Returns the name that `word` most likely means: the one with the fewest letters changed, added,
 * dropped or swapped, or one that begins with `word`; NULL if none is close. Ignores case.
 */
SS_READS(2, 3) const char *ss_suggest(const char *word, const char *const *names, size_t count);

struct ss_suggest_names {
    const char *what; /* kind of name for the message, such as "option" */
    const char *const *names;
    size_t count;
    const char *hint; /* where to look if no name is close; NULL: list all names */
};

/*
 * Refuses a word that is not one of the names: "unknown option '--targte': did you mean
 * '--target'?"
 */
SS_NONNULL(1, 2)
int ss_suggest_refuse(
    const struct ss_suggest_names *known, const char *word, struct ss_error *error);

#endif
