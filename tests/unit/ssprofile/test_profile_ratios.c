/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compares ratios, figures and predictions with R's in data/profile (see make.R there), to ten
 * digits.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "battery.h"
#include "choice.h"
#include "ratios.h"
#include "unit.h"

#define DATA       TEST_SOURCE_DIR "/data/profile/"
#define TEN_DIGITS 5e-11

static const struct ssprofile_matching all = {.unstable = INFINITY};

struct comparison {
    struct ssprofile_results results;
    struct ssprofile_ratios ratios;
    struct ssprofile_warnings warnings;
    struct ss_error error;
    const struct ssprofile_profile *sides[2];
    int result;
};

static const struct ssprofile_profile *find(
    struct ssprofile_results *results, const char *machine, const char *limits) {
    struct ssprofile_choice choice = {.path = "f"};
    struct ss_error error = {0};
    snprintf(choice.machine, sizeof choice.machine, "%s", machine);
    snprintf(choice.limits, sizeof choice.limits, "%s", limits);
    const struct ssprofile_profile *found = ssprofile_results_find(results, &choice, &error);
    if (!found)
        fail_msg("%s", error.message);
    return found;
}

static struct comparison compare_files(const char *path, const char *const names[2],
    const char *limits, const struct ssprofile_matching *matching) {
    struct comparison comparison = {0};
    if (ssprofile_results_read(&comparison.results, path, &comparison.error) < 0)
        fail_msg("%s", comparison.error.message);
    comparison.sides[0] = find(&comparison.results, names[0], "without");
    comparison.sides[1] = find(&comparison.results, names[1], limits);
    comparison.result = ssprofile_ratios_make(
        &comparison.ratios, comparison.sides, matching, &comparison.warnings, &comparison.error);
    return comparison;
}

static void forget(struct comparison *comparison) {
    ssprofile_ratios_free(&comparison->ratios);
    ssprofile_warnings_free(&comparison->warnings);
    ssprofile_results_free(&comparison->results);
}

static struct comparison compare_recorded(const char *limits) {
    struct comparison comparison =
        compare_files(DATA "results.csv", (const char *const[]){"base", "target"}, limits, &all);
    assert_int_equal(comparison.result, 0);
    assert_int_equal(comparison.warnings.count, 0);
    return comparison;
}

static struct comparison compare_damaged(const char *limits) {
    return compare_files(DATA "damaged.csv", (const char *const[]){"one", "two"}, limits, &all);
}

/* Returns the figure that R computed. */
static double recorded(const char *limits, const char *name) {
    char line[256], wanted[128];
    snprintf(wanted, sizeof wanted, "%s,%s,", limits, name);
    FILE *stream = fopen(DATA "figures.csv", "r");
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream)) {
        if (strncmp(line, wanted, strlen(wanted)) == 0) {
            fclose(stream);
            return strtod(line + strlen(wanted), NULL);
        }
    }
    fclose(stream);
    fail_msg("figures.csv has no %s", wanted);
    return NAN;
}

static void expect(const char *limits, const char *name, double said) {
    double wanted = recorded(limits, name);
    if (!(fabs(said - wanted) <= TEN_DIGITS * fabs(wanted)))
        fail_msg("%s of %s: %.15g, R says %.15g", name, limits, said, wanted);
}

static void ratio_figures_agree_with_r(void **state) {
    (void)state;
    const char *const both[] = {"without", "quota-3900"};
    for (int i = 0; i < 2; i++) {
        struct comparison comparison = compare_recorded(both[i]);
        struct ssprofile_figures figures = ssprofile_ratios_figures(&comparison.ratios);
        struct ssprofile_log_mean log_mean = ssprofile_ratios_log_mean(&comparison.ratios, 0.95);
        assert_int_equal(figures.count, 25);
        for (size_t j = 0; j < comparison.ratios.count; j++)
            expect(both[i], comparison.ratios.items[j].name, comparison.ratios.items[j].ratio);
        expect(both[i], "least", figures.least);
        expect(both[i], "most", figures.most);
        expect(both[i], "length", figures.length);
        expect(both[i], "median", figures.median);
        expect(both[i], "mean", figures.mean);
        expect(both[i], "geometric", figures.geometric);
        expect(both[i], "most_to_least", figures.most_to_least);
        expect(both[i], "variation", figures.variation);
        expect(both[i], "log_mean", log_mean.mean);
        expect(both[i], "log_half", log_mean.half);
        expect(both[i], "spread", comparison.ratios.items[0].spread[1]);
        expect(both[i], "base_spread", comparison.ratios.items[24].spread[0]);
        expect(both[i], "log_of_04", comparison.ratios.items[3].log);
        forget(&comparison);
    }
}

