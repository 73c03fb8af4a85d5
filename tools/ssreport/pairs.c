/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "report.h"

/* Seconds between the starts of two sides that were to start at the same time, at most. */
#define APART 0.02

/* Two targets that differ by less are one level. */
#define SAME_LEVEL 1e-4

bool ssreport_is_word(const char *left, const char *right) {
    return left && right && strcmp(left, right) == 0;
}

bool ssreport_is_same(const char *left, const char *right) {
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* ---- which there are ---- */

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

static const char *shown(const char *text) {
    return text ? text : "-";
}

static void set_steps(struct ssreport_pair *pair) {
    for (size_t i = 0; i < pair->count; i++) {
        const struct ssreport_step *step = &pair->background->steps.items[i];
        struct ssreport_pair_step *own = &pair->steps[i];
        *own = (struct ssreport_pair_step){.target = step->target,
            .load = step->load.mean,
            .half = step->half,
            .occurrence = ssreport_steps_occurrence(&pair->background->steps, i),
            .foreground = ssreport_report_throughput_beside(
                pair->foreground, pair->background, step->from, step->to),
            .background = step->throughput};
    }
}

/* Notes how many steps are excluded: too short, or the foreground had not begun or had ended. */
static void note_lost_steps(const struct ssreport_pair *pair) {
    struct ssreport_record *record = &pair->foreground->record;
    size_t lost = 0, short_ones = pair->background->steps.too_short;
    if (short_ones > 0)
        ssreport_notes_add(&record->notes,
            "%zu of the %zu steps of its background do not count, too short for three samples and "
            "one between the edges: hold them longer",
            short_ones, short_ones + pair->count);
    for (size_t i = 0; i < pair->count; i++)
        lost += isnan(pair->steps[i].foreground);
    if (lost > 0 && record->has_iterations)
        ssreport_notes_add(&record->notes,
            "it did not run, or had no iteration, in %zu of the %zu steps of its background, which "
            "do not count",
            lost, pair->count);
}

static int set_interference(struct ssreport_pair *pair, double confidence) {
    struct ssreport_point *points = calloc(pair->count + 1, sizeof *points);
    if (!points)
        return -1;
    for (size_t i = 0; i < pair->count; i++)
        points[i] = (struct ssreport_point){.load = pair->steps[i].load,
            .throughput = pair->steps[i].foreground,
            .half = pair->steps[i].half};
    int status = ssreport_interference_of(points, pair->count, confidence, &pair->interference);
    free(points);
    return status;
}

/* Programs are numbered in the order in which they occur; `pair` is the last pair so far. */
static size_t find_index(
    const struct ssreport_report *report, const struct ssreport_pair *pair, unsigned role) {
    size_t next = 0;
    for (const struct ssreport_pair *other = report->pairs; other < pair; other++) {
        size_t index = role == SSREPORT_PAIR_FOREGROUND ? other->row : other->column;
        if (ssreport_pair_is_like(pair, other, role))
            return index;
        if (other->foreground->set == pair->foreground->set && index >= next)
            next = index + 1;
    }
    return next;
}

static int add_pair(struct ssreport_report *report, struct ssreport_run *foreground,
    const struct ssreport_run *background) {
    if (!ssreport_csv_make_room((void **)&report->pairs, report->pair_count, &report->pair_capacity,
            sizeof *report->pairs))
        return -1;
    struct ssreport_pair *pair = &report->pairs[report->pair_count++];
    *pair = (struct ssreport_pair){.foreground = foreground,
        .background = background,
        .placement = shown(foreground->placement),
        .program = shown(foreground->workload),
        .background_program = shown(background->workload),
        .count = background->steps.count};
    bool on_host = ssreport_is_word(foreground->measured_in, "host");
    snprintf(pair->environment, sizeof pair->environment, "%.40s%s",
        ssreport_run_environment(foreground), on_host ? ", from the host" : "");
    pair->row = find_index(report, pair, SSREPORT_PAIR_FOREGROUND);
    pair->column = find_index(report, pair, SSREPORT_PAIR_BACKGROUND);
    pair->steps = calloc(pair->count + 1, sizeof *pair->steps);
    if (!pair->steps)
        return -1;
    set_steps(pair);
    note_lost_steps(pair);
    return set_interference(pair, report->settings.confidence);
}

/* All tables and pictures have the same order, whatever the order of the runs was; none comes
 * first. */
static int compare_pairs(const void *left, const void *right) {
    const struct ssreport_pair *a = left, *b = right;
    bool a_is_none = strcmp(a->environment, "none") == 0;
    bool b_is_none = strcmp(b->environment, "none") == 0;
    if (a->foreground->set != b->foreground->set)
        return a->foreground->set - b->foreground->set;
    int order =
        a_is_none || b_is_none ? b_is_none - a_is_none : strcmp(a->environment, b->environment);
    if (order == 0)
        order = (a->row > b->row) - (a->row < b->row);
    if (order == 0)
        order = (a->column > b->column) - (a->column < b->column);
    if (order == 0)
        order = strcmp(a->placement, b->placement);
    if (order == 0)
        order = (a->foreground->round > b->foreground->round) -
                (a->foreground->round < b->foreground->round);
    return order != 0 ? order : (a->foreground > b->foreground) - (a->foreground < b->foreground);
}

int ssreport_pairs_find(struct ssreport_report *report) {
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
    if (report->pair_count > 0)
        qsort(report->pairs, report->pair_count, sizeof *report->pairs, compare_pairs);
    return 0;
}

void ssreport_pairs_free(struct ssreport_report *report) {
    for (size_t i = 0; i < report->pair_count; i++)
        free(report->pairs[i].steps);
    free(report->pairs);
    report->pairs = NULL;
    report->pair_count = report->pair_capacity = 0;
}

/* ---- which belong together ---- */

bool ssreport_pair_is_like(
    const struct ssreport_pair *pair, const struct ssreport_pair *other, unsigned what) {
    const struct {
        unsigned what;
        const char *left, *right;
    } words[] = {{SSREPORT_PAIR_ENVIRONMENT, pair->environment, other->environment},
        {SSREPORT_PAIR_PLACEMENT, pair->placement, other->placement},
        {SSREPORT_PAIR_FOREGROUND, pair->program, other->program},
        {SSREPORT_PAIR_BACKGROUND, pair->background_program, other->background_program}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (what & words[i].what && strcmp(words[i].left, words[i].right) != 0)
            return false;
    }
    return pair->foreground->set == other->foreground->set &&
           (!(what & SSREPORT_PAIR_ROUND) || pair->foreground->round == other->foreground->round);
}

bool ssreport_pair_is_first(const struct ssreport_report *report, size_t pair, unsigned what) {
    for (size_t i = 0; i < pair; i++) {
        if (ssreport_pair_is_like(&report->pairs[i], &report->pairs[pair], what))
            return false;
    }
    return true;
}

const struct ssreport_pair_step *ssreport_pair_step_like(
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step) {
    for (size_t i = 0; i < pair->count; i++) {
        const struct ssreport_pair_step *own = &pair->steps[i];
        if (own->half == step->half && own->occurrence == step->occurrence &&
            fabs(own->target - step->target) < SAME_LEVEL)
            return own;
    }
    return NULL;
}

bool ssreport_pair_is_emulated(const struct ssreport_pair *pair) {
    return strcmp(ssreport_run_environment(pair->foreground), "tcg") == 0;
}
