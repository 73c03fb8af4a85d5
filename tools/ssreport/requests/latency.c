/* SPDX-License-Identifier: Apache-2.0 */
#include "latency.h"

#include <math.h>

#include "page_parts.h"
#include "points.h"

static double known(double value) {
    return value > 0 ? value : NAN;
}

static void add_rate(const struct ssreport_report *report, const struct ssreport_responses *of) {
    struct table_sheet *sheet = ssreport_table(report, "latency");
    const struct ssreport_run *beside = ssreport_responses_beside(report, of);
    const struct ssreport_response *intended = &of->successes[SSREPORT_INTENDED];
    const struct ssreport_response *actual = &of->successes[SSREPORT_ACTUAL];
    TABLE_ROW(sheet, CELL("service", of->workload), CELL("duty", known(of->target)),
        CELL("rate", of->rate), CELL("round", known(of->round)), CELL("arrival", of->arrival),
        CELL("intended", of->intended), CELL("sent", of->sent), CELL("refused", of->refused),
        CELL("unfinished", of->unfinished), CELL("succeeded", of->succeeded),
        CELL("failed", of->failed), CELL("success_ratio", of->success_ratio),
        CELL("throughput", of->throughput), CELL("lateness_p99_seconds", of->lateness_p99),
        CELL("intended_mean_seconds", intended->mean), CELL("intended_p50_seconds", intended->p50),
        CELL("intended_p95_seconds", intended->p95), CELL("intended_p99_seconds", intended->p99),
        CELL("intended_most_seconds", intended->most), CELL("actual_mean_seconds", actual->mean),
        CELL("actual_p50_seconds", actual->p50), CELL("actual_p95_seconds", actual->p95),
        CELL("actual_p99_seconds", actual->p99), CELL("actual_most_seconds", actual->most),
        CELL("all_mean_seconds", of->all[SSREPORT_INTENDED].mean),
        CELL("load_mean", beside ? beside->figures.load_mean : NAN));
}

static void add_capacity(
    const struct ssreport_report *report, const struct ssreport_responses *of) {
    const struct ssreport_capacity *capacity = &of->capacity;
    TABLE_ROW(ssreport_table(report, "latency-capacity"), CELL("service", of->workload),
        CELL("duty", known(of->target)), CELL("demand", capacity->demand),
        CELL("round", known(of->round)), CELL("held_rate", capacity->held),
        CELL("failed_rate", capacity->failed), CELL("held_times", capacity->held_times),
        CELL("failed_times", capacity->failed_times));
}

void ssreport_latency_fill(struct ssreport_report *report) {
    for (size_t i = 0; i < report->response_count; i++) {
        const struct ssreport_responses *of = &report->responses[i];
        if (!ssreport_is_word(of->experiment, "latency"))
            continue;
        if (of->capacity.demand)
            add_capacity(report, of);
        else if (ssreport_is_word(of->profile, "constant"))
            add_rate(report, of);
    }
}
