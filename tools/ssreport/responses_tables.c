/* SPDX-License-Identifier: Apache-2.0 */

/* What ssrequest has recorded, as tables: each run, each rate, each second, and capacities. */

#include <math.h>

#include "report.h"
#include "responses_findings.h"
#include "responses_read.h"

// clang-format off
#define TIMES(origin)                                                                              \
    {origin "_mean_seconds", origin ": mean, s", 4}, {origin "_p50_seconds", NULL},                \
    {origin "_p95_seconds", "95 %, s", 4}, {origin "_p99_seconds", "99 %, s", 4},                  \
    {origin "_most_seconds", NULL}
#define JOINED                                                                                     \
    {"load", "load, %", 1, true, true}, {"target", "target, %", 1, true, true},                    \
    {"duty", "duty, %", 1, true, true}, {"watts", "W", 2, false, true}
static const struct ssreport_column request_columns[] = {
    {"record", "record"}, {"set", NULL}, {"state", "state"}, {"version", NULL},
    {"workload", "service"}, {"method", "method"}, {"environment", NULL},
    {"throttle_target", NULL}, {"round", NULL},
    {"targets", NULL}, {"loop", "loop"}, {"profile", NULL}, {"arrival", "arrival"},
    {"cap", "cap"}, {"when_full", NULL}, {"timeout_seconds", NULL}, {"duration_seconds", NULL},
    {"intended", "intended"}, {"sent", "sent"}, {"refused", "refused"}, {"waiting", NULL},
    {"unfinished", NULL}, {"succeeded", "succeeded"}, {"failed", "failed"}, {"timeouts", NULL},
    {"causes", "causes"}, {"success_ratio", "successes, %", 2, true},
    {"throughput", "answered, /s", 2}, {"unfinished_most", NULL}, {"bytes", NULL},
    {"lateness_p99_seconds", "sent late (99 %), s", 5}, {"lateness_most_seconds", NULL},
    TIMES("intended"), TIMES("actual"),
    {"all_intended_mean_seconds", NULL}, {"all_intended_p95_seconds", "all, intended: 95 %, s", 4},
    {"all_intended_p99_seconds", NULL}, {"all_actual_mean_seconds", NULL},
    {"all_actual_p95_seconds", NULL}, {"all_actual_p99_seconds", NULL}, {"percentiles", NULL},
    {"own_cpu_seconds", NULL}, {"others", "others, %", 1, true, true}, {"joined", NULL}, {"notes", NULL},
};
static const struct ssreport_column rate_columns[] = {
    {"record", "record"}, {"set", NULL}, {"workload", "service"}, {"method", "method"},
    {"environment", NULL}, {"throttle_target", NULL}, {"step", "step"},
    {"begin_seconds", NULL}, {"end_seconds", NULL}, {"seconds", "seconds", 0},
    {"rate", "asked, /s", 2}, {"throughput", "answered, /s", 2},
    {"due", NULL}, {"sent", NULL}, {"refused", NULL}, {"completed", NULL}, {"failed", NULL},
    {"timeouts", NULL}, {"success_ratio", "successes, %", 2, true},
    {"lateness_most_seconds", NULL},
    TIMES("intended"), TIMES("actual"), {"percentiles", "percentiles"},
    {"intended_mean_low_seconds", "intended mean, its confidence from, s", 4},
    {"intended_mean_high_seconds", "to, s", 4}, JOINED,
    {"others", "others, %", 1, true, true},
};
static const struct ssreport_column second_columns[] = {
    {"record", NULL}, {"epoch_seconds", NULL}, {"elapsed_seconds", NULL}, {"rate", NULL},
    {"due", NULL}, {"sent", NULL}, {"refused", NULL}, {"waiting", NULL}, {"unfinished", NULL},
    {"completed", NULL}, {"failed", NULL}, {"timeouts", NULL},
    {"intended_mean_seconds", NULL}, {"intended_p50_seconds", NULL}, {"intended_p95_seconds", NULL},
    {"intended_p99_seconds", NULL}, {"intended_most_seconds", NULL},
    {"actual_mean_seconds", NULL}, {"actual_p50_seconds", NULL}, {"actual_p95_seconds", NULL},
    {"actual_p99_seconds", NULL}, {"actual_most_seconds", NULL},
    {"load", NULL}, {"target", NULL}, {"duty", NULL}, {"watts", NULL},
};
static const struct ssreport_column capacity_columns[] = {
    {"record", "record"}, {"set", NULL}, {"workload", "service"}, {"method", "method"},
    {"environment", NULL}, {"throttle_target", "throttled to, %", 1, true, true},
    {"round", NULL}, {"demand", "demand"},
    {"held_rate", "holds up to, /s", 2}, {"held_times", "times"},
    {"failed_rate", "fails from, /s", 2}, {"failed_times", "times"},
};
// clang-format on

