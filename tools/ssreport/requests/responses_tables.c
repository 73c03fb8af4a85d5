/* SPDX-License-Identifier: Apache-2.0 */

#include "requests_topic.h"

#include <math.h>
#include <stdlib.h>

#include "findings.h"
#include "html_page.h"
#include "knobs.h"
#include "points.h"
#include "responses_findings.h"
#include "responses_plots.h"
#include "rules.h"
#include "underload.h"

// clang-format off
/*
 * Columns of response times. `mean` and `p95` are headings on the terminal; NULL omits the column.
 */
#define TIMES(origin, mean, p95)                                                                   \
    {origin "_mean_seconds", origin ": mean, s", 4, .text = {mean, 9}},                            \
    {origin "_p50_seconds", NULL}, {origin "_p95_seconds", "95 %, s", 4, .text = {p95, 9}},        \
    {origin "_p99_seconds", "99 %, s", 4}, {origin "_most_seconds", NULL}
/* Columns of the level of a service. */
#define LEVEL                                                                                      \
    {"knobs", "knobs", .if_known = true}, {"balance", "balance", .if_known = true},                \
        {"cap", "cap", .if_known = true}
static const struct table_column request_columns[] = {
    {"record", "record"}, {"set", NULL}, {"state", "state"}, {"verdict", "verdict"},
    {"version", NULL}, {"workload", "service"}, {"method", "method"}, {"environment", NULL},
    {"throttle_target", NULL}, {"round", NULL},
    {"targets", NULL}, {"loop", "loop"}, {"profile", NULL}, {"arrival", "arrival"},
    {"cap", "cap"}, {"when_full", NULL}, {"timeout_seconds", NULL}, {"duration_seconds", NULL},
    {"intended", "intended"}, {"sent", "sent"}, {"refused", "refused"}, {"waiting", NULL},
    {"unfinished", NULL}, {"succeeded", "succeeded"}, {"failed", "failed"}, {"timeouts", NULL},
    {"causes", "causes"}, {"success_ratio", "successes, %", 2, true},
    {"throughput", "answered, /s", 2}, {"unfinished_most", NULL}, {"bytes", NULL},
    {"lateness_p99_seconds", "sent late (99 %), s", 5}, {"lateness_most_seconds", NULL},
    TIMES("intended", NULL, NULL), TIMES("actual", NULL, NULL),
    {"all_intended_mean_seconds", NULL}, {"all_intended_p95_seconds", "all, intended: 95 %, s", 4},
    {"all_intended_p99_seconds", NULL}, {"all_actual_mean_seconds", NULL},
    {"all_actual_p95_seconds", NULL}, {"all_actual_p99_seconds", NULL}, {"percentiles", NULL},
    {"own_cpu_seconds", NULL}, {"others", "others, %", 1, true, true}, {"joined", NULL}, {"notes", NULL},
    {"variant", "variant", .if_known = true},
};
static const struct table_column target_columns[] = {
    {"record", "record"}, {"set", NULL}, {"workload", "service"}, {"method", "method"},
    {"environment", NULL}, {"throttle_target", NULL}, {"url", "URL"}, {"sent", "sent"},
    {"succeeded", "succeeded"}, {"failed", "failed"}, {"unfinished", "unfinished"},
    {"mean_seconds", "from sending: mean, s", 4}, {"p95_seconds", "95 %, s", 4},
    {"p99_seconds", "99 %, s", 4}, {"variant", "variant", .if_known = true},
};
static const struct table_column rate_columns[] = {
    {"record", "record", .text = {"requests", 20}}, {"set", NULL}, {"workload", "service"},
    {"method", "method"}, {"environment", NULL},
    {"throttle_target", "throttled to, %", 1, true, true}, {"round", NULL}, LEVEL, {"step", "step"},
    {"begin_seconds", NULL}, {"end_seconds", NULL}, {"seconds", "seconds", 0},
    {"rate", "requested, /s", 2, .text = {"rate, /s", 9}},
    {"throughput", "answered, /s", 2, .text = {"answered", 9}},
    {"due", NULL}, {"sent", NULL}, {"refused", NULL}, {"completed", NULL}, {"failed", NULL},
    {"timeouts", NULL}, {"success_ratio", "successes, %", 2, true, .text = {"ok, %", 7}},
    {"lateness_most_seconds", NULL},
    TIMES("intended", "mean, s", "95 %, s"), TIMES("actual", NULL, "sent"),
    {"percentiles", "percentiles"},
    {"intended_mean_low_seconds", "intended mean, its confidence from, s", 4},
    {"intended_mean_high_seconds", "to, s", 4},
    {"load", "load, %", 1, true, true, .text = {"load, %", 8}},
    {"target", "target, %", 1, true, true}, {"duty", "duty, %", 1, true, true},
    {"watts", "W", 2, false, true}, {"watts_deviation", "standard deviation", 2, .if_known = true},
    {"watts_seconds", NULL}, {"idle_watts", "idle, W", 2, .if_known = true}, {"state", "state"},
    {"saturated", "saturated", .if_known = true}, {"others", "others, %", 1, true, true},
    {"variant", "variant", .if_known = true},
};
static const struct table_column capacity_columns[] = {
    {"record", "record", .text = {"requests", 28}}, {"set", NULL}, {"workload", "service"},
    {"method", "method"}, {"environment", NULL},
    {"throttle_target", "throttled to, %", 1, true, true}, {"round", NULL},
    {"demand", "demand", .text = {"demand", 14}},
    {"held_rate", "holds up to, /s", 2, .text = {"holds up to, /s", 17}}, {"held_times", "times"},
    {"failed_rate", "fails from, /s", 2, .text = {"fails from, /s", 17}},
    {"failed_times", "times"}, {"variant", "variant", .if_known = true},
};
static const struct table_column limit_columns[] = {
    {"set", NULL}, {"workload", "service"}, {"method", "method"}, {"environment", NULL},
    {"throttle_target", "throttled to, %", 1, true, true}, {"arrival", "arrival"},
    LEVEL, {"rates", "rates"}, {"counted", "times"}, {"criterion", "below the limit"},
    {"limit_seconds", "limit, s", 0}, {"last_rate", "up to, /s", 2},
    {"first_rate", "not at, /s", 2}, {"crossing_rate", "crossing, /s", 2},
    {"variant", "variant", .if_known = true},
};
static const struct table_column saving_columns[] = {
    {"high", "from"}, {"low", "to"}, {"rate", "requested, /s", 2}, {"saturated", "saturated", .if_known = true},
    {"high_watts", "from, W", 1, .if_known = true}, {"low_watts", "to, W", 1, .if_known = true},
    {"saved", "power saved, %", 1, true, true},
    {"high_capacity", "from, /s", 2}, {"low_capacity", "to, /s", 2},
    {"lost", "capacity lost, %", 1, true}, {"lost_per_saved", "lost for each % saved", 2, .if_known = true},
    {"knob", NULL}, {"high_knobs", NULL}, {"low_knobs", NULL}, {"arrival", NULL},
};
static const struct table_column idle_columns[] = {
    {"record", NULL}, {"set", NULL}, {"workload", "service"}, {"method", "method", .if_known = true},
    {"environment", NULL}, {"throttle_target", "throttled to, %", 1, true, true},
    {"arrival", "arrival"}, LEVEL, {"rate", "requested, /s", 2}, {"seconds", "seconds"},
    {"frequency_mhz", "MHz", 0, .if_known = true}, {"active", "active, %", 2, true},
    {"active_deviation", "standard deviation", 2, true}, {"state", "state"},
    {"share", "of idle, %", 2, true}, {"share_deviation", "standard deviation", 2, true},
    {"variant", "variant", .if_known = true},
};
static const struct table_column knob_columns[] = {
    {"knob", "knob", .text = {"knob", 10}}, {"high", "from", .if_known = true, .text = {"from", 16}},
    {"low", "to", .if_known = true, .text = {"to", 16}},
    {"arrival", "arrival", .if_known = true},
    {"note", "note", .if_known = true},
    {"high_capacity", "capacity from, /s", 2, .if_known = true}, {"low_capacity", "to, /s", 2, .if_known = true},
    {"saved", "power saved, %", 1, true, true, .text = {"saved, %", 9}},
    {"lost", "capacity lost, %", 1, true, true, .text = {"lost, %", 9}},
    {"lost_per_saved", "lost for each % saved", 2, .if_known = true},
    {"published_as", "published as"},
    {"published_saved_percent", "published: power saved, %", 0, .text = {"published", 10}},
    {"published_lost_percent", "capacity lost, %", 0, .text = {"lost, %", 8}},
    {"published_lost_per_saved", "lost for each % saved", 2},
};
static const struct table_column rule_columns[] = {
    {"statement", "statement"}, {"source", "published in"}, {"verdict", "verdict"},
    {"difference", "difference, %", 1, true, true},
    {"low", "its confidence, from", 1, true, true}, {"high", "to", 1, true, true},
    {"runs", "runs of each"}, {"rate", "requested, /s", 2, .if_known = true},
    {"first", "from", .if_known = true}, {"second", "to", .if_known = true},
    {"arrival", "arrival", .if_known = true}, {"balance", NULL}, {"why", "why not", .if_known = true},
};
static const struct table_sheet tables[] = {
    TABLE_SHADED("requests",
        "Requests: response times of the successes, from when they were due (intended) and from "
        "when they were sent (actual)", request_columns, "verdict"),
    TABLE_INIT("requests-targets", "Requests to each of several URLs", target_columns),
    TABLE_INIT("requests-rates", "Response times by rate", rate_columns),
    TABLE_INIT("requests-capacity",
        "Capacity: the highest rate at which the response time stays within its limit", capacity_columns),
    TABLE_INIT("requests-limits",
        "Underloaded: rates at which the mean is below 1 s and 95 % are below 2 s", limit_columns),
    TABLE_INIT("requests-savings",
        "Power saved and capacity lost between two levels of a service, at the highest common rate",
        saving_columns),
    TABLE_INIT("requests-idle", "Idle states of the CPUs by rate", idle_columns),
    TABLE_INIT("requests-knobs",
        "What each knob saves and costs, and published figures (Table 7, another machine)",
        knob_columns),
    TABLE_INIT("requests-rules", "Published statements about knobs, tested on these runs", rule_columns),
    {.name = NULL},
};
// clang-format on

