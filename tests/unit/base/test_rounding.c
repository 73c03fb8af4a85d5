/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that arithmetic rounds alike on every architecture. This file is compiled with
 * optimization, because only optimized code uses fused multiply-add.
 */

#include <stdbool.h>

#include "unit.h"

#if defined(__x86_64__)
#define FUSED     __attribute__((noinline, target("fma")))
#define HAS_FUSED __builtin_cpu_supports("fma")
#else
#define FUSED     __attribute__((noinline))
#define HAS_FUSED true
#endif

/* The compiler may contract this to one instruction, which rounds once. */
FUSED static double add_product(double a, double b, double sum) {
    return a * b + sum;
}

/* Otherwise a seed would give different runs with and without fused multiply-add. */
TEST(products_are_rounded_before_they_are_added) {
    SKIP_UNLESS(HAS_FUSED, "fma: the processor has no fused multiply-add");
    volatile double a = 0.1, product = a * a;
    assert_that(add_product(a, a, -product), ==, 0);
}

UNIT_RUN
