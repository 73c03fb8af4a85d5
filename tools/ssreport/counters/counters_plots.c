/* SPDX-License-Identifier: Apache-2.0 */
#include "counters_plots.h"

#include <math.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "group_by.h"
#include "shaded_tables.h"

/* The number of small pictures side by side, and the height of a row of them. */
#define ACROSS     2
#define ROW_HEIGHT 210

static const struct {
    const char *column;
    const char *axis; /* a short label, because panels are small */
    double scale;     /* divisor of the values */
} panels[] = {
    {"instructions_per_second", "instructions, 10⁹/s", 1e9},
    {"instructions_per_cycle", "instructions/cycle", 1},
    {"cpus_used", "CPUs used", 1},
    {"runnable_mean", "runnable threads", 1},
    {"l1d_miss_rate", "L1 misses, %", 0.01},
    {"l2_misses_per_second", "L2 misses, 10⁶/s", 1e6},
    {"cache_misses_per_second", "LLC misses, 10⁶/s", 1e6},
    {"cache_miss_rate", "LLC misses, %", 0.01},
    {"stalled_backend_per_cycle", "stalls/cycle", 1},
    {"context_switches_per_second", "switches, /s", 1},
};

#define PANELS (sizeof panels / sizeof *panels)

/* Rows with the same values in these columns are in one picture. */
#define PICTURE "set", "environment", "workload", "role", "background"

/* The rows of a program, in groups of one placement each. */
struct drawing {
    const struct table_sheet *sheet;
    struct stats_groups programs, placements;
    size_t row; /* any row of the program */
};

static bool belongs(const struct drawing *drawing, size_t row) {
    return drawing->programs.group[row] == drawing->programs.group[drawing->row];
}

static double value_at(const struct drawing *drawing, size_t row, size_t panel) {
    return table_cell_at(drawing->sheet, row, panels[panel].column)->number / panels[panel].scale;
}

static double load_at(const struct drawing *drawing, size_t row) {
    return 100 * table_cell_at(drawing->sheet, row, "load")->number;
}

/* Returns whether a counter is known at two loads or more. */
static bool is_known(const struct drawing *drawing, size_t panel) {
    double first = NAN;
    for (size_t i = 0; i < drawing->programs.items; i++) {
        if (!belongs(drawing, i) || !isfinite(value_at(drawing, i, panel)))
            continue;
        if (isfinite(first) && load_at(drawing, i) != first)
            return true;
        first = load_at(drawing, i);
    }
    return false;
}

static void write_panel(FILE *script, const struct drawing *drawing, size_t panel, bool titled) {
    const struct stats_groups *placements = &drawing->placements;
    for (size_t i = 0; i < placements->count; i++) {
        if (!belongs(drawing, placements->first[i]))
            continue;
        fprintf(script, "$c%zu_%zu << END\n", panel, i);
        for (size_t j = placements->first[i]; j < placements->items; j = placements->next[j]) {
            if (isfinite(value_at(drawing, j, panel)))
                fprintf(script, "%.6g %.6g\n", load_at(drawing, j), value_at(drawing, j, panel));
        }
        fputs("NaN NaN\nEND\n", script);
    }
    plot_axis(script, 'y', panels[panel].axis, PLOT_FROM_ZERO);
    fputs(titled ? "plot " : "unset key\nplot ", script);
    for (size_t i = 0, series = 0; i < placements->count; i++) {
        if (!belongs(drawing, placements->first[i]))
            continue;
        const char *placement =
            table_cell_at(drawing->sheet, placements->first[i], "placement")->text;
        const char *color = ssreport_placement_color(placement);
        fprintf(script, "$c%zu_%zu using 1:2 with points pt 7 ps 0.4 lc rgb \"%s\" ", panel, i,
            color ? color : plot_series_color(series));
        series++;
        fputs(*placement ? "title " : "notitle", script);
        if (*placement)
            plot_quote(script, placement, 24);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

bool ssreport_counters_plots_write(FILE *script, const struct table_sheet *sheet, size_t row) {
    static const char *const program[] = {PICTURE, NULL};
    static const char *const placement[] = {PICTURE, "placement", NULL};
    SS_OWNED(groups) struct stats_groups programs = ssreport_group_rows(sheet, program, NULL);
    SS_OWNED(groups) struct stats_groups placements = ssreport_group_rows(sheet, placement, NULL);
    struct drawing drawing = {
        .sheet = sheet, .programs = programs, .placements = placements, .row = row};
    size_t count = 0, written = 0;
    for (size_t i = 0; programs.first && placements.first && i < PANELS; i++)
        count += is_known(&drawing, i);
    if (count == 0)
        return false;
    size_t rows = (count + ACROSS - 1) / ACROSS;
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, (unsigned)(rows * ROW_HEIGHT));
    fprintf(script,
        "set multiplot layout %zu,%d title \" \"\n"
        "set key at screen 0.5,0.995 center top vertical maxrows 1 samplen 0.5\n",
        rows, ACROSS);
    for (size_t i = 0; i < PANELS; i++) {
        if (!is_known(&drawing, i))
            continue;
        plot_axis_between(script, 'x', written + ACROSS >= count ? "load, %" : "", 0, 100);
        write_panel(script, &drawing, i, written == 0);
        written++;
    }
    fputs("unset multiplot\n", script);
    return true;
}

void ssreport_counters_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report) {
    static const char *const program[] = {PICTURE, NULL};
    const struct table_sheet *sheet = ssreport_table(report, "counters-steps");
    SS_OWNED(groups) struct stats_groups programs = ssreport_group_rows(sheet, program, NULL);
    fputs("<div class=\"plots\">\n", page->stream);
    for (size_t i = 0; i < programs.count && !page->without.status; i++) {
        size_t row = programs.first[i];
        const char *background = table_cell_at(sheet, row, "background")->text;
        FILE *script = ssreport_page_script(page);
        char caption[400];
        if (!script)
            break;
        snprintf(caption, sizeof caption, "%.60s: counters of %.100s%s%.100s%s",
            table_cell_at(sheet, row, "environment")->text,
            table_cell_at(sheet, row, "workload")->text, *background ? " against the load of " : "",
            background, table_cell_at(sheet, row, "set")->number > 1 ? ", second set" : "");
        ssreport_page_figure(
            page, script, ssreport_counters_plots_write(script, sheet, row), caption);
    }
    fputs("</div>\n", page->stream);
}
