/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>
#include <string.h>

#include "conclusion.h"
#include "unit.h"

static const char *const quanta[] = {"20m", "53m", "107m"};
static const char *const classes[] = {"serial", "blocking"};
static const char *const loads[] = {"25%", "75%"};

static struct grid_axis axis(const char *name, const char *const *values, size_t count) {
    return (struct grid_axis){.name = (char *)name, .values = (char **)values, .count = count};
}

static struct trial_figures row(double mse, double own) {
    return (struct trial_figures){.samples = 10, .error_mse_e4 = mse, .own_cpu = own};
}

static void assert_concludes(
    const struct grid *grid, const struct trial_figures *rows, const char *words) {
    char sentence[1024];
    conclusion_make(sentence, sizeof sentence, grid, rows);
    if (!strstr(sentence, words))
        fail_msg("'%s' does not say '%s'", sentence, words);
}

static void sweep_recommends_the_smallest_error_and_mentions_the_cheapest(void **state) {
    (void)state;
    struct grid grid = {.axes = {axis("dithering-options", quanta, 3)}, .count = 1};
    struct trial_figures rows[] = {row(0.5, 0.02), row(1, 0.01), row(4, 0.005)};
    assert_concludes(&grid, rows,
        "Choose dithering-options=20m: mean squared error 0.5 %^2 for 2 % of one CPU; the "
        "cheapest, "
        "dithering-options=107m, costs 0.5 % and gives 4 %^2.");
}

static void sweep_recommends_the_cheaper_of_equal_settings(void **state) {
    (void)state;
    struct grid grid = {.axes = {axis("dithering-options", quanta, 3)}, .count = 1};
    struct trial_figures close[] = {row(0.5, 0.02), row(0.54, 0.01), row(4, 0.005)};
    assert_concludes(&grid, close, "Choose dithering-options=53m: ");
    struct trial_figures still[] = {row(0.01, 0.02), row(0.09, 0.01), row(0.11, 0.005)};
    assert_concludes(&grid, still, "Choose dithering-options=53m: ");
    struct trial_figures best[] = {row(0.5, 0.02), row(0.6, 0.01), row(0.5, 0.005)};
    assert_concludes(&grid, best, "Choose dithering-options=107m: ");
    assert_concludes(&grid, best, "no other combination costs less.");
}

/* 20m is best at 25 %, 53m is best for both loads together. */
static void sweep_averages_over_conditions(void **state) {
    (void)state;
    struct grid grid = {
        .axes = {axis("load", loads, 2), axis("dithering-options", quanta, 3)}, .count = 2};
    struct trial_figures rows[] = {
        row(1, 0.02), row(2, 0.01), row(8, 0.005), row(9, 0.02), row(4, 0.01), row(8, 0.005)};
    assert_concludes(&grid, rows, "Choose dithering-options=53m: mean squared error 3 %^2");
    struct grid turned = {
        .axes = {axis("dithering-options", quanta, 3), axis("load", loads, 2)}, .count = 2};
    struct trial_figures others[] = {
        row(1, 0.02), row(9, 0.02), row(2, 0.01), row(4, 0.01), row(8, 0.005), row(8, 0.005)};
    assert_concludes(&turned, others, "Choose dithering-options=53m: mean squared error 3 %^2");
}

static void sweep_over_conditions_names_the_best_and_worst(void **state) {
    (void)state;
    struct grid grid = {.axes = {axis("class", classes, 2)}, .count = 1};
    struct trial_figures rows[] = {row(5, 0.02), row(2, 0.02)};
    assert_concludes(&grid, rows,
        "The load is held best with class=blocking (mean squared error 2 %^2) and worst with "
        "class=serial (5 %^2).");
    /* A cheaper setting is not better if the settings are equal. */
    struct trial_figures still[] = {row(0.02, 0.02), row(0.03, 0.01)};
    assert_concludes(&grid, still, "best with class=serial");
}

/* At each target, serial is better. */
static void sweep_does_not_compare_targets(void **state) {
    (void)state;
    struct grid grid = {.axes = {axis("load", loads, 2)}, .count = 1};
    struct trial_figures rows[] = {row(5, 0.02), row(2, 0.02)};
    assert_concludes(&grid, rows, "Nothing to compare: only the target was swept");
    struct grid both = {.axes = {axis("load", loads, 2), axis("class", classes, 2)}, .count = 2};
    struct trial_figures four[] = {row(5, 0.02), row(6, 0.02), row(1, 0.02), row(2, 0.02)};
    assert_concludes(&both, four,
        "The load is held best with class=serial (mean squared error 3 %^2) and worst with "
        "class=blocking (4 %^2).");
}

static void sweep_ignores_trials_without_figures(void **state) {
    (void)state;
    struct grid grid = {.axes = {axis("dithering-options", quanta, 3)}, .count = 1};
    struct trial_figures rows[] = {row(NAN, NAN), row(1, 0.01), row(4, 0.005)};
    assert_concludes(&grid, rows, "Choose dithering-options=53m: ");
    struct trial_figures one[] = {row(NAN, NAN), row(1, 0.01), row(NAN, NAN)};
    assert_concludes(&grid, one, "Nothing to compare: 1 combination had samples.");
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(sweep_recommends_the_smallest_error_and_mentions_the_cheapest),
    cmocka_unit_test(sweep_recommends_the_cheaper_of_equal_settings),
    cmocka_unit_test(sweep_averages_over_conditions),
    cmocka_unit_test(sweep_over_conditions_names_the_best_and_worst),
    cmocka_unit_test(sweep_does_not_compare_targets),
    cmocka_unit_test(sweep_ignores_trials_without_figures))
