/* SPDX-License-Identifier: Apache-2.0 */

/* Runs that a manifest says were side by side: what the one did to the other. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interference.h"
#include "report.h"

/* Seconds by which two begin apart that are to begin at one time. */
#define APART 0.02

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
    {"second_high_percent", NULL}, {"measured_in", NULL}, {"note", "note"}, {"set", NULL},
};
static const struct ssreport_column whole_columns[] = {
    {"placement", "placement"}, {"workload", "workload on both sides"}, {"steps", "steps"},
    {"iterations_per_second", "iterations per s, both", 4},
    {"relative_to_per_chip", "relative to per-chip", 4},
};
static const struct ssreport_column published_columns[] = {
    {"placement", "placement"}, {"foreground", "foreground"}, {"background", "background"},
    {"metric_percent", "here", 1},
    {"kvm_percent", "published, KVM", 1}, {"kvm_least", "of all pairs there, from", 1},
    {"kvm_most", "to", 1},
    {"lxc_percent", "published, LXC", 1}, {"lxc_least", "of all pairs there, from", 1},
    {"lxc_most", "to", 1},
};
// clang-format on

bool ssreport_is_word(const char *left, const char *right) {
    return left && right && strcmp(left, right) == 0;
}

bool ssreport_is_same(const char *left, const char *right) {
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static const char *shown(const char *text) {
    return text ? text : "-";
}

const struct ssreport_run *ssreport_report_beside(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *role) {
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *other = &report->runs[i];
        if (ssreport_is_word(other->role, role) && other->set == run->set &&
            other->manifest == run->manifest && ssreport_is_word(other->group, run->group) &&
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

static void add_fit(struct ssreport_sheet *sheet, const struct ssreport_fit *fit) {
    SSREPORT_NUMBERS(
        sheet, (double)fit->count, fit->intercept, fit->intercept_p, fit->slope, fit->slope_p);
}

static void add_interference(struct ssreport_sheet *sheet, const struct ssreport_run *foreground,
    const struct ssreport_run *background, const struct ssreport_interference *result) {
    SSREPORT_TEXTS(sheet, ssreport_run_environment(foreground), shown(foreground->placement),
        shown(foreground->workload), shown(background->workload));
    SSREPORT_NUMBERS(sheet, foreground->round > 0 ? foreground->round : NAN, result->metric,
        result->interval.low, result->interval.high, result->halves[0], result->halves[1],
        result->angle);
    SSREPORT_TEXTS(sheet, result->agree ? "yes" : "no", result->significant ? "yes" : "no");
    add_fit(sheet, &result->fits[0]);
    add_fit(sheet, &result->fits[1]);
    for (int i = 0; i < 2; i++)
        SSREPORT_NUMBERS(sheet, result->half_intervals[i].low, result->half_intervals[i].high);
    SSREPORT_TEXTS(sheet, foreground->measured_in, ssreport_interference_missing(result));
    SSREPORT_NUMBERS(sheet, foreground->set + 1);
}

/* Of both sides together, where they run the same program; `points` are of the foreground. */
static void add_whole_system(struct ssreport_sheet *sheet, const struct ssreport_run *foreground,
    const struct ssreport_run *background, const struct ssreport_point *points) {
    double sum = 0;
    size_t count = 0;
    if (!ssreport_is_word(foreground->workload, background->workload))
        return;
    for (size_t i = 0; i < background->steps.count; i++) {
        double both = points[i].throughput + background->steps.items[i].throughput;
        sum += isfinite(both) ? both : 0;
        count += isfinite(both);
    }
    SSREPORT_TEXTS(sheet, shown(foreground->placement), shown(foreground->workload));
    SSREPORT_NUMBERS(sheet, (double)count, sum / (double)count, NAN);
}

/* Fills in the last column, once all are known. */
static void relate_to_per_chip(struct ssreport_sheet *sheet) {
    size_t rows = ssreport_sheet_rows(sheet);
    for (size_t i = 0; i < rows; i++) {
        struct ssreport_cell *row = &sheet->cells[i * sheet->column_count];
        for (size_t j = 0; j < rows; j++) {
            const struct ssreport_cell *other = &sheet->cells[j * sheet->column_count];
            if (ssreport_is_word(other[0].text, "per-chip") &&
                ssreport_is_word(other[1].text, row[1].text))
                row[4].number = row[3].number / other[3].number;
        }
    }
}

/* What others have published of such a pair, and of all pairs in that placement. */
static void add_published(struct ssreport_report *report, const struct ssreport_run *foreground,
    const struct ssreport_run *background, double metric) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_INTERFERENCE_PUBLISHED];
    SSREPORT_TEXTS(sheet, shown(foreground->placement), shown(foreground->workload),
        shown(background->workload));
    SSREPORT_NUMBERS(sheet, metric);
    for (int table = SSREPORT_PUBLISHED_KVM; table <= SSREPORT_PUBLISHED_LXC; table++) {
        struct ssreport_range range =
            ssreport_published_range(&report->published, table, foreground->placement);
        SSREPORT_NUMBERS(sheet,
            ssreport_published_number(&report->published, table, foreground->placement,
                foreground->workload, background->workload),
            range.least, range.most);
    }
}

/* How many steps say nothing: too short, or the foreground had not begun or was at its end. */
static void note_lost_steps(struct ssreport_run *foreground, const struct ssreport_run *background,
    const struct ssreport_point *points) {
    size_t lost = 0, count = background->steps.count;
    if (background->steps.too_short > 0)
        ssreport_notes_add(&foreground->record.notes,
            "%zu of the %zu steps of its background do not count, too short for three samples and "
            "one between the edges: hold them longer",
            background->steps.too_short, background->steps.too_short + count);
    for (size_t i = 0; i < count; i++)
        lost += isnan(points[i].throughput);
    if (lost > 0 && foreground->record.has_iterations)
        ssreport_notes_add(&foreground->record.notes,
            "it did not run in %zu of the %zu steps of its background, which do not count", lost,
            count);
}

static int add_pair(struct ssreport_report *report, struct ssreport_run *foreground,
    const struct ssreport_run *background) {
    size_t count = background->steps.count;
    struct ssreport_interference result;
    struct ssreport_point *points = calloc(count + 1, sizeof *points);
    if (!points)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct ssreport_step *step = &background->steps.items[i];
        points[i] = (struct ssreport_point){.load = step->load.mean,
            .throughput =
                ssreport_report_throughput_beside(foreground, background, step->from, step->to),
            .half = step->half};
    }
    note_lost_steps(foreground, background, points);
    int status = ssreport_interference_of(points, count, report->settings.confidence, &result);
    if (status == 0) {
        add_interference(&report->sheets[SSREPORT_INTERFERENCE], foreground, background, &result);
        add_whole_system(&report->sheets[SSREPORT_WHOLE_SYSTEM], foreground, background, points);
        add_published(report, foreground, background, result.metric);
    }
    free(points);
    return status;
}

int ssreport_report_interference(struct ssreport_report *report) {
    report->sheets[SSREPORT_INTERFERENCE] =
        SSREPORT_SHEET("interference", "All pairs", interference_columns);
    report->sheets[SSREPORT_WHOLE_SYSTEM] =
        SSREPORT_SHEET("whole-system", "Throughput of both sides together", whole_columns);
    report->sheets[SSREPORT_INTERFERENCE_PUBLISHED] = SSREPORT_SHEET("interference-published",
        "Beside what others have published, in percent", published_columns);
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_run *run = &report->runs[i];
        if (!ssreport_is_word(run->role, "foreground"))
            continue;
        const struct ssreport_run *background = ssreport_report_beside(report, run, "background");
        if (!background)
            ssreport_notes_add(&run->record.notes, "no background of group '%s' is reported",
                run->group ? run->group : "");
        else if (add_pair(report, run, background) < 0)
            return -1;
    }
    relate_to_per_chip(&report->sheets[SSREPORT_WHOLE_SYSTEM]);
    return 0;
}
