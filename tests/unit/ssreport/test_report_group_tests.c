/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compares tests of groups with R's for the values in data/statistics (see tests.R there), to ten
 * significant digits.
 */

#include <stdbool.h>
#include <stdlib.h>

#include "group_tests.h"
#include "report_statistics.h"
#include "tails.h"
#include "unit.h"

#define GROUPS_MAX 4
#define VALUES_MAX 5000
#define TEN_DIGITS 5e-11

struct group {
    char name[16];
    size_t count;
    double values[VALUES_MAX];
};

static struct group groups[GROUPS_MAX];
static size_t group_count;

static size_t find_group(const char *name) {
    for (size_t i = 0; i < group_count; i++) {
        if (strcmp(groups[i].name, name) == 0)
            return i;
    }
    assert_that(group_count, <, GROUPS_MAX);
    snprintf(groups[group_count].name, sizeof groups[0].name, "%s", name);
    groups[group_count].count = 0;
    return group_count++;
}

static int compare_numbers(const void *left, const void *right) {
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

/* Reads the groups of a case and sorts their values. */
static void read_case(const char *name) {
    char line[DATA_LINE_MAX], *fields[3];
    FILE *stream = open_data("tests-values.csv");
    group_count = 0;
    while (read_fields(stream, line, fields, 3)) {
        if (strcmp(fields[0], name) != 0)
            continue;
        struct group *group = &groups[find_group(fields[1])];
        assert_that(group->count, <, VALUES_MAX);
        group->values[group->count++] = strtod(fields[2], NULL);
    }
    fclose(stream);
    for (size_t i = 0; i < group_count; i++)
        qsort(groups[i].values, groups[i].count, sizeof(double), compare_numbers);
}

/* The case that tests.R generates with the same formula. */
static void generate_case(void) {
    group_count = 0;
    struct group *group = &groups[find_group("a")];
    for (long i = 1; i <= VALUES_MAX; i++)
        group->values[group->count++] = (double)((31 * i * i + 17 * i) % 10007) / 100;
    qsort(group->values, group->count, sizeof(double), compare_numbers);
}

static struct stats_sample sample_at(size_t i) {
    return stats_sample_of(groups[i].values, groups[i].count);
}

static double value_of_test(const struct stats_test *test, const char *name) {
    const struct {
        const char *name;
        double value;
    } values[] = {{"statistic", test->statistic}, {"freedom", test->freedom},
        {"freedom_within", test->freedom_within}, {"p", test->p}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].name, name) == 0)
            return values[i].value;
    }
    fail_msg("unknown figure %s", name);
    return NAN;
}

static double holm_of(size_t one, size_t other) {
    double p[GROUPS_MAX * GROUPS_MAX], adjusted[GROUPS_MAX * GROUPS_MAX];
    size_t count = 0, at = 0;
    for (size_t i = 0; i < group_count; i++) {
        for (size_t j = i + 1; j < group_count; j++) {
            struct stats_sample samples[] = {sample_at(i), sample_at(j)};
            at = i == one && j == other ? count : at;
            p[count++] = stats_test_difference(&samples[0], &samples[1], 0.95).test.p;
        }
    }
    assert_int_equal(stats_adjust_holm(p, adjusted, count), 0);
    return adjusted[at];
}

static double value_of_pair(size_t one, size_t other, const char *name) {
    struct stats_sample samples[] = {sample_at(one), sample_at(other)};
    struct stats_difference usual = stats_test_difference(&samples[0], &samples[1], 0.95);
    struct stats_difference strict = stats_test_difference(&samples[0], &samples[1], 0.99);
    if (strcmp(name, "difference") == 0)
        return usual.difference;
    if (strcmp(name, "low") == 0)
        return usual.interval.low;
    if (strcmp(name, "high") == 0)
        return usual.interval.high;
    if (strcmp(name, "low_99") == 0)
        return strict.interval.low;
    if (strcmp(name, "holm") == 0)
        return holm_of(one, other);
    return value_of_test(&usual.test, name);
}

static double value_of_all(const char *test, const char *name) {
    struct stats_sample samples[GROUPS_MAX];
    struct stats_values values[GROUPS_MAX];
    for (size_t i = 0; i < group_count; i++) {
        samples[i] = sample_at(i);
        values[i] = (struct stats_values){groups[i].values, groups[i].count};
    }
    struct stats_test result = strcmp(test, "bartlett") == 0
                                   ? stats_test_variances(samples, group_count)
                               : strcmp(test, "anova") == 0 ? stats_test_means(samples, group_count)
                                                            : stats_test_ranks(values, group_count);
    assert_null(result.missing);
    return value_of_test(&result, name);
}

