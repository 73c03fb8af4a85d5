/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/control.h>

#include "modules.h"

static const struct ss_control_module *module_of(const struct rig *rig) {
    return (const void *)rig->head;
}

/* Updates at `seconds` of clock time, under control since `since`. */
static double update_of(const struct rig *rig, uint32_t executor, double seconds, double since,
    double target, double load) {
    struct ss_control_input input = {
        .moment = {.now = ss_time_from_double(seconds * 1e9),
            .since = ss_time_from_double(since * 1e9)},
        .target = target,
        .load = load,
    };
    double duty = module_of(rig)->update(&rig->selves[executor], &input);
    assert_that(duty, >=, 0);
    assert_that(duty, <=, 1);
    return duty;
}

static double update_at(const struct rig *rig, double seconds, double target, double load) {
    return update_of(rig, 0, seconds, 100, target, load);
}

static uint32_t peers_of(const char *which, const char *options) {
    RIG rig = rig_open(which, options, 1, 1);
    uint32_t peers = module_of(&rig)->peers ? module_of(&rig)->peers(&rig.selves[0]) : 0;
    return peers;
}

TEST(rbpid_follows_its_formula) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    /* I = L* = 0.5 and no time has passed: D = (0.5 - 0.4) + 0.5 */
    assert_near(update_at(&rig, 100, 0.5, 0.4), 0.1 + 0.5, 1e-12);
    /* e = 0.2 for half a second: I = 0.5 + 0.1, D = 0.2 + 0.6 */
    assert_near(update_at(&rig, 100.5, 0.5, 0.3), 0.2 + 0.6, 1e-12);
    /* e = -0.1 for two seconds: I = 0.6 - 0.2, D = -0.1 + 0.4 */
    assert_near(update_at(&rig, 102.5, 0.5, 0.6), -0.1 + 0.4, 1e-12);
}

TEST(rbpid_applies_its_gains) {
    RIG rig = rig_open("control/rbpid", "ke=2,ki=1/2", 1, 1);
    assert_near(update_at(&rig, 100, 0.6, 0.5), 2 * 0.1 + 0.6, 1e-12);
    assert_near(update_at(&rig, 101, 0.6, 0.5), 2 * 0.1 + 0.6 + 0.5 * 0.1, 1e-12);
}

/* Without an error the first output is the target; any duty can be reached. */
TEST(rbpid_reaches_every_duty_with_any_ki) {
    static const char *const options[] = {"ki=0", "ki=1/2", "ki=1", "ki=2", "ki=1000"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        RIG rig = rig_open("control/rbpid", options[i], 1, 1);
        assert_near(update_at(&rig, 100, 0.8, 0.8), 0.8, 1e-12);
        double duty = 0.8;
        for (int step = 1; step <= 100; step++)
            duty = update_at(&rig, 100 + step, 0.8, 0.7);
        assert_near(duty, i == 0 ? 0.8 + 0.1 : 1, 1e-12);
        for (int step = 101; step <= 300; step++)
            duty = update_at(&rig, 100 + step, 0.8, 0.9);
        assert_near(duty, i == 0 ? 0.8 - 0.1 : 0, 1e-12);
    }
}

TEST(rbpid_measures_time_per_executor) {
    RIG rig = rig_open("control/rbpid", NULL, 1000, 1);
    assert_near(update_of(&rig, 999, 100, 100, 0.5, 0.5), 0.5, 1e-12);
    assert_near(update_of(&rig, 0, 100.5, 100, 0.5, 0.5), 0.5, 1e-12);
    /* One second elapsed for the last executor, half a second for the first. */
    assert_near(update_of(&rig, 999, 101, 100, 0.5, 0.4), 0.1 + 0.5 + 0.1 * 1, 1e-12);
    assert_near(update_of(&rig, 0, 101, 100, 0.5, 0.4), 0.1 + 0.5 + 0.1 * 0.5, 1e-12);
}

