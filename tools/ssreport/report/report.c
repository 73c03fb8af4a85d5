/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group_by.h"

/* Two sides that should start together may start this many seconds apart. */
#define APART 0.02

/* Tolerance for numbers, which manifests contain with ten digits. */
#define SAME_NUMBER 1e-9

/* Tolerance for shares, which manifests contain with three decimals. */
#define SAME_SHARE 1e-6

struct table_sheet *ssreport_table(const struct ssreport_report *report, const char *name) {
    for (size_t i = 0; i < report->table_count; i++) {
        if (strcmp(report->tables[i].name, name) == 0)
            return &report->tables[i];
    }
    fprintf(stderr, "ssreport: BUG: no topic has a table '%s'\n", name);
    abort();
}

const char *ssreport_report_set_name(const struct ssreport_report *report, int set) {
    static const char *const numbers[] = {"first set", "second set"};
    return *report->names[set] ? report->names[set] : numbers[set];
}

/* Shortens the prefix to the leading folders that it has in common with this path. */
static void share_prefix(struct ssreport_report *report, const char *path) {
    if (*path != '/')
        return;
    size_t length = 0;
    if (!report->prefix)
        report->prefix = strdup(path);
    if (!report->prefix)
        return;
    for (size_t i = 0; report->prefix[i] && report->prefix[i] == path[i]; i++)
        length = path[i] == '/' && path[i + 1] ? i + 1 : length;
    report->prefix[length] = '\0';
}

static const char *without_prefix(const struct ssreport_report *report, const char *path) {
    size_t length = report->prefix ? strlen(report->prefix) : 0;
    return length > 0 && strncmp(path, report->prefix, length) == 0 ? path + length : path;
}

void ssreport_report_choose_titles(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++)
        share_prefix(report, report->runs[i].record.name);
    for (size_t i = 0; i < report->response_count; i++)
        share_prefix(report, report->responses[i].name);
    for (size_t i = 0; i < report->run_count; i++)
        report->runs[i].record.title = without_prefix(report, report->runs[i].record.name);
    for (size_t i = 0; i < report->response_count; i++)
        report->responses[i].title = without_prefix(report, report->responses[i].name);
}

bool ssreport_is_word(const char *left, const char *right) {
    return left && right && strcmp(left, right) == 0;
}

bool ssreport_is_same(const char *left, const char *right) {
    return left && right ? strcmp(left, right) == 0 : left == right;
}

int ssreport_compare_words(const char *left, const char *right) {
    return strcmp(left ? left : "", right ? right : "");
}

int ssreport_compare_numbers(double left, double right) {
    if (isnan(left) || isnan(right))
        return !isnan(left) - !isnan(right);
    return (left > right + SAME_NUMBER) - (left < right - SAME_NUMBER);
}

int ssreport_compare_levels(
    const struct ssreport_responses *one, const struct ssreport_responses *other) {
    return STATS_ORDER(ssreport_compare_words(one->knobs, other->knobs),
        ssreport_compare_words(one->balance, other->balance),
        ssreport_compare_numbers(one->cap, other->cap),
        ssreport_compare_words(one->method, other->method),
        ssreport_compare_numbers(one->target, other->target),
        ssreport_compare_numbers(one->tau, other->tau));
}

bool ssreport_run_is_launch(const struct ssreport_run *run) {
    return ssreport_is_word(run->experiment, "duet") &&
           strcmp(ssreport_columns_get(&run->columns, "metric"), "time") == 0;
}

bool ssreport_run_is_of_study(const struct ssreport_run *run, const struct ssreport_run *other) {
    return other->manifest == run->manifest;
}

bool ssreport_run_is_closer(const struct ssreport_run *run, const struct ssreport_run *other,
    const struct ssreport_run *found) {
    return !found ||
           (ssreport_run_is_of_study(run, other) && !ssreport_run_is_of_study(run, found));
}

const struct ssreport_run *ssreport_report_beside(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *role) {
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *other = &report->runs[i];
        if (ssreport_is_word(other->role, role) && other->set == run->set &&
            ssreport_run_is_of_study(run, other) && ssreport_is_word(other->group, run->group) &&
            strcmp(ssreport_run_environment(other), ssreport_run_environment(run)) == 0 &&
            ssreport_is_same(other->placement, run->placement))
            return other;
    }
    return NULL;
}

double ssreport_report_throughput_beside(const struct ssreport_run *foreground,
    const struct ssreport_run *background, double from, double to) {
    const struct ssreport_record *record = &foreground->record;
    double shift = background->record.wall - record->wall;
    from = ssreport_record_elapsed(&background->record, from) + shift;
    to = ssreport_record_elapsed(&background->record, to) + shift;
    from = ssreport_record_run_time(record, from);
    to = ssreport_record_run_time(record, to);
    if (!(from >= -APART) || !(to <= ssreport_record_end(record) + 1) || !(to <= record->first_end))
        return NAN;
    return ssreport_steps_throughput(record, from, to);
}

bool ssreport_others_disturb(double others) {
    return others > SSREPORT_OTHERS_MAX + SAME_SHARE;
}

bool ssreport_others_permit(double one, double other) {
    return !(fabs(one - other) > SSREPORT_OTHERS_DIFFERENCE_MAX + SAME_SHARE);
}