/* Maximum number of rates that the terminal shows. */
#define RATES_MAX 40

static double known(double value) {
    return value > 0 ? value : NAN;
}

#define TIME_CELLS(origin, response)                                                               \
    CELL(origin "_mean_seconds", (response).mean), CELL(origin "_p50_seconds", (response).p50),    \
        CELL(origin "_p95_seconds", (response).p95), CELL(origin "_p99_seconds", (response).p99),  \
        CELL(origin "_most_seconds", (response).most)

static void add_times(struct table_sheet *sheet, const struct ssreport_response *response) {
    TABLE_CELLS(sheet, TIME_CELLS("intended", response[SSREPORT_INTENDED]),
        TIME_CELLS("actual", response[SSREPORT_ACTUAL]));
}

/* Adds a row, and sets the cells that all tables have in common. */
static void add_row(struct table_sheet *sheet, const struct ssreport_responses *of) {
    TABLE_ROW(sheet, CELL("record", of->name), CELL("set", of->set + 1),
        CELL("workload", of->workload), CELL("method", of->method),
        CELL("environment", of->environment), CELL("throttle_target", known(of->target)),
        CELL("variant", of->variant));
}

static const char *describe_percentiles(const struct ssreport_response response[SSREPORT_ORIGINS]) {
    if (response[SSREPORT_INTENDED].estimated || response[SSREPORT_ACTUAL].estimated)
        return "estimated";
    return isnan(response[SSREPORT_INTENDED].p95) ? "" : "counted";
}

