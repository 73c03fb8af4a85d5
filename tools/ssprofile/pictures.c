/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"

#define LABEL_MAX 40
#define RATIO     "ratio to the base"

/* Finds the smallest and the largest ratio of all series; the range includes 1. */
static void find_bounds(
    const struct ssprofile_series *series, size_t count, double *least, double *most) {
    *least = *most = 1;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < series[i].ratios->count; j++) {
            *least = fmin(*least, series[i].ratios->items[j].ratio);
            *most = fmax(*most, series[i].ratios->items[j].ratio);
        }
    }
}

#define PANEL_TOP    40 /* in units of the picture: the line of text above a panel */
#define PANEL_HEIGHT 140
#define PANEL_END    70 /* labels and the name of the axis, below the last panel */
#define LEFT         70

/* The minimum number of bins, if the ratios allow it. */
#define BINS_MIN 5
#define BINS_MAX 400

double ssprofile_histogram_bin(const struct ssprofile_series *series, size_t count) {
    double least, most, bin = SSPROFILE_BIN;
    find_bounds(series, count, &least, &most);
    while (most - least < BINS_MIN * bin && bin > SSPROFILE_BIN / 500)
        bin /= 10;
    while (most - least > BINS_MAX * bin)
        bin *= 10;
    return bin;
}

static void write_bins(
    FILE *script, const struct ssprofile_series *series, size_t number, double bin) {
    const struct ssprofile_ratios *ratios = series->ratios;
    fprintf(script, "$bins%zu << END\n", number);
    for (size_t i = 0; i < ratios->count; i++) {
        size_t at = ssprofile_bin_of(ratios->items[i].ratio, bin);
        size_t before = 0, count = 0;
        for (size_t j = 0; j < ratios->count; j++) {
            bool is_here = ssprofile_bin_of(ratios->items[j].ratio, bin) == at;
            before += is_here && j < i;
            count += is_here;
        }
        if (before == 0)
            fprintf(script, "%.6g %zu\n", ((double)at - 0.5) * bin, count);
    }
    fputs("END\n", script);
}

/* Writes the name of the series and its statistics above the panel. */
static void write_title(FILE *script, const struct ssprofile_series *series) {
    const struct ssprofile_figures *figures = &series->figures;
    int decimals = figures->length < 0.2 ? 4 : 2;
    char text[160];
    fputs("set label 1 ", script);
    plot_quote(script, series->limits, LABEL_MAX);
    fputs(" at graph 0, graph 1 offset 0,0.8 left\n", script);
    snprintf(text, sizeof text, "range %.*f to %.*f, median %.*f", decimals, figures->least,
        decimals, figures->most, decimals, figures->median);
    fprintf(script, "set label 2 \"%s\" at graph 1, graph 1 offset 0,0.8 right\n", text);
}

static void write_panel(
    FILE *script, const struct ssprofile_series *series, size_t number, size_t count) {
    double height = PANEL_END + (double)count * (PANEL_TOP + PANEL_HEIGHT);
    double top = (double)(number + 1) * PANEL_TOP + (double)number * PANEL_HEIGHT;
    fprintf(script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n", 1 - top / height,
        1 - (top + PANEL_HEIGHT) / height);
    write_title(script, series);
    fprintf(script,
        "set object 1 rectangle from first %.6g, graph 0 to first %.6g, graph 1 back "
        "fc rgb \"%s\" " PLOT_SHADED "\n"
        "plot $bins%zu using 1:2 with boxes lc rgb \"%s\" notitle\n",
        series->figures.least, series->figures.most, plot_series_color(number), number,
        plot_series_color(number));
}

void ssprofile_draw_histogram(FILE *script, const struct ssprofile_series *series, size_t count) {
    double least, most;
    find_bounds(series, count, &least, &most);
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH,
        (unsigned)(PANEL_END + count * (PANEL_TOP + PANEL_HEIGHT)));
    double bin = ssprofile_histogram_bin(series, count);
    for (size_t i = 0; i < count; i++)
        write_bins(script, &series[i], i, bin);
    /* Leave a few bins free on either side. */
    double from = (floor(least / bin) - 3) * bin, to = (ceil(most / bin) + 3) * bin;
    plot_axis(script, 'y', "benchmarks", PLOT_FROM_ZERO);
    plot_line_at(script, 'x', 1);
    fprintf(script,
        "set boxwidth %.6g\nset ylabel offset 1.2,0\nset format y \"%%4g\"\nset lmargin at screen "
        "%.5f\n"
        "set rmargin at screen 0.98\nset format x \"\"\nset xrange [%.6g:%.6g]\nset multiplot\n",
        bin * 0.88, (double)LEFT / PLOT_WIDTH, fmax(from, 0), to);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count) {
            fputs("set format x\n", script);
            plot_axis_between(script, 'x', RATIO, fmax(from, 0), to);
        }
        write_panel(script, &series[i], i, count);
    }
    fputs("unset multiplot\n", script);
}

