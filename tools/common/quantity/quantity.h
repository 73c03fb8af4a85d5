/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUANTITY_QUANTITY_H
#define QUANTITY_QUANTITY_H

#include <stdint.h>

#include <showstopper/error.h>

/*
 * Kinds of quantities: a frequency in Hz (1.4GHz, 1400MHz), a size in bytes (4G or 4GiB is
 * 4 * 1024^3), and a power in microwatts (80W, 500mW).
 */
struct quantity;
extern const struct quantity quantity_frequency, quantity_size, quantity_power;

/* Parses a number and a unit. The result is above 0 and rounded to a whole number. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int quantity_parse(
    const struct quantity *kind, const char *text, uint64_t *value, struct ss_error *error);

/*
 * Writes a quantity in the largest unit that gives at least 1, truncated to six decimals.
 * quantity_parse() accepts the result.
 */
SS_WRITES(2, 3)
void quantity_print(const struct quantity *kind, char *buffer, size_t size, uint64_t value);

#endif
