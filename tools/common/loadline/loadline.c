/* SPDX-License-Identifier: Apache-2.0 */
#include "loadline.h"

#include <math.h>
#include <stdlib.h>

#include "base/owned.h"

/* Visits of a level have the same target, which records give with six decimals. */
#define SAME_TARGET 1e-4

/* A level below this is idle. */
#define IDLE 1e-3

/* A lower level is the maximum if it exceeds the highest by this many standard errors. */
#define ERRORS_TO_EXCEED 3

/* With fewer levels, deviations of d from a line say nothing. */
#define LEVELS_MIN 4

/* A load may exceed that of the highest level by this much, which is rarely reached exactly. */
#define BEYOND_HIGHEST 0.005

/* Levels at the same load count as this far apart. */
#define LOADS_APART 1e-6

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
        visited->logs[level][visit->round - 1][visit->way] = log(visit->throughput / visit->load);
        line->levels[level].load += visit->load;
        line->levels[level].watts += visit->watts;
        line->levels[level].visits++;
        if ((size_t)visit->round > line->rounds)
            line->rounds = (size_t)visit->round;
    }
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

/* Adds the squared deviations of d from its line over the levels of a round, and the mean of d. */
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
    sum_levels(line, visited);
    if (line->count >= LEVELS_MIN) {
        find_errors(line, visited);
        qsort(line->levels, line->count, sizeof *line->levels, compare_loads);
        find_full(line);
    }
    return line->count < LEVELS_MIN ? "fewer than four levels above idle have a throughput" : NULL;
}

/* ---- values ---- */

/* Where a load is among the levels: its throughput is a mean of two neighboring levels. */
struct place {
    size_t below, above; /* the same level at and beyond the ends */
    double part;         /* weight of `above` in the throughput at the load, 0 to 1 */
    double throughput;
    double bend; /* how far the line may bend between the levels, as a part of the throughput */
};

static double throughput_of(const struct loadline *line, size_t level) {
    return exp(line->levels[level].log_mean);
}

/* Returns how far the throughput of a level is from the line between its neighbors. */
static double bend_at(const struct loadline *line, size_t level) {
    if (level == 0 || level + 1 >= line->count)
        return 0;
    const struct loadline_level *levels = &line->levels[level];
    double before = fmax(levels[0].load - levels[-1].load, LOADS_APART);
    double after = fmax(levels[1].load - levels[0].load, LOADS_APART);
    double slope = (throughput_of(line, level) - throughput_of(line, level - 1)) / before;
    double next = (throughput_of(line, level + 1) - throughput_of(line, level)) / after;
    return fabs(next - slope) * (before + after) / 2;
}

/*
 * Finds the place of a load.
 *
 * Between two levels the throughput is on the line through them, unless the line bends: if its
 * slope changes by b midway between levels at a distance h, the throughput is b h / 4 away from the
 * line, and the slopes around both levels change by b / 2. So the sum of their bends, as bend_at()
 * returns them, times way (1 - way), bounds the distance.
 *
 * Below the lowest level the throughput is proportional to the load. Returns false beyond the
 * highest level, and if the load is further below the lowest level than the next level is above it.
 */
static bool find_place(struct place *place, const struct loadline *line, double load) {
    const struct loadline_level *levels = line->levels;
    size_t above = 0, last = line->count - 1;
    while (above <= last && levels[above].load < load)
        above++;
    if (!(load > 0) || (above > last && load > levels[last].load + BEYOND_HIGHEST))
        return false;
    if (2 * levels[0].load - levels[1].load > load + LOADS_APART)
        return false;
    if (above == 0 || above > last) {
        size_t nearest = above == 0 ? 0 : last;
        double scale = load / levels[nearest].load;
        *place = (struct place){nearest, nearest, 0, throughput_of(line, nearest) * scale, 0};
        return true;
    }
    size_t below = above - 1;
    double way = (load - levels[below].load) / (levels[above].load - levels[below].load);
    double bends = bend_at(line, below) + bend_at(line, above);
    place->throughput = (1 - way) * throughput_of(line, below) + way * throughput_of(line, above);
    place->below = below;
    place->above = above;
    place->part = way * throughput_of(line, above) / place->throughput;
    place->bend = way * (1 - way) * bends / place->throughput;
    return true;
}

/*
 * Returns half the width of an interval around ln T at a place, or around its difference from the
 * full level, which is without error if the place is the full level itself.
 */
static double half_width(
    const struct loadline *line, const struct place *place, bool is_relative, double confidence) {
    double weights[] = {1 - place->part, place->part, is_relative ? -1 : 0};
    const size_t levels[] = {place->below, place->above, line->full};
    double squares = 0;
    for (int i = 0; i < 2; i++) {
        if (levels[i] == line->full) {
            weights[i] += weights[2];
            weights[2] = 0;
        }
    }
    for (int i = 0; i < 3; i++)
        squares += weights[i] * weights[i];
    struct ssreport_interval interval = ssreport_mean_interval(0, line->error, confidence);
    return sqrt(squares / 2) * interval.high;
}

static struct ssreport_band band_at(
    const struct loadline *line, const struct place *place, bool is_relative, double confidence) {
    double value = place->throughput / (is_relative ? throughput_of(line, line->full) : 1);
    double half = half_width(line, place, is_relative, confidence) + place->bend;
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
    const struct place place = {level, level, 0, throughput_of(line, level), 0};
    bands->done = band_at(line, &place, true, confidence);
    bands->throughput = band_at(line, &place, false, confidence);
}
