/* SPDX-License-Identifier: Apache-2.0 */
#include "shades.h"

#include <math.h>
#include <string.h>

/* Where the shades of loss and of gain end, in percent. */
#define LOSS_MOST 60.0
#define GAIN_MOST 20.0

enum {
    ENVIRONMENT,
    PLACEMENT,
    FOREGROUND,
    BACKGROUND,
    METRIC = 5,
    AGREE = 11,
    SIGNIFICANT = 12,
};

static const struct ssreport_cell *cell_at(
    const struct ssreport_sheet *sheet, size_t row, size_t column) {
    return &sheet->cells[row * sheet->column_count + column];
}

static bool is_same(const struct ssreport_sheet *sheet, size_t row, size_t other, size_t column) {
    return strcmp(cell_at(sheet, row, column)->text, cell_at(sheet, other, column)->text) == 0;
}

/* Whether both belong into one table. */
static bool are_together(const struct ssreport_sheet *sheet, size_t row, size_t other) {
    return is_same(sheet, row, other, ENVIRONMENT) && is_same(sheet, row, other, PLACEMENT);
}

/* Whether no earlier row of that table has the same there. */
static bool is_first(const struct ssreport_sheet *sheet, size_t row, size_t column) {
    for (size_t i = 0; i < row; i++) {
        if (are_together(sheet, i, row) && is_same(sheet, i, row, column))
            return false;
    }
    return true;
}

/* The color of a value in percent, red, green and blue from 0 to 255. */
static void find_color(double percent, int color[3]) {
    static const int loss[3] = {240, 145, 105}, gain[3] = {150, 195, 235};
    const int *to = percent >= 0 ? loss : gain;
    double part = percent >= 0 ? percent / LOSS_MOST : percent / -GAIN_MOST;
    part = isfinite(percent) ? fmin(part, 1) : 0;
    for (int i = 0; i < 3; i++)
        color[i] = (int)lround(255 + (to[i] - 255) * part);
}

/* The mean of all pairs that are the same; a mark stands only where all of them have it. */
static void print_cell(
    FILE *page, const struct ssreport_sheet *sheet, size_t foreground, size_t background) {
    double sum = 0;
    size_t count = 0;
    bool agree = true, significant = true;
    for (size_t i = 0; i < ssreport_sheet_rows(sheet); i++) {
        if (!are_together(sheet, i, foreground) || !is_same(sheet, i, foreground, FOREGROUND) ||
            !is_same(sheet, i, background, BACKGROUND))
            continue;
        sum += cell_at(sheet, i, METRIC)->number;
        agree &= strcmp(cell_at(sheet, i, AGREE)->text, "yes") == 0;
        significant &= strcmp(cell_at(sheet, i, SIGNIFICANT)->text, "yes") == 0;
        count++;
    }
    int color[3];
    double mean = count ? sum / (double)count : NAN;
    find_color(mean, color);
    fprintf(page, "<td style=\"background:#%02x%02x%02x\">", color[0], color[1], color[2]);
    ssreport_html_number(page, mean, 1);
    if (count > 0 && isfinite(mean))
        fprintf(page, "%s%s", agree ? "\u2225" : "", significant ? "*" : "");
    fputs("</td>", page);
}

static void print_heading(FILE *page, const char *scope, const char *text) {
    fprintf(page, "<th scope=\"%s\">", scope);
    ssreport_html_text(page, text);
    fputs("</th>", page);
}

static void print_placement(FILE *page, const struct ssreport_sheet *sheet, size_t first) {
    size_t rows = ssreport_sheet_rows(sheet);
    fputs("<div class=\"wide\"><table class=\"shaded\">\n<caption>Placement ", page);
    ssreport_html_text(page, cell_at(sheet, first, PLACEMENT)->text);
    fputs(", environment ", page);
    ssreport_html_text(page, cell_at(sheet, first, ENVIRONMENT)->text);
    fputs(": foreground by row, background by column</caption>\n<thead><tr><th></th>", page);
    for (size_t i = 0; i < rows; i++) {
        if (are_together(sheet, i, first) && is_first(sheet, i, BACKGROUND))
            print_heading(page, "col", cell_at(sheet, i, BACKGROUND)->text);
    }
    fputs("</tr></thead>\n<tbody>\n", page);
    for (size_t row = 0; row < rows; row++) {
        if (!are_together(sheet, row, first) || !is_first(sheet, row, FOREGROUND))
            continue;
        fputs("<tr>", page);
        print_heading(page, "row", cell_at(sheet, row, FOREGROUND)->text);
        for (size_t i = 0; i < rows; i++) {
            if (are_together(sheet, i, first) && is_first(sheet, i, BACKGROUND))
                print_cell(page, sheet, row, i);
        }
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table></div>\n", page);
}

void ssreport_shades_print(FILE *page, const struct ssreport_sheet *sheet) {
    fputs("<p>By how many percent the foreground's throughput falls from an idle background to one "
          "at full load. \u2225: both halves of the staircase agree; *: both lines are significant "
          "(p &lt; 0.05).</p>\n",
        page);
    for (size_t i = 0; i < ssreport_sheet_rows(sheet); i++) {
        if (is_first(sheet, i, PLACEMENT))
            print_placement(page, sheet, i);
    }
}
