/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_SHUFFLE_H
#define SSPROFILE_SHUFFLE_H

#include <stddef.h>

/*
 * Puts the numbers from 0 to count - 1 into an order that depends only on the seed. Orders differ
 * between repetitions, so that a drift of the machine does not always affect the same benchmarks; a
 * resumed measurement has the same order.
 */
void ssprofile_shuffle(size_t *order, size_t count, unsigned seed);

#endif
