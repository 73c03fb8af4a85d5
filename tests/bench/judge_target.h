/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_JUDGE_TARGET_H
#define SHOWSTOPPER_TESTS_JUDGE_TARGET_H

#include <stdbool.h>

/* Prints the error `what` of `word` and exits. */
_Noreturn void judge_fail(const char *what, const char *word);

/*
 * Adds a point: a load from 0 to 1 at a time in seconds since the start. The target is linear
 * between points.
 */
void target_add(double time, double load);

/* Reads a file of lines TIME_SECONDS LOAD. */
void target_read(const char *path);

bool target_is_given(void);

/*
 * Returns the integral of the target from the start, in seconds; NAN without a target. The mean
 * target of a window is a difference of two such integrals.
 */
double target_until(double time);

#endif
