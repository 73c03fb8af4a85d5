/* SPDX-License-Identifier: Apache-2.0 */
#include "placement_crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"

#define LIKE (SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS)

/* Minimum number of steps for a line with a confidence interval. */
#define STEPS_MIN 3

/* Minimum number of rounds for an interval from their means. */
#define ROUNDS_MIN 3

/* The number of intervals into which the loads are divided to find crossings of curves. */
#define GRID 200

/* The number of bisections that find a crossing within such an interval. */
#define HALVINGS 50

static bool is_known(const struct ssreport_placements *placements, const struct ssreport_pair *pair,
    const struct ssreport_pair_step *step) {
    return step && isfinite(step->load) &&
           isfinite(ssreport_measure_of(pair, step, placements->measure));
}

/*
 * Returns whether a pair has enough steps. Only steps that all placements have are compared, so a
 * placement with few steps would exclude steps of the others.
 */
static bool says_enough(
    const struct ssreport_placements *placements, const struct ssreport_pair *pair) {
    size_t known = 0;
    for (size_t i = 0; i < pair->count; i++)
        known += is_known(placements, pair, &pair->steps[i]);
    return known >= STEPS_MIN;
}

static void find_names(struct ssreport_placements *placements, const struct ssreport_report *report,
    const struct ssreport_pair *pair) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        bool known = !ssreport_pair_is_like(pair, other, LIKE) || !says_enough(placements, other);
        for (size_t j = 0; j < placements->count; j++)
            known |= strcmp(placements->placed[j].name, other->placement) == 0;
        if (!known && placements->count < SSREPORT_PLACEMENTS_MAX)
            placements->placed[placements->count++].name = other->placement;
    }
}

/*
 * Returns the pair with this placement in the round of `pair`, of the same study if that has one;
 * NULL if absent.
 */
static const struct ssreport_pair *find_pair(
    const struct ssreport_report *report, const struct ssreport_pair *pair, const char *placement) {
    const struct ssreport_pair *found = NULL;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (ssreport_pair_is_like(pair, other, LIKE | SSREPORT_PAIR_ROUND) &&
            strcmp(other->placement, placement) == 0 && ssreport_pair_is_closer(pair, other, found))
            found = other;
        if (found && ssreport_pair_is_of_study(pair, found))
            break;
    }
    return found;
}

/* Moves the last step forward, so that steps are ordered by load. */
static void sort_last(struct ssreport_placements *placements) {
    for (size_t i = placements->steps - 1; i > 0 && placements->loads[i] < placements->loads[i - 1];
         i--) {
        double *arrays[3 * SSREPORT_PLACEMENTS_MAX + 2] = {placements->loads, placements->rounds};
        size_t count = 2;
        for (size_t j = 0; j < placements->count; j++) {
            arrays[count++] = placements->placed[j].values;
            arrays[count++] = placements->placed[j].foreground;
            arrays[count++] = placements->placed[j].background;
        }
        for (size_t j = 0; j < count; j++) {
            double moved = arrays[j][i];
            arrays[j][i] = arrays[j][i - 1];
            arrays[j][i - 1] = moved;
        }
    }
}

/* Adds a step of the first placement if all other placements have it in the same round. */
static void add_step(struct ssreport_placements *placements,
    const struct ssreport_pair *const *pairs, const struct ssreport_pair_step *step) {
    size_t at = placements->steps;
    double loads = 0;
    for (size_t i = 0; i < placements->count; i++) {
        const struct ssreport_pair_step *same =
            pairs[i] ? ssreport_pair_step_like(pairs[i], step) : NULL;
        if (!is_known(placements, pairs[i], same) ||
            !ssreport_others_permit(pairs[0]->foreground->others, pairs[i]->foreground->others))
            return;
        loads += same->load;
        struct ssreport_placed *placed = &placements->placed[i];
        struct ssreport_parts parts = ssreport_measure_parts(pairs[i], same, placements->measure);
        placed->foreground[at] = parts.foreground;
        placed->background[at] = parts.background;
        placed->values[at] = parts.foreground + parts.background;
    }
    placements->loads[at] = loads / (double)placements->count;
    placements->rounds[at] = pairs[0]->foreground->round;
    placements->steps++;
    sort_last(placements);
}

