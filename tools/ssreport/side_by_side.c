/* SPDX-License-Identifier: Apache-2.0 */

/* Runs that a manifest says were side by side: what the one did to the other. */

#include <math.h>
#include <string.h>

#include "pairs.h"
#include "report.h"

// clang-format off
static const struct ssreport_column interference_columns[] = {
    {"environment", "environment"}, {"placement", "placement"}, {"foreground", "foreground"},
    {"background", "background"}, {"round", "round"},
    {"metric_percent", "interference, %", 2}, {"low_percent", "its confidence, from", 2},
    {"high_percent", "to", 2}, {"first_half_percent", "first half", 2},
    {"second_half_percent", "second half", 2}, {"angle_degrees", "angle, degrees", 2},
    {"agree", NULL}, {"significant", NULL},
    {"first_points", NULL}, {"first_intercept", NULL}, {"first_intercept_p", NULL},
    {"first_slope", NULL}, {"first_slope_p", NULL},
    {"second_points", NULL}, {"second_intercept", NULL}, {"second_intercept_p", NULL},
    {"second_slope", NULL}, {"second_slope_p", NULL},
    {"first_low_percent", NULL}, {"first_high_percent", NULL}, {"second_low_percent", NULL},
    {"second_high_percent", NULL}, {"measured_in", NULL}, {"others", "others, %", 1, true, true},
    {"note", "note"}, {"set", NULL},
};
static const struct ssreport_column published_columns[] = {
    {"environment", "environment"}, {"placement", "placement"}, {"foreground", "foreground"},
    {"background", "background"}, {"round", "round"},
    {"metric_percent", "here", 1},
    {"kvm_percent", "published, KVM", 1}, {"kvm_least", "of all pairs there, from", 1},
    {"kvm_most", "to", 1},
    {"lxc_percent", "published, LXC", 1}, {"lxc_least", "of all pairs there, from", 1},
    {"lxc_most", "to", 1}, {"set", NULL},
};
// clang-format on

static void add_fit(struct ssreport_sheet *sheet, const struct ssreport_fit *fit) {
    SSREPORT_NUMBERS(
        sheet, (double)fit->count, fit->intercept, fit->intercept_p, fit->slope, fit->slope_p);
}

static void add_interference(struct ssreport_sheet *sheet, const struct ssreport_pair *pair) {
    const struct ssreport_interference *result = &pair->interference;
    const struct ssreport_run *run = pair->foreground;
    SSREPORT_TEXTS(sheet, ssreport_run_environment(run), pair->placement, pair->program,
        pair->background_program);
    SSREPORT_NUMBERS(sheet, run->round > 0 ? run->round : NAN, result->metric, result->interval.low,
        result->interval.high, result->halves[0], result->halves[1], result->angle);
    SSREPORT_TEXTS(sheet, result->agree ? "yes" : "no", result->significant ? "yes" : "no");
    add_fit(sheet, &result->fits[0]);
    add_fit(sheet, &result->fits[1]);
    for (int i = 0; i < 2; i++)
        SSREPORT_NUMBERS(sheet, result->half_intervals[i].low, result->half_intervals[i].high);
    SSREPORT_TEXTS(sheet, run->measured_in);
    SSREPORT_NUMBERS(sheet, run->others);
    SSREPORT_TEXTS(sheet, ssreport_interference_missing(result));
    SSREPORT_NUMBERS(sheet, run->set + 1);
}

/*
 * Published figures of LXC stand beside what ran in it, those of KVM likewise, and both beside what
 * ran on the machine itself. What ran under emulation has none.
 */
static bool is_comparable(const struct ssreport_pair *pair, const char *published_in) {
    const char *environment = ssreport_run_environment(pair->foreground);
    return strcmp(environment, "none") == 0 || strcmp(environment, published_in) == 0;
}

/* What others have published of such a pair, and of all pairs in that placement. */
static void add_published(struct ssreport_report *report, const struct ssreport_pair *pair) {
    static const char *const tables[][2] = {
        {"kvm", "interference-kvm"}, {"lxc", "interference-lxc"}};
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_INTERFERENCE_PUBLISHED];
    const struct ssreport_run *run = pair->foreground;
    SSREPORT_TEXTS(sheet, ssreport_run_environment(run), pair->placement, pair->program,
        pair->background_program);
    SSREPORT_NUMBERS(sheet, run->round > 0 ? run->round : NAN, pair->interference.metric);
    for (size_t i = 0; i < 2; i++) {
        const char *placement = is_comparable(pair, tables[i][0]) ? run->placement : NULL;
        struct ssreport_range range = published_range(&report->published, tables[i][1], placement);
        const struct published_cell *cell = published_find(&report->published, tables[i][1],
            (const char *const[]){placement, run->workload}, pair->background->workload);
        SSREPORT_NUMBERS(sheet, published_number(cell), range.least, range.most);
    }
    SSREPORT_NUMBERS(sheet, run->set + 1);
}

int ssreport_report_interference(struct ssreport_report *report) {
    report->sheets[SSREPORT_INTERFERENCE] =
        SSREPORT_SHEET("interference", "All pairs", interference_columns);
    report->sheets[SSREPORT_INTERFERENCE_PUBLISHED] = SSREPORT_SHEET("interference-published",
        "Beside what others have published, in percent", published_columns);
    if (ssreport_pairs_find(report) < 0)
        return -1;
    for (size_t i = 0; i < report->pair_count; i++) {
        add_interference(&report->sheets[SSREPORT_INTERFERENCE], &report->pairs[i]);
        add_published(report, &report->pairs[i]);
    }
    ssreport_report_whole_system(report);
    return ssreport_report_findings(report);
}
