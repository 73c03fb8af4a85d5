/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "halves.h"
#include "pictures.h"
#include "profile_output.h"
#include "ratio_findings.h"
#include "unit.h"

static char names[8][2] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static struct ssprofile_ratio items[2][8];
static struct ssprofile_ratios ratios[2];

/* Returns a series of at most eight ratios, each in its own class. */
static struct ssprofile_series series_of(
    int which, const char *limits, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        items[which][i] =
            (struct ssprofile_ratio){.name = names[i], .class = names[i], .ratio = values[i]};
    ratios[which] = (struct ssprofile_ratios){.items = items[which], .count = count};
    return (struct ssprofile_series){"T", limits, &ratios[which],
        ssprofile_ratios_figures(&ratios[which]), ssprofile_coverage_of(count)};
}

static const double plain_ratios[] = {1.65, 2.4, 2.48, 3, 7.1};
static const double slow_ratios[] = {0.6, 0.857, 0.886, 1.07, 2.54};

static const char *said(const struct table_sheet *findings, size_t row) {
    assert_true(row < table_rows(findings));
    return findings->cells[row].text;
}

static void expect_said(const struct table_sheet *findings, size_t row, const char *part) {
    if (!strstr(said(findings, row), part))
        fail_msg("no '%s' in: %s", part, said(findings, row));
}

static void range_finding_states_its_coverage(void **state) {
    (void)state;
    struct table_sheet findings = SSPROFILE_FINDINGS();
    struct ssprofile_series series = series_of(0, "without", plain_ratios, 5);
    ssprofile_say_range(&findings, &series, "B:without");
    expect_said(&findings, 0,
        "T:without is 1.65 to 7.10 times as fast as B:without (5 benchmarks, "
        "median 2.48, length of the range 5.45)");
    expect_said(&findings, 0, "with a probability of 66.7%.");
    series = series_of(0, "without", plain_ratios, 1);
    ssprofile_say_range(&findings, &series, "B:without");
    expect_said(
        &findings, 1, "1.6500 times as fast as B:without in the only benchmark that both have");
    table_free(&findings);
    assert_true(fabs(ssprofile_coverage_of(24) - 0.92) < 1e-12);
    assert_true(ssprofile_coverage_of(1) == 0 && ssprofile_coverage_of(0) == 0);
}

static void reduction_finding_states_its_factors(void **state) {
    (void)state;
    struct table_sheet findings = SSPROFILE_FINDINGS();
    struct ssprofile_series plain = series_of(0, "without", plain_ratios, 5);
    struct ssprofile_series slow = series_of(1, "quota-6352", slow_ratios, 5);
    ssprofile_say_reduction(&findings, &plain, &slow);
    assert_int_equal(table_rows(&findings), 3);
    expect_said(&findings, 0,
        "Under quota-6352, the ratios of T in the 5 benchmarks that both have span "
        "[0.60, 2.54] instead of [1.65, 7.10], 2.81 times shorter.");
    expect_said(&findings, 1, "Of this factor of 2.81, a common slowdown accounts for 2.79 (99.");
    expect_said(&findings, 1, "relative spread for 1.01 (0.");
    expect_said(&findings, 2,
        "the largest ratio is 4.303 times the smallest before and 4.233 times under quota-6352.");
    /* Without a reduction, the finding states no factors. */
    ssprofile_say_reduction(&findings, &slow, &plain);
    assert_int_equal(table_rows(&findings), 5);
    expect_said(&findings, 3, "2.81 times longer.");
    table_free(&findings);
}