/* The simulator's clock begins at 0, which must not mean "not started". */
TEST(rbpid_may_start_at_time_zero) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    assert_near(update_of(&rig, 0, 0, 0, 0.5, 0.4), 0.6, 1e-12);
    assert_near(update_of(&rig, 0, 1, 0, 0.5, 0.4), 0.1 + 0.6, 1e-12);
}

TEST(rbpid_accepts_zero_elapsed_time) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    update_at(&rig, 100, 0.5, 0.5);
    assert_near(update_at(&rig, 100, 0.5, 0.3), 0.2 + 0.5, 1e-12);
    /* A clock that seems to go backward counts as no elapsed time. */
    assert_near(update_of(&rig, 0, 99, 98, 0.5, 0.3), 0.2 + 0.5, 1e-12);
}

/*
 * 100 s with e = 0.7: D is at its bound from the beginning (0.7 + 0.9), so I stays 0.9. Then e =
 * -0.1 for 0.1 s: I = 0.9 - 0.01, D = 0.89 - 0.1. Wound up to 1, it would give 0.89.
 */
TEST(rbpid_does_not_wind_up) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    for (int i = 0; i <= 1000; i++)
        assert_that(update_at(&rig, 100 + i * 0.1, 0.9, 0.2), ==, 1);
    assert_near(update_at(&rig, 200.1, 0.9, 1), 0.89 - 0.1, 1e-9);
}

/* The lower bound: e = -0.8, D = 0.1 - 0.8 < 0; then e = 0.1 for 0.1 s. */
TEST(rbpid_does_not_wind_down) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    for (int i = 0; i <= 1000; i++)
        assert_that(update_at(&rig, 100 + i * 0.1, 0.1, 0.9), ==, 0);
    assert_near(update_at(&rig, 200.1, 0.1, 0), 0.11 + 0.1, 1e-9);
}

/* e = 0.1 for 20 s would raise ki I to 1.5; it is limited to 1, which D shows without any error. */
TEST(rbpid_integral_stays_in_bounds) {
    RIG rig = rig_open("control/rbpid", "ke=0,ki=1/2", 1, 1);
    update_at(&rig, 100, 0.5, 0.5);
    assert_near(update_at(&rig, 120, 0.5, 0.4), 1, 1e-12);
    assert_near(update_at(&rig, 121, 0.5, 0.5), 1, 1e-12);
    update_at(&rig, 151, 0.5, 0.6);
    assert_near(update_at(&rig, 152, 0.5, 0.4), 0.5 * 0.1, 1e-9);
}

TEST(rbpid_as_published_winds_up) {
    RIG rig = rig_open("control/rbpid", "bounds=none", 1, 1);
    for (int second = 0; second <= 10; second++)
        update_at(&rig, 100 + second, 0.9, 0.7);
    /* I = 0.9 + 10 * 0.2, which takes 18 s at e = -0.1 to fall to 1.1. */
    assert_near(update_at(&rig, 110 + 17.9, 0.6, 0.7), 1, 0);
    assert_near(update_at(&rig, 110 + 21, 0.6, 0.7), -0.1 + 2.9 - 2.1, 1e-9);
}

TEST(rbpid_starts_at_zero_on_request) {
    RIG rig = rig_open("control/rbpid", "start=0", 1, 1);
    assert_near(update_at(&rig, 100, 0.5, 0.4), 0.1, 1e-12);
    assert_near(update_at(&rig, 101, 0.5, 0.4), 0.1 + 0.1, 1e-12);
}

TEST(rbpid_restarts_when_control_does) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    update_at(&rig, 100, 0.5, 0.4);
    update_at(&rig, 102, 0.5, 0.4);
    assert_near(update_of(&rig, 0, 110, 109, 0.3, 0.2), 0.1 + 0.3, 1e-12);
    /* Further updates do not restart control. */
    assert_near(update_of(&rig, 0, 111, 109, 0.3, 0.2), 0.1 + 0.4, 1e-12);
}