static void add_request(const struct ssreport_report *report, const struct ssreport_responses *of) {
    struct table_sheet *sheet = ssreport_table(report, "requests");
    const struct ssreport_run *beside = ssreport_responses_beside(report, of);
    const struct ssreport_response *intended = &of->all[SSREPORT_INTENDED];
    const struct ssreport_response *actual = &of->all[SSREPORT_ACTUAL];
    add_row(sheet, of);
    TABLE_CELLS(sheet, CELL("state", of->interrupted ? "interrupted" : "whole"),
        CELL("verdict", ss_verdict_word(&of->verdict.verdict)), CELL("version", of->version),
        CELL("round", known(of->round)), CELL("targets", of->targets),
        CELL("loop", of->closed ? "closed" : "open"), CELL("profile", of->profile),
        CELL("arrival", of->arrival), CELL("cap", of->cap), CELL("when_full", of->when_full),
        CELL("timeout_seconds", of->timeout), CELL("duration_seconds", of->duration),
        CELL("waiting", of->waiting), CELL("timeouts", of->timeouts), CELL("causes", of->causes),
        CELL("unfinished_most", of->unfinished_most), CELL("bytes", of->bytes),
        CELL("lateness_most_seconds", of->lateness_most),
        CELL("all_intended_mean_seconds", intended->mean),
        CELL("all_intended_p95_seconds", intended->p95),
        CELL("all_intended_p99_seconds", intended->p99),
        CELL("all_actual_mean_seconds", actual->mean), CELL("all_actual_p95_seconds", actual->p95),
        CELL("all_actual_p99_seconds", actual->p99),
        CELL("percentiles", describe_percentiles(of->successes)),
        CELL("own_cpu_seconds", of->own_cpu), CELL("others", of->others),
        CELL("joined", beside ? beside->record.name : ""), CELL("notes", of->notes.text),
        CELL("intended", of->intended), CELL("sent", of->sent), CELL("refused", of->refused),
        CELL("unfinished", of->unfinished), CELL("succeeded", of->succeeded),
        CELL("failed", of->failed), CELL("success_ratio", of->success_ratio),
        CELL("throughput", of->throughput), CELL("lateness_p99_seconds", of->lateness_p99));
    add_times(sheet, of->successes);
}

