/* SPDX-License-Identifier: Apache-2.0 */

/* Where both sides run the same program, what both do together in each step. */

#include "combined_throughput.h"

#include <math.h>

#define REFERENCE "per-chip"

// clang-format off
static const struct ssreport_column columns[] = {
    {"environment", "environment"}, {"placement", "placement"},
    {"workload", "workload on both sides"}, {"round", "round"}, {"step", "step"}, {"half", "half"},
    {"target", "target, %", 1, true}, {"load", "background load, %", 2, true},
    {"foreground_iterations_per_second", "foreground, /s", 4},
    {"background_iterations_per_second", "background, /s", 4},
    {"iterations_per_second", "both, /s", 4}, {"relative_to_per_chip", "relative to per-chip", 4},
    {"measured_in", NULL}, {"set", NULL},
};
// clang-format on

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

void ssreport_report_whole_system(struct ssreport_report *report) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_WHOLE_SYSTEM];
    *sheet =
        SSREPORT_SHEET("whole-system", "Throughput of both sides together, step by step", columns);
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        const struct ssreport_run *run = pair->foreground;
        if (!ssreport_is_word(run->workload, pair->background->workload))
            continue;
        for (size_t j = 0; j < pair->count; j++) {
            const struct ssreport_pair_step *step = &pair->steps[j];
            SSREPORT_TEXTS(sheet, ssreport_run_environment(run), pair->placement, pair->program);
            SSREPORT_NUMBERS(sheet, run->round > 0 ? run->round : NAN, (double)(j + 1),
                step->half ? step->half : NAN, step->target, step->load, step->foreground,
                step->background, step->foreground + step->background,
                ssreport_whole_system_relative(report, pair, step));
            SSREPORT_TEXTS(sheet, run->measured_in);
            SSREPORT_NUMBERS(sheet, run->set + 1);
        }
    }
}