static double known(double value) {
    return value > 0 ? value : NAN;
}

static void add_times(struct ssreport_sheet *sheet, const struct ssreport_response *response) {
    for (int i = 0; i < SSREPORT_ORIGINS; i++)
        SSREPORT_NUMBERS(sheet, response[i].mean, response[i].p50, response[i].p95, response[i].p99,
            response[i].most);
}

static void add_joined(struct ssreport_sheet *sheet, const struct ssreport_joined *joined) {
    SSREPORT_NUMBERS(sheet, joined->load, joined->target, joined->duty, joined->watts);
}

static const char *describe_percentiles(const struct ssreport_response response[SSREPORT_ORIGINS]) {
    if (response[SSREPORT_INTENDED].estimated || response[SSREPORT_ACTUAL].estimated)
        return "estimated";
    return isnan(response[SSREPORT_INTENDED].p95) ? "" : "counted";
}

static void add_request(
    struct ssreport_sheet *sheet, const struct ssreport_report *report, size_t at) {
    const struct ssreport_responses *of = &report->responses[at];
    const struct ssreport_run *beside = ssreport_responses_beside(report, of);
    SSREPORT_TEXTS(sheet, of->name);
    SSREPORT_NUMBERS(sheet, of->set + 1);
    SSREPORT_TEXTS(sheet, of->interrupted ? "interrupted" : "whole", of->version, of->workload,
        of->method, of->environment);
    SSREPORT_NUMBERS(sheet, known(of->target), known(of->round));
    SSREPORT_TEXTS(sheet, of->targets, of->closed ? "closed" : "open", of->profile, of->arrival);
    SSREPORT_NUMBERS(sheet, of->cap);
    SSREPORT_TEXTS(sheet, of->when_full);
    SSREPORT_NUMBERS(sheet, of->timeout, of->duration, of->intended, of->sent, of->refused,
        of->waiting, of->unfinished, of->succeeded, of->failed, of->timeouts);
    SSREPORT_TEXTS(sheet, of->causes);
    SSREPORT_NUMBERS(sheet, of->success_ratio, of->throughput, of->unfinished_most, of->bytes,
        of->lateness_p99, of->lateness_most);
    add_times(sheet, of->successes);
    for (int i = 0; i < SSREPORT_ORIGINS; i++)
        SSREPORT_NUMBERS(sheet, of->all[i].mean, of->all[i].p95, of->all[i].p99);
    SSREPORT_TEXTS(sheet, describe_percentiles(of->successes));
    SSREPORT_NUMBERS(sheet, of->own_cpu, of->others);
    SSREPORT_TEXTS(sheet, beside ? beside->record.name : NULL, of->notes.text);
}

static void add_rate(
    struct ssreport_sheet *sheet, const struct ssreport_rate_point *point, double confidence) {
    const struct ssreport_responses *of = point->of;
    const struct ssreport_stretch *stretch = &point->stretch;
    const struct ssreport_response *intended = &stretch->response[SSREPORT_INTENDED];
    struct ssreport_interval interval = ssreport_response_mean_interval(intended, confidence);
    SSREPORT_TEXTS(sheet, of->name);
    SSREPORT_NUMBERS(sheet, of->set + 1);
    SSREPORT_TEXTS(sheet, of->workload, of->method, of->environment);
    SSREPORT_NUMBERS(sheet, known(of->target), point->step > 0 ? (double)point->step : NAN,
        stretch->begin, stretch->end, point->seconds, stretch->rate, point->throughput,
        stretch->due, stretch->sent, stretch->refused, stretch->completed, stretch->failed,
        stretch->timeouts, point->success_ratio, stretch->lateness_most);
    add_times(sheet, stretch->response);
    SSREPORT_TEXTS(sheet, describe_percentiles(stretch->response));
    SSREPORT_NUMBERS(sheet, interval.low, interval.high);
    add_joined(sheet, &point->joined);
    SSREPORT_NUMBERS(sheet, of->others);
}

