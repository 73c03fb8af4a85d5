/* SPDX-License-Identifier: Apache-2.0 */
#include "knobs_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "points.h"
#include "underload.h"

#define LEVELS_MAX   12 /* in a picture; the tables have all of them */
#define ARRIVALS_MAX 3
#define ROW_HEIGHT   170
#define KEYS_ACROSS  3 /* levels in a line of the key */
#define KEY_HEIGHT   22

enum row { MEAN, P95, POWER, SUCCESS, ROWS };

static const struct {
    const char *axis;
    double limit; /* NaN without one */
} rows[ROWS] = {
    [MEAN] = {"mean, ms", 1000 * SSREPORT_UNDERLOADED_MEAN},
    [P95] = {"95 %, ms", 1000 * SSREPORT_UNDERLOADED_P95},
    [POWER] = {"power, W", NAN},
    [SUCCESS] = {"successes, %", NAN},
};

/* The series of a picture: each arrival with each level. */
struct grid {
    const struct ssreport_report *report;
    struct stats_groups series;
    const char *arrivals[ARRIVALS_MAX];
    char levels[LEVELS_MAX][200];
    size_t arrival_count, level_count;
    size_t groups[ARRIVALS_MAX][LEVELS_MAX]; /* of `series`; SIZE_MAX if absent */
    bool has_power;
};

static double value_of(const struct ssreport_rate_point *point, enum row row) {
    double times[SSREPORT_CRITERIA];
    ssreport_point_times(point, times);
    switch (row) {
    case MEAN:
        return 1000 * times[SSREPORT_MEAN];
    case P95:
        return 1000 * times[SSREPORT_P95];
    case POWER:
        return point->joined.watts;
    default:
        return 100 * point->success_ratio;
    }
}

/* Returns whether both points are of one service, whatever their arrivals. */
static bool is_service(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other) {
    return one->of->set == other->of->set && one->of->manifest == other->of->manifest &&
           ssreport_is_same(one->of->workload, other->of->workload) &&
           ssreport_is_same(one->of->environment, other->of->environment) && other->of->knobs &&
           !other->of->closed;
}

static size_t find_arrival(struct grid *grid, const char *arrival) {
    size_t i = 0;
    while (i < grid->arrival_count && !ssreport_is_same(grid->arrivals[i], arrival))
        i++;
    if (i == grid->arrival_count && i < ARRIVALS_MAX)
        grid->arrivals[grid->arrival_count++] = arrival;
    return i;
}

static size_t find_level(struct grid *grid, const struct ssreport_rate_point *point) {
    char name[sizeof *grid->levels];
    size_t i = 0;
    ssreport_rate_point_name_level(point, name, sizeof name);
    while (i < grid->level_count && strcmp(grid->levels[i], name) != 0)
        i++;
    if (i == grid->level_count && i < LEVELS_MAX)
        memcpy(grid->levels[grid->level_count++], name, sizeof name);
    return i;
}

/* Returns false if there are no two levels. The caller frees `series`. */
static bool fill(struct grid *grid, const struct ssreport_report *report, size_t first) {
    *grid = (struct grid){.report = report, .series = ssreport_points_by_series(report)};
    for (size_t i = 0; i < ARRIVALS_MAX; i++) {
        for (size_t j = 0; j < LEVELS_MAX; j++)
            grid->groups[i][j] = SIZE_MAX;
    }
    for (size_t i = 0; grid->series.first && i < grid->series.count; i++) {
        const struct ssreport_rate_point *point = &report->points[grid->series.first[i]];
        if (!is_service(&report->points[first], point))
            continue;
        size_t arrival = find_arrival(grid, point->of->arrival), level = find_level(grid, point);
        if (arrival < ARRIVALS_MAX && level < LEVELS_MAX)
            grid->groups[arrival][level] = i;
    }
    for (size_t i = 0; i < report->point_count; i++)
        grid->has_power |= is_service(&report->points[first], &report->points[i]) &&
                           isfinite(report->points[i].joined.watts);
    return grid->level_count > 1;
}

/* Writes the means over the runs of a series: the rate, and a column for each row of the grid. */
static void write_series(FILE *script, const struct grid *grid, size_t group) {
    const struct stats_groups *series = &grid->series;
    for (size_t i = series->first[group]; i < series->items; i = series->next[i]) {
        double rate = grid->report->points[i].stretch.rate, sums[ROWS] = {0};
        size_t count = 0;
        bool is_first = true;
        for (size_t j = series->first[group]; j < series->items; j = series->next[j]) {
            const struct ssreport_rate_point *point = &grid->report->points[j];
            if (ssreport_compare_numbers(point->stretch.rate, rate) != 0)
                continue;
            is_first &= j >= i;
            for (enum row row = 0; row < ROWS; row++)
                sums[row] += value_of(point, row);
            count++;
        }
        if (!is_first || !(rate > 0))
            continue;
        fprintf(script, "%.6g", rate);
        for (enum row row = 0; row < ROWS; row++) {
            if (isfinite(sums[row]))
                fprintf(script, " %.6g", sums[row] / (double)count);
            else
                fputs(" NaN", script);
        }
        fputc('\n', script);
    }
}

static void write_data(FILE *script, const struct grid *grid) {
    for (size_t i = 0; i < grid->arrival_count; i++) {
        for (size_t j = 0; j < grid->level_count; j++) {
            if (grid->groups[i][j] == SIZE_MAX)
                continue;
            fprintf(script, "$d%zu << END\n", i * LEVELS_MAX + j);
            write_series(script, grid, grid->groups[i][j]);
            fputs("END\n", script);
        }
    }
}