static void insignificant_reduction_has_no_factors(void **state) {
    (void)state;
    static const double alike[] = {2.498, 2.536, 2.51}, slow_alike[] = {0.999, 1.001, 1};
    struct table_sheet findings = SSPROFILE_FINDINGS();
    struct ssprofile_series plain = series_of(0, "without", alike, 3);
    struct ssprofile_series slow = series_of(1, "duty-4000", slow_alike, 3);
    /* The lowest ratio is the first and the highest the second; ratios in between do not count. */
    items[0][0].spread[0] = items[0][0].spread[1] = 0;
    items[0][1].spread[0] = 0.012;
    items[0][1].spread[1] = 0.016;
    items[0][2].spread[0] = 0.7;
    assert_true(fabs(ssprofile_scatter_of(&ratios[0]) - 0.01) < 1e-12);
    ssprofile_say_reduction(&findings, &plain, &slow);
    assert_int_equal(table_rows(&findings), 2);
    expect_said(&findings, 1,
        "differ no more than repeated runs do (1.0%): the largest is 1.015 times "
        "the smallest before and 1.002 times under duty-4000; the common factor is 2.51, and the "
        "rest cannot be distinguished from chance.");
    assert_null(strstr(said(&findings, 0), "times"));
    items[0][1].spread[0] = items[0][1].spread[1] = NAN;
    ssprofile_say_reduction(&findings, &plain, &slow);
    assert_int_equal(table_rows(&findings), 5);
    table_free(&findings);
}

static void finding_counts_omitted_benchmarks(void **state) {
    (void)state;
    struct table_sheet findings = SSPROFILE_FINDINGS();
    struct ssprofile_series series = series_of(0, "without", plain_ratios, 5);
    struct ssprofile_left_out left_out[] = {{.name = "x", .why = SSPROFILE_UNSTABLE},
        {.name = "y", .why = SSPROFILE_MISSING}, {.name = "z", .why = SSPROFILE_UNSTABLE},
        {.name = "w", .why = SSPROFILE_CONTRADICTORY}};
    ssprofile_say_left_out(&findings, &series);
    expect_said(&findings, 0, "Benchmarks left out for T:without, of 5: none.");
    ratios[0].left_out = left_out;
    ratios[0].left_out_count = 4;
    ssprofile_say_left_out(&findings, &series);
    expect_said(&findings, 1,
        "Benchmarks left out for T:without, of 9: 2 unstable (x, z), 1 that "
        "only one side has, 1 whose direction differs or whose ratio is not a number.");
    table_free(&findings);
}

static void findings_are_wrapped(void **state) {
    (void)state;
    struct table_sheet findings = SSPROFILE_FINDINGS();
    struct ssprofile_series series = series_of(0, "without", plain_ratios, 5);
    char *text = NULL;
    size_t size, lines = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    ssprofile_say_range(&findings, &series, "B:without");
    ssprofile_print_findings(stream, &findings);
    fclose(stream);
    assert_true(strncmp(text, "- T:without", 11) == 0);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        assert_fits(line, 79);
        assert_true(lines == 0 || strncmp(line, "  ", 2) == 0);
    }
    assert_true(lines > 1);
    free(text);
    table_free(&findings);
}

static char *drawn(void (*draw)(FILE *, const struct ssprofile_series *, size_t),
    const struct ssprofile_series *series, size_t count) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    draw(stream, series, count);
    fclose(stream);
    return text;
}

static void expect_drawn(const char *script, const char *part) {
    if (!strstr(script, part))
        fail_msg("no '%s' in:\n%s", part, script);
}

static void histogram_has_a_panel_for_each_series(void **state) {
    (void)state;
    struct ssprofile_series both[2] = {
        series_of(0, "without", plain_ratios, 5), series_of(1, "quota-6352", slow_ratios, 5)};
    assert_true(fabs(ssprofile_histogram_bin(both, 2) - SSPROFILE_BIN) < 1e-12);
    char *script = drawn(ssprofile_draw_histogram, both, 2);
    /* 2.4 belongs to the bin below it, 2.48 to the next. */
    expect_drawn(script, "$bins0 << END\n1.65 1\n2.35 1\n2.45 1\n2.95 1\n7.05 1\nEND\n");
    expect_drawn(script, "$bins1 << END\n0.55 1\n0.85 2\n1.05 1\n2.55 1\nEND\n");
    expect_drawn(script, "rectangle from first 1.65, graph 0 to first 7.1, graph 1");
    expect_drawn(script, "rectangle from first 0.6, graph 0 to first 2.54, graph 1");
    expect_drawn(script, "range 0.60 to 2.54, median 0.89");
    free(script);
}

