/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_NUMBER_H
#define SHOWSTOPPER_BASE_NUMBER_H

#include <stdint.h>

#include <showstopper/contract.h>

/* Writes numbers for programs to read. Each function appends a NUL and returns a pointer to it. */

/* Size of a buffer for ss_number_put(), including the NUL. */
#define SS_NUMBER_SIZE 32

/*
 * Writes a number with the fewest digits, from 15 to 17, that read back unchanged, without trailing
 * zeros. Integers below 1e15 are written in full.
 */
SS_NONNULL() char *ss_number_put(char *to, double number);

/* Size of a buffer for ss_number_put_plain(), including the NUL. */
#define SS_NUMBER_PLAIN_SIZE 400

/* Like ss_number_put(), but without an exponent, which the grammar of options and traces lacks. */
SS_NONNULL() char *ss_number_put_plain(char *to, double number);

/* The following functions are much faster than printf(). */

/*
 * Writes a number with `decimals` decimals, at most 9, with halves rounded away from 0. Writes an
 * empty string for NaN and for numbers of more than 18 digits.
 */
SS_NONNULL() char *ss_number_put_fixed(char *to, double number, int decimals);

/*
 * Writes seconds with six decimals. Halves are rounded up even below 0, so that differences of
 * whole microseconds stay exact.
 */
SS_NONNULL() char *ss_number_put_seconds(char *to, int64_t nanoseconds);

#endif
