/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_SPREAD_H
#define SSBURN_SERVE_SPREAD_H

#include <stdint.h>

/* In the order of the choices of --spread. */
enum serve_spread { SERVE_CONSTANT, SERVE_EXPONENTIAL };

/*
 * Returns the work of a request, in the units of the mean. It depends on the number and the seed
 * only, so it does not matter which worker takes the request, or when.
 */
uint64_t serve_spread_units(
    enum serve_spread spread, uint64_t mean, uint64_t seed, uint64_t number);

#endif
