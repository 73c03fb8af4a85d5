/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_JUDGE_TARGET_H
#define SHOWSTOPPER_JUDGE_TARGET_H

#include <stdbool.h>

/* Prints what is wrong with a word and ends the program. */
_Noreturn void judge_fail(const char *what, const char *word);

/* A load from 0 to 1 at a time in seconds since the start; linear in between. */
void target_add(double time, double load);

/* The lines of a file, TIME_SECONDS LOAD. */
void target_read(const char *path);

bool target_is_given(void);

/*
 * The integral of the target from the start, in seconds: a window's target is its mean, as its load
 * is one. NAN without a target.
 */
double target_until(double time);

#endif