#define ROW_HEIGHT   15
#define ROWS_NAMED   150 /* with more rows, names would be illegible */
#define ROW_UNNAMED  4
#define LETTER_WIDTH 6.6 /* approximate width of a letter of the names */
#define LETTERS_MAX  30
#define LINE_HEIGHT  20 /* height of a line of the key */
#define DOTS_END     64

static const struct ssprofile_ratio *find_ratio(
    const struct ssprofile_ratios *ratios, const char *name, const char *class) {
    for (size_t i = 0; i < ratios->count; i++) {
        if (strcmp(ratios->items[i].name, name) == 0 && strcmp(ratios->items[i].class, class) == 0)
            return &ratios->items[i];
    }
    return NULL;
}

static int compare_rows(const void *left, const void *right) {
    double one = (*(const struct ssprofile_ratio *const *)left)->ratio;
    double other = (*(const struct ssprofile_ratio *const *)right)->ratio;
    return (one > other) - (one < other);
}

/*
 * Returns each benchmark that any series has, with the ratio in the first series that has it;
 * free() the list.
 */
static const struct ssprofile_ratio **find_rows(
    const struct ssprofile_series *series, size_t count, size_t *row_count) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += series[i].ratios->count;
    const struct ssprofile_ratio **rows = calloc(most + 1, sizeof *rows);
    *row_count = 0;
    for (size_t i = 0; rows && i < count; i++) {
        for (size_t j = 0; j < series[i].ratios->count; j++) {
            const struct ssprofile_ratio *ratio = &series[i].ratios->items[j];
            bool is_known = false;
            for (size_t k = 0; k < i && !is_known; k++)
                is_known = find_ratio(series[k].ratios, ratio->name, ratio->class);
            if (!is_known)
                rows[(*row_count)++] = ratio;
        }
    }
    if (rows)
        qsort(rows, *row_count, sizeof *rows, compare_rows);
    return rows;
}

/* Names a row. Benchmarks of the same name also show their class. */
static void name_row(
    char name[256], const struct ssprofile_ratio *const *rows, size_t count, size_t row) {
    const struct ssprofile_ratio *ratio = rows[row];
    bool is_alone = true;
    for (size_t i = 0; i < count; i++)
        is_alone &= i == row || strcmp(rows[i]->name, ratio->name) != 0;
    if (is_alone)
        snprintf(name, 256, "%.250s", ratio->name);
    else
        snprintf(name, 256, "%.120s (%.120s)", ratio->name, ratio->class);
}

/* Returns the length of the longest name. */
static size_t write_names(FILE *script, const struct ssprofile_ratio *const *rows, size_t count) {
    size_t longest = 0;
    fputs("set ytics ()\n", script);
    for (size_t i = 0; i < count; i++) {
        char name[256];
        name_row(name, rows, count, i);
        fputs("set ytics add (", script);
        plot_quote(script, name, LETTERS_MAX);
        fprintf(script, " %zu)\n", i);
        size_t length = strlen(name);
        longest = length > longest ? length : longest;
    }
    return longest < LETTERS_MAX ? longest : LETTERS_MAX + 3;
}

/*
 * Writes the axis for machines that are nearly alike: there, equal steps are nearly equal factors.
 */
static void write_narrow_axis(FILE *script, double from, double to) {
    double step = pow(10, floor(log10(to - from)));
    double steps = (to - from) / step;
    step *= steps < 2 ? 0.5 : steps < 5 ? 1 : 2;
    plot_axis_between(script, 'x', RATIO, from, to);
    fprintf(script, "set xtics %.8g\n", step);
}

/* Returns whether a logarithmic axis would look different. */
static bool is_wide(double least, double most) {
    return most / least > 1.5;
}

bool ssprofile_dots_are_logarithmic(const struct ssprofile_series *series, size_t count) {
    double least, most;
    find_bounds(series, count, &least, &most);
    return is_wide(least, most);
}

/*
 * Writes the axis. Ratios are compared by their quotients, so the axis is logarithmic if that makes
 * a visible difference.
 */
