/* SPDX-License-Identifier: Apache-2.0 */
#include "knobs_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/words.h"
#include "frame.h"
#include "gnuplot.h"
#include "points.h"
#include "underload.h"

#define LEVELS_MAX  12 /* in a picture; the tables have all of them */
#define COLUMNS_MAX 3
#define ROW_HEIGHT  170
#define KEYS_ACROSS 3 /* levels in a line of the key */
#define KEY_HEIGHT  22

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

/* The series of a picture: each arrival or pin with each level. */
struct grid {
    const struct ssreport_report *report;
    struct stats_groups series;
    char columns[COLUMNS_MAX][200];
    char levels[LEVELS_MAX][200];
    size_t column_count, level_count;
    size_t groups[COLUMNS_MAX][LEVELS_MAX]; /* index in `series`; SIZE_MAX if absent */
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

/* Returns whether both points belong to one service with knobs, even with different arrivals. */
static bool is_service(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other) {
    return other->of->knobs && ssreport_rate_point_is_service_at_any_arrival(one, other);
}

static bool is_arrival(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other) {
    return ssreport_is_same(one->of->arrival, other->of->arrival);
}

/* Returns the index of a name, adding it if needed; `most` if there is no room. */
static size_t find_name(char names[][200], size_t *count, size_t most, const char *name) {
    size_t i = 0;
    while (i < *count && strcmp(names[i], name) != 0)
        i++;
    if (i == *count && i < most)
        snprintf(names[(*count)++], sizeof *names, "%s", name);
    return i;
}

/* Splits the knobs of a level into its pin, by default "pin=free", and all others. */
static void split_pin(const char *knobs, char pin[200], char others[200]) {
    struct ss_words_part part;
    snprintf(pin, 200, "pin=free");
    *others = '\0';
    while (ss_words_next(&knobs, '+', &part)) {
        size_t length = strlen(others);
        if (part.length > 4 && strncmp(part.text, "pin=", 4) == 0)
            snprintf(pin, 200, "%.*s", (int)part.length, part.text);
        else
            snprintf(others + length, 200 - length, "%s%.*s", length > 0 ? "+" : "",
                (int)part.length, part.text);
    }
    if (!*others)
        snprintf(others, 200, "no other knob");
}

/*
 * Adds a series to its column and level, unless there are too many. One column is for all levels
 * that are pinned to the first CPUs, however many, unless two differ only in that number.
 */
static void add_series(struct grid *grid, size_t group, enum ssreport_knobs_columns columns) {
    const struct ssreport_rate_point *point = &grid->report->points[grid->series.first[group]];
    struct ssreport_responses of = *point->of;
    struct ssreport_rate_point renamed = *point;
    char column[200], pin[200] = "", each[200] = "", others[200], level[200];
    renamed.of = &of;
    snprintf(column, sizeof column, "%s", of.arrival ? of.arrival : "");
    if (columns == SSREPORT_COLUMN_PER_PIN) {
        split_pin(of.knobs, pin, others);
        of.knobs = others;
        sscanf(pin, "%190[^:]:%*[0-9]%8s", column, each);
        strcat(column, each);
    }
    ssreport_rate_point_name_level(&renamed, level, sizeof level);
    size_t i = find_name(grid->columns, &grid->column_count, COLUMNS_MAX, column);
    size_t j = find_name(grid->levels, &grid->level_count, LEVELS_MAX, level);
    if (*pin && i < COLUMNS_MAX && j < LEVELS_MAX && grid->groups[i][j] != SIZE_MAX)
        i = find_name(grid->columns, &grid->column_count, COLUMNS_MAX, pin);
    if (i < COLUMNS_MAX && j < LEVELS_MAX)
        grid->groups[i][j] = group;
}

/*
 * Returns false if there are fewer than two levels or, with a column for each pin, fewer than two
 * columns. Free the grid in either case.
 */
static bool fill(struct grid *grid, const struct ssreport_report *report, size_t first,
    enum ssreport_knobs_columns columns) {
    const struct ssreport_rate_point *model = &report->points[first];
    *grid = (struct grid){.report = report, .series = ssreport_points_by_series(report)};
    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        for (size_t j = 0; j < LEVELS_MAX; j++)
            grid->groups[i][j] = SIZE_MAX;
    }
    for (size_t i = 0; grid->series.first && i < grid->series.count; i++) {
        const struct ssreport_rate_point *point = &report->points[grid->series.first[i]];
        if (is_service(model, point) &&
            (columns == SSREPORT_COLUMN_PER_ARRIVAL || is_arrival(model, point)))
            add_series(grid, i, columns);
    }
    for (size_t i = 0; i < report->point_count; i++)
        grid->has_power |=
            is_service(model, &report->points[i]) && isfinite(report->points[i].joined.watts);
    return grid->level_count > 1 &&
           (columns == SSREPORT_COLUMN_PER_ARRIVAL || grid->column_count > 1);
}

