/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_NUMBER_H
#define SHOWSTOPPER_BASE_NUMBER_H

#include <stdint.h>

#include <showstopper/contract.h>

/* Numbers as programs read them. Each function ends the number with a 0 and returns its place. */

/* The most that ss_number_put() writes, with the 0. */
#define SS_NUMBER_ROOM 32

/* The shortest text that reads back as the same number, but integers below 1e15 in full. */
SS_NONNULL() char *ss_number_put(char *to, double number);

/* The most that ss_number_put_plain() writes, with the 0. */
#define SS_NUMBER_PLAIN_ROOM 400

/* The same without an exponent, which the grammar of options and traces does not have. */
SS_NONNULL() char *ss_number_put_plain(char *to, double number);

/* ---- much faster than printf ---- */

/* With so many decimals, at most 9, halves rounded up; nothing for what is not below 1e18 then. */
SS_NONNULL() char *ss_number_put_fixed(char *to, double number, int decimals);

/* Seconds, with six decimals; halves go up, also below 0, so that whole microseconds between two
 * moments stay what they are. */
SS_NONNULL() char *ss_number_put_seconds(char *to, int64_t nanoseconds);

#endif