static int make_room(struct ssreport_placements *placements, size_t steps) {
    size_t arrays = 3 + 3 * placements->count;
    double *next = calloc(arrays * (steps + 1), sizeof *next);
    if (!next)
        return -1;
    placements->loads = next;
    placements->rounds = next += steps + 1;
    placements->weights = next += steps + 1;
    for (size_t i = 0; i < placements->count; i++) {
        placements->placed[i].values = next += steps + 1;
        placements->placed[i].foreground = next += steps + 1;
        placements->placed[i].background = next += steps + 1;
    }
    return 0;
}

static int find_steps(struct ssreport_placements *placements, const struct ssreport_report *report,
    const struct ssreport_pair *pair) {
    size_t room = 0;
    for (size_t i = 0; i < report->pair_count; i++)
        room += ssreport_pair_is_like(pair, &report->pairs[i], LIKE) ? report->pairs[i].count : 0;
    if (make_room(placements, room) < 0)
        return -1;
    for (size_t i = 0; placements->count > 0 && i < report->pair_count; i++) {
        const struct ssreport_pair *first = &report->pairs[i];
        if (!ssreport_pair_is_like(pair, first, LIKE) ||
            strcmp(first->placement, placements->placed[0].name) != 0)
            continue;
        const struct ssreport_pair *pairs[SSREPORT_PLACEMENTS_MAX];
        for (size_t j = 0; j < placements->count; j++)
            pairs[j] = find_pair(report, first, placements->placed[j].name);
        for (size_t j = 0; j < first->count; j++)
            add_step(placements, pairs, &first->steps[j]);
    }
    return 0;
}

/*
 * Fits a curve through the differences of two placements, with the common bandwidth or, if
 * `chooses`, with one chosen for these differences.
 */
static int fit_difference(struct ssreport_curve *curve,
    const struct ssreport_placements *placements, size_t more, size_t less, bool chooses) {
    SS_OWNED(free) double *differences = calloc(placements->steps + 1, sizeof *differences);
    *curve = (struct ssreport_curve){0};
    if (!differences)
        return -1;
    for (size_t i = 0; i < placements->steps; i++)
        differences[i] = placements->placed[more].values[i] - placements->placed[less].values[i];
    if (chooses)
        return ssreport_curve_fit(curve, placements->loads, differences, placements->steps);
    return ssreport_curve_fit_with(
        curve, placements->loads, differences, placements->steps, placements->bandwidth);
}

/*
 * Sets the common bandwidth: the smallest that is chosen for a placement's difference from the
 * first placement.
 */
static int choose_bandwidth(struct ssreport_placements *placements) {
    placements->bandwidth = INFINITY;
    for (size_t i = 1; i < placements->count; i++) {
        struct ssreport_curve curve;
        int result = fit_difference(&curve, placements, i, 0, true);
        if (curve.count > 0)
            placements->bandwidth = fmin(placements->bandwidth, curve.bandwidth);
        ssreport_curve_free(&curve);
        if (result < 0)
            return -1;
    }
    return 0;
}

static double sum_up(const double *weights, const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i] * values[i];
    return sum;
}

/*
 * Widens the interval of a difference by the uncertainty of the throughputs alone, by which its
 * parts were divided: adds the squares of both half-widths (MOVER).
 */
static void widen(const struct ssreport_placements *placements, const double *weights, size_t more,
    size_t less, struct ssreport_band *band) {
    const struct ssreport_placed *one = &placements->placed[more];
    const struct ssreport_placed *other = &placements->placed[less];
    const struct ssreport_pair *pair = placements->pair;
    size_t count = placements->steps;
    if (placements->measure == SSREPORT_OF_FOREGROUND || pair->is_one_program)
        return;
    double foreground =
        sum_up(weights, one->foreground, count) - sum_up(weights, other->foreground, count);
    double background =
        sum_up(weights, one->background, count) - sum_up(weights, other->background, count);
    foreground *= ssreport_isolation_error(&pair->alone[0]);
    background *= ssreport_isolation_error(&pair->alone[1]);
    double squares = foreground * foreground + background * background;
    band->low = band->y - sqrt((band->y - band->low) * (band->y - band->low) + squares);
    band->high = band->y + sqrt((band->high - band->y) * (band->high - band->y) + squares);
}

/* Returns the difference of two placements at a load, with its interval. */
static struct ssreport_band difference_at(const struct ssreport_placements *placements,
    const struct ssreport_curve *curve, size_t more, size_t less, double load, double confidence) {
    ssreport_curve_weigh(curve, load, placements->weights);
    struct ssreport_band band = ssreport_curve_sum(curve, placements->weights, confidence);
    widen(placements, placements->weights, more, less, &band);
    return band;
}

