/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Targets that differ by less than this belong to one level. */
#define SAME_LEVEL 1e-4

/* Lengths of rounds that differ by at most this, in seconds, are the same. */
#define SAME_TAU 1e-6

static const char *shown(const char *text) {
    return text ? text : "-";
}

/* Returns the mean power in a step; NaN unless it was sampled for both sides together. */
static double watts_of(const struct ssreport_pair *pair, const struct ssreport_step *step) {
    const struct ssreport_run *run = pair->background;
    if (!run->energy.shared)
        return NAN;
    return ssreport_energy_between(
        &run->energy, run->record.wall + step->from, run->record.wall + step->to)
        .watts;
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
            .background = step->throughput,
            .watts = watts_of(pair, step)};
    }
}

/* Notes how many steps are excluded because they are too short or the foreground did not run. */
static void note_lost_steps(const struct ssreport_pair *pair) {
    struct ssreport_record *record = &pair->foreground->record;
    size_t lost = 0, short_ones = pair->background->steps.too_short;
    if (short_ones > 0)
        ssreport_notes_add(&record->notes,
            "%zu of the %zu steps of the background do not count: they are too short for three "
            "samples, or have none between the edges; hold steps longer",
            short_ones, short_ones + pair->count);
    for (size_t i = 0; i < pair->count; i++)
        lost += isnan(pair->steps[i].foreground);
    if (lost > 0 && record->has_iterations)
        ssreport_notes_add(&record->notes,
            "%zu of the %zu steps of the background do not count: the foreground did not run, or "
            "had no iteration",
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

/*
 * Returns the index of a program in this role, in the order in which programs occur. Searches the
 * pairs before `pair`.
 */
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
    if (!SS_GROW(report->pairs, report->pair_count + 1, report->pair_capacity))
        return -1;
    struct ssreport_pair *pair = &report->pairs[report->pair_count++];
    *pair = (struct ssreport_pair){.foreground = foreground,
        .background = background,
        .placement = shown(foreground->placement),
        .program = shown(foreground->workload),
        .background_program = shown(background->workload),
        .is_one_program = ssreport_is_word(foreground->workload, background->workload),
        .alone = {ssreport_isolation_of(report, foreground),
            ssreport_isolation_of(report, background)},
        .count = background->steps.count};
    bool from_host =
        ssreport_is_word(foreground->measured_in, "host") && !ssreport_run_is_on_host(foreground);
    char rounds[32] = "";
    if (fabs(background->tau - report->pairs->background->tau) > SAME_TAU)
        snprintf(rounds, sizeof rounds, ", %.6g ms", 1000 * background->tau);
    snprintf(pair->environment, sizeof pair->environment, "%.32s%s%s",
        ssreport_run_environment(foreground), from_host ? ", from the host" : "", rounds);
    pair->row = find_index(report, pair, SSREPORT_PAIR_FOREGROUND);
    pair->column = find_index(report, pair, SSREPORT_PAIR_BACKGROUND);
    pair->steps = calloc(pair->count + 1, sizeof *pair->steps);
    if (!pair->steps)
        return -1;
    set_steps(pair);
    note_lost_steps(pair);
    return set_interference(pair, report->settings.confidence);
}

/*
 * The order of pairs in all tables and pictures, independent of the order of runs. The host comes
 * first.
 */
static int compare_pairs(const void *left, const void *right) {
    const struct ssreport_pair *a = left, *b = right;
    bool a_on_host = ssreport_run_is_on_host(a->foreground);
    bool b_on_host = ssreport_run_is_on_host(b->foreground);
    return STATS_ORDER(a->foreground->set - b->foreground->set, b_on_host - a_on_host,
        strcmp(a->environment, b->environment), (a->row > b->row) - (a->row < b->row),
        (a->column > b->column) - (a->column < b->column), strcmp(a->placement, b->placement),
        ssreport_compare_numbers(a->foreground->round, b->foreground->round),
        (a->foreground > b->foreground) - (a->foreground < b->foreground));
}

int ssreport_pairs_find(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_run *run = &report->runs[i];
        if (!ssreport_is_word(run->role, "foreground"))
            continue;
        const struct ssreport_run *background = ssreport_report_beside(report, run, "background");
        if (!background)
            ssreport_notes_add(&run->record.notes,
                "the background of group '%s' is missing from this report",
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

static int compare_parts(
    const struct ssreport_pair *pair, const struct ssreport_pair *other, unsigned what) {
    return STATS_ORDER(pair->foreground->set - other->foreground->set,
        what & SSREPORT_PAIR_ENVIRONMENT ? strcmp(pair->environment, other->environment) : 0,
        what & SSREPORT_PAIR_PLACEMENT ? strcmp(pair->placement, other->placement) : 0,
        what & SSREPORT_PAIR_FOREGROUND ? strcmp(pair->program, other->program) : 0,
        what & SSREPORT_PAIR_BACKGROUND
            ? strcmp(pair->background_program, other->background_program)
            : 0,
        what & SSREPORT_PAIR_ROUND
            ? ssreport_compare_numbers(pair->foreground->round, other->foreground->round)
            : 0);
}

static int compare_like(const void *left, const void *right, void *what) {
    return compare_parts(left, right, *(unsigned *)what);
}

bool ssreport_pair_is_of_study(
    const struct ssreport_pair *pair, const struct ssreport_pair *other) {
    return ssreport_run_is_of_study(pair->foreground, other->foreground);
}

bool ssreport_pair_is_closer(const struct ssreport_pair *pair, const struct ssreport_pair *other,
    const struct ssreport_pair *found) {
    return ssreport_run_is_closer(
        pair->foreground, other->foreground, found ? found->foreground : NULL);
}

bool ssreport_pair_is_like(
    const struct ssreport_pair *pair, const struct ssreport_pair *other, unsigned what) {
    return compare_parts(pair, other, what) == 0;
}

struct stats_groups ssreport_pairs_group(const struct ssreport_report *report, unsigned what) {
    const struct stats_key key = {
        .size = sizeof *report->pairs, .compare = compare_like, .context = &what};
    return stats_group_by(report->pairs, report->pair_count, &key);
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
