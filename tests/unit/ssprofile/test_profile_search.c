/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests of calibration, by the published search and the closed method, on machines that are
 * formulas.
 */

#include <math.h>
#include <stdlib.h>

#include "setting_search.h"
#include "unit.h"

/* Searches with the cost |setting - optimum|. */
static void search_optimum(struct ssprofile_search *search, int optimum) {
    ssprofile_search_begin(search);
    for (int setting; (setting = ssprofile_search_next(search)) != 0;)
        ssprofile_search_add_cost(search, setting, abs(setting - optimum));
}

/* OpenTuner's moves for the cost |setting - 6263|. */
TEST(search_tests_the_published_settings) {
    static const int published[] = {10000, 7750, 5500, 3250, 6625, 6062, 5499, 6343, 6624, 6202,
        6061, 6272, 6342, 6237, 6290, 6263};
    struct ssprofile_search search;
    search_optimum(&search, 6263);
    assert_int_equal(search.count, sizeof published / sizeof *published);
    for (size_t i = 0; i < search.count; i++)
        assert_int_equal(search.settings[i], published[i]);
    assert_int_equal(search.best, 6263);
}

/* The authors' machines got these quotas. A step of exactly 2250 does not lead to three of them. */
TEST(search_leads_to_the_published_quotas) {
    static const int quotas[][2] = {
        {6353, 6352}, {7111, 7111}, {7009, 7009}, {5465, 5465}, {7116, 7116}};
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++) {
        struct ssprofile_search search;
        search_optimum(&search, quotas[i][0]);
        assert_int_equal(search.best, quotas[i][1]);
    }
}

TEST(search_stays_within_its_range) {
    for (int optimum = 0; optimum <= 12000; optimum += 50) {
        struct ssprofile_search search;
        int setting;
        ssprofile_search_begin(&search);
        while ((setting = ssprofile_search_next(&search)) != 0) {
            assert_true(setting >= 1000 && setting <= 10000);
            for (size_t i = 0; i < search.count; i++)
                assert_int_not_equal(setting, search.settings[i]);
            assert_int_equal(ssprofile_search_next(&search), setting);
            ssprofile_search_add_cost(&search, setting, abs(setting - optimum));
        }
        int wanted = optimum < 1000 ? 1000 : optimum > 10000 ? 10000 : optimum;
        assert_true(abs(search.best - wanted) <= 20);
    }
}

TEST(search_ends_if_the_cost_is_constant) {
    struct ssprofile_search search;
    ssprofile_search_begin(&search);
    for (int setting; (setting = ssprofile_search_next(&search)) != 0;)
        ssprofile_search_add_cost(&search, setting, 1);
    assert_int_equal(search.best, 10000);
    assert_true(search.count <= SSPROFILE_TESTS);
}

TEST(search_cost_grows_with_the_distance_of_the_ratio_from_one) {
    assert_true(ssprofile_search_cost(1) == 1);
    assert_true(ssprofile_search_cost(1.25) == 1.25);
    assert_true(ssprofile_search_cost(0.75) == 1.25);
}

/* A target whose speed is proportional to a power of the setting. */
struct target {
    double speed; /* without a throttle, relative to the base */
    double power;
    double half; /* half-width of the confidence interval */
};

static enum ssprofile_verdict calibrate(
    const struct target *target, struct ssprofile_closed *closed, int *tests) {
    enum ssprofile_verdict verdict;
    ssprofile_closed_begin(closed, 0.01);
    *tests = 0;
    do {
        double speed = target->speed * pow(closed->setting, target->power);
        verdict = ssprofile_closed_add_ratio(closed, log(speed), target->half);
        ++*tests;
    } while (verdict == SSPROFILE_TEST);
    return verdict;
}

TEST(closed_method_takes_at_most_five_tests) {
    for (double power = 0.6; power < 1.5; power += 0.1) {
        struct target target = {2.5, power, 0.004};
        struct ssprofile_closed closed;
        int tests;
        assert_int_equal(calibrate(&target, &closed, &tests), SSPROFILE_DONE);
        assert_true(fabs(log(2.5) + power * log(closed.setting)) <= 0.004);
        assert_true(tests <= 5);
    }
}

TEST(closed_method_takes_two_tests_for_a_proportional_throttle) {
    struct target target = {2.5, 1, 0.001};
    struct ssprofile_closed closed;
    int tests;
    assert_int_equal(calibrate(&target, &closed, &tests), SSPROFILE_DONE);
    assert_int_equal(tests, 2);
    assert_true(fabs(closed.setting - 0.4) < 1e-12);
}

TEST(closed_method_refuses_a_target_slower_than_the_base) {
    struct target target = {0.9, 1, 0.002};
    struct ssprofile_closed closed;
    int tests;
    assert_int_equal(calibrate(&target, &closed, &tests), SSPROFILE_SLOWER);
    assert_int_equal(tests, 1);
    struct target equal = {0.999, 1, 0.002};
    assert_int_equal(calibrate(&equal, &closed, &tests), SSPROFILE_DONE);
    assert_true(closed.setting == 1);
}

TEST(wide_interval_requires_more_repetitions) {
    struct ssprofile_closed closed;
    ssprofile_closed_begin(&closed, 0.01);
    assert_int_equal(ssprofile_closed_add_ratio(&closed, 0.005, 0.02), SSPROFILE_REPEAT);
    assert_int_equal(ssprofile_closed_add_ratio(&closed, 0.005, NAN), SSPROFILE_REPEAT);
    assert_true(closed.setting == 1 && closed.count == 0);
    /* The interval is wide but excludes 0, so the next setting is tested. */
    assert_int_equal(ssprofile_closed_add_ratio(&closed, 0.5, 0.02), SSPROFILE_TEST);
    assert_int_equal(ssprofile_closed_add_ratio(&closed, 0.005, 0.009), SSPROFILE_DONE);
}

TEST(diverging_calibration_fails) {
    struct target deaf = {2, 0, 0.001}, far = {1000, 1, 0.001};
    struct ssprofile_closed closed;
    int tests;
    assert_int_equal(calibrate(&deaf, &closed, &tests), SSPROFILE_FAILED);
    assert_int_equal(calibrate(&far, &closed, &tests), SSPROFILE_FAILED);
}

/* The throttle's speed jumps at the optimal setting. */
static enum ssprofile_verdict search(double below, double above, struct ssprofile_closed *closed) {
    enum ssprofile_verdict verdict;
    ssprofile_closed_begin(closed, 0.01);
    do {
        double jump = closed->setting > 0.4 ? above : below;
        verdict = ssprofile_closed_add_ratio(closed, log(2.5 * closed->setting) + jump, 0.002);
    } while (verdict == SSPROFILE_TEST);
    return verdict;
}

TEST(closed_method_finds_the_nearest_setting_of_a_throttle_that_jumps) {
    struct ssprofile_closed closed;
    assert_int_equal(search(-0.005, 0.01, &closed), SSPROFILE_NEAR);
    double nearest = INFINITY;
    for (size_t i = 0; i < closed.count; i++)
        nearest = fmin(nearest, fabs(closed.logs[i]));
    assert_true(nearest <= 0.008 && fabs(closed.logs[closed.nearest]) == nearest);
}

/* The jump leaves no setting within 1 %. */
TEST(calibration_fails_if_no_setting_is_within_the_range) {
    struct ssprofile_closed closed;
    assert_int_equal(search(-0.02, 0.02, &closed), SSPROFILE_FAILED);
}

UNIT_RUN
