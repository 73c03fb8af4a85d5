/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WIDE_H
#define SHOWSTOPPER_BASE_WIDE_H

/* Whole numbers of 128 bits, which compilers for 32-bit targets lack. Results are modulo 2^128. */

#include <stdint.h>

#include <showstopper/contract.h>

struct ss_wide {
    uint64_t high, low;
};

static inline struct ss_wide ss_wide(uint64_t value) {
    return (struct ss_wide){.low = value};
}

struct ss_wide ss_wide_add(struct ss_wide left, struct ss_wide right);
struct ss_wide ss_wide_subtract(struct ss_wide left, struct ss_wide right);
struct ss_wide ss_wide_times(struct ss_wide left, uint64_t right);

/* Returns the quotient, rounded down. The divisor must not be 0. `remainder` may be NULL. */
struct ss_wide ss_wide_divide(
    struct ss_wide dividend, struct ss_wide divisor, struct ss_wide *remainder);

/* Returns -1, 0 or 1 if `left` is less than, equal to or greater than `right`. */
int ss_wide_compare(struct ss_wide left, struct ss_wide right);

/* Returns the nearest double. */
double ss_wide_double(struct ss_wide value);

#endif
