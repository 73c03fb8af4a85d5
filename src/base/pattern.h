/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_PATTERN_H
#define SHOWSTOPPER_BASE_PATTERN_H

#include <showstopper/error.h>

/*
 * Refuses what other regular expressions have and POSIX extended ones do not: most of it would be
 * compiled without a word and match something else, or nothing. What the system's own regcomp()
 * takes in the sense that was meant, such as \w in some C libraries, passes. What would take too
 * much memory, a repetition of a repetition for one, is refused, too.
 */
SS_NONNULL(1) int ss_pattern_check(const char *pattern, struct ss_error *error);

#endif
