/* SPDX-License-Identifier: Apache-2.0 */
#include "placement_crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"

#define LIKE (SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS)

/* Minimum number of steps for a line with a confidence interval. */
#define STEPS_MIN 3

/* Fewer rounds than this do not show their scatter. */
#define ROUNDS_MIN 3

/* ---- common steps ---- */

static bool is_known(const struct ssreport_pair_step *step) {
    return step && isfinite(step->load) && isfinite(step->foreground);
}

/*
 * Returns whether a pair has enough steps. Only steps that all placements have are compared, so a
 * placement with few steps would exclude the steps of the others.
 */
static bool says_enough(const struct ssreport_pair *pair) {
    size_t known = 0;
    for (size_t i = 0; i < pair->count; i++)
        known += is_known(&pair->steps[i]);
    return known >= STEPS_MIN;
}

static void find_names(struct ssreport_placements *placements, const struct ssreport_report *report,
    const struct ssreport_pair *pair) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        bool known = !ssreport_pair_is_like(pair, other, LIKE) || !says_enough(other);
        for (size_t j = 0; j < placements->count; j++)
            known |= strcmp(placements->names[j], other->placement) == 0;
        if (!known && placements->count < SSREPORT_PLACEMENTS_MAX)
            placements->names[placements->count++] = other->placement;
    }
}

/* Returns the pair with this placement in the round of `pair`; NULL if there is none. */
static const struct ssreport_pair *find_pair(
    const struct ssreport_report *report, const struct ssreport_pair *pair, const char *placement) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (ssreport_pair_is_like(pair, other, LIKE | SSREPORT_PAIR_ROUND) &&
            strcmp(other->placement, placement) == 0)
            return other;
    }
    return NULL;
}

/* Adds a step of the first placement if all other placements have it in the same round. */
static void add_step(struct ssreport_placements *placements,
    const struct ssreport_pair *const *pairs, const struct ssreport_pair_step *step) {
    size_t at = placements->steps;
    double loads = 0;
    for (size_t i = 0; i < placements->count; i++) {
        const struct ssreport_pair_step *same =
            pairs[i] ? ssreport_pair_step_like(pairs[i], step) : NULL;
        if (!is_known(same) ||
            !ssreport_others_permit(pairs[0]->foreground->others, pairs[i]->foreground->others))
            return;
        loads += same->load;
        placements->throughputs[i][at] = same->foreground;
    }
    placements->loads[at] = loads / (double)placements->count;
    placements->rounds[at] = pairs[0]->foreground->round;
    placements->steps++;
}

static int find_steps(struct ssreport_placements *placements, const struct ssreport_report *report,
    const struct ssreport_pair *pair) {
    size_t room = 0;
    for (size_t i = 0; i < report->pair_count; i++)
        room += ssreport_pair_is_like(pair, &report->pairs[i], LIKE) ? report->pairs[i].count : 0;
    placements->loads = calloc((placements->count + 2) * (room + 1), sizeof(double));
    if (!placements->loads)
        return -1;
    placements->rounds = placements->loads + (placements->count + 1) * (room + 1);
    for (size_t i = 0; i < placements->count; i++)
        placements->throughputs[i] = placements->loads + (i + 1) * (room + 1);
    for (size_t i = 0; placements->count > 0 && i < report->pair_count; i++) {
        const struct ssreport_pair *first = &report->pairs[i];
        if (!ssreport_pair_is_like(pair, first, LIKE) ||
            strcmp(first->placement, placements->names[0]) != 0)
            continue;
        const struct ssreport_pair *pairs[SSREPORT_PLACEMENTS_MAX];
        for (size_t j = 0; j < placements->count; j++)
            pairs[j] = find_pair(report, first, placements->names[j]);
        for (size_t j = 0; j < first->count; j++)
            add_step(placements, pairs, &first->steps[j]);
    }
    return 0;
}

/* ---- the best placement ---- */

/*
 * Returns the line through the differences of two placements; all members are NaN if memory is
 * exhausted.
 */
static struct ssreport_fit fit_difference(
    const struct ssreport_placements *placements, size_t more, size_t less) {
    double *differences = calloc(placements->steps + 1, sizeof *differences);
    for (size_t i = 0; differences && i < placements->steps; i++)
        differences[i] = placements->throughputs[more][i] - placements->throughputs[less][i];
    struct ssreport_fit fit =
        ssreport_fit_line(placements->loads, differences, differences ? placements->steps : 0);
    free(differences);
    return fit;
}

static int compare_rounds(const void *left, const void *right, void *context) {
    (void)context;
    return ssreport_compare_numbers(*(const double *)left, *(const double *)right);
}

/*
 * Returns the advantage of the best placement over the second best, from the means of rounds,
 * because the errors of the steps of a round are correlated. NaN without enough rounds or if memory
 * is exhausted.
 */
