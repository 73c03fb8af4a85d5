/* SPDX-License-Identifier: Apache-2.0 */
/* Tests series with a known change, and both kinds of errors of the estimator over many seeds. */
#include <math.h>
#include <stdint.h>

#include "unit.h"
#include "verdict/stationarity.h"

#define WINDOWS SS_STATIONARITY_MAX

static uint64_t seed;

static double uniform(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

/* A series of noise around 1, in which each value depends on the previous one, with a change. */
struct recipe {
    size_t windows; /* 0 for as many as possible */
    double deviation, memory;
    double step, at; /* size and time of a step */
    double until;    /* the step's end; 0 if it remains */
    double drift, bent_drift;
    double warm_up;
};

static struct ss_change find_in_series(const struct recipe *recipe) {
    double values[WINDOWS], noise = normal();
    size_t windows = recipe->windows ? recipe->windows : WINDOWS;
    for (size_t i = 0; i < windows; i++) {
        double time = ((double)i + 0.5) / (double)windows;
        noise = recipe->memory * noise + sqrt(1 - recipe->memory * recipe->memory) * normal();
        bool stepped = time > recipe->at && (recipe->until == 0 || time < recipe->until);
        values[i] = 1 + recipe->deviation * noise + (stepped ? recipe->step : 0) +
                    recipe->drift * time + recipe->bent_drift * time * time -
                    recipe->warm_up * exp(-12 * time);
    }
    return ss_stationarity_find(values, windows);
}

/* Returns in how many of `count` series a change is found. */
static int count_found(const struct recipe *recipe, int count) {
    int found = 0;
    seed = 88172645463325252U;
    for (int i = 0; i < count; i++) {
        struct ss_change change = find_in_series(recipe);
        double size = ss_stationarity_change(&change);
        found += !isnan(size) && size != 0;
    }
    return found;
}

TEST(steady_series_are_rarely_flagged) {
    static const struct recipe recipes[] = {{.deviation = 0.02},
        {.deviation = 0.005, .memory = 0.5}, {.deviation = 0.1, .memory = 0.5}};
    for (size_t i = 0; i < 3; i++) {
        int found = count_found(&recipes[i], 1000);
        if (found > 10)
            fail_msg("recipe %zu: change found in %d of 1000 series", i, found);
    }
}

/*
 * Short series look less correlated than they are. Without the correction, 486 of the series would
 * exceed the limit.
 */
TEST(correlation_of_a_short_series_is_corrected) {
    struct recipe recipe = {.windows = WINDOWS / 2, .deviation = 0.02, .memory = 0.75};
    int found = 0;
    seed = 88172645463325252U;
    for (int i = 0; i < 4000; i++)
        found += find_in_series(&recipe).certainty > 3;
    assert_true(found <= 430);
}

/*
 * Changes of twice the limit. No fitted shape matches the last ones, so the residuals are
 * correlated even if the noise is small. A correlation computed from the residuals alone would make
 * these series too uncertain to be checked.
 */
TEST(changes_of_all_shapes_are_found) {
    const struct recipe recipes[] = {
        {.deviation = 0.01, .memory = 0.3, .step = 0.02, .at = 0.37},
        {.deviation = 0.01, .memory = 0.3, .step = -0.02, .at = 0.6},
        {.deviation = 0.005, .memory = 0.3, .drift = 0.02},
        {.deviation = 0.005, .memory = 0.3, .warm_up = 0.03},
        {.deviation = 0.0005, .memory = 0.3, .step = 0.02, .at = 0.25},
        {.deviation = 0.0005, .memory = 0.3, .bent_drift = 0.03},
        {.deviation = 0.0005, .memory = 0.3, .bent_drift = -0.03},
        {.deviation = 0.005, .memory = 0.3, .step = -0.03, .at = 0.3, .until = 0.6},
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        int found = count_found(&recipes[i], 200);
        if (found < 198)
            fail_msg("recipe %zu: change found in %d of 200 series", i, found);
    }
}

/*
 * The step would be certain only if the noise were known to cancel out, which 240 values do not
 * prove.
 */
TEST(alternating_noise_adds_no_certainty) {
    struct recipe recipe = {.deviation = 0.05, .memory = -0.9, .step = 0.02, .at = 0.5};
    assert_int_equal(count_found(&recipe, 100), 0);
}

static void assert_text(const struct recipe *recipe, const char *expected) {
    char text[SS_CHANGE_TEXT_SIZE];
    seed = 88172645463325252U;
    struct ss_change change = find_in_series(recipe);
    assert_true(change.checked);
    ss_stationarity_print(text, &change);
    assert_string_equal(text, expected);
}

TEST(shape_of_the_change_is_named) {
    assert_text(&(struct recipe){.deviation = 1e-6, .step = -0.04, .at = 7.0 / 18},
        "a step of -4.0 % after 39 % of the time");
    assert_text(&(struct recipe){.deviation = 1e-6, .drift = 0.06}, "a drift of +6.0 %");
    assert_text(&(struct recipe){.deviation = 1e-6, .warm_up = 0.08}, "+8.7 % while it warmed up");
    assert_text(&(struct recipe){.deviation = 1e-6, .step = -1, .at = 5.0 / 18},
        "a step of -99.9 % after 28 % of the time");
}

TEST(certain_change_below_one_percent_does_not_count) {
    double constant[WINDOWS];
    seed = 1;
    struct ss_change change =
        find_in_series(&(struct recipe){.deviation = 1e-4, .step = 0.005, .at = 0.5});
    assert_true(change.certainty > 100);
    assert_true(ss_stationarity_change(&change) == 0);
    for (size_t i = 0; i < WINDOWS; i++)
        constant[i] = 3;
    change = ss_stationarity_find(constant, WINDOWS);
    assert_true(ss_stationarity_change(&change) == 0);
}

TEST(series_that_says_too_little_is_not_checked) {
    struct recipe wandering = {.deviation = 0.05, .memory = 0.99};
    double values[WINDOWS] = {0};
    int checked = 0;
    seed = 5;
    for (int i = 0; i < 100; i++)
        checked += find_in_series(&wandering).checked;
    assert_true(checked < 5);
    struct ss_change change = ss_stationarity_find(values, WINDOWS); /* no throughput at all */
    assert_true(isnan(ss_stationarity_change(&change)));
    values[7] = NAN;
    change = ss_stationarity_find(values, WINDOWS);
    assert_true(isnan(ss_stationarity_change(&change)));
}

TEST(few_events_are_divided_into_fewer_windows) {
    assert_that(ss_stationarity_windows(1200), ==, 240);
    assert_that(ss_stationarity_windows(1199), ==, 120);
    assert_that(ss_stationarity_windows(600), ==, 120);
    assert_that(ss_stationarity_windows(599), ==, 0);
}

UNIT_RUN
