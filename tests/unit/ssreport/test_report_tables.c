/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <signal.h>

#include "base/owned.h"
#include "group_by.h"
#include "report_make.h"

// clang-format off
static const struct table_column columns[] = {
    {"name", "a | name", .text = {"name", 12}}, {"hidden", NULL},
    {"load", "load, %", 1, true, .text = {"load", 7}}, {"count", "count"},
    {"note", "note", .text = {"note", 10}}, {"unused", "unused", 2, false, true},
};
// clang-format on

static struct table_sheet make_sheet(void) {
    struct table_sheet sheet = TABLE_SHEET("made", "Made up", columns);
    size_t count = 3;
    TABLE_ROW(&sheet, CELL("count", count), CELL("load", 0.12345), CELL("name", "/tmp/a_b"),
        CELL("note", ""));
    TABLE_ROW(&sheet, CELL("name", "x \"y\"\nz"), CELL("hidden", 1.5));
    TABLE_CELLS(&sheet, CELL("note", (bool)true), CELL("count", -1));
    sheet.prefix = "/tmp/";
    return sheet;
}

static void assert_form(
    void (*print)(FILE *stream, const struct table_sheet *sheet), const char *want) {
    struct table_sheet sheet = make_sheet();
    struct text text;
    begin(&text);
    print(text.stream, &sheet);
    end(&text);
    assert_string_equal(text.bytes, want);
    free(text.bytes);
    table_free(&sheet);
}

static void cells_are_set_by_column_name(void **state) {
    (void)state;
    assert_form(table_print_csv, "name,hidden,load,count,note,unused\n/tmp/a_b,,0.12345,3,,\n"
                                 "\"x \"\"y\"\"\nz\",1.5,,-1,yes,\n");
    struct table_sheet sheet = make_sheet();
    assert_int_equal(table_rows(&sheet), 2);
    assert_true(isnan(table_cell_at(&sheet, 1, "load")->number));
    assert_null(table_cell_at(&sheet, 1, "load")->text);
    /* The last value set in a cell counts. */
    TABLE_CELLS(&sheet, CELL("note", 7), CELL("name", (const char *)NULL));
    assert_null(table_cell_at(&sheet, 1, "note")->text);
    assert_string_equal(table_cell_at(&sheet, 1, "name")->text, "");
    assert_false(sheet.failed);
    table_free(&sheet);
}

static sigjmp_buf aborted;

static void leave(int number) {
    (void)number;
    siglongjmp(aborted, 1);
}

static void unknown_column_name_aborts(void **state) {
    (void)state;
    struct table_sheet sheet = make_sheet();
    void (*before)(int) = signal(SIGABRT, leave);
    bool returned = false;
    if (sigsetjmp(aborted, 1) == 0) {
        TABLE_CELLS(&sheet, CELL("laod", 1));
        returned = true;
    }
    signal(SIGABRT, before);
    assert_false(returned);
    table_free(&sheet);
}

static void json_table_is_a_list_of_objects(void **state) {
    (void)state;
    assert_form(table_print_json,
        "[\n  {\n    \"name\": \"/tmp/a_b\",\n    \"hidden\": null,\n    \"load\": 0.12345,\n"
        "    \"count\": 3,\n    \"note\": null,\n    \"unused\": null\n  },\n"
        "  {\n    \"name\": \"x \\\"y\\\"\\u000az\",\n    \"hidden\": 1.5,\n    \"load\": null,\n"
        "    \"count\": -1,\n    \"note\": \"yes\",\n    \"unused\": null\n  }\n]\n");
}

static void markdown_table_has_the_columns_for_readers(void **state) {
    (void)state;
    assert_form(table_print_markdown,
        "| a \\| name | load, % | count | note |\n| --- | ---: | ---: | --- |\n"
        "| a\\_b | 12.3 | 3 |  |\n| x \"y\" z |  | -1 | yes |\n");
    /* Without columns for readers, the table shows all columns. */
    static const struct table_column plain[] = {{"low", NULL}, {"high", NULL}};
    struct table_sheet sheet = TABLE_SHEET("plain", "Plain", plain);
    TABLE_ROW(&sheet, CELL("high", 0.125));
    struct text text;
    begin(&text);
    table_print_markdown(text.stream, &sheet);
    end(&text);
    assert_string_equal(text.bytes, "| low | high |\n| ---: | ---: |\n|  | 0.125 |\n");
    free(text.bytes);
    table_free(&sheet);
}

static void text_table_has_headings_and_column_widths(void **state) {
    (void)state;
    struct table_sheet sheet = make_sheet();
    struct text text;
    begin(&text);
    table_print_text(text.stream, &sheet, "title");
    end(&text);
    /* A text column after a number column is separated by a blank. */
    assert_has(&text, "\ntitle\nname           load note     \na_b            12.3          \n");
    free(text.bytes);
    table_free(&sheet);
}