static void add_seconds(
    struct ssreport_sheet *sheet, const struct ssreport_report *report, size_t at) {
    const struct ssreport_responses *of = &report->responses[at];
    const struct ssreport_run *beside = ssreport_responses_beside(report, of);
    for (size_t i = 0; i < of->count; i++) {
        const struct ssreport_response_second *second = &of->seconds[i];
        struct ssreport_joined joined = ssreport_responses_join(
            of, beside, second->at - (second->end - second->begin), second->at);
        SSREPORT_TEXTS(sheet, of->name);
        SSREPORT_NUMBERS(sheet, second->at, second->end, second->rate, second->due, second->sent,
            second->refused, second->waiting, second->unfinished, second->completed, second->failed,
            second->timeouts);
        add_times(sheet, second->response);
        add_joined(sheet, &joined);
    }
}

static void add_capacity(struct ssreport_sheet *sheet, const struct ssreport_responses *of) {
    const struct ssreport_capacity *capacity = &of->capacity;
    if (!capacity->demand)
        return;
    SSREPORT_TEXTS(sheet, of->name);
    SSREPORT_NUMBERS(sheet, of->set + 1);
    SSREPORT_TEXTS(sheet, of->workload, of->method, of->environment);
    SSREPORT_NUMBERS(sheet, known(of->target), known(of->round));
    SSREPORT_TEXTS(sheet, capacity->demand);
    SSREPORT_NUMBERS(
        sheet, capacity->held, capacity->held_times, capacity->failed, capacity->failed_times);
}

static void note_lonely(struct ssreport_report *report) {
    for (size_t i = 0; i < report->response_count; i++) {
        struct ssreport_responses *of = &report->responses[i];
        bool could = false;
        for (size_t j = 0; j < report->run_count; j++)
            could |= report->runs[j].set == of->set && of->manifest == 0 &&
                     report->runs[j].manifest == 0;
        if (could && !ssreport_responses_beside(report, of))
            ssreport_notes_add(
                &of->notes, "no record of showstopper beside it is of the same time");
    }
}

static void note_estimated(struct ssreport_report *report) {
    for (size_t i = 0; i < report->response_count; i++) {
        struct ssreport_responses *of = &report->responses[i];
        bool estimated = of->successes[SSREPORT_INTENDED].estimated;
        for (size_t j = 0; j < report->point_count; j++)
            estimated |= report->points[j].of == of &&
                         report->points[j].stretch.response[SSREPORT_INTENDED].estimated;
        if (estimated)
            ssreport_notes_add(&of->notes,
                "its percentiles over several seconds are estimated from those of each: it has no "
                "complete " SSREPORT_RESPONSES_TIMES);
    }
}

int ssreport_report_requests(struct ssreport_report *report) {
    struct ssreport_sheet *sheets = report->sheets;
    sheets[SSREPORT_REQUESTS] = SSREPORT_SHEET("requests",
        "Requests: response times of the successes, from when they were due (intended) and from "
        "when they were sent (actual)",
        request_columns);
    sheets[SSREPORT_REQUESTS_RATES] =
        SSREPORT_SHEET("requests-rates", "Response times by rate", rate_columns);
    sheets[SSREPORT_REQUESTS_SECONDS] =
        SSREPORT_SHEET("requests-seconds", "Requests second by second", second_columns);
    sheets[SSREPORT_REQUESTS_CAPACITY] = SSREPORT_SHEET("requests-capacity",
        "Capacity: the highest rate at which the response time is as demanded", capacity_columns);
    note_lonely(report);
    if (ssreport_points_find(report) < 0)
        return -1;
    note_estimated(report);
    for (size_t i = 0; i < report->response_count; i++) {
        add_request(&sheets[SSREPORT_REQUESTS], report, i);
        add_seconds(&sheets[SSREPORT_REQUESTS_SECONDS], report, i);
        add_capacity(&sheets[SSREPORT_REQUESTS_CAPACITY], &report->responses[i]);
    }
    for (size_t i = 0; i < report->point_count; i++)
        add_rate(&sheets[SSREPORT_REQUESTS_RATES], &report->points[i], report->settings.confidence);
    ssreport_responses_findings(report);
    return 0;
}
