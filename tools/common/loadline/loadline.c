/* SPDX-License-Identifier: Apache-2.0 */
#include "loadline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"

/* Tolerance for targets of the same level, which records have with six decimals. */
#define SAME_TARGET 1e-4

/* A level below this is idle. */
#define IDLE 1e-3

/* A lower level is the maximum if it exceeds the highest level by this many standard errors. */
#define ERRORS_TO_EXCEED 3

/* The minimum number of levels for deviations of d from a line. */
#define LEVELS_MIN 4

/* A load may exceed that of the highest level by this much: targets are rarely reached exactly. */
#define BEYOND_HIGHEST 0.005

/* Minimum distance between two knots: levels with the same load are moved this far apart. */
#define LOADS_APART 1e-6

/*
 * Standard error of the sum of two neighboring bends minus the sum of the bends next to them, in
 * standard errors of a level. 28 = 1 + 9 + 4 + 4 + 9 + 1 is the sum of the squared coefficients.
 */
#define BENDS_NOISE sqrt(28)

/* A knee gets half of its weight if its bends exceed their noise by this factor. */
#define KNEE_ERRORS 2

/* ln(T / L) of all visits. */
struct visited {
    double logs[LOADLINE_LEVELS_MAX][LOADLINE_ROUNDS_MAX][LOADLINE_WAYS]; /* NaN: missing */
};

static size_t find_level(const struct loadline *line, double target) {
    size_t i = 0;
    while (i < line->count && fabs(line->levels[i].target - target) > SAME_TARGET)
        i++;
    return i;
}

static const char *find_levels(
    struct loadline *line, const struct loadline_visit *visits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (visits[i].round < 1 || visits[i].round > LOADLINE_ROUNDS_MAX)
            return "too many rounds";
        if (visits[i].target < IDLE || find_level(line, visits[i].target) < line->count)
            continue;
        if (line->count == LOADLINE_LEVELS_MAX)
            return "too many levels";
        line->levels[line->count++].target = visits[i].target;
    }
    return NULL;
}

static int compare_targets(const void *left, const void *right) {
    const struct loadline_level *a = left, *b = right;
    return (a->target > b->target) - (a->target < b->target);
}

static int compare_loads(const void *left, const void *right) {
    const struct loadline_level *a = left, *b = right;
    return (a->load > b->load) - (a->load < b->load);
}

static void enter_idle(struct loadline *line, const struct loadline_visit *visits, size_t count) {
    size_t idle = 0;
    for (size_t i = 0; i < count; i++) {
        if (visits[i].target < IDLE) {
            line->idle_watts += visits[i].watts;
            idle++;
        }
    }
    line->idle_watts = idle > 0 ? line->idle_watts / (double)idle : NAN;
}

static void enter_visits(struct loadline *line, struct visited *visited,
    const struct loadline_visit *visits, size_t count) {
    for (size_t i = 0; i < LOADLINE_LEVELS_MAX; i++) {
        for (size_t j = 0; j < LOADLINE_ROUNDS_MAX; j++)
            visited->logs[i][j][LOADLINE_UP] = visited->logs[i][j][LOADLINE_DOWN] = NAN;
    }
    for (size_t i = 0; i < count; i++) {
        const struct loadline_visit *visit = &visits[i];
        size_t level = find_level(line, visit->target);
        if (level == line->count || !(visit->throughput > 0) || !(visit->load > 0))
            continue;
        double *one = &visited->logs[level][visit->round - 1][visit->way];
        if (!isnan(*one))
            continue; /* of a repeated visit, the first one counts */
        *one = log(visit->throughput / visit->load);
        line->levels[level].load += visit->load;
        line->levels[level].watts += visit->watts;
        line->levels[level].visits++;
        if ((size_t)visit->round > line->rounds)
            line->rounds = (size_t)visit->round;
    }
}

static bool is_in_round(const struct loadline *line, const struct visited *visited, size_t round) {
    for (size_t i = 0; i < line->count; i++) {
        const double *logs = visited->logs[i][round];
        if (!isnan(logs[LOADLINE_UP]) || !isnan(logs[LOADLINE_DOWN]))
            return true;
    }
    return false;
}

/* A round whose runs all failed says nothing about any level. */
static void drop_empty_rounds(struct loadline *line, struct visited *visited) {
    size_t kept = 0;
    for (size_t j = 0; j < line->rounds; j++) {
        if (!is_in_round(line, visited, j))
            continue;
        for (size_t i = 0; i < line->count; i++)
            memcpy(visited->logs[i][kept], visited->logs[i][j], sizeof visited->logs[i][j]);
        kept++;
    }
    line->rounds = kept;
}

