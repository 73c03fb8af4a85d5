/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The combined throughput of both sides in each step, for pairs whose sides run the same program.
 */

#include "combined_throughput.h"

#include <math.h>

#define REFERENCE "per-chip"

double ssreport_whole_system_relative(const struct ssreport_report *report,
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (!ssreport_is_word(other->placement, REFERENCE) ||
            !ssreport_pair_is_like(pair, other,
                SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND) ||
            !ssreport_others_permit(pair->foreground->others, other->foreground->others))
            continue;
        const struct ssreport_pair_step *same = ssreport_pair_step_like(other, step);
        if (same && same->foreground + same->background > 0)
            return (step->foreground + step->background) / (same->foreground + same->background);
    }
    return NAN;
}