/* Draws all levels with an arrival, with these columns of the data. */
static void plot_levels(
    FILE *script, const struct grid *grid, size_t arrival, const char *columns, bool is_titled) {
    fputs("plot ", script);
    for (size_t i = 0; i < grid->level_count; i++) {
        if (grid->groups[arrival][i] == SIZE_MAX)
            continue;
        fprintf(script, "$d%zu using %s with linespoints pt %d ps 0.5 lw 1.3 lc rgb \"%s\" ",
            arrival * LEVELS_MAX + i, columns, plot_series_mark(i), plot_series_color(i));
        fputs(is_titled ? "title " : "notitle", script);
        if (is_titled)
            plot_quote(script, grid->levels[i], 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

static void plot_panel(FILE *script, const struct grid *grid, size_t arrival, enum row row) {
    char columns[16];
    bool is_first = arrival == 0, is_last = row == ROWS - 1;
    plot_axis(script, 'x', is_last ? "request rate, /s" : "", PLOT_FROM_ZERO);
    plot_axis(script, 'y', rows[row].axis, row <= P95 ? PLOT_LOGARITHMIC : PLOT_FROM_ZERO);
    fprintf(script, "set ylabel \"%s\"\n%s", is_first ? rows[row].axis : "",
        row <= P95 ? "" : "unset logscale y\n");
    fprintf(
        script, "unset arrow\nset format x \"%s\"\nset xtics rotate by -45\n", is_last ? "%g" : "");
    if (isfinite(rows[row].limit))
        plot_line_at(script, 'y', rows[row].limit);
    if (row == MEAN) {
        fputs("set title ", script);
        plot_quote(script, grid->arrivals[arrival] ? grid->arrivals[arrival] : "", 40);
        fputc('\n', script);
    } else {
        fputs("unset title\n", script);
    }
    snprintf(columns, sizeof columns, "1:%d", (int)row + 2);
    plot_levels(script, grid, arrival, columns, is_first && row == MEAN);
}

static void free_grid(const struct grid *grid) {
    ss_owned_groups(&grid->series);
}

bool ssreport_knobs_plot_grid(FILE *script, const struct ssreport_report *report, size_t first) {
    struct grid grid;
    bool known = fill(&grid, report, first);
    int count = ROWS - !grid.has_power;
    if (known) {
        write_data(script, &grid);
        size_t lines = (grid.level_count + KEYS_ACROSS - 1) / KEYS_ACROSS;
        plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH,
            (unsigned)((size_t)count * ROW_HEIGHT + lines * KEY_HEIGHT));
        fprintf(script, "set multiplot layout %d,%zu columnsfirst title \" ", count,
            grid.arrival_count);
        for (size_t i = 1; i < lines; i++)
            fputs("\\n ", script); /* room for the key */
        fprintf(script,
            "\"\nset key at screen 0.5,0.995 center top vertical maxrows %zu samplen 1\n", lines);
    }
    for (size_t i = 0; known && i < grid.arrival_count; i++) {
        for (enum row row = 0; row < ROWS; row++) {
            if (row != POWER || grid.has_power)
                plot_panel(script, &grid, i, row);
        }
    }
    if (known)
        fputs("unset multiplot\n", script);
    free_grid(&grid);
    return known;
}

bool ssreport_knobs_plot_cost(FILE *script, const struct ssreport_report *report, size_t first) {
    struct grid grid;
    bool known = fill(&grid, report, first) && grid.has_power;
    if (known) {
        write_data(script, &grid);
        plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, (unsigned)(grid.arrival_count * PLOT_HEIGHT));
        fprintf(script, "set multiplot layout %zu,1\n", grid.arrival_count);
    }
    for (size_t i = 0; known && i < grid.arrival_count; i++) {
        plot_axis(script, 'x', "mean response time, ms", PLOT_LOGARITHMIC);
        plot_axis(script, 'y', "power, W", PLOT_AROUND_ZERO);
        fputs("set yrange [*:*]\nset title ", script);
        plot_quote(script, grid.arrivals[i] ? grid.arrivals[i] : "", 40);
        fputs("\nset key maxcols 2\n", script);
        plot_levels(script, &grid, i, "2:4", true);
    }
    if (known)
        fputs("unset multiplot\n", script);
    free_grid(&grid);
    return known;
}

void ssreport_knobs_plots_print(struct ssreport_page *page, const struct ssreport_report *report) {
    static const struct {
        bool (*plot)(FILE *, const struct ssreport_report *, size_t);
        const char *what;
    } pictures[] = {{ssreport_knobs_plot_grid, "Response times, power and successes by rate"},
        {ssreport_knobs_plot_cost, "Power against response time"}};
    for (size_t i = 0; i < report->point_count; i++) {
        const struct ssreport_rate_point *point = &report->points[i];
        bool is_first = point->of->knobs && !point->of->closed;
        for (size_t j = 0; is_first && j < i; j++)
            is_first = !is_service(point, &report->points[j]);
        for (size_t j = 0; is_first && j < sizeof pictures / sizeof *pictures; j++) {
            char caption[300];
            FILE *script = ssreport_page_script(page);
            if (!script)
                return;
            snprintf(caption, sizeof caption, "%s: %.200s", pictures[j].what,
                point->of->workload ? point->of->workload : point->of->title);
            ssreport_page_figure(page, script, pictures[j].plot(script, report, i), caption);
        }
    }
}