static bool is_complete(const struct loadline *line, const struct visited *visited, size_t level) {
    for (size_t i = 0; i < line->rounds; i++) {
        const double *logs = visited->logs[level][i];
        if (isnan(logs[LOADLINE_UP]) || isnan(logs[LOADLINE_DOWN]))
            return false;
    }
    return line->rounds > 0;
}

/* Drops incomplete levels, and averages the visits of the others. */
static void sum_levels(struct loadline *line, struct visited *visited) {
    size_t kept = 0;
    for (size_t i = 0; i < line->count; i++) {
        struct loadline_level level = line->levels[i];
        if (!is_complete(line, visited, i)) {
            line->left_out++;
            continue;
        }
        level.load /= (double)level.visits;
        level.watts /= (double)level.visits;
        for (size_t j = 0; j < line->rounds; j++) {
            for (int way = 0; way < LOADLINE_WAYS; way++) {
                visited->logs[kept][j][way] = visited->logs[i][j][way];
                level.log_way[way] += visited->logs[i][j][way] / (double)line->rounds;
            }
        }
        for (int way = 0; way < LOADLINE_WAYS; way++)
            level.log_way[way] += log(level.load);
        level.log_mean = (level.log_way[LOADLINE_UP] + level.log_way[LOADLINE_DOWN]) / 2;
        line->levels[kept++] = level;
    }
    line->count = kept;
}

static double difference(const struct visited *visited, size_t level, size_t round) {
    const double *logs = visited->logs[level][round];
    return logs[LOADLINE_UP] - logs[LOADLINE_DOWN];
}

/*
 * Adds the squared residuals of d around its line in a round to sums[0], and the mean of d to
 * sums[1].
 */
static void add_round(
    const struct loadline *line, const struct visited *visited, size_t round, double sums[2]) {
    double levels = (double)line->count, middle = (levels - 1) / 2;
    double mean = 0, product = 0, spread = 0;
    for (size_t i = 0; i < line->count; i++) {
        mean += difference(visited, i, round) / levels;
        product += ((double)i - middle) * difference(visited, i, round);
        spread += pow((double)i - middle, 2);
    }
    for (size_t i = 0; i < line->count; i++) {
        double drift = product / spread * ((double)i - middle);
        sums[0] += pow(difference(visited, i, round) - mean - drift, 2);
    }
    sums[1] += mean;
}

static void find_errors(struct loadline *line, const struct visited *visited) {
    double sums[2] = {0}, rounds = (double)line->rounds, levels = (double)line->count;
    for (size_t round = 0; round < line->rounds; round++)
        add_round(line, visited, round, sums);
    double freedom = rounds * (levels - 2), variance = sums[0] / freedom;
    line->hysteresis = sums[1] / rounds;
    line->error = (struct ssreport_sureness){sqrt(variance / 2 / rounds), freedom};
    line->hysteresis_error = (struct ssreport_sureness){sqrt(variance / levels / rounds), freedom};
}

/* Finds the level with the highest target: saturated levels all have the same load. */
static void find_full(struct loadline *line) {
    size_t highest = 0;
    for (size_t i = 1; i < line->count; i++) {
        if (line->levels[i].target > line->levels[highest].target)
            highest = i;
    }
    double exceeded = line->levels[highest].log_mean + ERRORS_TO_EXCEED * line->error.error;
    line->full = highest;
    for (size_t i = 0; i < line->count; i++) {
        if (line->levels[i].log_mean > exceeded) {
            line->full = i;
            exceeded = line->levels[i].log_mean;
        }
    }
    line->is_capped = line->full != highest;
}

const char *loadline_of(struct loadline *line, const struct loadline_visit *visits, size_t count) {
    *line = (struct loadline){0};
    const char *failure = find_levels(line, visits, count);
    if (failure)
        return failure;
    qsort(line->levels, line->count, sizeof *line->levels, compare_targets);
    SS_OWNED(free) struct visited *visited = malloc(sizeof *visited);
    if (!visited)
        return "memory is exhausted";
    enter_idle(line, visits, count);
    enter_visits(line, visited, visits, count);
    drop_empty_rounds(line, visited);
    sum_levels(line, visited);
    if (line->count >= LEVELS_MIN) {
        find_errors(line, visited);
        qsort(line->levels, line->count, sizeof *line->levels, compare_loads);
        find_full(line);
    }
    return line->count < LEVELS_MIN ? "fewer than four levels above idle have a throughput" : NULL;
}