static int compare_rounds(const void *left, const void *right, void *context) {
    (void)context;
    return ssreport_compare_numbers(*(const double *)left, *(const double *)right);
}

/*
 * Returns the advantage of the best placement over the second best, from the means of rounds,
 * because errors of steps in a round are correlated. Returns NaN without enough rounds, or if
 * memory is exhausted.
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
            sum += placements->placed[placements->best].values[i] -
                   placements->placed[placements->second].values[i];
        means[round] = sum / (double)count;
    }
    return ssreport_mean_of(means, enough ? rounds.count : 0, confidence);
}

/* Returns the mean difference of the best two. Its interval, Student's t, ignores the loads. */
static struct ssreport_band average_steps(
    const struct ssreport_placements *placements, double *values, double confidence) {
    for (size_t i = 0; i < placements->steps; i++)
        values[i] = placements->placed[placements->best].values[i] -
                    placements->placed[placements->second].values[i];
    struct ssreport_mean mean = ssreport_mean_of(values, placements->steps, confidence);
    return (struct ssreport_band){mean.mean, mean.low, mean.high};
}

/*
 * Sets `band` to the mean, over all steps, of the curve through the differences of the best two.
 * There is no curve if all steps have nearly the same load, or are more than SSREPORT_CURVE_MAX;
 * `band` is then their mean. There are at least STEPS_MIN steps.
 */
static int weigh_steps(
    struct ssreport_placements *placements, double confidence, struct ssreport_band *band) {
    struct ssreport_curve curve;
    SS_OWNED(free) double *means = calloc(placements->steps + 1, sizeof *means);
    *band = (struct ssreport_band){NAN, NAN, NAN};
    int result = fit_difference(&curve, placements, placements->best, placements->second, false);
    for (size_t i = 0; means && i < placements->steps && curve.count > 0; i++) {
        ssreport_curve_weigh(&curve, placements->loads[i], placements->weights);
        for (size_t j = 0; j < placements->steps; j++)
            means[j] += placements->weights[j] / (double)placements->steps;
    }
    if (means && curve.count > 0)
        *band = ssreport_curve_sum(&curve, means, confidence);
    else if (means && result == 0)
        *band = average_steps(placements, means, confidence);
    ssreport_curve_free(&curve);
    return means ? result : -1;
}

/* Sets the mean of each placement, and finds the best two. */
static void rank(struct ssreport_placements *placements) {
    struct ssreport_placed *placed = placements->placed;
    for (size_t i = 0; i < placements->count; i++) {
        for (size_t j = 0; j < placements->steps; j++)
            placed[i].mean += placed[i].values[j] / (double)placements->steps;
        if (placed[i].mean > placed[placements->best].mean)
            placements->best = i;
    }
    placements->second = placements->best == 0 ? 1 : 0;
    for (size_t i = 0; i < placements->count; i++) {
        if (i != placements->best && placed[i].mean > placed[placements->second].mean)
            placements->second = i;
    }
}

static int find_best(struct ssreport_placements *placements, double confidence) {
    struct ssreport_band band;
    rank(placements);
    if (weigh_steps(placements, confidence, &band) < 0)
        return -1;
    struct ssreport_mean rounds = weigh_rounds(placements, confidence);
    if (rounds.high - rounds.low > band.high - band.low) {
        band = (struct ssreport_band){rounds.mean, rounds.low, rounds.high};
        placements->by_rounds = rounds.count;
    }
    for (size_t i = 0; i < placements->steps; i++)
        placements->weights[i] = 1 / (double)placements->steps;
    widen(placements, placements->weights, placements->best, placements->second, &band);
    double whole = placements->placed[placements->second].mean;
    placements->advantage = band.y / whole;
    placements->interval = (struct ssreport_interval){band.low / whole, band.high / whole};
    placements->is_clear = band.low > 0 && whole > 0;
    return 0;
}

static double load_of(const struct ssreport_placements *placements, int at) {
    return placements->least_load + (placements->most_load - placements->least_load) * at / GRID;
}

