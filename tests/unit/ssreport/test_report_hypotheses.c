/* SPDX-License-Identifier: Apache-2.0 */

#define FOLDER_VERSION "9.8.7"
#include "hypotheses.h"
#include "report_folder.h"

struct tested {
    struct grouped_values groups;
    struct hypotheses hypotheses;
    char *text;
    size_t size;
};

static void end_test(struct tested *tested) {
    hypotheses_free(&tested->hypotheses);
    grouped_values_free(&tested->groups);
    free(tested->text);
}

/* Makes all tests and prints them as text, after the question of `asked`. */
static void test_groups(struct tested *tested, enum hypothesis asked) {
    struct ss_error error = {0};
    if (hypotheses_test(&tested->hypotheses, &tested->groups, 0.95, &error) < 0)
        fail_msg("no test: %s", error.message);
    FILE *stream = open_memstream(&tested->text, &tested->size);
    hypotheses_print_text(stream, &tested->hypotheses, asked);
    fclose(stream);
}

static int read_text(struct grouped_values *groups, const char *text, struct ss_error *error) {
    folder_open();
    folder_write("values.csv", text);
    return grouped_values_read(
        groups, folder_file("values.csv"), &(struct grouped_columns){"watts", "knob", NULL}, error);
}

static struct tested test_text(const char *text, enum hypothesis asked) {
    struct tested tested = {0};
    struct ss_error error = {0};
    if (read_text(&tested.groups, text, &error) < 0)
        fail_msg("not read: %s", error.message);
    test_groups(&tested, asked);
    return tested;
}

static struct tested test_figures(const char *one, const char *other, enum hypothesis asked) {
    struct tested tested = {0};
    struct ss_error error = {0};
    assert_int_equal(grouped_values_add(&tested.groups, one, &error), 0);
    assert_int_equal(grouped_values_add(&tested.groups, other, &error), 0);
    test_groups(&tested, asked);
    return tested;
}

static double number_in(const struct tested *tested, int table, size_t row, const char *column) {
    return table_cell_at(&tested->hypotheses.tables[table], row, column)->number;
}

static const char *text_in(const struct tested *tested, int table, size_t row, const char *column) {
    return table_cell_at(&tested->hypotheses.tables[table], row, column)->text;
}

/*
 * Tables 1, 5 and 6. Their n is not published; the scripts make 70 and 30 values, and with 69 and
 * 29 all values of p in Tables 5 and 6 follow.
 */