static double throughput_of(const struct loadline *line, size_t level) {
    return exp(line->levels[level].log_mean);
}

/* Idle, where the throughput is 0, and the levels. */
struct knots {
    double loads[LOADLINE_LEVELS_MAX + 1];
    double throughputs[LOADLINE_LEVELS_MAX + 1];
    size_t last;
};

/* A load between two knots. Its throughput is a weighted sum of the knots' throughputs. */
struct place {
    double weights[LOADLINE_LEVELS_MAX + 1];
    double throughput;
    double shape; /* possible error of the sum, as a part of the throughput */
};

/* Bends of the line at two neighboring knots; 0 if they have opposite directions. */
struct bends {
    size_t below, above; /* knots at which the bends are known */
    double left, right;  /* bends at the knots */
    double further;      /* sum of the bends at the next knots on both sides */
    /* change of the bend from knot to knot, if only one bend is known; otherwise 0 */
    double change;
};

static void find_knots(struct knots *knots, const struct loadline *line) {
    knots->loads[0] = knots->throughputs[0] = 0;
    for (size_t i = 0; i < line->count; i++) {
        double load = line->levels[i].load;
        knots->loads[i + 1] = fmax(load, knots->loads[i] + LOADS_APART);
        knots->throughputs[i + 1] = exp(line->levels[i].log_mean);
    }
    knots->last = line->count;
}

static double slope_below(const struct knots *knots, size_t knot) {
    return (knots->throughputs[knot] - knots->throughputs[knot - 1]) /
           (knots->loads[knot] - knots->loads[knot - 1]);
}

/* Returns the change of slope at a knot, times a distance. Returns NaN at the ends of the line. */
static double bend_at(const struct knots *knots, size_t knot, double distance) {
    if (knot == 0 || knot >= knots->last)
        return NAN;
    return distance * (slope_below(knots, knot + 1) - slope_below(knots, knot));
}

/* Adds a part of the bend at a knot to the weighted sum. */
static void add_bend(
    struct place *place, const struct knots *knots, size_t knot, double distance, double part) {
    double before = part * distance / (knots->loads[knot] - knots->loads[knot - 1]);
    double after = part * distance / (knots->loads[knot + 1] - knots->loads[knot]);
    place->weights[knot - 1] += before;
    place->weights[knot] -= before + after;
    place->weights[knot + 1] += after;
}

/*
 * Finds the bends at knot `below` and at the next knot. At an end of the line, uses the bend of the
 * other knot.
 */
static struct bends find_bends(const struct knots *knots, size_t below, double distance) {
    struct bends bends = {
        .below = below > 0 ? below : 1, .above = below + 1 < knots->last ? below + 1 : below};
    bends.left = bend_at(knots, bends.below, distance);
    bends.right = bend_at(knots, bends.above, distance);
    double before = bend_at(knots, bends.below - 1, distance);
    double after = bend_at(knots, bends.above + 1, distance);
    if (bends.below == bends.above)
        bends.change = bends.left - (isnan(before) ? after : before);
    bends.further = (isnan(before) ? after : before) + (isnan(after) ? before : after);
    if (bends.left * bends.right <= 0)
        bends.left = bends.right = bends.change = 0;
    return bends;
}

/*
 * Returns the weight of a knee between two knots, from 0 to 1: 1 if both bends are far above their
 * noise and no bend continues at the next knots, as it does on a smooth curve.
 */
static double weigh_knee(const struct bends *bends, double noise) {
    double both = fabs(bends->left + bends->right);
    double excess = both - copysign(1, bends->left) * bends->further;
    double errors = excess / (BENDS_NOISE * noise);
    double sharpness = 2 * fmin(excess / both, 1) - 1;
    return sharpness > 0 ? sharpness / (1 + pow(KNEE_ERRORS / errors, 2)) : 0;
}

/*
 * Interpolates at the part `way` of the distance from knot `below` to the next one. The throughput
 * differs from the straight line between them, in the direction of the bends:
 *
 * - On a smooth curve with bend b at both knots, by way (1 - way) / 2 b. b is the harmonic mean of
 *   both bends: a knee beyond one of the knots makes the bend there large, and the smaller bend
 *   counts (Amat, Donat, Liandrat and Trillo 2006).
 * - With a knee between the knots, by min(way left, (1 - way) right): the throughput is on the
 *   extended line from below, then on the one from above.
 *
 * The evidence of a knee weights both. The possible error combines the difference between the
 * arithmetic and the harmonic mean of the bends with the difference between both shapes, which
 * counts least if the evidence is clear.
 */
