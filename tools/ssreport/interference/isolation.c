/* SPDX-License-Identifier: Apache-2.0 */
#include "isolation.h"

#include <math.h>
#include <stdlib.h>

#include "base/owned.h"
#include "run_order.h"

/* Further conditions for a run alone. */
enum {
    OWN = 1U << 0,          /* it is of the same study */
    IN_REFERENCE = 1U << 1, /* its placement is the reference */
};

/*
 * Returns whether `alone` is a run of the program of `run` without a neighbor, may be compared with
 * it, and meets these conditions.
 */
static bool is_alone(
    const struct ssreport_run *alone, const struct ssreport_run *run, unsigned conditions) {
    return ssreport_is_word(alone->role, SSREPORT_ALONE) &&
           (!(conditions & OWN) || ssreport_run_is_of_study(run, alone)) &&
           (!(conditions & IN_REFERENCE) ||
               ssreport_is_word(alone->placement, SSREPORT_REFERENCE)) &&
           ssreport_is_word(alone->workload, run->workload) &&
           ssreport_run_compare(alone, run, SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT) == 0 &&
           isfinite(alone->figures.throughput) && alone->figures.throughput > 0 &&
           ssreport_others_permit(alone->others, run->others);
}

static bool has_alone(
    const struct ssreport_report *report, const struct ssreport_run *run, unsigned conditions) {
    for (size_t i = 0; i < report->run_count; i++) {
        if (is_alone(&report->runs[i], run, conditions))
            return true;
    }
    return false;
}

struct ssreport_isolation ssreport_isolation_of(
    const struct ssreport_report *report, const struct ssreport_run *run) {
    struct ssreport_isolation isolation = {.throughput = NAN, .interval = {NAN, NAN}};
    const struct ssreport_run *last = NULL;
    SS_OWNED(free) double *throughputs = calloc(report->run_count + 1, sizeof *throughputs);
    unsigned conditions = has_alone(report, run, OWN) ? OWN : 0;
    if (has_alone(report, run, conditions | IN_REFERENCE))
        conditions |= IN_REFERENCE;
    for (size_t i = 0; throughputs && i < report->run_count; i++) {
        const struct ssreport_run *alone = &report->runs[i];
        if (!is_alone(alone, run, conditions))
            continue;
        throughputs[isolation.runs++] = alone->figures.throughput;
        last = alone;
    }
    if (isolation.runs == 0)
        return isolation;
    double confidence = report->settings.confidence;
    struct ssreport_mean mean = ssreport_mean_of(throughputs, isolation.runs, confidence);
    isolation.throughput = mean.mean;
    if (isolation.runs == 1)
        mean = ssreport_mean_of(last->rates.parts, last->rates.count, confidence);
    double half = (mean.high - mean.low) / 2;
    isolation.interval =
        (struct ssreport_interval){isolation.throughput - half, isolation.throughput + half};
    return isolation;
}

double ssreport_isolation_error(const struct ssreport_isolation *isolation) {
    double half = (isolation->interval.high - isolation->interval.low) / 2;
    return isfinite(half) ? half / isolation->throughput : 0;
}
