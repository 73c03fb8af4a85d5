/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_NEAREST_H
#define SHOWSTOPPER_BASE_NEAREST_H

#include <stddef.h>

/*
 * The name that somebody who wrote `word` most likely meant: the one with the fewest letters
 * changed, added, dropped or swapped, or one of which `word` is the beginning; NULL when none is
 * close. Upper and lower case count as the same letter.
 */
const char *ss_nearest(const char *word, const char *const *names, size_t count);

#endif