/* The mean that calibration passes to the published search: target and base are swapped. */
static void inverse_ratios_agree_with_r(void **state) {
    (void)state;
    const char *const both[] = {"without", "quota-3900"};
    for (int i = 0; i < 2; i++) {
        struct comparison comparison = compare_recorded(both[i]);
        struct ssprofile_ratios times;
        const struct ssprofile_profile *turned[2] = {comparison.sides[1], comparison.sides[0]};
        assert_int_equal(
            ssprofile_ratios_make(&times, turned, &all, &comparison.warnings, &comparison.error),
            0);
        expect(both[i], "time_mean", ssprofile_ratios_figures(&times).mean);
        ssprofile_ratios_free(&times);
        forget(&comparison);
    }
}

/* Bins that R does not list are empty. */
static void histogram_bins_agree_with_r(void **state) {
    (void)state;
    const char *const both[] = {"without", "quota-3900"};
    for (int i = 0; i < 2; i++) {
        size_t counts[100] = {0}, sum = 0;
        struct comparison comparison = compare_recorded(both[i]);
        for (size_t j = 0; j < comparison.ratios.count; j++) {
            size_t bin = ssprofile_bin_of(comparison.ratios.items[j].ratio, SSPROFILE_BIN);
            assert_true(bin < 100);
            counts[bin]++;
        }
        for (size_t bin = 0; bin < 100; bin++) {
            char name[32];
            snprintf(name, sizeof name, "bin_%zu", bin);
            if (counts[bin] > 0)
                expect(both[i], name, (double)counts[bin]);
            sum += counts[bin];
        }
        assert_int_equal(sum, 25);
        forget(&comparison);
    }
}