static void published_p_values_follow_from_published_means(void **state) {
    (void)state;
    char line[256], one[64], other[64];
    FILE *stream =
        fopen(PROJECT_SOURCE_DIR "/tools/experiments/published/actuators-means.csv", "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));
    size_t rows = 0;
    for (; fgets(line, sizeof line, stream); rows++) {
        char *rest = line, *fields[9];
        for (int i = 0; i < 9; i++)
            fields[i] = strsep(&rest, ",");
        bool is_bound = *fields[8] == '<';
        double p = strtod(fields[8] + (is_bound ? 2 : 0), NULL);
        snprintf(one, sizeof one, "%s,%s,%s", fields[3], fields[4], fields[7]);
        snprintf(other, sizeof other, "%s,%s,%s", fields[5], fields[6], fields[7]);
        struct tested tested = test_figures(one, other, HYPOTHESIS_DIFFERENCES);
        if (is_bound)
            assert_that(number_in(&tested, HYPOTHESES_DIFFERENCES, 0, "p"), <, p);
        else
            assert_near(number_in(&tested, HYPOTHESES_DIFFERENCES, 0, "p"), p, 0.008);
        end_test(&tested);
    }
    fclose(stream);
    assert_int_equal(rows, 20);
}

static const char three_groups[] = "knob,watts\n"
                                   "low,10\nlow,12\nlow,11\nlow,14\nhigh,20\nhigh,25\nhigh,21\n"
                                   "high,19\nmost,22\nmost,23\nmost,30\n";

static void assert_order(const char *text) {
    static const char *const parts[] = {"\ngroup                           n", "\nlow ",
        "\nBartlett", "\nWelch's ANOVA", "\nDifferences", "\nlow            high ",
        "\nlow            most ", "\nhigh           most "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *at = strstr(text, parts[i]);
        if (!at)
            fail_msg("no '%s' after the previous part in:\n%s", parts[i], text);
        text = at;
    }
}

static void output_of_each_test_begins_with_its_answer(void **state) {
    (void)state;
    static const char *const answers[] = {("Which means differ? Those of 2 of 3 pairs: Holm's p is "
                                           "below 0.05.\n"),
        "Do the means differ? Yes: p = 0.0", "Do the variances differ? Not shown: p = 0.",
        "Are the values normally distributed? Nothing contradicts it: no p is below 0.05.\n"};
    for (int asked = 0; asked < 4; asked++) {
        struct tested tested = test_text(three_groups, (enum hypothesis)asked);
        assert_memory_equal(tested.text, answers[asked], strlen(answers[asked]));
        assert_order(tested.text);
        assert_fits(tested.text, 80);
        end_test(&tested);
    }
}

static void two_means_are_compared_in_words(void **state) {
    (void)state;
    struct tested tested =
        test_figures("even=172.6,25.9,69", "178.9,28.0,69", HYPOTHESIS_DIFFERENCES);
    const char *answer = "Do the means of even and 2 differ? Not shown: the difference is -6.3, "
                         "from -15.4 to 2.8 with 95 % confidence; p = 0.1723.\n";
    assert_memory_equal(tested.text, answer, strlen(answer));
    end_test(&tested);
}

/* ANOVA of equal variances has p = 0.00077 for these; R: oneway.test(watts ~ knob). */
static void anova_does_not_assume_equal_variances(void **state) {
    (void)state;
    struct tested tested = test_text(three_groups, HYPOTHESIS_MEANS);
    assert_near(number_in(&tested, HYPOTHESES_TESTS, 1, "p"), 0.00588979341155212, 1e-10);
    assert_near(number_in(&tested, HYPOTHESES_TESTS, 1, "freedom_within"), 4.14036559352229, 1e-9);
    end_test(&tested);
}

static void tiny_p_value_is_readable(void **state) {
    (void)state;
    struct tested tested = test_figures("1,1,100", "5,1,100", HYPOTHESIS_DIFFERENCES);
    assert_that(number_in(&tested, HYPOTHESES_DIFFERENCES, 0, "p"), >, 0);
    assert_non_null(strstr(tested.text, "p = 1.805e-71."));
    assert_non_null(strstr(tested.text, " 1.8e-71\n"));
    end_test(&tested);
}

static const char skewed[] = "watts knob\n1 a\n1.1 a\n1.2 a\n1.1 a\n1.3 a\n90 a\n"
                             "5 b\n6 b\n7 b\n8 b\n9 b\n7.5 b\n";

static void kruskal_wallis_is_added_for_non_normal_values(void **state) {
    (void)state;
    struct tested tested = test_text(skewed, HYPOTHESIS_NORMALITY);
    const char *answer =
        "Are the values normally distributed? No: p is below 0.05 in 1 of 2 groups.";
    assert_memory_equal(tested.text, answer, strlen(answer));
    assert_non_null(strstr(tested.text, "\na: not normally distributed\n"));
    assert_non_null(
        strstr(tested.text, "\nKruskal-Wallis does not assume a normal distribution.\n"));
    assert_string_equal(text_in(&tested, HYPOTHESES_TESTS, 2, "test"), "Kruskal-Wallis");
    assert_near(number_in(&tested, HYPOTHESES_TESTS, 2, "p"), 0.0542411175597709, 1e-10);
    end_test(&tested);
}

static void kruskal_wallis_is_omitted_for_normal_values(void **state) {
    (void)state;
    struct tested tested = test_text(three_groups, HYPOTHESIS_MEANS);
    assert_int_equal(table_rows(&tested.hypotheses.tables[HYPOTHESES_TESTS]), 2);
    assert_null(strstr(tested.text, "Kruskal"));
    end_test(&tested);
}

static void test_that_cannot_be_computed_prints_the_reason(void **state) {
    (void)state;
    struct tested tested = test_text("knob,watts\na,1\na,2\nb,3\nb,3\n", HYPOTHESIS_MEANS);
    static const char *const missing[] = {NULL, "all values of a group are equal",
        "all values of a group are equal", "fewer than 3 values"};
    for (int asked = 0; asked < 4; asked++) {
        const char *why = hypotheses_missing(&tested.hypotheses, (enum hypothesis)asked);
        assert_true(missing[asked] ? why && strcmp(why, missing[asked]) == 0 : !why);
    }
    const char *answer = "No result: all values of a group are equal.\n";
    assert_memory_equal(tested.text, answer, strlen(answer));
    assert_non_null(strstr(tested.text, "\nAll groups: fewer than 3 values\n"));
    assert_non_null(strstr(tested.text, "\nBartlett"));
    end_test(&tested);
    tested = test_text("knob,watts\na,1\na,2\na,4\n", HYPOTHESIS_DIFFERENCES);
    assert_null(hypotheses_missing(&tested.hypotheses, HYPOTHESIS_NORMALITY));
    for (int asked = HYPOTHESIS_DIFFERENCES; asked <= HYPOTHESIS_VARIANCES; asked++)
        assert_string_equal(hypotheses_missing(&tested.hypotheses, (enum hypothesis)asked),
            "there is only one group");
    assert_that(table_rows(&tested.hypotheses.tables[HYPOTHESES_TESTS]), ==, 0);
    end_test(&tested);
}

static void any_separator_and_order_of_columns_is_read(void **state) {
    (void)state;
    static const char *const texts[] = {"time;Knob;WATTS\n1;a;2.5\n2;\"b; c\";4\n3;a;3.5\n",
        "watts\ttime\tknob\n2.5\t0\ta\n4\t1\tb; c\n3.5\t2\ta",
        "\xef\xbb\xbfknob,watts\r\n# today\r\na,2.5\r\n\r\n\"b; c\",4\r\na,3.5\r\n",
        "knob|watts\na|2.5\nknob|watts\nb; c|4\na|3.5\n",
        "watts  knob\n2.5  a\n4  \"b; c\"\n3.5  a\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tested tested = test_text(texts[i], HYPOTHESIS_NORMALITY);
        assert_int_equal(tested.groups.count, 2);
        assert_string_equal(text_in(&tested, HYPOTHESES_GROUPS, 0, "group"), "a");
        assert_string_equal(text_in(&tested, HYPOTHESES_GROUPS, 1, "group"), "b; c");
        assert_true(number_in(&tested, HYPOTHESES_GROUPS, 0, "n") == 2);
        assert_true(number_in(&tested, HYPOTHESES_GROUPS, 0, "mean") == 3);
        assert_true(number_in(&tested, HYPOTHESES_GROUPS, 1, "mean") == 4);
        end_test(&tested);
    }
}

static void rows_without_a_value_or_group_are_counted(void **state) {
    (void)state;
    struct tested tested =
        test_text("knob,watts\na,1\na,\na,NA\n,5\nb,nan\na,3\n", HYPOTHESIS_NORMALITY);
    assert_int_equal(tested.groups.count, 1);
    assert_int_equal(tested.groups.groups[0].count, 2);
    assert_int_equal(tested.groups.skipped, 4);
    end_test(&tested);
}

static void values_without_a_group_column_form_one_group(void **state) {
    (void)state;
    struct tested tested = {0};
    struct ss_error error = {0};
    folder_open();
    folder_write("values.csv", "watts\n1\n2\n4\n");
    assert_int_equal(grouped_values_read(&tested.groups, folder_file("values.csv"),
                         &(struct grouped_columns){"watts", NULL, NULL}, &error),
        0);
    test_groups(&tested, HYPOTHESIS_NORMALITY);
    assert_string_equal(text_in(&tested, HYPOTHESES_GROUPS, 0, "group"), "watts");
    assert_near(number_in(&tested, HYPOTHESES_GROUPS, 0, "p"), 0.636886845, 1e-9);
    end_test(&tested);
}

/* Run 1 of one group and run 1 of the other are two runs. */
static void mean_of_each_run_is_one_value(void **state) {
    (void)state;
    struct tested tested = {0};
    struct ss_error error = {0};
    folder_open();
    folder_write("values.csv", "second,run,knob,watts\n1,1,a,100\n2,1,a,104\n1,2,a,110\n"
                               "1,1,b,200\n3,1,a,108\n2,2,a,112\n2,1,b,220\n1,2,b,230\n"
                               "2,2,b,250\n3,,b,9\n");
    assert_int_equal(grouped_values_read(&tested.groups, folder_file("values.csv"),
                         &(struct grouped_columns){"watts", "knob", "run"}, &error),
        0);
    test_groups(&tested, HYPOTHESIS_DIFFERENCES);
    for (size_t i = 0; i < 2; i++)
        assert_true(number_in(&tested, HYPOTHESES_GROUPS, i, "n") == 2);
    assert_near(number_in(&tested, HYPOTHESES_GROUPS, 0, "mean"), (104 + 111) / 2.0, 1e-9);
    assert_near(number_in(&tested, HYPOTHESES_GROUPS, 1, "mean"), (210 + 240) / 2.0, 1e-9);
    assert_int_equal(tested.groups.skipped, 1);
    end_test(&tested);
}

static void invalid_files_are_refused(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"knob,watts\na,1\na,x\n", "values.csv:3:3: "},
        {"knob,watts\na,1\na,inf\n", "values.csv:3:3: invalid number in column 'watts'"},
        {"knob,watts\na,1\na\n", "values.csv:3:2: the row has 1 field"},
        {"knob,power\na,1\n", "values.csv:1:1: no column 'watts'"},
        {"watts,power\n1,1\n", "values.csv:1:1: no column 'knob'"},
        {"watts,knob,watts\n1,a,1\n", "column 'watts' appears twice"}, {"", "values.csv is empty"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct grouped_values groups = {0};
        struct ss_error error = {0};
        assert_int_equal(read_text(&groups, texts[i][0], &error), -1);
        if (!strstr(error.message, texts[i][1]))
            fail_msg("no '%s' in '%s'", texts[i][1], error.message);
        assert_int_equal(error.status, 125);
        grouped_values_free(&groups);
    }
}

