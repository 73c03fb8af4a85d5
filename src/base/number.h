/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_NUMBER_H
#define SHOWSTOPPER_BASE_NUMBER_H

#include <stdint.h>

#include <showstopper/contract.h>

/*
 * Writes numbers for programs to read. Each function ends the number with a 0 and returns the place
 * of that 0.
 */

/* Size limit of the output of ss_number_put(), with the 0. */
#define SS_NUMBER_ROOM 32

/* Writes the shortest text that reads back as the same number, but integers below 1e15 in full. */
SS_NONNULL() char *ss_number_put(char *to, double number);

/* Size limit of the output of ss_number_put_plain(), with the 0. */
#define SS_NUMBER_PLAIN_ROOM 400

/* Writes the shortest text without an exponent, which the grammar of options and traces lacks. */
SS_NONNULL() char *ss_number_put_plain(char *to, double number);

/* ---- much faster than printf ---- */

/*
 * Writes a number with `decimals` decimals, at most 9, with halves rounded up. Writes nothing if
 * that would take more than 18 digits.
 */
SS_NONNULL() char *ss_number_put_fixed(char *to, double number, int decimals);

/*
 * Writes seconds with six decimals. Halves are rounded up even below 0, so that differences of
 * whole microseconds stay exact.
 */
SS_NONNULL() char *ss_number_put_seconds(char *to, int64_t nanoseconds);

#endif