static void write_ratio_axis(FILE *script, double least, double most) {
    double beyond = fmax(pow(most / least, 0.04), 1.0005);
    double from = least / beyond, to = most * beyond;
    if (is_wide(least, most))
        plot_axis_logarithmic(script, 'x', RATIO, from, to);
    else
        write_narrow_axis(script, from, to);
}

static void write_key(FILE *script, const struct ssprofile_series *series) {
    const struct ssprofile_figures *figures = &series->figures;
    int decimals = figures->length < 0.2 ? 4 : 2;
    char coverage[40] = "", text[240];
    if (isfinite(series->coverage))
        snprintf(coverage, sizeof coverage, " (coverage %.1f%%)", 100 * series->coverage);
    snprintf(text, sizeof text, "%.*s: %.*f to %.*f%s", LABEL_MAX, series->limits, decimals,
        figures->least, decimals, figures->most, coverage);
    plot_quote(script, text, sizeof text);
}

static void write_dots(FILE *script, const struct ssprofile_series *series, size_t number,
    const struct ssprofile_ratio *const *rows, size_t count) {
    fprintf(script, "$dots%zu << END\n", number);
    for (size_t i = 0; i < count; i++) {
        const struct ssprofile_ratio *ratio =
            find_ratio(series->ratios, rows[i]->name, rows[i]->class);
        if (ratio)
            fprintf(script, "%.8g %zu\n", ratio->ratio, i);
    }
    fputs("END\n", script);
    if (isfinite(series->coverage))
        fprintf(script,
            "set object rectangle from first %.8g, graph 0 to first %.8g, graph 1 back "
            "fc rgb \"%s\" " PLOT_SHADED "\n",
            series->figures.least, series->figures.most, plot_series_color(number));
}

void ssprofile_draw_dots(FILE *script, const struct ssprofile_series *series, size_t count) {
    double least, most;
    size_t row_count;
    SS_OWNED(free) const struct ssprofile_ratio **rows = find_rows(series, count, &row_count);
    if (!rows)
        return;
    bool is_named = row_count <= ROWS_NAMED;
    double top = 8 + LINE_HEIGHT * (double)count;
    double rows_height = (double)(row_count + 1) * (is_named ? ROW_HEIGHT : ROW_UNNAMED);
    double height = top + fmax(rows_height, 80) + DOTS_END;
    find_bounds(series, count, &least, &most);
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, (unsigned)height);
    size_t longest = is_named ? write_names(script, rows, row_count) : 0;
    if (!is_named)
        fputs("unset ytics\n", script);
    else
        fprintf(script, "set ytics scale 0 font \",%d\"\n", PLOT_SMALL);
    write_ratio_axis(script, least, most);
    fprintf(script,
        "set yrange [-1:%zu]\nset lmargin at screen %.5f\nset rmargin at screen 0.97\n"
        "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
        "set key at screen 0.985,0.998 top right vertical Right samplen 1 spacing 1.1\n",
        row_count, (16 + LETTER_WIDTH * (double)longest) / PLOT_WIDTH, 1 - top / height,
        DOTS_END / height);
    plot_line_at(script, 'x', 1);
    for (size_t i = 0; i < count; i++)
        write_dots(script, &series[i], i, rows, row_count);
    for (size_t i = 0; i < count; i++) {
        fprintf(script, "%s$dots%zu using 1:2 with points pt %d ps 0.65 lc rgb \"%s\" title ",
            i == 0 ? "plot " : ", ", i, plot_series_mark(i), plot_series_color(i));
        write_key(script, &series[i]);
    }
    fputc('\n', script);
}

static double number_of(const struct table_sheet *sheet, size_t row, const char *name) {
    return table_cell_at(sheet, row, name)->number;
}

/* Writes a column and half the width of its interval, for each test. */
static void write_tests(FILE *script, const struct table_sheet *tests, const char *block,
    const char *column, const char *half, double factor) {
    fprintf(script, "$%s << END\n", block);
    for (size_t i = 0; i < table_rows(tests); i++) {
        double value = number_of(tests, i, column);
        double interval = half ? number_of(tests, i, half) : 0;
        if (isfinite(value))
            fprintf(script, "%zu %.8g %.8g\n", i + 1, factor * value,
                isfinite(interval) ? factor * interval : 0);
    }
    fputs("END\n", script);
}

