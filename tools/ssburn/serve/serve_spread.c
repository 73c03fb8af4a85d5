/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_spread.h"

#include <math.h>

#include <showstopper/random.h>

#include "burn_work.h"

uint64_t serve_spread_units(
    enum serve_spread spread, uint64_t mean, uint64_t seed, uint64_t number) {
    if (spread == SERVE_CONSTANT)
        return mean;
    double units = round((double)mean * ss_random_exponential(ss_random(seed, number)));
    return units < (double)WORK_UNITS_MAX ? (uint64_t)units : WORK_UNITS_MAX;
}
