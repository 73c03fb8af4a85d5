/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_plots.h"

#include <math.h>

#include "frame.h"
#include "gnuplot.h"

/* The columns of a map. A field takes 90 bytes of the page. */
#define COLUMNS_MAX 120

/* The height of a map in CSS pixels: its frame, and its rows. */
#define MAP_FRAME 110
#define MAP_ROW   4

/* The time that the bins cover, in seconds. */
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

/* Sums `step` bins of a row from `bin` on. */
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

/* Writes a map, row by row, as column, row and value in percent; fields without samples are left
 * out. */
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

static void plot_map(
    struct ssreport_page *page, const struct ssreport_fleet *fleet, bool distance) {
    FILE *script = ssreport_page_script(page);
    size_t used = ssreport_fleet_used(fleet), step = (used + COLUMNS_MAX - 1) / COLUMNS_MAX;
    double unit = plot_time_unit(end_of(fleet)), rows = (double)fleet->rows;
    double per_row = (double)fleet->count / rows;
    if (!script)
        return;
    unsigned tall = MAP_FRAME + MAP_ROW * (unsigned)fleet->rows;
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, tall > PLOT_HEIGHT ? tall : PLOT_HEIGHT);
    double wide = (double)step * fleet->width / unit;
    plot_axis_time(script, "time", end_of(fleet));
    plot_axis_between(script, 'y', "node, in the order of fleet.csv", 0, (double)fleet->count);
    fprintf(script, PLOT_GRADIENT "set yrange [%g:0]\nset cblabel \"%s\"\n", (double)fleet->count,
        distance ? "distance from the target, points" : "load, %");
    fputs(distance ? "set cbrange [0:*]\n" : "set cbrange [0:100]\n", script);
    write_map(script, fleet, step, distance);
    fprintf(script,
        "plot $map using (($1 + 0.5) * %.9g):(($2 + 0.5) * %.9g):(%.9g):(%.9g):3 "
        "with boxxyerror fs solid noborder fc palette notitle\n",
        wide, per_row, wide / 2, per_row / 2);
    ssreport_page_figure(page, script, used > 0,
        distance ? "How far each node was from its target; empty fields have no samples"
                 : "Load of each node over time; empty fields have no samples");
}

void ssreport_fleet_plot_map(struct ssreport_page *page, const struct ssreport_fleet *fleet) {
    if (fleet->rows == 0)
        return;
    plot_map(page, fleet, false);
    plot_map(page, fleet, true);
}
