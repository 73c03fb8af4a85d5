/* SPDX-License-Identifier: Apache-2.0 */
#include "conclusion.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * The cheaper choice wins if mean squared errors differ by less than this factor, or if both are
 * too small to notice among the other load of a real machine.
 */
#define AS_GOOD 1.1
#define STILL   0.1 /* in %^2 */

struct score {
    size_t first; /* index of the first of its runs */
    double mse;   /* mean squared error in %^2; NaN without samples */
    double own;   /* CPU time of the executors, as a part of one CPU */
};

static bool is_choice(const char *name) {
    static const char *const words[] = {"instances", "feedback", "control", "space", "dithering",
        "feedback-options", "control-options", "space-options", "dithering-options"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) == 0)
            return true;
    }
    return false;
}

static bool is_target(const char *name) {
    return strcmp(name, "load") == 0 || strcmp(name, "trace") == 0 ||
           strcmp(name, "trace-options") == 0;
}

/*
 * Returns whether the runs of different values on this axis are compared: choices, or without any,
 * conditions. Errors at different targets do not compare: a target may be near the load that the
 * instances make without control.
 */
static bool is_compared(const struct grid_axis *axis, bool choices) {
    return choices ? is_choice(axis->name) : !is_target(axis->name);
}

/* Returns the index of a run's value on an axis. */
static size_t place_of(const struct grid *grid, size_t run, size_t axis) {
    for (size_t i = grid->count; i-- > axis + 1;)
        run /= grid->axes[i].count;
    return run % grid->axes[axis].count;
}

static bool has_choices(const struct grid *grid) {
    for (size_t i = 0; i < grid->count; i++) {
        if (is_choice(grid->axes[i].name) && grid->axes[i].count > 1)
            return true;
    }
    return false;
}

static bool only_targets(const struct grid *grid) {
    bool any = false;
    for (size_t i = 0; i < grid->count; i++) {
        const struct grid_axis *axis = &grid->axes[i];
        if (axis->count > 1 && !is_target(axis->name))
            return false;
        any |= axis->count > 1;
    }
    return any;
}

/* Returns whether two runs have the same values on all axes that are compared. */
static bool are_alike(const struct grid *grid, bool choices, size_t run, size_t other) {
    for (size_t i = 0; i < grid->count; i++) {
        if (!is_compared(&grid->axes[i], choices))
            continue;
        if (place_of(grid, run, i) != place_of(grid, other, i))
            return false;
    }
    return true;
}

/* Finds the mean over all runs that are alike. Returns false if `run` is not the first of them. */
static bool find_score(const struct grid *grid, const struct trial_figures *rows, bool choices,
    size_t run, struct score *score) {
    size_t runs = grid_count_runs(grid), count = 0;
    *score = (struct score){.first = run};
    for (size_t other = 0; other < runs; other++) {
        if (!are_alike(grid, choices, run, other))
            continue;
        if (other < run)
            return false;
        score->mse += rows[other].error_mse_e4;
        score->own += rows[other].own_cpu;
        count++;
    }
    score->mse /= (double)count;
    score->own /= (double)count;
    return !isnan(score->mse);
}

/* Writes the choice of a score, such as "control=geom dithering-options=53m". */
static const char *name_score(
    char *buffer, size_t size, const struct grid *grid, bool choices, const struct score *score) {
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < grid->count && used < size; i++) {
        const struct grid_axis *axis = &grid->axes[i];
        if (is_compared(axis, choices) && axis->count > 1)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s=%s", used ? " " : "",
                axis->name, axis->values[place_of(grid, score->first, i)]);
    }
    return buffer;
}

struct ranking {
    size_t count;
    struct score steadiest, unsteadiest, cheapest, best;
};

/* Finds the cheapest choice whose error is as good as the smallest one. */
static void find_best(const struct grid *grid, const struct trial_figures *rows, bool choices,
    struct ranking *ranking) {
    double enough = fmax(ranking->steadiest.mse * AS_GOOD, STILL);
    struct score score;
    ranking->best = ranking->steadiest;
    for (size_t run = 0; run < grid_count_runs(grid); run++) {
        if (find_score(grid, rows, choices, run, &score) && score.mse <= enough &&
            score.own < ranking->best.own)
            ranking->best = score;
    }
}

static void rank(const struct grid *grid, const struct trial_figures *rows, bool choices,
    struct ranking *ranking) {
    struct score score;
    *ranking = (struct ranking){0};
    for (size_t run = 0; run < grid_count_runs(grid); run++) {
        if (!find_score(grid, rows, choices, run, &score))
            continue;
        bool first = ranking->count++ == 0;
        if (first || score.mse < ranking->steadiest.mse)
            ranking->steadiest = score;
        if (first || score.mse > ranking->unsteadiest.mse)
            ranking->unsteadiest = score;
        if (first || score.own < ranking->cheapest.own)
            ranking->cheapest = score;
    }
    find_best(grid, rows, choices, ranking);
}

void conclusion_make(
    char *buffer, size_t size, const struct grid *grid, const struct trial_figures *rows) {
    bool choices = has_choices(grid);
    struct ranking ranking;
    char best[512], other[512];
    rank(grid, rows, choices, &ranking);
    const struct score *good = choices ? &ranking.best : &ranking.steadiest,
                       *cheap = &ranking.cheapest, *bad = &ranking.unsteadiest;
    name_score(best, sizeof best, grid, choices, good);
    if (only_targets(grid))
        snprintf(buffer, size,
            "Nothing to compare: only the target was swept, and errors at different targets do not "
            "compare.");
    else if (ranking.count < 2)
        snprintf(buffer, size, "Nothing to compare: %zu combination%s had samples.", ranking.count,
            ranking.count == 1 ? "" : "s");
    else if (!choices)
        snprintf(buffer, size,
            "The load is held best with %s (mean squared error %.3g %%^2) and worst with %s "
            "(%.3g %%^2).",
            best, good->mse, name_score(other, sizeof other, grid, choices, bad), bad->mse);
    else if (cheap->first == good->first)
        snprintf(buffer, size,
            "Choose %s: mean squared error %.3g %%^2 for %.3g %% of one CPU, and no other "
            "combination costs less.",
            best, good->mse, 100 * good->own);
    else
        snprintf(buffer, size,
            "Choose %s: mean squared error %.3g %%^2 for %.3g %% of one CPU; the cheapest, %s, "
            "costs "
            "%.3g %% and gives %.3g %%^2.",
            best, good->mse, 100 * good->own, name_score(other, sizeof other, grid, choices, cheap),
            100 * cheap->own, cheap->mse);
}