static void histogram_bins_fit_the_ratios(void **state) {
    (void)state;
    static const double near[] = {0.987, 1.006}, far[] = {2, 1e9}, same[] = {1, 1};
    struct ssprofile_series series = series_of(0, "even", near, 2);
    assert_true(fabs(ssprofile_histogram_bin(&series, 1) - 0.001) < 1e-12);
    series = series_of(0, "without", far, 2);
    assert_true(fabs(ssprofile_histogram_bin(&series, 1) - 1e7) < 1);
    free(drawn(ssprofile_draw_histogram, &series, 1));
    free(drawn(ssprofile_draw_dots, &series, 1));
    series = series_of(0, "even", same, 2);
    assert_true(ssprofile_histogram_bin(&series, 1) > 0);
    free(drawn(ssprofile_draw_dots, &series, 1));
}

static void dot_plot_is_sorted_and_labeled(void **state) {
    (void)state;
    static const double unsorted[] = {3, 1.65, 2.4}, slow[] = {1.07, 0.6, 0.857, 0.3};
    struct ssprofile_series both[2] = {
        series_of(0, "without", unsorted, 3), series_of(1, "quota-6352", slow, 4)};
    char *script = drawn(ssprofile_draw_dots, both, 2);
    /*
     * The order is d, which only the second series has, then b, c and a. Names are octal for
     * gnuplot.
     */
    expect_drawn(script, "add (\"\\144\" 0)\nset ytics add (\"\\142\" 1)\n");
    expect_drawn(script, "add (\"\\143\" 2)\nset ytics add (\"\\141\" 3)\n");
    expect_drawn(script, "$dots0 << END\n1.65 1\n2.4 2\n3 3\nEND\n");
    expect_drawn(script, "$dots1 << END\n0.3 0\n0.6 1\n0.857 2\n1.07 3\nEND\n");
    expect_drawn(script, "set logscale x");
    expect_drawn(script, "rectangle from first 0.3, graph 0 to first 1.07, graph 1");
    assert_true(ssprofile_dots_are_logarithmic(both, 2));
    free(script);
    /* Series of applications have no coverage. */
    both[1].coverage = NAN;
    script = drawn(ssprofile_draw_dots, both, 2);
    assert_null(strstr(script, "rectangle from first 0.3"));
    free(script);
    /* Two benchmarks of different classes have the same name. */
    items[0][1].name = names[0];
    script = drawn(ssprofile_draw_dots, both, 1);
    expect_drawn(script, "\"\\141\\040\\050\\142\\051\" 0)");
    free(script);
}

static void calibration_plot_marks_its_result(void **state) {
    (void)state;
    static const struct table_column columns[] = {{"setting", "Setting"},
        {"log_ratio_mean", "Mean"}, {"half_width", "Half"}, {"cost", "Cost"}};
    struct table_sheet tests = TABLE_SHEET("calibration", "Tests", columns);
    char *text = NULL;
    size_t size;
    TABLE_ROW(&tests, CELL("setting", 1), CELL("log_ratio_mean", 0.9), CELL("half_width", 0.002),
        CELL("cost", 1.6));
    TABLE_ROW(&tests, CELL("setting", 0.4), CELL("log_ratio_mean", 0.001), CELL("cost", 1.001));
    for (int by_cost = 0; by_cost < 2; by_cost++) {
        FILE *stream = open_memstream(&text, &size);
        ssprofile_draw_path(stream, &tests, by_cost, by_cost ? SIZE_MAX : 1);
        fclose(stream);
        expect_drawn(text, "$settings << END\n1 100 0\n2 40 0\nEND\n");
        expect_drawn(text, by_cost ? "$values << END\n1 1.6 0\n2 1.001 0\nEND\n"
                                   : "$values << END\n1 0.9 0.002\n2 0.001 0\nEND\n");
        assert_int_equal(strstr(text, "set label 1 \"40.00%\"") != NULL, !by_cost);
        free(text);
    }
    table_free(&tests);
}