static struct ssreport_mean weigh_rounds(
    const struct ssreport_placements *placements, double confidence) {
    const struct stats_key key = {.size = sizeof(double), .compare = compare_rounds};
    SS_OWNED(groups)
    struct stats_groups rounds = stats_group_by(placements->rounds, placements->steps, &key);
    SS_OWNED(free) double *means = calloc(placements->steps + 1, sizeof *means);
    bool enough = means && rounds.count >= ROUNDS_MIN;
    for (size_t round = 0; enough && round < rounds.count; round++) {
        double sum = 0;
        size_t count = 0;
        for (size_t i = rounds.first[round]; i < rounds.items; i = rounds.next[i], count++)
            sum += placements->throughputs[placements->best][i] -
                   placements->throughputs[placements->second][i];
        means[round] = sum / (double)count;
    }
    return ssreport_mean_of(means, enough ? rounds.count : 0, confidence);
}

static void find_best(struct ssreport_placements *placements, double confidence) {
    double load = 0;
    placements->least_load = INFINITY;
    placements->most_load = -INFINITY;
    for (size_t i = 0; i < placements->steps; i++) {
        load += placements->loads[i] / (double)placements->steps;
        placements->least_load = fmin(placements->least_load, placements->loads[i]);
        placements->most_load = fmax(placements->most_load, placements->loads[i]);
    }
    for (size_t i = 0; i < placements->count; i++) {
        for (size_t j = 0; j < placements->steps; j++)
            placements->means[i] += placements->throughputs[i][j] / (double)placements->steps;
        if (placements->means[i] > placements->means[placements->best])
            placements->best = i;
    }
    placements->second = placements->best == 0 ? 1 : 0;
    for (size_t i = 0; i < placements->count; i++) {
        if (i != placements->best && placements->means[i] > placements->means[placements->second])
            placements->second = i;
    }
    struct ssreport_fit fit = fit_difference(placements, placements->best, placements->second);
    struct ssreport_band band = ssreport_fit_at(&fit, load, confidence);
    struct ssreport_mean rounds = weigh_rounds(placements, confidence);
    if (rounds.high - rounds.low > band.high - band.low) {
        band = (struct ssreport_band){rounds.mean, rounds.low, rounds.high};
        placements->by_rounds = rounds.count;
    }
    double whole = placements->means[placements->second];
    placements->advantage = band.y / whole;
    placements->interval = (struct ssreport_interval){band.low / whole, band.high / whole};
    placements->is_clear = band.low > 0 && whole > 0;
}

/* ---- crossings ---- */

/* Returns the root of a line, -intercept / slope, with Fieller's interval. */
static struct ssreport_interval find_root(const struct ssreport_fit *fit, double confidence) {
    struct ssreport_fit turned = *fit;
    turned.intercept = fit->slope;
    turned.slope = fit->intercept;
    turned.covariance[0] = fit->covariance[2];
    turned.covariance[2] = fit->covariance[0];
    struct ssreport_interval ratio =
        ssreport_fit_ratio(&turned, confidence, (double)fit->count - 2);
    return (struct ssreport_interval){-ratio.high, -ratio.low};
}

static size_t find_best_at(const struct ssreport_fit *lines, size_t count, double load) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        double more = lines[i].intercept - lines[best].intercept +
                      (lines[i].slope - lines[best].slope) * load;
        if (more > 0)
            best = i;
    }
    return best;
}

/*
 * Finds the changes of the best placement, starting at the least load. Each change is at the next
 * crossing with a line of larger slope.
 */
static void find_changes(struct ssreport_placements *placements, double confidence) {
    struct ssreport_fit lines[SSREPORT_PLACEMENTS_MAX];
    for (size_t i = 0; i < placements->count; i++)
        lines[i] =
            ssreport_fit_line(placements->loads, placements->throughputs[i], placements->steps);
    double load = placements->least_load;
    size_t best = find_best_at(lines, placements->count, load);
    while (placements->change_count < placements->count) {
        size_t next = best;
        double nearest = placements->most_load;
        for (size_t i = 0; i < placements->count; i++) {
            double at =
                (lines[best].intercept - lines[i].intercept) / (lines[i].slope - lines[best].slope);
            if (!(lines[i].slope > lines[best].slope) || !(at >= load) || !(at < nearest))
                continue;
            nearest = at;
            next = i;
        }
        if (next == best)
            return;
        struct ssreport_fit difference = fit_difference(placements, next, best);
        struct ssreport_interval interval = find_root(&difference, confidence);
        placements->changes[placements->change_count++] = (struct ssreport_change){.below = best,
            .above = next,
            .load = nearest,
            .interval = interval,
            .is_clear =
                interval.low > placements->least_load && interval.high < placements->most_load};
        best = next;
        load = nearest;
    }
}

int ssreport_placements_compare(struct ssreport_placements *placements,
    const struct ssreport_report *report, const struct ssreport_pair *pair) {
    *placements = (struct ssreport_placements){.pair = pair};
    find_names(placements, report, pair);
    if (find_steps(placements, report, pair) < 0)
        return -1;
    if (placements->count < 2 || placements->steps < STEPS_MIN)
        return 0;
    find_best(placements, report->settings.confidence);
    find_changes(placements, report->settings.confidence);
    return 0;
}

void ssreport_placements_free(struct ssreport_placements *placements) {
    free(placements->loads);
    *placements = (struct ssreport_placements){0};
}
