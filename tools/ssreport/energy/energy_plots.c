/* SPDX-License-Identifier: Apache-2.0 */
#include "energy_plots.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "group_by.h"
#include "shaded_tables.h"

/* With more steps than this, only every fifth is labeled. */
#define TICS_MAX 20

/* Rows with the same values in these columns are in one picture. */
#define PICTURE "set", "environment", "measured_in", "foreground", "background", "round"

static bool has_placement(const struct table_sheet *sheet, size_t row) {
    return *table_cell_at(sheet, row, "placement")->text != '\0';
}

static const struct {
    const char *column, *axis;
} plots[] = {
    [SSREPORT_PER_WH_RELATIVE] = {"relative", "per Wh, relative"},
    [SSREPORT_PER_WH] = {"iterations_per_watt_hour", "iterations per Wh"},
};

static bool is_known(const struct table_sheet *sheet, size_t row, enum ssreport_energy_plot plot) {
    return isfinite(table_cell_at(sheet, row, plots[plot].column)->number);
}

static struct stats_groups group_pictures(const struct table_sheet *sheet) {
    static const char *const columns[] = {PICTURE, NULL};
    return ssreport_group_rows(sheet, columns, has_placement);
}

static const char *color_at(const struct table_sheet *sheet, size_t row) {
    const char *color = ssreport_placement_color(table_cell_at(sheet, row, "placement")->text);
    return color ? color : PLOT_GRAY;
}

static struct stats_groups group_runs(const struct table_sheet *sheet) {
    static const char *const columns[] = {PICTURE, "record", NULL};
    return ssreport_group_rows(sheet, columns, has_placement);
}

void ssreport_energy_plots_write(
    FILE *script, const struct table_sheet *sheet, size_t picture, enum ssreport_energy_plot plot) {
    SS_OWNED(groups) struct stats_groups pictures = group_pictures(sheet);
    SS_OWNED(groups) struct stats_groups runs = group_runs(sheet);
    double steps = 0;
    for (size_t i = 0; i < pictures.items; i++) {
        if (pictures.group[i] == picture)
            steps = fmax(steps, table_cell_at(sheet, i, "step")->number);
    }
    plot_begin_on_page(script);
    plot_axis(script, 'y', plots[plot].axis, PLOT_FROM_ZERO);
    fprintf(script, "set xlabel \"step\"\nset xrange [0.5:%.9g]\nset xtics %d\n", steps + 0.5,
        steps <= TICS_MAX ? 1 : 5);
    for (size_t run = 0; run < runs.count; run++) {
        if (pictures.group[runs.first[run]] != picture)
            continue;
        fprintf(script, "$r%zu << END\n", runs.first[run]);
        for (size_t i = runs.first[run]; i < runs.items; i = runs.next[i]) {
            if (is_known(sheet, i, plot))
                fprintf(script, "%.0f %.6g\n", table_cell_at(sheet, i, "step")->number,
                    table_cell_at(sheet, i, plots[plot].column)->number);
        }
        fputs("END\n", script);
    }
    fputs("plot ", script);
    for (size_t run = 0; run < runs.count; run++) {
        size_t first = runs.first[run];
        if (pictures.group[first] != picture)
            continue;
        fprintf(script, "$r%zu using 1:2 with linespoints pt 7 ps 0.5 lw 1.3 lc rgb \"%s\" title ",
            first, color_at(sheet, first));
        plot_quote(script, table_cell_at(sheet, first, "placement")->text, 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

/* Sets the caption of a pair: "lxc: p beside q, round 2". */
static void set_caption(char caption[400], const struct table_sheet *sheet, size_t row) {
    char round[24] = "";
    double repetition = table_cell_at(sheet, row, "round")->number;
    if (repetition > 1)
        snprintf(round, sizeof round, ", round %.0f", repetition);
    snprintf(caption, 400, "%.60s: %.100s beside %.100s%s%s",
        table_cell_at(sheet, row, "environment")->text,
        table_cell_at(sheet, row, "foreground")->text,
        table_cell_at(sheet, row, "background")->text, round,
        table_cell_at(sheet, row, "set")->number > 1 ? ", second set" : "");
}

/* Prints one kind of picture for every pair and round in which its values are known. */
static void print_steps(struct ssreport_page *page, const struct table_sheet *sheet,
    enum ssreport_energy_plot plot, const char *heading) {
    SS_OWNED(groups) struct stats_groups pictures = group_pictures(sheet);
    size_t printed = 0;
    for (size_t picture = 0; picture < pictures.count && !page->without.status; picture++) {
        size_t row = pictures.first[picture];
        char caption[400];
        while (row < pictures.items && !is_known(sheet, row, plot))
            row = pictures.next[row];
        FILE *script = row < pictures.items ? ssreport_page_script(page) : NULL;
        if (!script)
            continue;
        if (printed++ == 0)
            fprintf(page->stream, "<p>%s</p>\n<div class=\"plots\">\n", heading);
        set_caption(caption, sheet, row);
        ssreport_energy_plots_write(script, sheet, picture, plot);
        ssreport_page_figure(page, script, true, caption);
    }
    if (printed > 0)
        fputs("</div>\n", page->stream);
}

void ssreport_energy_plots_print(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "energy-steps");
    print_steps(
        page, sheet, SSREPORT_PER_WH, "Iterations per watt-hour in each step, with each placement");
    print_steps(page, sheet, SSREPORT_PER_WH_RELATIVE,
        "Iterations per watt-hour in each step, relative to those of the same step in per-chip");
}
