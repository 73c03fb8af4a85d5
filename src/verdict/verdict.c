/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"

const char *const ss_finding_names[] = {"not checked", "passed", "doubtful", "invalid"};

const struct ss_check ss_checks[SS_CHECKS] = {
    [SS_CHECK_MEAN_ERROR] = {"mean_error", "mean error", "points", 1, 3},
    [SS_CHECK_MEAN_SQUARED_ERROR] = {"mean_squared_error", "mean squared error", "%^2", 25, 100},
    [SS_CHECK_SAMPLES_OFF] = {"samples_off", "samples more than 5 points off target", "%", 10, 30},
    [SS_CHECK_LATE_WAKE_UPS] = {"late_wake_ups", "late wake-ups (99 %), part of a round", "%", 5,
        20},
    [SS_CHECK_SAMPLES_LOST] = {"samples_lost", "samples lost or late", "%", 0.5, 5},
    [SS_CHECK_STEAL] = {"steal", "steal", "%", 1, 5},
    [SS_CHECK_OTHERS] = {"others", "load of other processes", "%", 2, 10},
    [SS_CHECK_FREQUENCY] = {"frequency", "change of the CPUs' frequency", "%", 2, 5},
    [SS_CHECK_THROUGHPUT] = {"throughput", "change of throughput", "%", 1, 5},
    [SS_CHECK_RESPONSE] = {"response", "change of response times", "%", 1, 5},
    [SS_CHECK_COST] = {"cost", "change of the CPU time of a request", "%", 2, 10},
    [SS_CHECK_BACKGROUND] = {"background", "load before the first request", "%", 5, NAN},
    [SS_CHECK_LATE_REQUESTS] = {"late_requests",
        "late requests (99 %), part of the median response", "%", 10, 100},
    [SS_CHECK_CLOCK] = {"clock", "wall clock set by", "ms", 50, NAN},
    [SS_CHECK_SUSPENDED] = {"suspended", "machine suspended for", "s", 1, NAN},
    [SS_CHECK_FAILED_INSTANCES] = {"failed_instances", "instances that failed", "%", 0, 50},
    [SS_CHECK_FAILED_REQUESTS] = {"failed_requests", "requests that failed", "%", 1, 10},
    [SS_CHECK_UNANSWERED_REQUESTS] = {"unanswered_requests",
        "requests dropped, never sent or unfinished", "%", 1, 10},
    [SS_CHECK_ENDED_EARLY] = {"ended_early", "instances that ended early", "%", 0, NAN},
    [SS_CHECK_LINES_LOST] = {"lines_lost", "lines lost", "", 0, NAN},
    [SS_CHECK_INTERRUPTED] = {"interrupted", "interrupted", "", 0, 1},
    [SS_CHECK_SAMPLES] = {"samples", "samples", "", NAN, 1, .at_least = true},
    [SS_CHECK_ITERATIONS] = {"iterations", "iterations", "", 30, 1, .at_least = true},
    [SS_CHECK_SUCCESSES] = {"successes", "successful requests", "", 30, 1, .at_least = true},
};

void ss_evidence_clear(struct ss_evidence *evidence) {
    *evidence = (struct ss_evidence){0};
    for (size_t i = 0; i < SS_CHECKS; i++)
        evidence->figures[i] = NAN;
}

static bool is_beyond(const struct ss_check *check, double figure, double limit) {
    return check->at_least ? figure < limit : fabs(figure) > limit;
}

static enum ss_finding find(const struct ss_check *check, double figure) {
    if (isnan(figure))
        return SS_NOT_CHECKED;
    if (is_beyond(check, figure, check->invalid))
        return SS_INVALID;
    return is_beyond(check, figure, check->doubtful) ? SS_DOUBTFUL : SS_PASSED;
}

struct ss_verdict ss_verdict_reach(const struct ss_evidence *evidence) {
    struct ss_verdict verdict = {.evidence = *evidence, .finding = SS_PASSED};
    for (size_t i = 0; i < SS_CHECKS; i++) {
        verdict.findings[i] = find(&ss_checks[i], evidence->figures[i]);
        if (verdict.findings[i] > verdict.finding)
            verdict.finding = verdict.findings[i];
    }
    return verdict;
}