static struct ssprofile_results read_rows(const char *rows) {
    struct ssprofile_results results = {0};
    struct ss_error error = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    fprintf(file, "machine,limits,benchmark,lower_is_better,class,repetition,result\n%s", rows);
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    fflush(file);
    int copy = dup(fileno(file));
    lseek(copy, 0, SEEK_SET);
    if (ssprofile_results_read_descriptor(&results, copy, "rows", &error) < 0)
        fail_msg("%s", error.message);
    fclose(file);
    return results;
}

static void halves_are_odd_and_even_repetitions(void **state) {
    (void)state;
    struct ss_error error = {0};
    struct ssprofile_results halves;
    struct ssprofile_results whole =
        read_rows("m,without,x,false,c,rep-2,20\nm,without,x,false,c,1,10\n"
                  "m,without,x,false,c,13,30\nm,without,y,true,c,first,1\n"
                  "m,without,y,true,c,second,2\nm,without,once,true,c,1,2\n");
    assert_int_equal(ssprofile_halves_make(&halves, &whole.profiles[0], &error), 0);
    const struct ssprofile_profile *odd = &halves.profiles[0], *even = &halves.profiles[1];
    assert_string_equal(odd->limits, "without-odd");
    assert_string_equal(even->limits, "without-even");
    assert_int_equal(odd->count, 3);
    assert_int_equal(even->count, 2);
    assert_int_equal(odd->benchmarks[0].count, 2);
    assert_true(odd->benchmarks[0].repetitions[0].result == 10);
    assert_true(odd->benchmarks[0].repetitions[1].result == 30);
    assert_true(even->benchmarks[0].repetitions[0].result == 20);
    /* Labels without a number are numbered in order. */
    assert_true(odd->benchmarks[1].repetitions[0].result == 1);
    assert_true(even->benchmarks[1].repetitions[0].result == 2);
    assert_true(even->benchmarks[1].lower);
    assert_null(ssprofile_profile_find(even, "once", "c"));
    assert_int_equal(ssprofile_halves_least(&halves), 1);
    ssprofile_results_free(&halves);
    ssprofile_results_free(&whole);
}

static void profile_without_repetitions_has_no_halves(void **state) {
    (void)state;
    struct ss_error error = {0};
    struct ssprofile_results halves;
    struct ssprofile_results whole = read_rows("m,without,x,false,c,1,20\n");
    assert_int_equal(ssprofile_halves_make(&halves, &whole.profiles[0], &error), -1);
    assert_non_null(strstr(error.message, "m:without has no benchmark with an odd and an even"));
    ssprofile_results_free(&halves);
    ssprofile_results_free(&whole);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(range_finding_states_its_coverage),
    cmocka_unit_test(reduction_finding_states_its_factors),
    cmocka_unit_test(insignificant_reduction_has_no_factors),
    cmocka_unit_test(finding_counts_omitted_benchmarks),
    cmocka_unit_test(findings_are_wrapped),
    cmocka_unit_test(histogram_has_a_panel_for_each_series),
    cmocka_unit_test(histogram_bins_fit_the_ratios),
    cmocka_unit_test(dot_plot_is_sorted_and_labeled),
    cmocka_unit_test(calibration_plot_marks_its_result),
    cmocka_unit_test(halves_are_odd_and_even_repetitions),
    cmocka_unit_test(profile_without_repetitions_has_no_halves))
