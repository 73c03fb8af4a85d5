/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_plots.h"

#include <math.h>

#include "fleet_figures.h"
#include "frame.h"
#include "gnuplot.h"

/* The maximum number of columns of a map: each of its fields takes 90 bytes of the page. */
#define COLUMNS_MAX 120

/* Maximum number of bins in the histogram of errors, and minimum width of a bin. */
#define ERROR_BINS_MAX 40
#define ERROR_BIN_MIN  1e-5 /* 0.001 points */

/* Heights in CSS pixels: of the frame of a map, and of each row. */
#define MAP_FRAME 110
#define MAP_ROW   4

/* Returns the time that the bins cover, in seconds. */
static double end_of(const struct ssreport_fleet *fleet) {
    return (double)ssreport_fleet_used(fleet) * fleet->width;
}

void ssreport_fleet_plot_sum(struct ssreport_page *page, const struct ssreport_fleet *fleet) {
    FILE *script = ssreport_page_script(page);
    size_t used = ssreport_fleet_used(fleet);
    double unit = plot_time_unit(end_of(fleet));
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis_time(script, "time", end_of(fleet));
    plot_axis(script, 'y', "load, CPUs", PLOT_FROM_ZERO);
    fputs("$sums << END\n", script);
    for (size_t i = 0; i < used; i++) {
        const struct ssreport_fleet_sum *bin = &fleet->bins[i];
        fprintf(script, "%.9g %.9g %.9g\n", ((double)i + 0.5) * fleet->width / unit,
            bin->load / fleet->width, bin->target / fleet->width);
    }
    fprintf(script,
        "END\n"
        "plot $sums using 1:2 with lines lw 1.6 lc rgb \"%s\" title \"load of all nodes\", "
        "$sums using 1:3 with lines lw 1.3 dt 2 lc rgb \"%s\" title \"their targets\"\n",
        PLOT_BLUE, PLOT_ORANGE);
    ssreport_page_figure(
        page, script, used > 0, "Sum over the nodes that have samples at that time, in CPUs");
}

/*
 * Counts the nodes in each bin; the first bin begins at `low`. The outermost bins include nodes
 * outside of all bins, whose number is returned.
 */
static size_t count_errors(const struct ssreport_fleet *fleet, double low, double width,
    size_t count, size_t nodes[ERROR_BINS_MAX]) {
    size_t beyond = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        double bin = (fleet->nodes[i].error - low) / width;
        if (isnan(bin))
            continue;
        beyond += bin < -1e-6 || bin > (double)count + 1e-6;
        nodes[(size_t)fmin(fmax(bin, 0), (double)count - 1)]++;
    }
    return beyond;
}

void ssreport_fleet_plot_errors(struct ssreport_page *page, const struct ssreport_fleet *fleet) {
    struct ssreport_whole whole;
    size_t nodes[ERROR_BINS_MAX] = {0};
    char caption[120];
    FILE *script =
        ssreport_whole_of(&whole, fleet) && whole.measured > 1 ? ssreport_page_script(page) : NULL;
    if (!script)
        return;
    /* Nodes that failed early may be far from the others, so quantiles determine the scale. */
    double span = whole.errors.high - whole.errors.low, low = whole.errors.low - span / 2;
    size_t count = (size_t)fmin(ceil(sqrt((double)whole.measured)) + 1, ERROR_BINS_MAX);
    double width = fmax(2 * span / (double)count, ERROR_BIN_MIN);
    size_t beyond = count_errors(fleet, low, width, count, nodes);
    plot_begin_on_page(script);
    plot_axis(script, 'x', "mean error (target minus load), points", PLOT_AROUND_ZERO);
    plot_axis(script, 'y', "nodes", PLOT_FROM_ZERO);
    fputs(whole.measured < 10 ? "set ytics 1\n" : "", script);
    fputs("$errors << END\n", script);
    for (size_t i = 0; i < count; i++)
        fprintf(script, "%.9g %zu\n", 100 * (low + ((double)i + 0.5) * width), nodes[i]);
    fprintf(script,
        "END\n"
        "set boxwidth %.9g\nset style fill solid 0.5 border\n"
        "plot $errors using 1:2 with boxes lc rgb \"%s\" notitle\n",
        100 * width, PLOT_BLUE);
    int used = snprintf(caption, sizeof caption, "Number of nodes by mean error");
    if (beyond > 0)
        snprintf(caption + used, sizeof caption - (size_t)used,
            "; the outermost bars include %zu more extreme node%s", beyond, beyond == 1 ? "" : "s");
    ssreport_page_figure(page, script, true, caption);
}

/* Sums `step` bins, beginning with `bin`. */
static struct ssreport_fleet_sum sum_of(
    const struct ssreport_fleet_sum *bins, size_t bin, size_t step) {
    struct ssreport_fleet_sum sum = {0};
    for (size_t i = bin; i < bin + step && i < SSREPORT_FLEET_BINS; i++) {
        sum.cpu += bins[i].cpu;
        sum.load += bins[i].load;
        sum.target += bins[i].target;
    }
    return sum;
}

/* Writes a map row by row, as column, row and value in percent. Omits fields without samples. */
static void write_map(
    FILE *script, const struct ssreport_fleet *fleet, size_t step, bool distance) {
    size_t used = ssreport_fleet_used(fleet);
    fputs("$map << END\n", script);
    for (size_t row = 0; row < fleet->rows; row++) {
        for (size_t bin = 0; bin < used; bin += step) {
            struct ssreport_fleet_sum sum = sum_of(fleet->map[row], bin, step);
            if (sum.cpu > 0)
                fprintf(script, "%zu %zu %.4g\n", bin / step, row,
                    100 * (distance ? fabs(sum.load - sum.target) : sum.load) / sum.cpu);
        }
    }
    fputs("END\n", script);
}