/* Writes $found, the point that draw_settings() rings, and labels it with its setting. */
static void write_found(FILE *script, const struct table_sheet *tests, size_t found) {
    double setting = 100 * number_of(tests, found, "setting");
    fprintf(script,
        "$found << END\n%zu %.8g\nEND\n"
        "set label 1 \"%.2f%%\" at first %zu, first %.8g center offset 0,1.1\n",
        found + 1, setting, setting, found + 1, setting);
}

static void draw_settings(FILE *script, bool is_found) {
    plot_axis_between(script, 'y', "setting, %", 0, 105);
    fprintf(script,
        "set tmargin at screen 0.97\nset bmargin at screen 0.58\nset format x \"\"\nset ytics 20\n"
        "plot $settings using 1:2 with linespoints pt 7 ps 0.6 lw 1.3 lc rgb \"" PLOT_BLUE "\"%s\n",
        is_found ? ", $found using 1:2 with " PLOT_RINGS : "");
}

/* Draws the lower panel. Costs begin at 1; logarithms are around 0. */
static void draw_values(FILE *script, bool by_cost) {
    fputs("unset label 1\nset tmargin at screen 0.53\nset bmargin at screen 0.15\nset format x\n"
          "set xlabel \"test\"\nset ytics autofreq\n",
        script);
    plot_axis(script, 'y', by_cost ? "cost" : "mean ln ratio",
        by_cost ? PLOT_FROM_ZERO : PLOT_AROUND_ZERO);
    plot_line_at(script, 'y', by_cost);
    fputs("plot $values using 1:2:3 with yerrorbars pt 0 lw 1.3 lc rgb \"" PLOT_ORANGE "\", "
          "$values using 1:2 with linespoints pt 5 ps 0.6 lw 1.3 lc rgb \"" PLOT_ORANGE "\"\n",
        script);
}

void ssprofile_draw_path(
    FILE *script, const struct table_sheet *tests, bool by_cost, size_t found) {
    size_t rows = table_rows(tests);
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, 480);
    write_tests(script, tests, "settings", "setting", NULL, 100);
    write_tests(script, tests, "values", by_cost ? "cost" : "log_ratio_mean",
        by_cost ? NULL : "half_width", 1);
    if (found < rows)
        write_found(script, tests, found);
    fprintf(script,
        "set xrange [0.5:%.1f]\nset xtics 1\nunset key\nset lmargin at screen 0.15\n"
        "set rmargin at screen 0.98\nset multiplot\n",
        (double)rows + 0.5);
    draw_settings(script, found < rows);
    draw_values(script, by_cost);
    fputs("unset multiplot\n", script);
}

#define MEGAHERTZ_MIN 2 /* a setting above this is a frequency */

void ssprofile_draw_boxes(FILE *script, const struct table_sheet *boxes, const char *kind) {
    size_t count = table_rows(boxes);
    bool is_frequency = count > 0 && number_of(boxes, 0, "setting") > MEGAHERTZ_MIN;
    double scale = is_frequency ? 1 : 100, from = INFINITY, to = 0, most = 1;
    char name[80];
    plot_begin_on_page(script);
    fputs("$boxes << END\n", script);
    for (size_t i = 0; i < count; i++) {
        double setting = scale * number_of(boxes, i, "setting");
        fprintf(script, "%.8g %.8g %.8g %.8g %.8g %.8g\n", setting, number_of(boxes, i, "least"),
            number_of(boxes, i, "lower_quartile"), number_of(boxes, i, "median"),
            number_of(boxes, i, "upper_quartile"), number_of(boxes, i, "most"));
        from = fmin(from, setting);
        to = fmax(to, setting);
        most = fmax(most, number_of(boxes, i, "most"));
    }
    fputs("END\n", script);
    double space = count > 1 ? 0.6 * (to - from) / (double)(count - 1) : 0.1 * to;
    snprintf(name, sizeof name, "%s, %s", kind, is_frequency ? "MHz" : "%");
    plot_axis_between(script, 'x', name, is_frequency ? from - space : 0, fmax(to + space, 0));
    plot_axis_between(script, 'y', "speed relative to that without", 0, 1.05 * most);
    fprintf(script, "set boxwidth %.6g\nunset key\nplot %s", 0.7 * space,
        is_frequency ? "" : "x / 100 with lines dt 2 lc rgb \"" PLOT_ORANGE "\", ");
    fputs("$boxes using 1:3:2:6:5 with candlesticks whiskerbars 0.5 " PLOT_HALF
          " lw 1.3 lc rgb \"" PLOT_BLUE
          "\", $boxes using 1:4:4:4:4 with candlesticks lw 2.2 lc rgb \"" PLOT_BLUE "\"\n",
        script);
}
