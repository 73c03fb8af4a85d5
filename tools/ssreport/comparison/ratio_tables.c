/* SPDX-License-Identifier: Apache-2.0 */
#include "ratio_tables.h"

#include <math.h>

#include "base/owned.h"
#include "shaded_tables.h"

/*
 * Rows of the table comparison with the same values in these columns are in one table on the page.
 */
#define TABLE                                                                                      \
    "experiment", "environment_a", "measured_in_a", "environment_b", "measured_in_b", "placement", \
        "method", "tau_seconds", "speed", "variant"

/* Pairs of the comparison, grouped by table and, within a table, by row and column. */
struct places {
    struct stats_groups tables, foregrounds, backgrounds;
};

static bool is_pair(const struct table_sheet *sheet, size_t row) {
    return *table_cell_at(sheet, row, "background")->text != '\0';
}

/* Returns the largest absolute logarithm of a ratio, so that 1/2 and 2 are equally far from 1. */
static double find_reach(const struct table_sheet *sheet) {
    double reach = 0;
    for (size_t i = 0; i < table_rows(sheet); i++) {
        double away = fabs(log(table_cell_at(sheet, i, "ratio_median")->number));
        if (is_pair(sheet, i) && isfinite(away))
            reach = fmax(reach, away);
    }
    return reach;
}

static void print_ratio(FILE *page, double ratio, double reach) {
    static const int less[3] = {240, 145, 105}, more[3] = {120, 175, 230};
    double part = reach > 0 && isfinite(log(ratio)) ? log(ratio) / reach : 0;
    fputs("<td", page);
    ssreport_shaded_style(page, part < 0 ? less : more, fmin(fabs(part), 1));
    fputc('>', page);
    table_html_number(page, ratio, 3);
    fputs("</td>", page);
}

static void print_place(FILE *page, const struct table_sheet *sheet, size_t row, char side) {
    char name[24];
    snprintf(name, sizeof name, "environment_%c", side);
    const char *environment = table_cell_at(sheet, row, name)->text;
    snprintf(name, sizeof name, "measured_in_%c", side);
    const char *measured = table_cell_at(sheet, row, name)->text;
    table_html_text(page, environment);
    if (*measured) {
        fputs(" (measured: ", page);
        table_html_text(page, measured);
        fputc(')', page);
    }
}

static void print_caption(FILE *page, const struct table_sheet *sheet, size_t row) {
    const char *placement = table_cell_at(sheet, row, "placement")->text;
    const char *method = table_cell_at(sheet, row, "method")->text;
    fputs("<caption>Placement ", page);
    table_html_text(page, *placement ? placement : "not known");
    if (*method) {
        fputs(", ", page);
        table_html_text(page, method);
    }
    const char *variant = table_cell_at(sheet, row, "variant")->text;
    if (*variant) {
        fputs(", ", page);
        table_html_text(page, variant);
    }
    fputs(", environment ", page);
    print_place(page, sheet, row, 'a');
    fputs(" / ", page);
    print_place(page, sheet, row, 'b');
    fputs("</caption>", page);
}

/*
 * Returns the median ratio of a group of foregrounds and a group of backgrounds; NaN if they were
 * not compared.
 */
static double find_ratio(const struct table_sheet *sheet, const struct places *places,
    size_t foreground, size_t background) {
    const struct stats_groups *rows = &places->foregrounds;
    for (size_t i = rows->first[foreground]; i < rows->items; i = rows->next[i]) {
        if (places->backgrounds.group[i] == background)
            return table_cell_at(sheet, i, "ratio_median")->number;
    }
    return NAN;
}

static void print_table(
    FILE *page, const struct table_sheet *sheet, const struct places *places, size_t table) {
    const struct stats_groups *rows = &places->foregrounds, *columns = &places->backgrounds;
    const size_t *tables = places->tables.group;
    double reach = find_reach(sheet);
    fputs("<div class=\"wide\"><table class=\"shaded\">\n", page);
    print_caption(page, sheet, places->tables.first[table]);
    fputs("\n<thead><tr><th></th>", page);
    for (size_t i = 0; i < columns->count; i++) {
        if (tables[columns->first[i]] == table)
            ssreport_shaded_heading(
                page, "col", table_cell_at(sheet, columns->first[i], "background")->text);
    }
    fputs("</tr></thead>\n<tbody>\n", page);
    for (size_t row = 0; row < rows->count; row++) {
        if (tables[rows->first[row]] != table)
            continue;
        fputs("<tr>", page);
        ssreport_shaded_heading(
            page, "row", table_cell_at(sheet, rows->first[row], "foreground")->text);
        for (size_t i = 0; i < columns->count; i++) {
            if (tables[columns->first[i]] == table)
                print_ratio(page, find_ratio(sheet, places, row, i), reach);
        }
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table></div>\n", page);
}

static void print_explanation(FILE *page, const struct ssreport_report *report) {
    double reach = find_reach(ssreport_table(report, "comparison"));
    fputs("<p>The foreground's throughput in the steps of its background, ", page);
    table_html_text(page, ssreport_report_set_name(report, 0));
    fputs(" divided by ", page);
    table_html_text(page, ssreport_report_set_name(report, 1));
    fprintf(page,
        ": the median over all steps and rounds of a pair; foregrounds by row, backgrounds by "
        "column. All tables share one range of colors, from %.3f (red: A is slower) over 1 (white) "
        "to %.3f (blue: A is faster).</p>\n",
        exp(-reach), exp(reach));
}

void ssreport_ratio_tables_print(FILE *page, const struct ssreport_report *report) {
    static const char *const table[] = {TABLE, NULL};
    static const char *const row[] = {TABLE, "foreground", NULL};
    static const char *const column[] = {TABLE, "background", NULL};
    const struct table_sheet *sheet = ssreport_table(report, "comparison");
    SS_OWNED(groups) struct stats_groups tables = ssreport_group_rows(sheet, table, is_pair);
    SS_OWNED(groups) struct stats_groups rows = ssreport_group_rows(sheet, row, is_pair);
    SS_OWNED(groups) struct stats_groups columns = ssreport_group_rows(sheet, column, is_pair);
    const struct places places = {tables, rows, columns};
    if (!rows.first || !columns.first || tables.count == 0)
        return;
    print_explanation(page, report);
    fputs("<div class=\"tables\">\n", page);
    for (size_t i = 0; i < tables.count; i++)
        print_table(page, sheet, &places, i);
    fputs("</div>\n", page);
}