/* Returns the placement whose curve is the highest at a load. */
static size_t find_best_at(
    const struct ssreport_placements *placements, const struct ssreport_curve *any, double load) {
    size_t best = 0;
    double most = -INFINITY;
    ssreport_curve_weigh(any, load, placements->weights);
    for (size_t i = 0; i < placements->count; i++) {
        double value = sum_up(placements->weights, placements->placed[i].values, placements->steps);
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return best;
}

enum bound { LOW, MIDDLE, HIGH };

/* Returns the load in a range at which this bound of the difference changes its sign. */
static double find_root(const struct ssreport_placements *placements,
    const struct ssreport_curve *curve, const struct ssreport_change *change, enum bound bound,
    const double range[2], double confidence) {
    double from = range[0], to = range[1];
    bool is_above = false;
    for (int i = 0; i <= HALVINGS; i++) {
        double middle = i == 0 ? to : from + (to - from) / 2;
        struct ssreport_band band =
            difference_at(placements, curve, change->above, change->below, middle, confidence);
        double value = bound == LOW ? band.low : bound == HIGH ? band.high : band.y;
        if (i == 0)
            is_above = value > 0;
        else if ((value > 0) == is_above)
            to = middle;
        else
            from = middle;
    }
    return from + (to - from) / 2;
}

/*
 * Returns a bound of the interval of a change: the nearest load on that side at which the
 * placements differ significantly; infinite without one.
 */
static double find_bound(const struct ssreport_placements *placements,
    const struct ssreport_curve *curve, const struct ssreport_change *change, bool is_upper,
    double confidence) {
    int step = is_upper ? 1 : -1;
    double span = placements->most_load - placements->least_load;
    double last = change->load;
    int at = (int)((change->load - placements->least_load) / span * GRID) + is_upper;
    for (; at >= 0 && at <= GRID; at += step) {
        double load = load_of(placements, at);
        struct ssreport_band band =
            difference_at(placements, curve, change->above, change->below, load, confidence);
        if (is_upper ? band.low > 0 : band.high < 0)
            return find_root(placements, curve, change, is_upper ? LOW : HIGH,
                (const double[]){last, load}, confidence);
        last = load;
    }
    return is_upper ? INFINITY : -INFINITY;
}

/* Adds the change of the best placement between two loads. */
static int add_change(struct ssreport_placements *placements, size_t below, size_t above,
    const double range[2], double confidence) {
    struct ssreport_curve curve;
    int result = fit_difference(&curve, placements, above, below, false);
    if (result == 0 && curve.count > 0) {
        struct ssreport_change change = {.below = below, .above = above};
        change.load = find_root(placements, &curve, &change, MIDDLE, range, confidence);
        change.interval.low = find_bound(placements, &curve, &change, false, confidence);
        change.interval.high = find_bound(placements, &curve, &change, true, confidence);
        change.is_clear = isfinite(change.interval.low) && isfinite(change.interval.high);
        placements->changes[placements->change_count++] = change;
    }
    ssreport_curve_free(&curve);
    return result;
}

/* Finds the changes of the best placement in the order of loads. */
static int find_changes(struct ssreport_placements *placements, double confidence) {
    struct ssreport_curve any;
    int result = fit_difference(&any, placements, 1, 0, false);
    if (result == 0 && any.count > 0) {
        size_t best = find_best_at(placements, &any, placements->least_load);
        for (int i = 1; i <= GRID && placements->change_count < SSREPORT_CHANGES_MAX; i++) {
            const double range[] = {load_of(placements, i - 1), load_of(placements, i)};
            size_t next = find_best_at(placements, &any, range[1]);
            if (next != best && add_change(placements, best, next, range, confidence) < 0)
                result = -1;
            best = next;
        }
    }
    ssreport_curve_free(&any);
    return result;
}

int ssreport_placements_compare(struct ssreport_placements *placements,
    const struct ssreport_report *report, const struct ssreport_pair *pair,
    enum ssreport_measure measure) {
    double confidence = report->settings.confidence;
    *placements = (struct ssreport_placements){.pair = pair, .measure = measure};
    find_names(placements, report, pair);
    if (find_steps(placements, report, pair) < 0)
        return -1;
    if (placements->steps < STEPS_MIN)
        placements->count = 0;
    if (placements->count < 2)
        return 0;
    placements->least_load = placements->loads[0];
    placements->most_load = placements->loads[placements->steps - 1];
    if (choose_bandwidth(placements) < 0 || find_best(placements, confidence) < 0)
        return -1;
    return find_changes(placements, confidence);
}

void ssreport_placements_free(struct ssreport_placements *placements) {
    free(placements->loads);
    *placements = (struct ssreport_placements){0};
}