TEST(rbpid_accepts_targets_at_the_bounds) {
    RIG rig = rig_open("control/rbpid", NULL, 1, 1);
    assert_that(update_at(&rig, 100, 0, 0), ==, 0);
    assert_that(update_at(&rig, 101, 0, 0), ==, 0);
    assert_that(update_of(&rig, 0, 110, 105, 1, 1), ==, 1);
    assert_that(update_of(&rig, 0, 111, 105, 1, 1), ==, 1);
    assert_that(update_of(&rig, 0, 112, 105, 1, 0), ==, 1);
}

TEST(geom_follows_its_formula) {
    RIG rig = rig_open("control/geom", NULL, 2, 1);
    assert_near(update_at(&rig, 100, 0.4, 0.9), 0.4, 1e-15);
    assert_near(update_at(&rig, 101, 0.4, 0.8), 0.4 * 0.4 / 0.8, 1e-15);
    assert_near(update_at(&rig, 102, 0.6, 0.4), 0.2 * 0.6 / 0.4, 1e-15);
    /* Each executor scales its own last output; this one has none. */
    assert_near(update_of(&rig, 1, 102, 100, 0.7, 0.1), 0.7, 1e-15);
}

static double scale(const struct rig *rig, double seconds, double previous) {
    struct ss_control_input input = {
        .moment = {.now = ss_time_from_double(seconds * 1e9), .since = 100 * SS_SECOND},
        .target = 0.4,
        .load = 0.8,
        .previous = previous,
    };
    return module_of(rig)->update(&rig->selves[0], &input);
}

/* The executor's average duty is 0.6, its previous output 0.4. */
TEST(geom_scales_its_own_duty_or_the_global_one) {
    RIG rig = rig_open("control/geom", "previous=own", 1, 1);
    assert_near(scale(&rig, 100, NAN), 0.4, 1e-15);
    assert_near(scale(&rig, 101, 0.6), 0.4 * 0.4 / 0.8, 1e-15);
    rig_close(&rig);
    rig = rig_open("control/geom", "previous=global", 1, 1);
    assert_near(scale(&rig, 100, NAN), 0.4, 1e-15);
    assert_near(scale(&rig, 101, 0.6), 0.6 * 0.4 / 0.8, 1e-15);
}

TEST(geom_may_start_at_time_zero) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    assert_near(update_of(&rig, 0, 0, 0, 0.4, 0.9), 0.4, 1e-15);
    assert_near(update_of(&rig, 0, 1, 0, 0.4, 0.8), 0.2, 1e-15);
}

/* Small targets are exact: 0.002 * 0.002 / 0.001. */
TEST(geom_is_exact_near_zero) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    update_at(&rig, 100, 0.002, 0.002);
    assert_near(update_at(&rig, 101, 0.002, 0.001), 0.004, 1e-15);
}

TEST(geom_duty_is_bounded) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    update_at(&rig, 100, 0.8, 0.8);
    assert_that(update_at(&rig, 101, 0.8, 0.4), ==, 1);
    /* The limited duty of 1 is scaled, not 1.6. */
    assert_near(update_at(&rig, 102, 0.5, 1), 0.5, 1e-15);
}

/*
 * D = 0 after a target of 0: the floor, 1 % of 0.5, times 0.5 / 0.25. The duty doubles from then
 * on.
 */
TEST(geom_recovers_from_zero_duty) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    assert_that(update_at(&rig, 100, 0, 0.25), ==, 0);
    assert_near(update_at(&rig, 101, 0.5, 0.25), 0.005 * 2, 1e-15);
    assert_near(update_at(&rig, 102, 0.5, 0.25), 0.005 * 4, 1e-15);
    assert_near(update_at(&rig, 103, 0.5, 0.25), 0.005 * 8, 1e-15);
}

