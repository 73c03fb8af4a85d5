/* SPDX-License-Identifier: Apache-2.0 */
#include "ratio_tables.h"

#include <math.h>
#include <stdlib.h>

#include "base/owned.h"

/* The columns of the comparison that tell one table from others, and those that make it up. */
static const char *const table_names[] = {"experiment", "environment_a", "measured_in_a",
    "environment_b", "measured_in_b", "placement", "method", "tau_seconds", "speed", NULL};

static bool is_same_table(const struct ssreport_sheet *sheet, size_t row, size_t other) {
    for (size_t i = 0; table_names[i]; i++) {
        if (!ssreport_sheet_is_same(sheet, row, other, table_names[i]))
            return false;
    }
    return true;
}

static bool is_pair(const struct ssreport_sheet *sheet, size_t row) {
    return *ssreport_sheet_cell(sheet, row, "background")->text != '\0';
}

/* Of each row of the comparison: comparing cells is slow where there are thousands. */
struct place {
    size_t table;                              /* the first row of its table */
    size_t first_foreground, first_background; /* the first row there that has the same */
    bool is_pair;
};

static void find_places(const struct ssreport_sheet *sheet, struct place *places) {
    for (size_t i = 0; i < ssreport_sheet_rows(sheet); i++) {
        places[i] = (struct place){i, i, i, is_pair(sheet, i)};
        for (size_t j = 0; j < i && places[i].table == i; j++) {
            if (places[j].is_pair && places[j].table == j && is_same_table(sheet, i, j))
                places[i].table = j;
        }
        for (size_t j = places[i].table; j < i; j++) {
            if (places[j].table != places[i].table)
                continue;
            if (places[i].first_foreground == i &&
                ssreport_sheet_is_same(sheet, i, j, "foreground"))
                places[i].first_foreground = j;
            if (places[i].first_background == i &&
                ssreport_sheet_is_same(sheet, i, j, "background"))
                places[i].first_background = j;
        }
    }
}

/* How far ratios are from 1 at most, as a logarithm, so that 2 and 1/2 are as far. */
static double find_reach(const struct ssreport_sheet *sheet) {
    double reach = 0;
    for (size_t i = 0; i < ssreport_sheet_rows(sheet); i++) {
        double away = fabs(log(ssreport_sheet_cell(sheet, i, "ratio_median")->number));
        if (is_pair(sheet, i) && isfinite(away))
            reach = fmax(reach, away);
    }
    return reach;
}

static void print_ratio(FILE *page, double ratio, double reach) {
    static const int less[3] = {240, 145, 105}, more[3] = {120, 175, 230};
    double part = reach > 0 && isfinite(log(ratio)) ? log(ratio) / reach : 0;
    const int *to = part < 0 ? less : more;
    fputs("<td style=\"background:#", page);
    for (int i = 0; i < 3; i++)
        fprintf(page, "%02x", (unsigned)lround(255 + (to[i] - 255) * fmin(fabs(part), 1)));
    fputs("\">", page);
    ssreport_html_number(page, ratio, 3);
    fputs("</td>", page);
}

static void print_heading(FILE *page, const char *scope, const char *text) {
    fprintf(page, "<th scope=\"%s\">", scope);
    ssreport_html_text(page, text);
    fputs("</th>", page);
}

static void print_place(FILE *page, const struct ssreport_sheet *sheet, size_t row, char side) {
    char name[24];
    snprintf(name, sizeof name, "environment_%c", side);
    const char *environment = ssreport_sheet_cell(sheet, row, name)->text;
    snprintf(name, sizeof name, "measured_in_%c", side);
    const char *measured = ssreport_sheet_cell(sheet, row, name)->text;
    ssreport_html_text(page, environment);
    if (*measured) {
        fputs(" (measured: ", page);
        ssreport_html_text(page, measured);
        fputc(')', page);
    }
}

static void print_caption(FILE *page, const struct ssreport_sheet *sheet, size_t row) {
    const char *placement = ssreport_sheet_cell(sheet, row, "placement")->text;
    const char *method = ssreport_sheet_cell(sheet, row, "method")->text;
    fputs("<caption>Placement ", page);
    ssreport_html_text(page, *placement ? placement : "not known");
    if (*method) {
        fputs(", ", page);
        ssreport_html_text(page, method);
    }
    fputs(", environment ", page);
    print_place(page, sheet, row, 'a');
    fputs(" / ", page);
    print_place(page, sheet, row, 'b');
    fputs("</caption>", page);
}

static void print_table(
    FILE *page, const struct ssreport_sheet *sheet, const struct place *places, size_t first) {
    size_t rows = ssreport_sheet_rows(sheet);
    double reach = find_reach(sheet);
    fputs("<div class=\"wide\"><table class=\"shaded\">\n", page);
    print_caption(page, sheet, first);
    fputs("\n<thead><tr><th></th>", page);
    for (size_t i = first; i < rows; i++) {
        if (places[i].table == first && places[i].first_background == i)
            print_heading(page, "col", ssreport_sheet_cell(sheet, i, "background")->text);
    }
    fputs("</tr></thead>\n<tbody>\n", page);
    for (size_t row = first; row < rows; row++) {
        if (places[row].table != first || places[row].first_foreground != row)
            continue;
        fputs("<tr>", page);
        print_heading(page, "row", ssreport_sheet_cell(sheet, row, "foreground")->text);
        for (size_t i = first; i < rows; i++) {
            if (places[i].table != first || places[i].first_background != i)
                continue;
            size_t pair = first;
            while (pair < rows &&
                   (places[pair].table != first || places[pair].first_foreground != row ||
                       places[pair].first_background != i))
                pair++;
            print_ratio(page,
                pair < rows ? ssreport_sheet_cell(sheet, pair, "ratio_median")->number : NAN,
                reach);
        }
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table></div>\n", page);
}

static void print_explanation(FILE *page, const struct ssreport_report *report) {
    double reach = find_reach(&report->sheets[SSREPORT_COMPARISON]);
    fputs("<p>The foreground's throughput in the steps of its background, ", page);
    ssreport_html_text(page, ssreport_report_set_name(report, 0));
    fputs(" divided by ", page);
    ssreport_html_text(page, ssreport_report_set_name(report, 1));
    fprintf(page,
        ": the median over all steps and rounds of a pair; foregrounds by row, backgrounds by "
        "column. All tables share one range of colors, from %.3f (red: A is slower) over 1 (white) "
        "to %.3f (blue: A is faster).</p>\n",
        exp(-reach), exp(reach));
}

void ssreport_heat_print(FILE *page, const struct ssreport_report *report) {
    const struct ssreport_sheet *sheet = &report->sheets[SSREPORT_COMPARISON];
    size_t rows = ssreport_sheet_rows(sheet);
    SS_OWNED(free) struct place *places = calloc(rows + 1, sizeof *places);
    bool is_there = false;
    if (!places)
        return;
    find_places(sheet, places);
    for (size_t i = 0; i < rows; i++) {
        if (!places[i].is_pair || places[i].table != i)
            continue;
        if (!is_there) {
            print_explanation(page, report);
            fputs("<div class=\"tables\">\n", page);
        }
        is_there = true;
        print_table(page, sheet, places, i);
    }
    if (is_there)
        fputs("</div>\n", page);
}
