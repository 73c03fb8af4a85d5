/* SPDX-License-Identifier: Apache-2.0 */
#include "energy_plots.h"

#include <math.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "picture.h"
#include "run_plots.h"

/* With more steps only every fifth has a number. */
#define TICS_MAX 20

/* What tells one picture from another. */
static const char *const pair_names[] = {
    "set", "environment", "measured_in", "foreground", "background", "round", NULL};

static bool is_same_pair(const struct ssreport_sheet *sheet, size_t row, size_t other) {
    for (size_t i = 0; pair_names[i]; i++) {
        if (!ssreport_sheet_is_same(sheet, row, other, pair_names[i]))
            return false;
    }
    return *ssreport_sheet_cell(sheet, other, "placement")->text != '\0';
}

static bool is_known(const struct ssreport_sheet *sheet, size_t row) {
    return *ssreport_sheet_cell(sheet, row, "placement")->text != '\0' &&
           isfinite(ssreport_sheet_cell(sheet, row, "relative")->number);
}

/* The first row of its pair of which anything is known. */
static bool is_first(const struct ssreport_sheet *sheet, size_t row) {
    for (size_t i = 0; i < row; i++) {
        if (is_known(sheet, i) && is_same_pair(sheet, i, row))
            return false;
    }
    return is_known(sheet, row);
}

/* Whether a run of the pair begins here: its steps are rows that follow each other. */
static bool begins_run(const struct ssreport_sheet *sheet, size_t row, size_t first) {
    return is_same_pair(sheet, first, row) &&
           (row == 0 || !ssreport_sheet_is_same(sheet, row - 1, row, "record"));
}

void ssreport_energy_plots_write(FILE *script, const struct ssreport_sheet *sheet, size_t first) {
    size_t rows = ssreport_sheet_rows(sheet);
    double steps = 0;
    for (size_t row = 0; row < rows; row++)
        steps = is_same_pair(sheet, first, row)
                    ? fmax(steps, ssreport_sheet_cell(sheet, row, "step")->number)
                    : steps;
    plot_begin_on_page(script);
    plot_axis(script, 'y', "per Wh, relative", PLOT_FROM_ZERO);
    fprintf(script, "set xlabel \"step\"\nset xrange [0.5:%.9g]\nset xtics %d\n", steps + 0.5,
        steps <= TICS_MAX ? 1 : 5);
    for (size_t row = 0; row < rows; row++) {
        if (!begins_run(sheet, row, first))
            continue;
        fprintf(script, "$r%zu << END\n", row);
        for (size_t i = row; i < rows && ssreport_sheet_is_same(sheet, row, i, "record"); i++) {
            if (is_known(sheet, i))
                fprintf(script, "%.0f %.6g\n", ssreport_sheet_cell(sheet, i, "step")->number,
                    ssreport_sheet_cell(sheet, i, "relative")->number);
        }
        fputs("END\n", script);
    }
    fputs("plot ", script);
    for (size_t row = 0; row < rows; row++) {
        if (!begins_run(sheet, row, first))
            continue;
        const char *placement = ssreport_sheet_cell(sheet, row, "placement")->text;
        const char *color = ssreport_plots_color(placement);
        fprintf(script, "$r%zu using 1:2 with linespoints pt 7 ps 0.5 lw 1.3 lc rgb \"%s\" title ",
            row, color ? color : PLOT_GRAY);
        plot_quote(script, placement, 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

static void print_picture(FILE *page, const struct ssreport_sheet *sheet, size_t first,
    unsigned *number, struct ss_error *without) {
    SS_OWNED(fclose) FILE *script = without->status ? NULL : tmpfile();
    char caption[400], round[24] = "";
    double repetition = ssreport_sheet_cell(sheet, first, "round")->number;
    if (!script)
        return;
    if (repetition > 1)
        snprintf(round, sizeof round, ", round %.0f", repetition);
    snprintf(caption, sizeof caption, "%.60s: %.100s beside %.100s%s%s",
        ssreport_sheet_cell(sheet, first, "environment")->text,
        ssreport_sheet_cell(sheet, first, "foreground")->text,
        ssreport_sheet_cell(sheet, first, "background")->text, round,
        ssreport_sheet_cell(sheet, first, "set")->number > 1 ? ", second set" : "");
    ssreport_energy_plots_write(script, sheet, first);
    page_figure(page, &(struct page_figure){script, caption, NULL}, number, without);
}

void ssreport_energy_plots_print(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    const struct ssreport_sheet *sheet = &report->sheets[SSREPORT_ENERGY_STEPS];
    size_t printed = 0;
    for (size_t i = 0; i < ssreport_sheet_rows(sheet) && !without->status; i++) {
        if (!is_first(sheet, i))
            continue;
        if (printed++ == 0)
            fputs("<p>Iterations per watt-hour in each step, relative to those of the same step in "
                  "per-chip</p>\n<div class=\"plots\">\n",
                page);
        print_picture(page, sheet, i, number, without);
    }
    if (printed > 0)
        fputs("</div>\n", page);
}
