/* SPDX-License-Identifier: Apache-2.0 */
#include "responses_findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "findings.h"
#include "points.h"

/*
 * A service keeps up with a rate if the part SUCCESSES_MIN of the due requests succeeds, and the
 * part IN_TIME_MIN, minus one request, before the last request is due. Otherwise a queue grows,
 * which is emptied only afterwards.
 */
#define SUCCESSES_MIN 0.99
#define IN_TIME_MIN   0.98

/*
 * Response times from sending hide a wait if times from due are longer by this factor, and at least
 * this long.
 */
#define HIDDEN_RATIO 2
#define HIDDEN_MIN   0.01 /* seconds */

/*
 * A generator is late if the 99th percentile of its lateness exceeds this part of the 95th
 * percentile of response times, and this time.
 */
#define LATE_SHARE 0.1
#define LATE_MIN   0.001 /* seconds */

SS_FORMAT(4, 5)
static void find(struct ssreport_report *report, const char *kind,
    const struct ssreport_responses *of, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct table_sheet *sheet = ssreport_findings_add_list(report, kind, format, arguments);
    va_end(arguments);
    TABLE_CELLS(sheet, CELL("environment", ssreport_environment_name(of->environment)),
        CELL("foreground", of->workload), CELL("of", "requests"), CELL("set", of->set + 1));
}

/* A time as text with three digits: "1.25 s", "14.2 ms". */
struct shown {
    char text[32];
};

static struct shown show(double seconds) {
    struct shown shown;
    bool is_short = fabs(seconds) < 0.9995;
    double number = is_short ? 1000 * seconds : seconds;
    int decimals = fabs(number) < 9.995 ? 2 : fabs(number) < 99.95 ? 1 : 0;
    if (isfinite(seconds))
        snprintf(shown.text, sizeof shown.text, "%.*f %s", decimals, number, is_short ? "ms" : "s");
    else
        strcpy(shown.text, "unknown");
    return shown;
}

/* Returns "about " if percentiles are estimated, otherwise "". */
static const char *about(const struct ssreport_response *response) {
    return response->estimated ? "about " : "";
}

/* A confidence interval as text: "95 %: 1.20 s to 1.50 s, of 42 requests". */
struct sure {
    char text[120];
};

static struct sure show_sureness(
    const struct ssreport_report *report, struct ssreport_interval interval, double requests) {
    struct sure shown;
    if (isfinite(interval.low))
        snprintf(shown.text, sizeof shown.text, "%g %%: %s to %s, of %.0f requests",
            100 * report->settings.confidence, show(interval.low).text, show(interval.high).text,
            requests);
    else
        snprintf(shown.text, sizeof shown.text, "%.0f requests, which give no interval", requests);
    return shown;
}

static bool keeps_up(const struct ssreport_rate_point *point) {
    double due = point->stretch.due;
    return due > 0 && (point->step > 0 || point->success_ratio >= SUCCESSES_MIN) &&
           point->stretch.failed <= (1 - SUCCESSES_MIN) * due &&
           point->in_time * due >= IN_TIME_MIN * due - 1;
}

struct reach {
    const struct ssreport_rate_point *last, *fails; /* NULL if none */
};

/* Finds the lowest rate with which the service does not keep up, and the highest rate below it. */
static struct reach find_reach(
    const struct ssreport_report *report, const struct stats_groups *series, size_t first) {
    struct reach reach = {0};
    const struct ssreport_rate_point *points = report->points;
    for (size_t i = first; i < series->items; i = series->next[i]) {
        if (!keeps_up(&points[i]) &&
            (!reach.fails || points[i].stretch.rate < reach.fails->stretch.rate))
            reach.fails = &points[i];
    }
    for (size_t i = first; i < series->items; i = series->next[i]) {
        double rate = points[i].stretch.rate;
        if (keeps_up(&points[i]) && (!reach.fails || rate < reach.fails->stretch.rate) &&
            (!reach.last || rate > reach.last->stretch.rate))
            reach.last = &points[i];
    }
    return reach;
}