/* Writes where the samples of failed nodes end, as time and row. Returns the number of marks. */
static size_t write_ends(FILE *script, const struct ssreport_fleet *fleet, double unit) {
    size_t count = 0;
    fputs("$ends << END\n", script);
    for (size_t i = 0; i < fleet->count; i++) {
        const struct ssreport_fleet_node *node = &fleet->nodes[i];
        if (!node->failed)
            continue;
        fprintf(script, "%.6g %.6g\n", node->ended / unit, (double)i + 0.5);
        count++;
    }
    fputs("END\n", script);
    return count;
}

static void caption_map(
    char *text, size_t size, const struct ssreport_fleet *fleet, bool distance, size_t ends) {
    int used = snprintf(text, size, "%s. Empty fields have no samples",
        distance ? "Distance of each node from its target over time"
                 : "Load of each node over time");
    if (fleet->count > fleet->rows)
        used += snprintf(text + used, size - (size_t)used, "; a row is the mean of %.3g nodes",
            (double)fleet->count / (double)fleet->rows);
    if (ends > 0)
        snprintf(text + used, size - (size_t)used, "; crosses mark the ends of failed nodes");
}

static void plot_map(
    struct ssreport_page *page, const struct ssreport_fleet *fleet, bool distance) {
    FILE *script = ssreport_page_script(page);
    size_t used = ssreport_fleet_used(fleet), step = (used + COLUMNS_MAX - 1) / COLUMNS_MAX;
    double unit = plot_time_unit(end_of(fleet)), rows = (double)fleet->rows;
    double per_row = (double)fleet->count / rows;
    char caption[200];
    if (!script)
        return;
    unsigned tall = MAP_FRAME + MAP_ROW * (unsigned)fleet->rows;
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, tall > PLOT_HEIGHT ? tall : PLOT_HEIGHT);
    double wide = (double)step * fleet->width / unit;
    plot_axis_time(script, "time", end_of(fleet));
    plot_axis_between(script, 'y', "node, in the order of fleet.csv", 0, (double)fleet->count);
    fputs(fleet->count < 20 ? "set ytics 1\n" : "", script);
    fprintf(script, PLOT_GRADIENT "set yrange [%g:0]\nset cblabel \"%s\"\n", (double)fleet->count,
        distance ? "distance from the target, points" : "load, %");
    fputs(distance ? "set cbrange [0:*]\n" : "set cbrange [0:100]\n", script);
    write_map(script, fleet, step, distance);
    size_t ends = write_ends(script, fleet, unit);
    fprintf(script,
        "plot $map using (($1 + 0.5) * %.9g):(($2 + 0.5) * %.9g):(%.9g):(%.9g):3 "
        "with boxxyerror fs solid noborder fc palette notitle%s\n",
        wide, per_row, wide / 2, per_row / 2,
        ends > 0 ? ", $ends using 1:2 with points pt 2 ps 0.6 lw 1.8 lc rgb \"" PLOT_ORANGE
                   "\" notitle"
                 : "");
    caption_map(caption, sizeof caption, fleet, distance, ends);
    ssreport_page_figure(page, script, used > 0, caption);
}

void ssreport_fleet_plot_map(struct ssreport_page *page, const struct ssreport_fleet *fleet) {
    if (fleet->rows == 0)
        return;
    plot_map(page, fleet, false);
    plot_map(page, fleet, true);
}

/* Returns the value of the column FIGURE_SUFFIX in a row, in percentage points. */
static double points_at(
    const struct table_sheet *sheet, size_t row, const char *figure, const char *suffix) {
    char name[40];
    snprintf(name, sizeof name, "%s_%s", figure, suffix);
    return 100 * table_cell_at(sheet, row, name)->number;
}

void ssreport_fleet_plot_prediction(struct ssreport_page *page, const struct table_sheet *sheet,
    const char *figure, const char *axis) {
    FILE *script = ssreport_page_script(page);
    size_t rows = table_rows(sheet);
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis_between(script, 'x', "node, in the order of the table", 0, (double)rows + 1);
    plot_axis(script, 'y', axis, PLOT_AROUND_ZERO);
    fputs(rows < 20 ? "set xtics 1\n" : "", script);
    fputs("$nodes << END\n", script);
    for (size_t row = 0; row < rows; row++) {
        double low = points_at(sheet, row, figure, "low");
        double high = points_at(sheet, row, figure, "high");
        fprintf(script, "%zu %.9g %.9g %.9g\n", row + 1, points_at(sheet, row, figure, "mean"),
            (low + high) / 2, (high - low) / 2);
    }
    fprintf(script,
        "END\n"
        "plot $nodes using 1:3:(0.4):4 with boxxyerror lc rgb \"%s\" "
        "fs transparent solid 0.25 border title \"predicted for 90 %% of the nodes\", "
        "$nodes using 1:2 with points pt 7 ps 0.4 lc rgb \"%s\" title \"measured\"\n",
        PLOT_BLUE, PLOT_ORANGE);
    ssreport_page_figure(page, script, rows > 0, "Nodes and the intervals predicted for them");
}