static void free_grid(const struct grid *grid) {
    ss_owned_groups(&grid->series);
}

/* Writes a line for each rate: the rate, and the mean over its runs for each row of the grid. */
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
    for (size_t i = 0; i < grid->column_count; i++) {
        for (size_t j = 0; j < grid->level_count; j++) {
            if (grid->groups[i][j] == SIZE_MAX)
                continue;
            fprintf(script, "$d%zu << END\n", i * LEVELS_MAX + j);
            write_series(script, grid, grid->groups[i][j]);
            fputs("END\n", script);
        }
    }
}

/* Draws all levels in a column of the grid. `fields` are gnuplot's columns of the data. */
static void plot_levels(
    FILE *script, const struct grid *grid, size_t column, const char *fields, bool is_titled) {
    fputs("plot ", script);
    for (size_t i = 0; i < grid->level_count; i++) {
        if (grid->groups[column][i] == SIZE_MAX)
            continue;
        fprintf(script, "$d%zu using %s with linespoints pt %d ps 0.5 lw 1.3 lc rgb \"%s\" ",
            column * LEVELS_MAX + i, fields, plot_series_mark(i), plot_series_color(i));
        fputs(is_titled ? "title " : "notitle", script);
        if (is_titled)
            plot_quote(script, grid->levels[i], 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

/* Sets a range for all columns of a row: whole decades for times, otherwise from 0. */
static void set_range(FILE *script, const struct grid *grid, enum row row) {
    double least = isfinite(rows[row].limit) ? rows[row].limit : INFINITY, most = 0;
    for (size_t i = 0; i < COLUMNS_MAX * LEVELS_MAX; i++) {
        size_t group = grid->groups[i / LEVELS_MAX][i % LEVELS_MAX];
        size_t at = group == SIZE_MAX ? grid->series.items : grid->series.first[group];
        for (; at < grid->series.items; at = grid->series.next[at]) {
            double value = value_of(&grid->report->points[at], row);
            if (value > 0 && isfinite(value)) {
                least = fmin(least, value);
                most = fmax(most, value);
            }
        }
    }
    if (isfinite(rows[row].limit))
        fprintf(script, "set yrange [%g:%g]\n", pow(10, floor(log10(least))),
            pow(10, ceil(log10(fmax(most, rows[row].limit)) + 1e-9)));
    else if (most > 0)
        fprintf(script, "set yrange [0:%g]\n", 1.05 * most);
}

static void plot_panel(FILE *script, const struct grid *grid, size_t column, enum row row) {
    char fields[16];
    bool is_first = column == 0, is_last = row == ROWS - 1;
    plot_axis(script, 'x', is_last ? "request rate, /s" : "", PLOT_FROM_ZERO);
    plot_axis(script, 'y', rows[row].axis, row <= P95 ? PLOT_LOGARITHMIC : PLOT_FROM_ZERO);
    fprintf(script, "set ylabel \"%s\"\n%s", is_first ? rows[row].axis : "",
        row <= P95 ? "" : "unset logscale y\n");
    set_range(script, grid, row);
    fprintf(
        script, "unset arrow\nset format x \"%s\"\nset xtics rotate by -45\n", is_last ? "%g" : "");
    if (isfinite(rows[row].limit))
        plot_line_at(script, 'y', rows[row].limit);
    if (row == MEAN) {
        fputs("set title ", script);
        plot_quote(script, grid->columns[column], 40);
        fputc('\n', script);
    } else {
        fputs("unset title\n", script);
    }
    snprintf(fields, sizeof fields, "1:%d", (int)row + 2);
    plot_levels(script, grid, column, fields, is_first && row == MEAN);
}

bool ssreport_knobs_plot_grid(FILE *script, const struct ssreport_report *report, size_t first,
    enum ssreport_knobs_columns columns) {
    struct grid grid;
    bool known = fill(&grid, report, first, columns);
    int count = ROWS - !grid.has_power;
    if (known) {
        write_data(script, &grid);
        size_t lines = (grid.level_count + KEYS_ACROSS - 1) / KEYS_ACROSS;
        plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH,
            (unsigned)((size_t)count * ROW_HEIGHT + lines * KEY_HEIGHT));
        fprintf(
            script, "set multiplot layout %d,%zu columnsfirst title \" ", count, grid.column_count);
        for (size_t i = 1; i < lines; i++)
            fputs("\\n ", script); /* room for the key */
        fprintf(script,
            "\"\nset key at screen 0.5,0.995 center top vertical maxrows %zu samplen 1\n", lines);
    }
    for (size_t i = 0; known && i < grid.column_count; i++) {
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
    bool known = fill(&grid, report, first, SSREPORT_COLUMN_PER_ARRIVAL) && grid.has_power;
    if (known) {
        write_data(script, &grid);
        plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, (unsigned)(grid.column_count * PLOT_HEIGHT));
        fprintf(script, "set multiplot layout %zu,1\n", grid.column_count);
    }
    for (size_t i = 0; known && i < grid.column_count; i++) {
        plot_axis(script, 'x', "mean response time, ms", PLOT_LOGARITHMIC);
        plot_axis(script, 'y', "power, W", PLOT_AROUND_ZERO);
        fputs("set yrange [*:*]\nset title ", script);
        plot_quote(script, grid.columns[i], 40);
        fputs("\nset key maxcols 2\n", script);
        plot_levels(script, &grid, i, "2:4", true);
    }
    if (known)
        fputs("unset multiplot\n", script);
    free_grid(&grid);
    return known;
}

/*
 * Returns whether this is the first point of its service or, with `arrival`, of its service and
 * arrival.
 */
static bool is_first_point(const struct ssreport_report *report, size_t number, bool arrival) {
    const struct ssreport_rate_point *point = &report->points[number];
    bool is_first = point->of->knobs && !point->of->closed;
    for (size_t i = 0; is_first && i < number; i++)
        is_first = !is_service(point, &report->points[i]) ||
                   (arrival && !is_arrival(point, &report->points[i]));
    return is_first;
}

/* Returns whether the picture by pin contains everything that the picture by arrival would. */
static bool is_crossed_with_pins(const struct ssreport_report *report, size_t first) {
    struct grid pins, arrivals;
    bool crossed = fill(&pins, report, first, SSREPORT_COLUMN_PER_PIN);
    bool single =
        fill(&arrivals, report, first, SSREPORT_COLUMN_PER_ARRIVAL) && arrivals.column_count == 1;
    free_grid(&pins);
    free_grid(&arrivals);
    return crossed && single;
}

enum picture { BY_ARRIVAL, BY_PIN, COST };

/* Returns false if no more pictures can be drawn. */
static bool print_picture(struct ssreport_page *page, const struct ssreport_report *report,
    size_t first, enum picture picture) {
    const struct ssreport_responses *of = report->points[first].of;
    bool has_arrival = picture == BY_PIN && of->arrival;
    char caption[300];
    FILE *script = ssreport_page_script(page);
    if (!script)
        return false;
    snprintf(caption, sizeof caption, "%s: %.200s%s%.40s",
        picture == COST ? "Power against response time"
                        : "Response times, power and successes by rate",
        of->workload ? of->workload : of->title, has_arrival ? ", " : "",
        has_arrival ? of->arrival : "");
    ssreport_page_figure(page, script,
        picture == COST
            ? ssreport_knobs_plot_cost(script, report, first)
            : ssreport_knobs_plot_grid(script, report, first,
                  picture == BY_PIN ? SSREPORT_COLUMN_PER_PIN : SSREPORT_COLUMN_PER_ARRIVAL),
        caption);
    return true;
}

void ssreport_knobs_plots_print(struct ssreport_page *page, const struct ssreport_report *report) {
    for (size_t i = 0; i < report->point_count; i++) {
        bool is_first = is_first_point(report, i, false);
        if ((is_first && !is_crossed_with_pins(report, i) &&
                !print_picture(page, report, i, BY_ARRIVAL)) ||
            (is_first_point(report, i, true) && !print_picture(page, report, i, BY_PIN)) ||
            (is_first && !print_picture(page, report, i, COST)))
            return;
    }
}