static void find_series(
    struct ssreport_report *report, const struct stats_groups *series, size_t first) {
    char name[400];
    const struct ssreport_rate_point *point = &report->points[first];
    ssreport_rate_point_describe(point, name, sizeof name);
    if (point->of->closed) {
        find(report, "closed-loop", point->of,
            "%s: a closed loop answered %.4g requests a second. Its clients wait for each answer, "
            "so its response times say nothing about requests that arrive independently.",
            name, point->throughput);
        return;
    }
    struct reach reach = find_reach(report, series, first);
    if (reach.last) {
        const struct ssreport_response *response = reach.last->stretch.response;
        char beyond[120] = "";
        /* The name may depend on the run. */
        ssreport_rate_point_describe(reach.last, name, sizeof name);
        if (reach.fails)
            snprintf(beyond, sizeof beyond,
                ", but not with %.4g (%.4g %% of the requests due succeeded while that rate "
                "lasted)",
                reach.fails->stretch.rate, 100 * reach.fails->in_time);
        find(report, "rate", reach.last->of,
            "%s: keeps up with %.4g requests a second%s. At %.4g the response time is %s on "
            "average (%s) and at most %s%s for 95 %% of the requests, from when they were due.",
            name, reach.last->stretch.rate, beyond, reach.last->stretch.rate,
            show(response[SSREPORT_INTENDED].mean).text,
            show_sureness(report,
                ssreport_response_mean_interval(
                    &response[SSREPORT_INTENDED], report->settings.confidence),
                reach.last->stretch.completed)
                .text,
            about(&response[SSREPORT_INTENDED]), show(response[SSREPORT_INTENDED].p95).text);
    } else if (reach.fails) {
        find(report, "rate", point->of,
            "%s: does not even keep up with %.4g requests a second, the lowest rate tried: %.4g %% "
            "of the requests due succeeded while it lasted.",
            name, reach.fails->stretch.rate, 100 * reach.fails->in_time);
    }
}

/*
 * Adds a finding about the point of a series at which times from due exceed times from sending by
 * the largest factor.
 */
static void find_hidden(
    struct ssreport_report *report, const struct stats_groups *series, size_t first) {
    const struct ssreport_rate_point *worst = NULL;
    double most = HIDDEN_RATIO;
    for (size_t i = first; i < series->items; i = series->next[i]) {
        const struct ssreport_rate_point *point = &report->points[i];
        const struct ssreport_response *response = point->stretch.response;
        double ratio = response[SSREPORT_INTENDED].p99 / response[SSREPORT_ACTUAL].p99;
        if (!point->of->closed && response[SSREPORT_INTENDED].p99 >= HIDDEN_MIN && ratio > most) {
            most = ratio;
            worst = point;
        }
    }
    if (!worst)
        return;
    char name[400];
    ssreport_rate_point_describe(worst, name, sizeof name);
    const struct ssreport_response *response = worst->stretch.response;
    find(report, "omission", worst->of,
        "%s: at %.4g requests a second 99 %% were answered within %s%s of being sent, but only "
        "within %s%s of being due. They waited %s, which times from sending leave out.",
        name, worst->stretch.rate, about(&response[SSREPORT_ACTUAL]),
        show(response[SSREPORT_ACTUAL].p99).text, about(&response[SSREPORT_INTENDED]),
        show(response[SSREPORT_INTENDED].p99).text,
        worst->of->cap > 0 ? "at the cap" : "to be sent");
}

/*
 * Returns a point of the same service at the same rate whose instances were never stopped; NULL if
 * absent.
 */
static const struct ssreport_rate_point *find_full(
    const struct ssreport_report *report, const struct ssreport_rate_point *point) {
    for (size_t i = 0; i < report->point_count; i++) {
        const struct ssreport_rate_point *full = &report->points[i];
        if (ssreport_rate_point_is_service(full, point) &&
            full->joined.duty >= SSREPORT_DUTY_FULL && full->stretch.rate == point->stretch.rate &&
            ssreport_others_permit(full->of->others, point->of->others) && keeps_up(full))
            return full;
    }
    return NULL;
}

static void find_stopping(struct ssreport_report *report, const struct ssreport_rate_point *point) {
    const struct ssreport_rate_point *full = find_full(report, point);
    if (!full)
        return;
    char name[400], expected[200] = "";
    double duty = point->joined.duty, tau = point->of->tau;
    const struct ssreport_response *stopped = &point->stretch.response[SSREPORT_INTENDED];
    const struct ssreport_response *running = &full->stretch.response[SSREPORT_INTENDED];
    double with = stopped->mean, without = running->mean;
    struct ssreport_sureness sureness =
        ssreport_sureness_of_difference(stopped->mean_sureness, running->mean_sureness);
    ssreport_rate_point_describe(point, name, sizeof name);
    if (tau > 0)
        snprintf(expected, sizeof expected,
            "; stops in rounds of %s account for %s if requests are few and each takes %s",
            show(tau).text, show(ssreport_responses_added_by_stops(duty, tau, without)).text,
            show(without).text);
    find(report, "stopping", point->of,
        "%s: at %.4g requests a second a duty of %.3g %% adds %s to the mean response time (%s); "
        "it is %s instead of %s%s.",
        name, point->stretch.rate, 100 * duty, show(with - without).text,
        show_sureness(report,
            ssreport_mean_interval(with - without, sureness, report->settings.confidence),
            point->stretch.completed + full->stretch.completed)
            .text,
        show(with).text, show(without).text, expected);
}

