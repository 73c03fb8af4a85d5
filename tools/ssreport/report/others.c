/* SPDX-License-Identifier: Apache-2.0 */
#include "others.h"

#include <math.h>

/* Tolerance for shares, which manifests contain with three decimals. */
#define ROUNDING 1e-6

bool ssreport_others_disturb(double others) {
    return others > SSREPORT_OTHERS_MAX + ROUNDING;
}

bool ssreport_others_permit(double one, double other) {
    return !(fabs(one - other) > SSREPORT_OTHERS_DIFFERENCE_MAX + ROUNDING);
}