static void column_with_too_many_groups_is_refused(void **state) {
    (void)state;
    struct grouped_values groups = {0};
    struct ss_error error = {0};
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("watts,knob\n", stream);
    for (int i = 0; i < 201; i++)
        fprintf(stream, "1,%d\n", i);
    fclose(stream);
    assert_int_equal(read_text(&groups, text, &error), -1);
    assert_non_null(strstr(error.message, ":202:3: the column 'knob' has more than 200 groups"));
    grouped_values_free(&groups);
    free(text);
}

/* Sums of the plain values would lose seven digits. */
static void large_common_offset_changes_no_result(void **state) {
    (void)state;
    struct tested plain = test_text("knob,watts\na,0.25\na,0.5\na,0.625\nb,0.5\nb,0.75\nb,0.625\n"
                                    "b,0.5\n",
        HYPOTHESIS_MEANS);
    struct tested shifted = test_text("knob,watts\na,1000000000.25\na,1000000000.5\n"
                                      "a,1000000000.625\nb,1000000000.5\nb,1000000000.75\n"
                                      "b,1000000000.625\nb,1000000000.5\n",
        HYPOTHESIS_MEANS);
    assert_near(number_in(&shifted, HYPOTHESES_GROUPS, 0, "mean"), 1000000000 + 1.375 / 3, 1e-6);
    for (size_t row = 0; row < 2; row++) {
        double p = number_in(&plain, HYPOTHESES_TESTS, row, "p");
        assert_near(number_in(&shifted, HYPOTHESES_TESTS, row, "p"), p, 1e-12);
    }
    end_test(&plain);
    end_test(&shifted);
}