const char *ss_verdict_word(const struct ss_verdict *verdict) {
    return verdict->finding == SS_PASSED ? "valid" : ss_finding_names[verdict->finding];
}

static const char *describe_interruption(const struct ss_verdict *verdict, double figure) {
    if (figure >= SS_INTERRUPTED_BY_FAILURE)
        return "ended by a failed instance";
    if (figure >= SS_INTERRUPTED_BY_ERROR)
        return "ended by an error";
    return verdict->evidence.interruption ? verdict->evidence.interruption : "ended by a signal";
}

static void print_reason(char *to, size_t size, const struct ss_verdict *verdict, size_t which) {
    const struct ss_check *check = &ss_checks[which];
    const struct ss_change *change = which == SS_CHECK_THROUGHPUT ? &verdict->evidence.throughput
                                     : which == SS_CHECK_RESPONSE ? &verdict->evidence.response
                                                                  : NULL;
    char shape[SS_CHANGE_TEXT], limit[60], number[40];
    double figure = verdict->evidence.figures[which];
    enum ss_finding finding = verdict->findings[which];

    snprintf(limit, sizeof limit, "%s %s %g", ss_finding_names[finding],
        check->at_least ? "below" : "above",
        finding == SS_INVALID ? check->invalid : check->doubtful);
    if (which == SS_CHECK_INTERRUPTED) {
        snprintf(to, size, "%s", describe_interruption(verdict, figure));
    } else if (change && change->checked) {
        ss_stationarity_print(shape, change);
        snprintf(to, size, "%s: %s (%s %%)", check->name, shape, limit);
    } else {
        /* Counts, and figures that are too large to need decimals, are whole. */
        bool is_whole = !*check->unit || fabs(figure) >= 1000;
        snprintf(number, sizeof number, is_whole ? "%.0f" : "%.3g", figure);
        snprintf(to, size, "%s %s%s%s (%s)", check->name, number, *check->unit ? " " : "",
            check->unit, limit);
    }
}

void ss_verdict_print(char text[SS_VERDICT_TEXT], const struct ss_verdict *verdict) {
    size_t used = 0, passed = 0;
    for (size_t i = 0; i < SS_CHECKS; i++)
        passed += verdict->findings[i] == SS_PASSED;
    snprintf(text, SS_VERDICT_TEXT, "nothing found in %zu checks", passed);
    /* Begin with the reasons for the verdict's word. */
    for (enum ss_finding finding = SS_INVALID; finding >= SS_DOUBTFUL; finding--) {
        for (size_t i = 0; i < SS_CHECKS; i++) {
            char reason[240];
            if (verdict->findings[i] != finding)
                continue;
            print_reason(reason, sizeof reason, verdict, i);
            used += (size_t)snprintf(
                text + used, SS_VERDICT_TEXT - used, "%s%s", used > 0 ? "; " : "", reason);
            if (used >= SS_VERDICT_TEXT)
                return;
        }
    }
}

static void print_checks(struct ss_json *json, const struct ss_verdict *verdict) {
    ss_json_open(json, "checks", '[');
    for (size_t i = 0; i < SS_CHECKS; i++) {
        const struct ss_check *check = &ss_checks[i];
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "check", check->key);
        ss_json_text(json, "result", ss_finding_names[verdict->findings[i]]);
        ss_json_number(json, "figure", verdict->evidence.figures[i]);
        ss_json_text(json, "unit", *check->unit ? check->unit : NULL);
        ss_json_number(json, "doubtful", check->doubtful);
        ss_json_number(json, "invalid", check->invalid);
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
}

void ss_verdict_print_json(struct ss_json *json, const struct ss_verdict *verdict) {
    char text[SS_VERDICT_TEXT];
    ss_verdict_print(text, verdict);
    ss_json_open(json, "verdict", '{');
    ss_json_text(json, "result", ss_verdict_word(verdict));
    ss_json_text(json, "reasons", text);
    print_checks(json, verdict);
    ss_json_close(json, '}');
}
