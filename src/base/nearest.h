/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_NEAREST_H
#define SHOWSTOPPER_BASE_NEAREST_H

#include <stddef.h>

#include <showstopper/error.h>

/*
 * The name that was most likely meant by `word`: the one with the fewest letters changed, added,
 * dropped or swapped, or one that begins with `word`; NULL when none is close. Upper and lower case
 * count as the same letter.
 */
const char *ss_nearest(const char *word, const char *const *names, size_t count);

/*
 * Refuses a word that is none of these names: "unknown option '--targte': did you mean '--target'?"
 * `hint` says where to look where no name is near; NULL: all names are listed in either case.
 */
int ss_nearest_refuse(struct ss_error *error, int status, const char *what, const char *word,
    const char *const *names, size_t count, const char *hint);

#endif
