/* SPDX-License-Identifier: Apache-2.0 */

/* Prints the answer in words, and all tables. */

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "hypotheses.h"

static const struct table_sheet *differences_of(const struct hypotheses *hypotheses) {
    return &hypotheses->tables[HYPOTHESES_DIFFERENCES];
}

static double number_at(const struct table_sheet *table, size_t row, const char *column) {
    return table_cell_at(table, row, column)->number;
}

static const char *text_at(const struct table_sheet *table, size_t row, const char *column) {
    const char *text = table_cell_at(table, row, column)->text;
    return text ? text : "";
}

static size_t count_below(const struct table_sheet *table, const char *column, double limit) {
    size_t count = 0;
    for (size_t row = 0; row < table_rows(table); row++)
        count += number_at(table, row, column) < limit;
    return count;
}

/* Returns the first row with a known p-value; the number of rows if all are unknown. */
static size_t first_known(const struct table_sheet *table) {
    size_t row = 0;
    while (row < table_rows(table) && isnan(number_at(table, row, "p")))
        row++;
    return row;
}

/* Returns the row of a test of all groups. */
static size_t row_of(enum hypothesis asked) {
    return asked == HYPOTHESIS_VARIANCES ? 0 : 1;
}

#define ONE_GROUP "there is only one group"

static const char *missing_in(const struct table_sheet *table) {
    if (table_rows(table) == 0)
        return ONE_GROUP;
    return first_known(table) == table_rows(table) ? text_at(table, 0, "note") : NULL;
}

const char *hypotheses_missing(const struct hypotheses *hypotheses, enum hypothesis asked) {
    const struct table_sheet *tests = &hypotheses->tables[HYPOTHESES_TESTS];
    if (asked == HYPOTHESIS_DIFFERENCES)
        return missing_in(differences_of(hypotheses));
    if (asked == HYPOTHESIS_NORMALITY)
        return missing_in(&hypotheses->tables[HYPOTHESES_GROUPS]);
    if (table_rows(tests) == 0)
        return ONE_GROUP;
    return isnan(number_at(tests, row_of(asked), "p")) ? text_at(tests, row_of(asked), "note")
                                                       : NULL;
}

static const char *yes_if(bool yes) {
    return yes ? "Yes" : "Not shown";
}

static void answer_pair(FILE *stream, const struct hypotheses *hypotheses) {
    const struct table_sheet *table = differences_of(hypotheses);
    int decimals = table->columns[2].decimals;
    double p = number_at(table, 0, "p");
    fprintf(stream, "Do the means of %s and %s differ? %s: the difference is %.*f, ",
        ss_words_show(text_at(table, 0, "group")).text,
        ss_words_show(text_at(table, 0, "other")).text, yes_if(p < 1 - hypotheses->confidence),
        decimals, number_at(table, 0, "difference"));
    fprintf(stream, "from %.*f to %.*f with %g %% confidence; p = %.4g.\n", decimals,
        number_at(table, 0, "low"), decimals, number_at(table, 0, "high"),
        100 * hypotheses->confidence, p);
}

static void answer_pairs(FILE *stream, const struct hypotheses *hypotheses) {
    const struct table_sheet *table = differences_of(hypotheses);
    double limit = 1 - hypotheses->confidence;
    size_t count = count_below(table, "p_holm", limit);
    if (count > 0)
        fprintf(stream, "Which means differ? Those of %zu of %zu pairs: Holm's p is below %g.\n",
            count, table_rows(table), limit);
    else
        fprintf(stream,
            "Which means differ? No pair is shown to differ: Holm's p is never below %g.\n", limit);
}

static void answer_test(FILE *stream, const struct hypotheses *hypotheses, enum hypothesis asked) {
    const struct table_sheet *tests = &hypotheses->tables[HYPOTHESES_TESTS];
    double p = number_at(tests, row_of(asked), "p");
    fprintf(stream, "Do the %s differ? %s: p = %.4g.\n", text_at(tests, row_of(asked), "of"),
        yes_if(p < 1 - hypotheses->confidence), p);
}

static void answer_normality(FILE *stream, const struct hypotheses *hypotheses) {
    const struct table_sheet *groups = &hypotheses->tables[HYPOTHESES_GROUPS];
    size_t count = count_below(groups, "p", HYPOTHESES_NORMALITY);
    fputs("Are the values normally distributed? ", stream);
    if (count == 0)
        fprintf(stream, "Nothing contradicts it: no p is below %g.\n", HYPOTHESES_NORMALITY);
    else if (table_rows(groups) == 1)
        fprintf(stream, "No: p = %.4g.\n", number_at(groups, 0, "p"));
    else
        fprintf(stream, "No: p is below %g in %zu of %zu groups.\n", HYPOTHESES_NORMALITY, count,
            table_rows(groups));
}

static void answer(FILE *stream, const struct hypotheses *hypotheses, enum hypothesis asked) {
    const char *missing = hypotheses_missing(hypotheses, asked);
    if (missing)
        fprintf(stream, "No result: %s.\n", missing);
    else if (asked == HYPOTHESIS_NORMALITY)
        answer_normality(stream, hypotheses);
    else if (asked != HYPOTHESIS_DIFFERENCES)
        answer_test(stream, hypotheses, asked);
    else if (table_rows(differences_of(hypotheses)) == 1)
        answer_pair(stream, hypotheses);
    else
        answer_pairs(stream, hypotheses);
}

static bool all_notes_agree(const struct table_sheet *table) {
    for (size_t row = 1; row < table_rows(table); row++) {
        if (strcmp(text_at(table, row, "note"), text_at(table, 0, "note")) != 0)
            return false;
    }
    return table_rows(table) > 1;
}

/* Prints "NAME: note" for each row with a note, or the note once if all rows have the same. */
static void print_notes(FILE *stream, const struct table_sheet *table) {
    bool once = all_notes_agree(table);
    for (size_t row = 0; row < (once ? 1 : table_rows(table)); row++) {
        if (!*text_at(table, row, "note"))
            continue;
        fprintf(stream, "%s",
            once ? "All groups" : ss_words_show(table->cells[row * table->column_count].text).text);
        if (!once && strcmp(table->columns[1].name, "other") == 0)
            fprintf(stream, ", %s", ss_words_show(text_at(table, row, "other")).text);
        fprintf(stream, ": %s\n", text_at(table, row, "note"));
    }
}

/* Prints a table with the notes of its rows. */
static void print_table(FILE *stream, const struct table_sheet *table, const char *title) {
    table_print_text(stream, table, title);
    print_notes(stream, table);
}

void hypotheses_print_text(
    FILE *stream, const struct hypotheses *hypotheses, enum hypothesis asked) {
    const struct table_sheet *tables = hypotheses->tables;
    char title[128];
    answer(stream, hypotheses, asked);
    print_table(stream, &tables[HYPOTHESES_GROUPS], tables[HYPOTHESES_GROUPS].title);
    print_table(stream, &tables[HYPOTHESES_TESTS], tables[HYPOTHESES_TESTS].title);
    if (count_below(&tables[HYPOTHESES_GROUPS], "p", HYPOTHESES_NORMALITY) > 0 &&
        table_rows(&tables[HYPOTHESES_TESTS]) > 2)
        fputs("Kruskal-Wallis does not assume a normal distribution.\n", stream);
    snprintf(title, sizeof title, "%s, each with its own interval of %g %% confidence",
        tables[HYPOTHESES_DIFFERENCES].title, 100 * hypotheses->confidence);
    print_table(stream, &tables[HYPOTHESES_DIFFERENCES], title);
}