static void interpolate(
    struct place *place, const struct knots *knots, size_t below, double way, double error) {
    double distance = knots->loads[below + 1] - knots->loads[below], curve = way * (1 - way) / 2;
    const struct bends bends = find_bends(knots, below, distance);
    double left = bends.left, right = bends.right, both = left + right;
    double chord = (1 - way) * knots->throughputs[below] + way * knots->throughputs[below + 1];
    *place = (struct place){.throughput = chord};
    place->weights[below] = 1 - way;
    place->weights[below + 1] = way;
    if (both == 0)
        return;
    bool is_from_below = way * fabs(left) < (1 - way) * fabs(right);
    double knee = weigh_knee(&bends, error * chord), smooth = curve * (1 - knee);
    double smooth_bend = 2 * left * right / both;
    double knee_shift = is_from_below ? way * left : (1 - way) * right;
    /* The harmonic mean H of a and b is a dH/da + b dH/db. */
    add_bend(place, knots, bends.below, distance,
        -2 * smooth * pow(right / both, 2) - (is_from_below ? knee * way : 0));
    add_bend(place, knots, bends.above, distance,
        -2 * smooth * pow(left / both, 2) - (is_from_below ? 0 : knee * (1 - way)));
    place->throughput -= smooth * smooth_bend + knee * knee_shift;
    double unequal = fmin(fabs(both / 2 - smooth_bend), fabs(smooth_bend));
    place->shape = hypot(4 * knee * (1 - knee) * (knee_shift - curve * smooth_bend),
                       curve * (fabs(bends.change) + unequal)) /
                   place->throughput;
}

/*
 * Returns false if the load is above the highest level, or further below the lowest level than the
 * next level is above it.
 */
static bool find_place(struct place *place, const struct loadline *line, double load) {
    const struct loadline_level *levels = line->levels;
    struct knots knots;
    size_t below = 0;
    if (!(load > 0) || load > levels[line->count - 1].load + BEYOND_HIGHEST ||
        2 * levels[0].load - levels[1].load > load + LOADS_APART)
        return false;
    find_knots(&knots, line);
    while (below + 1 < knots.last && knots.loads[below + 1] < load)
        below++;
    double way = (load - knots.loads[below]) / (knots.loads[below + 1] - knots.loads[below]);
    interpolate(place, &knots, below, fmin(way, 1), line->error.error / M_SQRT2);
    return true;
}

/*
 * Returns half the width of an interval around ln T at a place or, if `is_relative`, around its
 * difference from the full level, whose error is 0 at the full level itself.
 */
static double half_width(
    const struct loadline *line, const struct place *place, bool is_relative, double confidence) {
    double squares = 0;
    for (size_t i = 0; i < line->count; i++) {
        double weight = place->weights[i + 1] * throughput_of(line, i) / place->throughput;
        squares += pow(weight - (is_relative && i == line->full), 2);
    }
    struct ssreport_interval interval = ssreport_mean_interval(0, line->error, confidence);
    return hypot(sqrt(squares / 2) * interval.high, place->shape);
}

static struct ssreport_band band_at(
    const struct loadline *line, const struct place *place, bool is_relative, double confidence) {
    double value = place->throughput / (is_relative ? throughput_of(line, line->full) : 1);
    double half = half_width(line, place, is_relative, confidence);
    return (struct ssreport_band){value, value * exp(-half), value * exp(half)};
}

static struct ssreport_band band_at_load(
    const struct loadline *line, double load, bool is_relative, double confidence) {
    struct place place;
    if (!find_place(&place, line, load))
        return (struct ssreport_band){NAN, NAN, NAN};
    return band_at(line, &place, is_relative, confidence);
}

struct ssreport_band loadline_done(const struct loadline *line, double load, double confidence) {
    return band_at_load(line, load, true, confidence);
}

struct ssreport_band loadline_throughput(
    const struct loadline *line, double load, double confidence) {
    return band_at_load(line, load, false, confidence);
}

void loadline_bands_of_level(
    const struct loadline *line, size_t level, double confidence, struct loadline_bands *bands) {
    struct place place = {.throughput = throughput_of(line, level)};
    place.weights[level + 1] = 1;
    bands->done = band_at(line, &place, true, confidence);
    bands->throughput = band_at(line, &place, false, confidence);
}