/* Adds a finding about throttling at the lowest rate, because queueing adds least there. */
static void find_throttle(
    struct ssreport_report *report, const struct stats_groups *series, size_t first) {
    const struct ssreport_rate_point *lowest = NULL;
    for (size_t i = first; i < series->items; i = series->next[i]) {
        const struct ssreport_rate_point *point = &report->points[i];
        if (!point->of->closed && point->joined.duty < SSREPORT_DUTY_FULL && keeps_up(point) &&
            find_full(report, point) && (!lowest || point->stretch.rate < lowest->stretch.rate))
            lowest = point;
    }
    if (lowest)
        find_stopping(report, lowest);
}

static void find_capacity(struct ssreport_report *report, const struct ssreport_responses *of) {
    const struct ssreport_capacity *capacity = &of->capacity;
    const struct ssreport_rate_point point = {.of = of};
    char name[400];
    if (!capacity->demand)
        return;
    ssreport_rate_point_describe(&point, name, sizeof name);
    bool has_lower = isfinite(capacity->held) && !capacity->upper_bound;
    bool has_upper = isfinite(capacity->failed) && !capacity->lower_bound;
    if (has_lower && has_upper)
        find(report, "capacity", of,
            "%s: the capacity for %.40s is between %.4g and %.4g requests a second.", name,
            capacity->demand, capacity->held, capacity->failed);
    else if (has_lower && capacity->lower_bound)
        find(report, "capacity", of,
            "%s: the capacity for %.40s is above %.4g requests a second: at %.4g, the generator "
            "was the limit, not the service.",
            name, capacity->demand, capacity->held, capacity->failed);
    else if (has_upper && capacity->upper_bound)
        find(report, "capacity", of,
            "%s: the capacity for %.40s is below %.4g requests a second: at %.4g, response times "
            "were not stationary.",
            name, capacity->demand, capacity->failed, capacity->held);
    else if (has_lower)
        find(report, "capacity", of, "%s: the capacity for %.40s is above %.4g requests a second.",
            name, capacity->demand, capacity->held);
    else if (has_upper)
        find(report, "capacity", of, "%s: the capacity for %.40s is below %.4g requests a second.",
            name, capacity->demand, capacity->failed);
    else
        find(report, "capacity", of, "%s: the capacity for %.40s was not found.", name,
            capacity->demand);
}

/*
 * Adds findings that make other figures doubtful. Waiting at the cap is not lateness of the
 * generator.
 */
static void find_doubts(struct ssreport_report *report, const struct ssreport_responses *of) {
    double p95 = of->successes[SSREPORT_INTENDED].p95, all = of->all[SSREPORT_INTENDED].p95;
    bool waited = of->cap > 0 && !(of->unfinished_most < of->cap);
    if (of->lateness_p99 >= LATE_MIN && of->lateness_p99 > LATE_SHARE * p95 && !waited)
        find(report, "late", of,
            "%.300s: the generator itself was late: 1 %% of the requests were sent more than %s "
            "after they were due. Give it CPUs of its own, or another machine.",
            of->title, show(of->lateness_p99).text);
    if (of->success_ratio < SUCCESSES_MIN && all > HIDDEN_RATIO * p95)
        find(report, "successes", of,
            "%.300s: only %.4g %% of the requests succeeded (%.200s). The successes alone were "
            "answered within %s (95 %%); if each other request counts with the time that it "
            "waited, it is %s.",
            of->title, 100 * of->success_ratio, of->causes && *of->causes ? of->causes : "refused",
            show(p95).text, show(all).text);
}

int ssreport_responses_findings(struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups series = ssreport_points_by_series(report);
    if (!series.first)
        return -1;
    for (size_t i = 0; i < report->response_count; i++)
        find_capacity(report, &report->responses[i]);
    for (size_t i = 0; i < series.count; i++) {
        find_series(report, &series, series.first[i]);
        find_hidden(report, &series, series.first[i]);
        find_throttle(report, &series, series.first[i]);
    }
    for (size_t i = 0; i < report->response_count; i++)
        find_doubts(report, &report->responses[i]);
    return 0;
}
