/* SPDX-License-Identifier: Apache-2.0 */
#include "energy_plots.h"

#include <math.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "group_by.h"
#include "shaded_tables.h"

/* With more steps than this, only every fifth is labeled. */
#define TICS_MAX 20

/* The columns whose values identify a picture, and a run in it. */
#define PICTURE "set", "environment", "measured_in", "foreground", "background", "round"

static bool has_placement(const struct table_sheet *sheet, size_t row) {
    return *table_cell_at(sheet, row, "placement")->text != '\0';
}

static bool is_known(const struct table_sheet *sheet, size_t row) {
    return isfinite(table_cell_at(sheet, row, "relative")->number);
}

static struct stats_groups group_pictures(const struct table_sheet *sheet) {
    static const char *const columns[] = {PICTURE, NULL};
    return ssreport_group_rows(sheet, columns, has_placement);
}

void ssreport_energy_plots_write(FILE *script, const struct table_sheet *sheet, size_t picture) {
    static const char *const columns[] = {PICTURE, "record", NULL};
    SS_OWNED(groups) struct stats_groups pictures = group_pictures(sheet);
    SS_OWNED(groups)
    struct stats_groups runs = ssreport_group_rows(sheet, columns, has_placement);
    double steps = 0;
    for (size_t i = 0; i < pictures.items; i++) {
        if (pictures.group[i] == picture)
            steps = fmax(steps, table_cell_at(sheet, i, "step")->number);
    }
    plot_begin_on_page(script);
    plot_axis(script, 'y', "per Wh, relative", PLOT_FROM_ZERO);
    fprintf(script, "set xlabel \"step\"\nset xrange [0.5:%.9g]\nset xtics %d\n", steps + 0.5,
        steps <= TICS_MAX ? 1 : 5);
    for (size_t run = 0; run < runs.count; run++) {
        if (pictures.group[runs.first[run]] != picture)
            continue;
        fprintf(script, "$r%zu << END\n", runs.first[run]);
        for (size_t i = runs.first[run]; i < runs.items; i = runs.next[i]) {
            if (is_known(sheet, i))
                fprintf(script, "%.0f %.6g\n", table_cell_at(sheet, i, "step")->number,
                    table_cell_at(sheet, i, "relative")->number);
        }
        fputs("END\n", script);
    }
    fputs("plot ", script);
    for (size_t run = 0; run < runs.count; run++) {
        size_t first = runs.first[run];
        if (pictures.group[first] != picture)
            continue;
        const char *placement = table_cell_at(sheet, first, "placement")->text;
        const char *color = ssreport_placement_color(placement);
        fprintf(script, "$r%zu using 1:2 with linespoints pt 7 ps 0.5 lw 1.3 lc rgb \"%s\" title ",
            first, color ? color : PLOT_GRAY);
        plot_quote(script, placement, 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

static void print_picture(struct ssreport_page *page, const struct table_sheet *sheet,
    const struct stats_groups *pictures, size_t picture) {
    FILE *script = ssreport_page_script(page);
    char caption[400], round[24] = "";
    size_t first = pictures->first[picture];
    double repetition = table_cell_at(sheet, first, "round")->number;
    if (!script)
        return;
    if (repetition > 1)
        snprintf(round, sizeof round, ", round %.0f", repetition);
    snprintf(caption, sizeof caption, "%.60s: %.100s beside %.100s%s%s",
        table_cell_at(sheet, first, "environment")->text,
        table_cell_at(sheet, first, "foreground")->text,
        table_cell_at(sheet, first, "background")->text, round,
        table_cell_at(sheet, first, "set")->number > 1 ? ", second set" : "");
    ssreport_energy_plots_write(script, sheet, picture);
    ssreport_page_figure(page, script, true, caption);
}

void ssreport_energy_plots_print(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "energy-steps");
    SS_OWNED(groups) struct stats_groups pictures = group_pictures(sheet);
    size_t printed = 0;
    for (size_t picture = 0; picture < pictures.count && !page->without.status; picture++) {
        size_t row = pictures.first[picture];
        while (row < pictures.items && !is_known(sheet, row))
            row = pictures.next[row];
        if (row == pictures.items)
            continue;
        if (printed++ == 0)
            fputs("<p>Iterations per watt-hour in each step, relative to those of the same step in "
                  "per-chip</p>\n<div class=\"plots\">\n",
                page->stream);
        print_picture(page, sheet, &pictures, picture);
    }
    if (printed > 0)
        fputs("</div>\n", page->stream);
}
