/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_SHUFFLE_H
#define SSPROFILE_SHUFFLE_H

#include <stddef.h>

/*
 * The numbers from 0 to count - 1 in an order that depends on the seed alone: another one in each
 * repetition, so that a drift of the machine does not always meet the same benchmarks, and the same
 * one when a measurement goes on.
 */
void ssprofile_shuffle(size_t *order, size_t count, unsigned seed);

#endif
