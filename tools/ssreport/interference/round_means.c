/* SPDX-License-Identifier: Apache-2.0 */
#include "round_means.h"

#include <math.h>
#include <stdlib.h>

#include "base/owned.h"

struct stats_groups ssreport_round_groups(const struct ssreport_report *report) {
    return ssreport_pairs_group(
        report, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PLACEMENT | SSREPORT_PAIR_PROGRAMS);
}

struct ssreport_round_mean ssreport_round_mean_of(
    const struct ssreport_report *report, const struct stats_groups *groups, size_t group) {
    struct ssreport_round_mean result = {
        .pair = &report->pairs[groups->first[group]], .percent = NAN, .agree = true};
    const struct ssreport_interference *known = NULL;
    SS_OWNED(free) double *metrics = calloc(groups->items, sizeof *metrics);
    for (size_t i = groups->first[group]; metrics && i < groups->items; i = groups->next[i]) {
        const struct ssreport_interference *round = &report->pairs[i].interference;
        if (!isfinite(round->metric))
            continue;
        metrics[result.rounds++] = round->metric;
        result.agree &= round->agree;
        known = round;
    }
    if (result.rounds == 0)
        return result;
    struct ssreport_mean mean =
        ssreport_mean_of(metrics, result.rounds, report->settings.confidence);
    result.percent = mean.mean;
    result.interval = (struct ssreport_interval){mean.low, mean.high};
    result.significant = mean.low > 0 || mean.high < 0;
    if (result.rounds == 1) {
        result.interval = known->interval;
        result.significant = known->significant;
    }
    return result;
}