/* D = 0 and L = 0 are both raised to the floor, so D = 0.005 * 0.5 / 0.005. */
TEST(geom_recovers_from_zero_load) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    assert_that(update_at(&rig, 100, 0, 0), ==, 0);
    assert_near(update_at(&rig, 101, 0.5, 0), 0.5, 1e-12);
}

/* A load near 0 multiplies the duty by at most 1 / floor. */
TEST(geom_floor_limits_the_growth_of_the_duty) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    update_at(&rig, 100, 0.4, 0.4);
    update_at(&rig, 101, 0.001, 1); /* 0.4 * 0.001 / 1 = 0.0004 */
    assert_near(update_at(&rig, 102, 0.001, 1e-9), 0.0004 * 100, 1e-12);
}

TEST(geom_accepts_targets_at_the_bounds) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    assert_that(update_at(&rig, 100, 1, 0), ==, 1);
    assert_that(update_at(&rig, 101, 1, 1), ==, 1);
    assert_that(update_at(&rig, 102, 0, 0), ==, 0);
    assert_that(update_at(&rig, 103, 0, 1), ==, 0);
    /* The smallest number above 0: a hundredth of it is 0, and 0 / 0 is not a duty. */
    assert_that(update_at(&rig, 104, 5e-324, 0), ==, 0);
}

TEST(geom_restarts_when_control_does) {
    RIG rig = rig_open("control/geom", NULL, 1, 1);
    update_at(&rig, 100, 0.4, 0.4);
    update_at(&rig, 101, 0.4, 0.8);
    assert_near(update_of(&rig, 0, 110, 109, 0.3, 0.9), 0.3, 1e-15);
    assert_near(update_of(&rig, 0, 111, 109, 0.3, 0.9), 0.1, 1e-15);
}

TEST(deadbeat_describes_its_horizon) {
    RIG rig = rig_open("control/deadbeat", NULL, 2, 2);
    assert_described(&rig, 107 * SS_MILLISECOND, "horizon is 64.2 ms, 0.6 rounds of 107 ms");
    assert_described(&rig, 0, "horizon is 60 ms, 0.6 rounds of 100 ms");
    rig_close(&rig);
    rig = rig_open("control/deadbeat", "30m", 2, 2);
    assert_described(&rig, 107 * SS_MILLISECOND, "");
}

TEST(control_modules_average_over_their_default_number_of_peers) {
    assert_int_equal(peers_of("control/rbpid", NULL), 2);
    assert_int_equal(peers_of("control/geom", NULL), 3);
    assert_int_equal(peers_of("control/rbpid", "0"), 0);
    assert_int_equal(peers_of("control/geom", "255"), 255);
    assert_int_equal(peers_of("control/fixed", NULL), 0);
    assert_refused("control/rbpid", "256", "peers");
    assert_refused("control/geom", "256", "peers");
}

TEST(fixed_control_defaults_to_the_target) {
    RIG rig = rig_open("control/fixed", NULL, 1, 1);
    assert_true(module_of(&rig)->open_loop);
    assert_that(update_at(&rig, 100, 0.3, NAN), ==, 0.3);
    assert_that(update_at(&rig, 101, 1, NAN), ==, 1);
}

TEST(fixed_control_returns_the_configured_duty) {
    RIG rig = rig_open("control/fixed", "60%", 1, 1);
    assert_near(update_at(&rig, 100, 0.3, NAN), 0.6, 1e-15);
    rig_close(&rig);
    /* A duty of 0 is not a missing value. */
    rig = rig_open("control/fixed", "duty=0", 1, 1);
    assert_that(update_at(&rig, 100, 0.3, NAN), ==, 0);
    assert_refused("control/fixed", "110%", "duty");
    assert_refused("control/fixed", "half", "duty");
}

TEST(null_control_returns_the_target) {
    RIG rig = rig_open("control/null", NULL, 1, 1);
    assert_true(module_of(&rig)->open_loop);
    assert_that(update_at(&rig, 100, 0.3, NAN), ==, 0.3);
}

UNIT_RUN