static int compare_numbers(const void *first, const void *second) {
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static void interval_bounds_agree_with_r(void **state) {
    (void)state;
    const char *const both[] = {"without", "quota-3900"};
    static const size_t left_out[] = {0, 1, 2, 5};
    for (int i = 0; i < 2; i++) {
        double sorted[25];
        struct comparison comparison = compare_recorded(both[i]);
        for (size_t j = 0; j < 25; j++)
            sorted[j] = comparison.ratios.items[j].ratio;
        qsort(sorted, 25, sizeof *sorted, compare_numbers);
        for (int k = 0; k < 4; k++) {
            char names[2][32];
            struct ssprofile_interval interval = ssprofile_interval_of(sorted, 25, left_out[k]);
            snprintf(names[0], sizeof names[0], "low_%zu", left_out[k]);
            snprintf(names[1], sizeof names[1], "high_%zu", left_out[k]);
            expect(both[i], names[0], interval.low);
            expect(both[i], names[1], interval.high);
        }
        forget(&comparison);
    }
}

/* Returns a profile with every second repetition, beginning with the first or the second. */
static struct ssprofile_profile half_of(const struct ssprofile_profile *whole, size_t first) {
    struct ssprofile_profile half = *whole;
    half.benchmarks = calloc(whole->count, sizeof *half.benchmarks);
    assert_non_null(half.benchmarks);
    for (size_t i = 0; i < whole->count; i++) {
        struct ssprofile_benchmark *benchmark = &half.benchmarks[i];
        *benchmark = whole->benchmarks[i];
        benchmark->repetitions = calloc(benchmark->count, sizeof *benchmark->repetitions);
        assert_non_null(benchmark->repetitions);
        benchmark->count = 0;
        for (size_t j = first; j < whole->benchmarks[i].count; j += 2)
            benchmark->repetitions[benchmark->count++] = whole->benchmarks[i].repetitions[j];
    }
    return half;
}

static void forget_half(struct ssprofile_profile *half) {
    for (size_t i = 0; i < half->count; i++)
        free(half->benchmarks[i].repetitions);
    free(half->benchmarks);
}

static void halves_of_a_profile_agree_with_r(void **state) {
    (void)state;
    struct comparison comparison = compare_recorded("without");
    struct ssprofile_profile odd = half_of(comparison.sides[0], 0),
                             even = half_of(comparison.sides[0], 1);
    const struct ssprofile_profile *sides[2] = {&odd, &even};
    struct ssprofile_ratios ratios;
    assert_int_equal(
        ssprofile_ratios_make(&ratios, sides, &all, &comparison.warnings, &comparison.error), 0);
    assert_int_equal(ratios.count, 25);
    for (size_t i = 0; i < ratios.count; i++)
        expect("halves", ratios.items[i].name, ratios.items[i].ratio);
    struct ssprofile_figures figures = ssprofile_ratios_figures(&ratios);
    expect("halves", "least", figures.least);
    expect("halves", "most", figures.most);
    expect("halves", "median", figures.median);
    expect("halves", "geometric", figures.geometric);
    expect("halves", "variation", figures.variation);
    ssprofile_ratios_free(&ratios);
    forget_half(&odd);
    forget_half(&even);
    forget(&comparison);
}

static void reduction_is_split_into_two_factors(void **state) {
    (void)state;
    struct comparison plain = compare_recorded("without"),
                      throttled = compare_recorded("quota-3900");
    struct ssprofile_figures figures[2] = {
        ssprofile_ratios_figures(&plain.ratios), ssprofile_ratios_figures(&throttled.ratios)};
    struct ssprofile_reduction reduction = ssprofile_reduction_of(&figures[0], &figures[1]);
    expect("both", "reduction", reduction.reduction);
    expect("both", "factor", reduction.factor);
    expect("both", "relative", reduction.relative);
    expect("both", "share", reduction.share);
    forget(&plain);
    forget(&throttled);
}

static void common_factor_does_not_change_the_relative_spread(void **state) {
    (void)state;
    double plain[] = {1.65, 2.4, 2.48, 3, 7.1}, slowed[5];
    for (int i = 0; i < 5; i++)
        slowed[i] = plain[i] / 2.8;
    struct ssprofile_figures figures[2] = {
        ssprofile_figures_of(plain, 5), ssprofile_figures_of(slowed, 5)};
    struct ssprofile_reduction reduction = ssprofile_reduction_of(&figures[0], &figures[1]);
    assert_true(fabs(reduction.reduction - 2.8) < 1e-12);
    assert_true(fabs(reduction.factor - 2.8) < 1e-12);
    assert_true(fabs(reduction.relative - 1) < 1e-12);
    assert_true(fabs(reduction.share - 1) < 1e-12);
    assert_true(fabs(figures[0].most_to_least - figures[1].most_to_least) < 1e-12);
}

static bool is_warned(const struct comparison *comparison, const char *text) {
    for (size_t i = 0; i < comparison->warnings.count; i++) {
        if (strstr(comparison->warnings.items[i].text, text))
            return true;
    }
    return false;
}

static const struct ssprofile_left_out *left_out_of(
    const struct comparison *comparison, const char *name) {
    for (size_t i = 0; i < comparison->ratios.left_out_count; i++) {
        if (strcmp(comparison->ratios.left_out[i].name, name) == 0)
            return &comparison->ratios.left_out[i];
    }
    fail_msg("%s is not left out", name);
    return NULL;
}

static const struct ssprofile_ratio *ratio_of(
    const struct comparison *comparison, const char *name, const char *class) {
    for (size_t i = 0; i < comparison->ratios.count; i++) {
        const struct ssprofile_ratio *ratio = &comparison->ratios.items[i];
        if (strcmp(ratio->name, name) == 0 && strcmp(ratio->class, class) == 0)
            return ratio;
    }
    return NULL;
}

static void ratio_of_the_faster_side_is_above_one_in_both_directions(void **state) {
    (void)state;
    struct comparison comparison = compare_damaged("without");
    const struct ssprofile_ratio *sort = ratio_of(&comparison, "sort", "cpu");
    const struct ssprofile_ratio *ray = ratio_of(&comparison, "ray", "cpu");
    assert_int_equal(comparison.ratios.count, 4);
    assert_true(fabs(sort->ratio - 205 * (1 / 100.0 + 1 / 102.5) / 2) < 1e-12);
    assert_true(fabs(ray->ratio - 39.4 / 19.65) < 1e-12);
    assert_true(ray->log > 0.69 && sort->log > 0.69);
    /* The same name in two classes means two benchmarks. */
    assert_true(ratio_of(&comparison, "copy", "memory")->ratio == 3);
    assert_true(ratio_of(&comparison, "copy", "cpu")->ratio == 0.5);
    forget(&comparison);
}

static void incomparable_benchmarks_are_reported(void **state) {
    (void)state;
    struct comparison comparison = compare_damaged("without");
    assert_true(is_warned(&comparison, "only-one of class cpu: left out: one:without has it, in "
                                       "line 15, but two:without does not"));
    assert_true(is_warned(&comparison, "only-two of class cpu: left out: two:without has it, in "
                                       "line 26, but one:without does not"));
    assert_true(is_warned(&comparison, "both: left out: rows of one:without differ"));
    assert_int_equal(comparison.warnings.count, 3);
    assert_int_equal(comparison.ratios.left_out_count, 3);
    assert_string_equal(left_out_of(&comparison, "only-one")->why, SSPROFILE_MISSING);
    assert_string_equal(left_out_of(&comparison, "only-two")->why, SSPROFILE_MISSING);
    assert_string_equal(left_out_of(&comparison, "both")->why, SSPROFILE_CONTRADICTORY);
    forget(&comparison);
    comparison = compare_damaged("quota-6352");
    assert_true(is_warned(&comparison,
        "ray: left out: lower_is_better is true in line 7 of the base and false in line 28 of "
        "two:quota-6352"));
    assert_int_equal(comparison.ratios.count, 1);
    forget(&comparison);
}

static void unstable_benchmark_is_omitted(void **state) {
    (void)state;
    struct ssprofile_matching strict = {.unstable = 0.1};
    struct comparison comparison =
        compare_files(DATA "damaged.csv", (const char *const[]){"one", "two"}, "without", &strict);
    assert_true(is_warned(&comparison, "sort: left out: unstable on one:without"));
    assert_null(ratio_of(&comparison, "sort", "cpu"));
    assert_string_equal(left_out_of(&comparison, "sort")->why, SSPROFILE_UNSTABLE);
    assert_true(left_out_of(&comparison, "sort")->spread[0] > 0.1);
    assert_non_null(ratio_of(&comparison, "ray", "cpu"));
    forget(&comparison);
}

static void benchmarks_are_chosen_by_pattern_and_class(void **state) {
    (void)state;
    struct ssprofile_matching matching = {.only = "so*,c?py", .class = "cpu", .unstable = INFINITY};
    struct comparison comparison = compare_files(
        DATA "damaged.csv", (const char *const[]){"one", "two"}, "without", &matching);
    assert_int_equal(comparison.ratios.count, 2);
    assert_int_equal(comparison.warnings.count, 0);
    forget(&comparison);
    matching.only = "nothing";
    comparison = compare_files(
        DATA "damaged.csv", (const char *const[]){"one", "two"}, "without", &matching);
    assert_int_equal(comparison.result, -1);
    assert_non_null(strstr(comparison.error.message, "no benchmark in common"));
    forget(&comparison);
}

static void only_benchmarks_of_the_battery_are_compared(void **state) {
    (void)state;
    struct ssprofile_battery battery;
    struct ss_error error = {0};
    assert_int_equal(ssprofile_battery_parse(&battery,
                         "sort cpu x higher r '(y)'\ncopy memory x higher r '(y)'\n"
                         "ray cpu x higher r '(y)'\nonly-one cpu x higher r '(y)'\n"
                         "nowhere cpu x higher r '(y)'",
                         "battery", &error),
        0);
    struct ssprofile_matching matching = {.battery = &battery, .unstable = INFINITY};
    struct comparison comparison = compare_files(
        DATA "damaged.csv", (const char *const[]){"one", "two"}, "without", &matching);
    assert_int_equal(comparison.ratios.count, 2);
    assert_non_null(ratio_of(&comparison, "sort", "cpu"));
    assert_non_null(ratio_of(&comparison, "copy", "memory"));
    assert_true(is_warned(&comparison, "ray: left out: lower_is_better is true in line 7 of the "
                                       "base, and the battery says higher"));
    assert_true(is_warned(&comparison, "only-one of class cpu: left out: one:without has it"));
    assert_true(is_warned(&comparison, "nowhere of class cpu: left out: the battery has it, but "
                                       "neither one:without nor two:without"));
    assert_int_equal(comparison.warnings.count, 3);
    forget(&comparison);
    ssprofile_battery_free(&battery);
}

static void single_repetition_has_no_interval(void **state) {
    (void)state;
    struct comparison comparison = compare_damaged("without");
    assert_true(isnan(ssprofile_ratios_log_mean(&comparison.ratios, 0.95).half));
    forget(&comparison);
}

static void histogram_bin_includes_its_upper_bound(void **state) {
    (void)state;
    assert_int_equal(ssprofile_bin_of(2.3, SSPROFILE_BIN), 23);
    assert_int_equal(ssprofile_bin_of(2.3000001, SSPROFILE_BIN), 24);
    assert_int_equal(ssprofile_bin_of(2.4, SSPROFILE_BIN), 24);
    assert_int_equal(ssprofile_bin_of(0.7, SSPROFILE_BIN), 7);
    assert_int_equal(ssprofile_bin_of(1e-9, SSPROFILE_BIN), 1);
    /* Sums of tenths are not exact. */
    assert_int_equal(ssprofile_bin_of(0.1 + 0.2, SSPROFILE_BIN), 3);
}

static void interval_of_ratios_has_the_stated_coverage(void **state) {
    (void)state;
    double ratios[25];
    for (int i = 0; i < 25; i++)
        ratios[i] = i + 1;
    for (size_t k = 0; k < 5; k++) {
        char name[32];
        struct ssprofile_interval interval = ssprofile_interval_of(ratios, 25, k);
        snprintf(name, sizeof name, "coverage_%zu", k);
        expect("both", name, interval.coverage);
        assert_true(interval.low == (double)k + 1 && interval.high == 25 - (double)k);
    }
    assert_true(ssprofile_interval_of(ratios, 25, 12).coverage == 0);
    assert_true(isnan(ssprofile_interval_of(ratios, 0, 0).low));
    /* 24/26, 22/26, ... */
    assert_int_equal(ssprofile_interval_covering(ratios, 25, 0.90).left_out, 0);
    assert_int_equal(ssprofile_interval_covering(ratios, 25, 0.80).left_out, 1);
    assert_int_equal(ssprofile_interval_covering(ratios, 25, 0.99).left_out, 0);
    assert_int_equal(ssprofile_interval_covering(ratios, 25, 0).left_out, 12);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(ratio_figures_agree_with_r),
    cmocka_unit_test(inverse_ratios_agree_with_r),
    cmocka_unit_test(histogram_bins_agree_with_r),
    cmocka_unit_test(interval_bounds_agree_with_r),
    cmocka_unit_test(halves_of_a_profile_agree_with_r),
    cmocka_unit_test(reduction_is_split_into_two_factors),
    cmocka_unit_test(common_factor_does_not_change_the_relative_spread),
    cmocka_unit_test(ratio_of_the_faster_side_is_above_one_in_both_directions),
    cmocka_unit_test(incomparable_benchmarks_are_reported),
    cmocka_unit_test(unstable_benchmark_is_omitted),
    cmocka_unit_test(benchmarks_are_chosen_by_pattern_and_class),
    cmocka_unit_test(only_benchmarks_of_the_battery_are_compared),
    cmocka_unit_test(single_repetition_has_no_interval),
    cmocka_unit_test(histogram_bin_includes_its_upper_bound),
    cmocka_unit_test(interval_of_ratios_has_the_stated_coverage))
