/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include <math.h>

/* A gap at an edge of a slot that is longer than this many usual gaps is a stall. */
#define GAPS_MAX 3

double slots_begin(const struct slots *slots, size_t slot) {
    return slots->begin + (double)slot * slots->length;
}

/* Returns how much longer than usual a gap at an edge of a slot is, or 0 if it is not a stall. */
static double stall(double gap, double usual) {
    return gap > GAPS_MAX * usual ? gap - usual : 0;
}

double slots_rate(
    const struct slots *slots, size_t slot, double figures, double first, double last) {
    double begin = slots_begin(slots, slot) + slots->settle * slots->length;
    double end = slots_begin(slots, slot + 1);
    double length = last - first;

    if (figures < 2)
        return figures > 0 && slots->length >= SLOTS_SHORT_SECONDS ? figures / (end - begin) : NAN;

    double usual = length / (figures - 1);
    length += stall(first - begin, usual) + stall(end - last, usual);
    return (figures - 1) / length;
}
