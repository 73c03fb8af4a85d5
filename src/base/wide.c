/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wide.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define HALF UINT64_C(0xffffffff)

struct ss_wide ss_wide_add(struct ss_wide left, struct ss_wide right) {
    uint64_t low = left.low + right.low;
    return (struct ss_wide){.high = left.high + right.high + (low < left.low), .low = low};
}

struct ss_wide ss_wide_subtract(struct ss_wide left, struct ss_wide right) {
    return (struct ss_wide){
        .high = left.high - right.high - (left.low < right.low),
        .low = left.low - right.low,
    };
}

/* Multiplies by halves, as on paper: no partial sum exceeds 64 bits. */
static struct ss_wide product(uint64_t left, uint64_t right) {
    uint64_t low = (left & HALF) * (right & HALF);
    uint64_t middle = (left >> 32) * (right & HALF) + (low >> 32);
    uint64_t other = (left & HALF) * (right >> 32) + (middle & HALF);
    return (struct ss_wide){
        .high = (left >> 32) * (right >> 32) + (middle >> 32) + (other >> 32),
        .low = other << 32 | (low & HALF),
    };
}

struct ss_wide ss_wide_times(struct ss_wide left, uint64_t right) {
    struct ss_wide result = product(left.low, right);
    result.high += left.high * right;
    return result;
}

int ss_wide_compare(struct ss_wide left, struct ss_wide right) {
    if (left.high != right.high)
        return left.high < right.high ? -1 : 1;
    return (left.low > right.low) - (left.low < right.low);
}

static struct ss_wide doubled(struct ss_wide value, uint64_t bit) {
    return (struct ss_wide){.high = value.high << 1 | value.low >> 63, .low = value.low << 1 | bit};
}

static struct ss_wide divide_bit_by_bit(
    struct ss_wide dividend, struct ss_wide divisor, struct ss_wide *remainder) {
    struct ss_wide quotient = {0}, left = {0};
    for (int bit = 127; bit >= 0; bit--) {
        bool lost = left.high >> 63;
        left = doubled(left, (bit >= 64 ? dividend.high >> (bit - 64) : dividend.low >> bit) & 1);
        bool fits = lost || ss_wide_compare(left, divisor) >= 0;
        if (fits)
            left = ss_wide_subtract(left, divisor);
        quotient = doubled(quotient, fits);
    }
    *remainder = left;
    return quotient;
}

struct ss_wide ss_wide_divide(
    struct ss_wide dividend, struct ss_wide divisor, struct ss_wide *remainder) {
    struct ss_wide ignored;
    remainder = remainder ? remainder : &ignored;
    if (dividend.high || divisor.high)
        return divide_bit_by_bit(dividend, divisor, remainder);
    *remainder = ss_wide(dividend.low % divisor.low);
    return ss_wide(dividend.low / divisor.low);
}

double ss_wide_double(struct ss_wide value) {
    if (value.high == 0)
        return (double)value.low;
    int exponent = 64;
    for (; value.high >> 63 == 0; exponent--)
        value = doubled(value, 0);
    /* The lower half only decides between the two sides of a tie, so whether it is 0 suffices. */
    return ldexp((double)(value.high | (value.low != 0)), exponent);
}