static void columns_of_a_text_table_do_not_touch(void **state) {
    (void)state;
    static const struct table_column narrow[] = {
        {"method", NULL, .text = {"a long heading", 10}},
        {"cpus", NULL, .text = {"cpus_of_sides", 10}},
        {"count", NULL, .text = {"number of runs", 8}},
        {"role", NULL, .text = {"role", 10}},
    };
    struct table_sheet sheet = TABLE_SHEET("sides", "Sides", narrow);
    TABLE_ROW(&sheet, CELL("method", "uncontrolled"), CELL("cpus", "0123456789"), CELL("count", 5),
        CELL("role", "background"));
    struct text text;
    begin(&text);
    table_print_text(text.stream, &sheet, "title");
    end(&text);
    assert_string_equal(text.bytes, "\ntitle\na long he cpus_of_si number  role     \n"
                                    "..trolled 0123456789       5 ..kground\n");
    free(text.bytes);
    table_free(&sheet);
}

static void assert_shown(const char *name, int width, const char *want) {
    struct text text;
    begin(&text);
    table_text_name(text.stream, name, width);
    end(&text);
    assert_string_equal(text.bytes, want);
    free(text.bytes);
}

/* Columns are as wide as letters, not bytes, and long paths differ at their ends. */
static void names_are_cut_on_the_left_between_letters(void **state) {
    (void)state;
    char path[200];
    memset(path, 'd', sizeof path);
    strcpy(path + 190, "/first");
    assert_shown(path, 10, "..dd/first");
    assert_shown("first", 8, "first   ");
    assert_shown("\u00e4\u00f6\u00fc", 5, "\u00e4\u00f6\u00fc  ");
    assert_shown("a\u00e4\u00f6\u00fc", 3, "..\u00fc");
    assert_shown("a\tb\xff", 5, "a b? ");
}

static void every_topic_lists_its_tables(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    finish_report(&report);
    size_t count = 0;
    for (size_t i = 0; ssreport_topics[i]; i++) {
        for (const struct table_sheet *table = ssreport_topics[i]->tables; table->name; table++) {
            assert_ptr_equal(ssreport_topics_table(table->name), table);
            assert_string_equal(ssreport_table(&report, table->name)->title, table->title);
            count++;
        }
    }
    assert_int_equal(count, report.table_count);
    assert_null(ssreport_topics_table("none"));
    char names[1000];
    ssreport_topics_name_tables(names, sizeof names);
    assert_non_null(strstr(names, "findings, duet, duet-blocks, loadline, "));
    ssreport_report_free(&report);
}

static int compare_tens(const void *left, const void *right, void *context) {
    int one = *(const int *)left / 10, other = *(const int *)right / 10;
    (*(size_t *)context)++;
    return one - other;
}

static bool is_even(const void *item, void *context) {
    (void)context;
    return *(const int *)item % 2 == 0;
}

static void groups_keep_the_order_of_their_first_items(void **state) {
    (void)state;
    static const int items[] = {42, 10, 44, 13, 7, 18, 6};
    size_t comparisons = 0;
    struct stats_key key = {
        .size = sizeof *items, .compare = compare_tens, .context = &comparisons};
    SS_OWNED(groups) struct stats_groups all = stats_group_by(items, 7, &key);
    assert_int_equal(all.count, 3);
    static const size_t first[] = {0, 1, 4}, next[] = {2, 3, 7, 5, 6, 7, 7};
    static const size_t group[] = {0, 1, 0, 1, 2, 1, 2};
    assert_memory_equal(all.first, first, sizeof first);
    assert_memory_equal(all.next, next, sizeof next);
    assert_memory_equal(all.group, group, sizeof group);
    key.includes = is_even;
    SS_OWNED(groups) struct stats_groups even = stats_group_by(items, 7, &key);
    assert_int_equal(even.count, 3);
    assert_int_equal(even.first[1], 1);
    assert_int_equal(even.next[1], 5);
    assert_int_equal(even.first[2], 6);
    assert_int_equal(even.group[3], 7);
    SS_OWNED(groups) struct stats_groups none = stats_group_by(items, 0, &key);
    assert_int_equal(none.count, 0);
    assert_non_null(none.first);
}

static void grouping_many_items_takes_few_comparisons(void **state) {
    (void)state;
    enum { ITEMS = 20000 };
    int *items = calloc(ITEMS, sizeof *items);
    size_t comparisons = 0;
    for (int i = 0; i < ITEMS; i++)
        items[i] = 10 * (i % (ITEMS / 2));
    const struct stats_key key = {
        .size = sizeof *items, .compare = compare_tens, .context = &comparisons};
    SS_OWNED(groups) struct stats_groups groups = stats_group_by(items, ITEMS, &key);
    assert_int_equal(groups.count, ITEMS / 2);
    assert_in_range(comparisons, ITEMS, 30 * (size_t)ITEMS);
    free(items);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(cells_are_set_by_column_name),
    cmocka_unit_test(unknown_column_name_aborts),
    cmocka_unit_test(json_table_is_a_list_of_objects),
    cmocka_unit_test(markdown_table_has_the_columns_for_readers),
    cmocka_unit_test(text_table_has_headings_and_column_widths),
    cmocka_unit_test(columns_of_a_text_table_do_not_touch),
    cmocka_unit_test(names_are_cut_on_the_left_between_letters),
    cmocka_unit_test(every_topic_lists_its_tables),
    cmocka_unit_test(groups_keep_the_order_of_their_first_items),
    cmocka_unit_test(grouping_many_items_takes_few_comparisons))