static void invalid_figures_are_refused(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"1,2", "fewer than three"},
        {"1,2,3,4", "more than three"}, {"1,x,3", "invalid"}, {"1,,3", "invalid"},
        {"1,inf,3", "invalid"}, {"1,0,3", "standard deviation must be positive"},
        {"1,-2,3", "standard deviation must be positive"},
        {"1,2,1", "must be an integer from 2 to 1e15"},
        {"1,2,2.5", "must be an integer from 2 to 1e15"},
        {"1,2,1e18", "must be an integer from 2 to 1e15"}, {"1e200,2,3", "beyond 1e150"},
        {"-1e200,2,3", "beyond 1e150"}, {"1,1e200,3", "beyond 1e150"}};
    struct grouped_values groups = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ss_error error = {0};
        assert_int_equal(grouped_values_add(&groups, texts[i][0], &error), -1);
        if (!strstr(error.message, texts[i][1]))
            fail_msg("no '%s' in '%s'", texts[i][1], error.message);
    }
    struct ss_error error = {0};
    assert_int_equal(grouped_values_add(&groups, "2=1,2,3", &error), 0);
    assert_int_equal(grouped_values_add(&groups, "x=y=-1.5e1,2,3", &error), 0);
    assert_string_equal(groups.groups[1].name, "x=y");
    assert_int_equal(grouped_values_add(&groups, "x=y=4,2,3", &error), -1);
    assert_string_equal(error.message, "two groups are named 'x=y'");
    grouped_values_free(&groups);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(published_p_values_follow_from_published_means),
    cmocka_unit_test(output_of_each_test_begins_with_its_answer),
    cmocka_unit_test(two_means_are_compared_in_words),
    cmocka_unit_test(anova_does_not_assume_equal_variances),
    cmocka_unit_test(tiny_p_value_is_readable),
    cmocka_unit_test(kruskal_wallis_is_added_for_non_normal_values),
    cmocka_unit_test(kruskal_wallis_is_omitted_for_normal_values),
    cmocka_unit_test(test_that_cannot_be_computed_prints_the_reason),
    cmocka_unit_test(any_separator_and_order_of_columns_is_read),
    cmocka_unit_test(rows_without_a_value_or_group_are_counted),
    cmocka_unit_test(values_without_a_group_column_form_one_group),
    cmocka_unit_test(mean_of_each_run_is_one_value),
    cmocka_unit_test(invalid_files_are_refused),
    cmocka_unit_test(column_with_too_many_groups_is_refused),
    cmocka_unit_test(large_common_offset_changes_no_result),
    cmocka_unit_test(invalid_figures_are_refused))