/* Returns the value to compare with a row: case, test, group, other group, name, value. */
static double value_of_row(char **fields) {
    if (strcmp(fields[1], "welch") == 0)
        return value_of_pair(find_group(fields[2]), find_group(fields[3]), fields[4]);
    if (!*fields[2])
        return value_of_all(fields[1], fields[4]);
    const struct group *group = &groups[find_group(fields[2])];
    if (strcmp(fields[1], "shapiro") == 0) {
        struct stats_test test = stats_test_normality(group->values, group->count);
        return value_of_test(&test, fields[4]);
    }
    struct stats_sample sample = stats_sample_of(group->values, group->count);
    return strcmp(fields[4], "mean") == 0 ? sample.mean : sqrt(sample.variance);
}

/* Compares all figures that R computed for this case. */
static void expect_case(const char *name, size_t rows) {
    char line[DATA_LINE_MAX], *fields[6];
    size_t compared = 0;
    FILE *stream = open_data("tests-results.csv");
    while (read_fields(stream, line, fields, 6)) {
        if (strcmp(fields[0], name) != 0)
            continue;
        double have = value_of_row(fields), want = strtod(fields[5], NULL);
        if (!(fabs(have - want) <= TEN_DIGITS * fabs(want)))
            fail_msg("%s of %s %s%s: %s is %.15g, R computed %.15g", fields[1], name, fields[2],
                fields[3], fields[4], have, want);
        compared++;
    }
    fclose(stream);
    assert_int_equal(compared, rows);
}

static void read_and_expect(const char *name, size_t rows) {
    read_case(name);
    expect_case(name, rows);
}

static void tests_of_three_groups_agree_with_r(void **state) {
    (void)state;
    read_and_expect("usual", 46);
}

static void tiny_p_values_agree_with_r(void **state) {
    (void)state;
    read_and_expect("far", 74);
}

static void tests_of_skewed_values_agree_with_r(void **state) {
    (void)state;
    read_and_expect("skewed", 26);
}

static void tests_of_tied_values_agree_with_r(void **state) {
    (void)state;
    read_and_expect("ties", 46);
}

static void tests_of_three_values_agree_with_r(void **state) {
    (void)state;
    read_and_expect("three", 46);
}

