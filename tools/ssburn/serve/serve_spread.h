/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_SPREAD_H
#define SSBURN_SERVE_SPREAD_H

#include <stdint.h>

/* In the order of the words of --spread. */
enum serve_spread { SERVE_CONSTANT, SERVE_EXPONENTIAL };

/*
 * The work of the request of this number, in units like the mean. It is a function of the number
 * and the seed alone, so that it does not depend on which worker takes the request, and when.
 */
uint64_t serve_spread_units(
    enum serve_spread spread, uint64_t mean, uint64_t seed, uint64_t number);

#endif
