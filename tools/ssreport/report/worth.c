/* SPDX-License-Identifier: Apache-2.0 */
#include "worth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns whether a record is invalid only because its service failed, which is an answer, too. */
static bool is_overload(const struct ssreport_verdict *verdict) {
    const enum ss_finding *findings = verdict->verdict.findings;
    size_t failed = 0, all = 0;
    for (size_t i = 0; i < SS_CHECKS; i++) {
        bool is_invalid = findings[i] == SS_INVALID;
        all += is_invalid;
        failed +=
            is_invalid && (i == SS_CHECK_FAILED_REQUESTS || i == SS_CHECK_UNANSWERED_REQUESTS);
    }
    return failed > 0 && failed == all;
}

/* `others` is what other processes used if no check of the record says so; NaN if unknown. */
static void add(
    struct ssreport_worth *worth, const struct ssreport_verdict *verdict, double others) {
    bool is_invalid = verdict->verdict.finding == SS_INVALID && !is_overload(verdict);
    worth->all++;
    worth->disturbed += !is_invalid && (verdict->verdict.findings[SS_CHECK_OTHERS] == SS_DOUBTFUL ||
                                           ssreport_others_disturb(others));
    if (is_invalid && worth->invalid++ == 0)
        worth->first = verdict;
}

struct ssreport_worth ssreport_worth_of(const struct ssreport_report *report) {
    struct ssreport_worth worth = {
        .can_leave_out = report->leave_out == SS_NOT_CHECKED && report->fleet_count == 0};
    for (size_t i = 0; i < report->run_count; i++)
        add(&worth, &report->runs[i].record.verdict, NAN);
    for (size_t i = 0; i < report->response_count; i++)
        add(&worth, &report->responses[i].verdict, report->responses[i].others);
    for (size_t i = 0; i < report->fleet_count; i++) {
        for (size_t node = 0; node < report->fleets[i].count; node++)
            add(&worth, &report->fleets[i].nodes[node].verdict, NAN);
    }
    return worth;
}

bool ssreport_worth_is_nothing(const struct ssreport_worth *worth) {
    return worth->all > 0 && worth->invalid == worth->all;
}

/* Writes "All 4 records are invalid, the first because of REASON. Repeat them on a quiet machine"
 */
static void describe_nothing(const struct ssreport_worth *worth, char *text, size_t size) {
    const struct ssreport_verdict *first = worth->first;
    bool is_one = worth->all == 1, is_busy = first->verdict.findings[SS_CHECK_OTHERS] == SS_INVALID;
    const char *reasons = first->reasons ? first->reasons : "unknown";
    const char *busy = is_busy ? strstr(reasons, ss_checks[SS_CHECK_OTHERS].name) : NULL;
    if (!is_one && busy) /* the cause rather than what it led to */
        reasons = busy;
    char all[60] = "The record is invalid";
    if (!is_one)
        snprintf(all, sizeof all, "All %zu records are invalid, the first", worth->all);
    snprintf(text, size, "%s because of %.*s. %s %s%s", all,
        (int)(is_one ? strlen(reasons) : strcspn(reasons, ";")), reasons,
        is_busy ? "Repeat" : "Remove the cause and repeat", is_one ? "it" : "them",
        is_busy ? " on a quiet machine" : "");
}

void ssreport_worth_describe(const struct ssreport_worth *worth, char *text, size_t size) {
    char disturbed[60] = "";
    *text = '\0';
    if (ssreport_worth_is_nothing(worth)) {
        describe_nothing(worth, text, size);
        return;
    }
    if (worth->disturbed > 0)
        snprintf(disturbed, sizeof disturbed, "%zu %s disturbed by other processes",
            worth->disturbed, worth->disturbed == 1 ? "is" : "are");
    if (worth->invalid > 0)
        snprintf(text, size, "Of %zu records %zu %s invalid%s%s", worth->all, worth->invalid,
            worth->invalid == 1 ? "is" : "are", *disturbed ? " and " : "", disturbed);
    else if (*disturbed)
        snprintf(text, size, "Of %zu records %s", worth->all, disturbed);
}

void ssreport_qualify(const struct ssreport_report *report, char *answer, size_t size) {
    struct ssreport_worth worth = ssreport_worth_of(report);
    const char *remedy =
        worth.can_leave_out ? "; --leave-out invalid answers without the invalid ones" : "";
    char caution[SS_VERDICT_TEXT + 200], given[1024];
    ssreport_worth_describe(&worth, caution, sizeof caution);
    if (!*caution || strstr(answer, caution + 1))
        return;
    snprintf(given, sizeof given, "%s", answer);
    if (ssreport_worth_is_nothing(&worth))
        snprintf(answer, size, "%s.", caution);
    else
        snprintf(answer, size, "%s%s. %s", caution, worth.invalid > 0 ? remedy : "", given);
}
