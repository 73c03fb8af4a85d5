/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_PATTERN_H
#define SHOWSTOPPER_BASE_PATTERN_H

#include <regex.h>

#include <showstopper/error.h>

/*
 * Refuses features of other regular expressions that POSIX extended ones lack: most of them would
 * compile silently and match something else, or nothing. Accepts an escape such as \w if the
 * system's regcomp() supports it as intended. Also refuses patterns that would take too much
 * memory, such as a repetition of a repetition.
 */
SS_NONNULL(1) int ss_pattern_check(const char *pattern, struct ss_error *error);

/* Checks and compiles the pattern. If this succeeds, free the result with regfree(). */
SS_MUST_USE SS_NONNULL(1, 2) int ss_pattern_compile(
    regex_t *compiled, const char *pattern, struct ss_error *error);

#endif