static void add_targets(const struct ssreport_report *report, const struct ssreport_responses *of) {
    struct table_sheet *sheet = ssreport_table(report, "requests-targets");
    for (size_t i = 0; of->per_target_count > 1 && i < of->per_target_count; i++) {
        const struct ssreport_at_target *target = &of->per_target[i];
        add_row(sheet, of);
        TABLE_CELLS(sheet, CELL("url", target->url), CELL("sent", target->sent),
            CELL("succeeded", target->succeeded), CELL("failed", target->failed),
            CELL("unfinished", target->unfinished), CELL("mean_seconds", target->mean),
            CELL("p95_seconds", target->p95), CELL("p99_seconds", target->p99));
    }
}

static void add_rate(
    const struct ssreport_report *report, const struct ssreport_rate_point *point) {
    struct table_sheet *sheet = ssreport_table(report, "requests-rates");
    const struct ssreport_stretch *stretch = &point->stretch;
    struct ssreport_interval interval = ssreport_response_mean_interval(
        &stretch->response[SSREPORT_INTENDED], report->settings.confidence);
    add_row(sheet, point->of);
    TABLE_CELLS(sheet, CELL("round", known(point->of->round)), CELL("knobs", point->of->knobs),
        CELL("balance", point->of->knobs ? point->of->balance : NULL),
        CELL("cap", point->of->knobs ? point->of->cap : NAN),
        CELL("step", point->step > 0 ? (double)point->step : NAN),
        CELL("begin_seconds", stretch->begin), CELL("end_seconds", stretch->end),
        CELL("seconds", point->seconds), CELL("rate", stretch->rate),
        CELL("throughput", point->throughput), CELL("due", stretch->due),
        CELL("sent", stretch->sent), CELL("refused", stretch->refused),
        CELL("completed", stretch->completed), CELL("failed", stretch->failed),
        CELL("timeouts", stretch->timeouts), CELL("success_ratio", point->success_ratio),
        CELL("lateness_most_seconds", stretch->lateness_most),
        CELL("percentiles", describe_percentiles(stretch->response)),
        CELL("intended_mean_low_seconds", interval.low),
        CELL("intended_mean_high_seconds", interval.high), CELL("load", point->joined.load),
        CELL("target", point->joined.target), CELL("duty", point->joined.duty),
        CELL("watts", point->joined.watts), CELL("watts_deviation", point->joined.watts_deviation),
        CELL("watts_seconds", point->joined.watts_seconds),
        CELL("idle_watts", ssreport_point_idle_watts(point)),
        CELL("state", ssreport_point_is_underloaded(point) ? "underloaded" : "overloaded"),
        CELL("saturated", ssreport_describe_saturation(point->joined.busiest)),
        CELL("others", point->of->others));
    add_times(sheet, stretch->response);
}

static void add_capacity(
    const struct ssreport_report *report, const struct ssreport_responses *of) {
    struct table_sheet *sheet = ssreport_table(report, "requests-capacity");
    const struct ssreport_capacity *capacity = &of->capacity;
    if (!capacity->demand)
        return;
    add_row(sheet, of);
    TABLE_CELLS(sheet, CELL("round", known(of->round)), CELL("demand", capacity->demand),
        CELL("held_rate", capacity->held), CELL("held_times", capacity->held_times),
        CELL("failed_rate", capacity->failed), CELL("failed_times", capacity->failed_times));
}

