/* SPDX-License-Identifier: Apache-2.0 */

#include "combined_throughput.h"

#include <math.h>

/* Seconds per hour: throughput divided by watts is per watt-second. */
#define HOUR 3600.0

struct ssreport_parts ssreport_measure_parts(const struct ssreport_pair *pair,
    const struct ssreport_pair_step *step, enum ssreport_measure measure) {
    struct ssreport_parts parts = {step->foreground, step->background};
    if (measure == SSREPORT_OF_FOREGROUND) {
        parts.background = 0;
        return parts;
    }
    if (!pair->is_one_program) {
        parts.foreground /= pair->alone[0].throughput;
        parts.background /= pair->alone[1].throughput;
    }
    if (measure == SSREPORT_PER_WATT_HOUR) {
        double scale = step->watts > 0 ? HOUR / step->watts : NAN;
        parts.foreground *= scale;
        parts.background *= scale;
    }
    return parts;
}

double ssreport_measure_of(const struct ssreport_pair *pair, const struct ssreport_pair_step *step,
    enum ssreport_measure measure) {
    struct ssreport_parts parts = ssreport_measure_parts(pair, step, measure);
    return parts.foreground + parts.background;
}

double ssreport_measure_relative(const struct ssreport_report *report,
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step,
    enum ssreport_measure measure) {
    const struct ssreport_pair *found = NULL;
    double relative = NAN;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (!ssreport_is_word(other->placement, SSREPORT_REFERENCE) ||
            !ssreport_pair_is_closer(pair, other, found) ||
            !ssreport_pair_is_like(pair, other,
                SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND) ||
            !ssreport_others_permit(pair->foreground->others, other->foreground->others))
            continue;
        const struct ssreport_pair_step *same = ssreport_pair_step_like(other, step);
        double reference = same ? ssreport_measure_of(other, same, measure) : NAN;
        if (!(reference > 0))
            continue;
        found = other;
        relative = ssreport_measure_of(pair, step, measure) / reference;
        if (ssreport_pair_is_of_study(pair, found))
            break;
    }
    return relative;
}