static void shapiro_agrees_with_r_for_every_sample_size_range(void **state) {
    (void)state;
    static const char *const names[] = {"four", "five", "six", "ten", "eleven", "twelve",
        "thirteen", "outlier", "outlier_of_ten", "steps", "straight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        read_and_expect(names[i], 4);
}

static void shapiro_of_5000_values_agrees_with_r(void **state) {
    (void)state;
    generate_case();
    expect_case("most", 4);
}

static void expect_no_test(struct stats_test test, const char *why) {
    assert_string_equal(test.missing, why);
    assert_true(isnan(test.p) && isnan(test.statistic) && isnan(test.freedom));
}

static void tests_that_cannot_be_computed_give_a_reason(void **state) {
    (void)state;
    static double many[5001];
    const double same[] = {2, 2, 2};
    for (size_t i = 0; i < 5001; i++)
        many[i] = (double)i;
    expect_no_test(stats_test_normality(many, 2), "fewer than 3 values");
    expect_no_test(stats_test_normality(many, 5001), "more than 5000 values");
    expect_no_test(stats_test_normality(same, 3), "all values are equal");
    const struct stats_sample one[] = {{5, 3, 1}, {1, 4, NAN}}, equal[] = {{5, 3, 1}, {3, 4, 0}},
                              constant[] = {{3, 4, 0}, {3, 4, 0}};
    expect_no_test(stats_test_variances(one, 1), "there is only one group");
    expect_no_test(stats_test_means(one, 1), "there is only one group");
    expect_no_test(stats_test_variances(one, 2), "a group has fewer than two values");
    expect_no_test(stats_test_means(one, 2), "a group has fewer than two values");
    expect_no_test(stats_test_variances(equal, 2), "all values of a group are equal");
    expect_no_test(stats_test_means(equal, 2), "all values of a group are equal");
    expect_no_test(
        stats_test_difference(&one[0], &one[1], 0.95).test, "a group has fewer than two values");
    expect_no_test(stats_test_difference(&constant[0], &constant[1], 0.95).test,
        "all values of both groups are equal");
    const struct stats_values ranked[] = {{same, 3}, {same, 2}}, empty[] = {{same, 3}, {same, 0}};
    expect_no_test(stats_test_ranks(ranked, 1), "there is only one group");
    expect_no_test(stats_test_ranks(ranked, 2), "all values are equal");
    expect_no_test(stats_test_ranks(empty, 2), "a group has no value");
}

/* R: bartlett.test() of variances that differ by rounding gives a statistic below 0. */
static void bartlett_of_equal_variances_is_zero(void **state) {
    (void)state;
    const struct stats_sample equal[] = {{5, 3, 2.5}, {9, 7, 2.5}, {4, 1, 2.5}};
    const struct stats_sample near[] = {{5, 3, 1}, {5, 7, 1 + 2e-9}};
    struct stats_test test = stats_test_variances(equal, 3);
    assert_true(test.statistic == 0 && test.p == 1);
    /* The first term of the series: 4 (1e-9)^2, over 1 + (1/4 + 1/4 - 1/8) / 3. */
    test = stats_test_variances(near, 2);
    assert_near(test.statistic * 1e18, 4 / 1.125, 1e-5);
}

static void bartlett_of_extreme_variances_is_finite(void **state) {
    (void)state;
    const struct stats_sample extreme[] = {{5, 3, 1e-300}, {5, 3, 1e300}};
    struct stats_test test = stats_test_variances(extreme, 2);
    assert_null(test.missing);
    assert_that(test.statistic, >, 1000);
    assert_that(test.p, <, 1e-300);
}

static void holm_skips_unknown_p_values(void **state) {
    (void)state;
    const double p[] = {0.04, NAN, 0.01, 0.03, 0.9};
    double adjusted[5];
    assert_int_equal(stats_adjust_holm(p, adjusted, 5), 0);
    assert_near(adjusted[2], 0.04, 1e-15);
    assert_near(adjusted[3], 0.09, 1e-15);
    assert_near(adjusted[0], 0.09, 1e-15); /* not 0.08: a larger p is never adjusted to less */
    assert_near(adjusted[4], 0.9, 1e-15);
    assert_true(isnan(adjusted[1]));
}

/*
 * R: 2 * pt(-t, freedom), pf(f, ..., lower = FALSE), pchisq(x, freedom, lower = FALSE) and
 * pnorm(z, lower = FALSE).
 */
static void tail_probabilities_agree_with_r(void **state) {
    (void)state;
    const struct {
        double have, want;
    } tails[] = {
        {stats_tail_t(1e-06, 5.7), 9.9999923618804520e-01},
        {stats_tail_t(1e-06, 100000), 9.9999920211743398e-01},
        {stats_tail_t(1.97, 136.2), 5.0866977887084629e-02},
        {stats_tail_t(3, 100000), 2.7004608840647203e-03},
        {stats_tail_t(40, 20), 1.4574696554310689e-20},
        {stats_tail_t(200, 136.2), 4.6927134794957911e-170},
        {stats_tail_f(0.0001, 1, 1000000), 9.9202128936554768e-01},
        {stats_tail_f(1.1, 7, 136.2), 3.6669370950248337e-01},
        {stats_tail_f(10, 199, 1000.5), 4.3243983391323157e-141},
        {stats_tail_f(50, 3, 2.2), 1.4531191319586880e-02},
        {stats_tail_f(1000, 2, 20.4), 4.3930549677357784e-21},
        {stats_tail_chi_square(0.0001, 1), 9.9202128737073680e-01},
        {stats_tail_chi_square(2, 7), 9.5984036873010159e-01},
        {stats_tail_chi_square(300, 199), 4.7760231457707730e-06},
        {stats_tail_chi_square(1400, 2), 9.8596765437597708e-305},
        {stats_tail_normal(-9), 1.0000000000000000e+00},
        {stats_tail_normal(0.5), 3.0853753872598694e-01},
        {stats_tail_normal(10), 7.6198530241605269e-24},
        {stats_tail_normal(37), 5.7255712225245771e-300},
    };
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        assert_near(tails[i].have / tails[i].want, 1, TEN_DIGITS);
}

static void underflowing_tail_probabilities_are_zero(void **state) {
    (void)state;
    assert_true(stats_tail_t(1e4, 5000) == 0 && stats_tail_t(INFINITY, 3) == 0);
    assert_true(stats_tail_f(1e6, 50, 1e4) == 0 && stats_tail_f(INFINITY, 2, 3) == 0);
    assert_true(stats_tail_chi_square(1e5, 3) == 0 && stats_tail_normal(50) == 0);
    assert_true(stats_tail_chi_square(INFINITY, 1) == 0);
    assert_true(stats_tail_t(0, 7) == 1 && stats_tail_f(0, 2, 7) == 1);
    assert_true(isnan(stats_tail_t(NAN, 7)) && isnan(stats_tail_f(NAN, 2, 7)));
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(tests_of_three_groups_agree_with_r),
    cmocka_unit_test(tiny_p_values_agree_with_r),
    cmocka_unit_test(tests_of_skewed_values_agree_with_r),
    cmocka_unit_test(tests_of_tied_values_agree_with_r),
    cmocka_unit_test(tests_of_three_values_agree_with_r),
    cmocka_unit_test(shapiro_agrees_with_r_for_every_sample_size_range),
    cmocka_unit_test(shapiro_of_5000_values_agrees_with_r),
    cmocka_unit_test(tests_that_cannot_be_computed_give_a_reason),
    cmocka_unit_test(bartlett_of_equal_variances_is_zero),
    cmocka_unit_test(bartlett_of_extreme_variances_is_finite),
    cmocka_unit_test(holm_skips_unknown_p_values),
    cmocka_unit_test(tail_probabilities_agree_with_r),
    cmocka_unit_test(underflowing_tail_probabilities_are_zero))