static void note_lonely(struct ssreport_report *report) {
    for (size_t i = 0; i < report->response_count; i++) {
        struct ssreport_responses *of = &report->responses[i];
        bool could = false;
        for (size_t j = 0; j < report->run_count; j++)
            could |= report->runs[j].set == of->set && of->manifest == 0 &&
                     report->runs[j].manifest == 0;
        if (could && !ssreport_responses_beside(report, of))
            ssreport_notes_add(&of->notes, "no record of showstopper covers the same time");
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
                "its percentiles over several seconds are estimated from the percentiles of each "
                "second, because it has no complete " SSREPORT_RESPONSES_TIMES);
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    note_lonely(report);
    if (ssreport_points_find(report) < 0)
        return ss_error_memory(error);
    note_estimated(report);
    for (size_t i = 0; i < report->response_count; i++) {
        add_request(report, &report->responses[i]);
        add_targets(report, &report->responses[i]);
        add_capacity(report, &report->responses[i]);
    }
    for (size_t i = 0; i < report->point_count; i++)
        add_rate(report, &report->points[i]);
    if (ssreport_underload_fill(report) < 0)
        return ss_error_memory(error);
    ssreport_knobs_fill(report);
    if (ssreport_rules_fill(report) < 0)
        return ss_error_memory(error);
    return ssreport_responses_findings(report) < 0 ? ss_error_memory(error) : 0;
}

static void free_points(struct ssreport_report *report) {
    free(report->points);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    if (report->response_count == 0)
        return;
    ssreport_page_open(page, "Requests");
    for (size_t i = 0; i < report->response_count; i++) {
        if (*report->responses[i].notes.text)
            page_note(page->stream, report->responses[i].title, report->responses[i].notes.text);
    }
    page_sheet(page->stream, ssreport_table(report, "requests-capacity"));
    page_sheet(page->stream, ssreport_table(report, "requests-knobs"));
    page_sheet(page->stream, ssreport_table(report, "requests-rules"));
    ssreport_responses_plots_print(page, report);
    page_sheet(page->stream, ssreport_table(report, "requests-limits"));
    page_sheet(page->stream, ssreport_table(report, "requests-savings"));
    page_sheet(page->stream, ssreport_table(report, "requests-idle"));
    page_sheet(page->stream, ssreport_table(report, "requests-rates"));
    page_sheet(page->stream, ssreport_table(report, "requests-targets"));
    page_sheet(page->stream, ssreport_table(report, "requests"));
    ssreport_page_close(page);
}

/* Omits a long table of rates, which would hide the findings. */
static void print_text(FILE *stream, const struct ssreport_report *report) {
    const struct table_sheet *rates = ssreport_table(report, "requests-rates");
    size_t rows = table_rows(rates);
    table_print_text(stream, ssreport_table(report, "requests-knobs"),
        "what each knob saves and costs, and published figures, in percent");
    table_print_text(stream, ssreport_table(report, "requests-capacity"),
        "capacity: the highest rate at which the response time stays within its limit");
    if (rows > RATES_MAX)
        fprintf(stream, "\nrequests at %zu rates: see requests-rates.csv (--output)\n", rows);
    else
        table_print_text(stream, rates,
            "response time of successes from when they were due; \"sent\": 95 % from sending");
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    static const struct {
        const char *kind, *question;
    } questions[] = {{"capacity", "How many requests a second can it serve?"},
        {"rate", "How fast are the responses, and up to what rate?"},
        {"closed-loop", "How fast are the responses?"}};
    if (report->response_count == 0)
        return false;
    if (ssreport_knobs_are_compared(report)) {
        strcpy(headline->question, "What does each knob save, and what does it cost?");
        headline->finding = ssreport_findings_first(report, "knob", true);
        if (headline->finding == SSREPORT_NO_ROW)
            strcpy(headline->answer,
                "No two levels that differ only in one knob have a known capacity: "
                "some were overloaded at the lowest rate, or not at the highest one.");
        return true;
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        headline->finding = ssreport_findings_first(report, questions[i].kind, true);
        strcpy(headline->question, questions[i].question);
        if (headline->finding != SSREPORT_NO_ROW)
            break;
    }
    return true;
}

const struct ssreport_topic ssreport_requests_topic = {
    .name = "requests",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
    .text = print_text,
    .free = free_points,
};
