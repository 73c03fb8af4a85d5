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

/* An update of an executor, in seconds of clock time, and the expected duty. */
struct update {
    uint32_t executor;
    double seconds, since, target, load, duty;
};

TEST(modules_follow_their_formulas) {
    // clang-format off
    static const struct {
        const char *module, *options;
        struct update updates[5];
    } rows[] = {
        /* I = L* = 0.5 at first; then e = 0.2 for half a second, and -0.1 for two seconds. */
        {"control/rbpid", NULL,
            {{0, 100, 100, 0.5, 0.4, 0.1 + 0.5}, {0, 100.5, 100, 0.5, 0.3, 0.2 + 0.6},
                {0, 102.5, 100, 0.5, 0.6, -0.1 + 0.4}}},
        {"control/rbpid", "ke=2,ki=1/2",
            {{0, 100, 100, 0.6, 0.5, 2 * 0.1 + 0.6}, {0, 101, 100, 0.6, 0.5, 0.2 + 0.6 + 0.5 * 0.1}}},
        /* One second passes for the last executor, half a second for the first. */
        {"control/rbpid", NULL,
            {{999, 100, 100, 0.5, 0.5, 0.5}, {0, 100.5, 100, 0.5, 0.5, 0.5},
                {999, 101, 100, 0.5, 0.4, 0.1 + 0.5 + 0.1}, {0, 101, 100, 0.5, 0.4, 0.1 + 0.5 + 0.05}}},
        /* The simulator's clock begins at 0, which must not mean "not started". */
        {"control/rbpid", NULL, {{0, 0, 0, 0.5, 0.4, 0.6}, {0, 1, 0, 0.5, 0.4, 0.1 + 0.6}}},
        /* A clock that seems to go backward counts as no elapsed time. */
        {"control/rbpid", NULL,
            {{0, 100, 100, 0.5, 0.5, 0.5}, {0, 100, 100, 0.5, 0.3, 0.2 + 0.5},
                {0, 99, 98, 0.5, 0.3, 0.2 + 0.5}}},
        /* e = 0.1 for 20 s would raise ki I to 1.5; it is limited to 1, and later to 0. */
        {"control/rbpid", "ke=0,ki=1/2",
            {{0, 100, 100, 0.5, 0.5, 0.5}, {0, 120, 100, 0.5, 0.4, 1}, {0, 121, 100, 0.5, 0.5, 1},
                {0, 151, 100, 0.5, 0.6, 0}, {0, 152, 100, 0.5, 0.4, 0.05}}},
        {"control/rbpid", "start=0", {{0, 100, 100, 0.5, 0.4, 0.1}, {0, 101, 100, 0.5, 0.4, 0.2}}},
        /* Control restarts, but not with the update after that. */
        {"control/rbpid", NULL,
            {{0, 100, 100, 0.5, 0.4, 0.6}, {0, 102, 100, 0.5, 0.4, 0.8}, {0, 110, 109, 0.3, 0.2, 0.4},
                {0, 111, 109, 0.3, 0.2, 0.5}}},
        {"control/rbpid", NULL,
            {{0, 100, 100, 0, 0, 0}, {0, 101, 100, 0, 0, 0}, {0, 110, 105, 1, 1, 1},
                {0, 111, 105, 1, 1, 1}, {0, 112, 105, 1, 0, 1}}},
        /* Each executor scales its own last output; executor 999 has none. */
        {"control/geom", NULL,
            {{0, 100, 100, 0.4, 0.9, 0.4}, {0, 101, 100, 0.4, 0.8, 0.4 * 0.4 / 0.8},
                {0, 102, 100, 0.6, 0.4, 0.2 * 0.6 / 0.4}, {999, 102, 100, 0.7, 0.1, 0.7}}},
        {"control/geom", NULL, {{0, 0, 0, 0.4, 0.9, 0.4}, {0, 1, 0, 0.4, 0.8, 0.2}}},
        {"control/geom", NULL, {{0, 100, 100, 0.002, 0.002, 0.002}, {0, 101, 100, 0.002, 0.001, 0.004}}},
        /* The limited duty of 1 is scaled, not 1.6. */
        {"control/geom", NULL,
            {{0, 100, 100, 0.8, 0.8, 0.8}, {0, 101, 100, 0.8, 0.4, 1}, {0, 102, 100, 0.5, 1, 0.5}}},
        /* A duty of 0 is raised to the floor, 1 % of 0.5, and doubles from then on. */
        {"control/geom", NULL,
            {{0, 100, 100, 0, 0.25, 0}, {0, 101, 100, 0.5, 0.25, 0.005 * 2},
                {0, 102, 100, 0.5, 0.25, 0.005 * 4}, {0, 103, 100, 0.5, 0.25, 0.005 * 8}}},
        /* A load of 0 is raised to the floor, too. */
        {"control/geom", NULL, {{0, 100, 100, 0, 0, 0}, {0, 101, 100, 0.5, 0, 0.5}}},
        /* A load near 0 multiplies the duty by at most 1 / floor. */
        {"control/geom", NULL,
            {{0, 100, 100, 0.4, 0.4, 0.4}, {0, 101, 100, 0.001, 1, 0.0004},
                {0, 102, 100, 0.001, 1e-9, 0.0004 * 100}}},
        /* A hundredth of the smallest number above 0 is 0, and 0 / 0 is not a duty. */
        {"control/geom", NULL,
            {{0, 100, 100, 1, 0, 1}, {0, 101, 100, 1, 1, 1}, {0, 102, 100, 0, 0, 0},
                {0, 103, 100, 0, 1, 0}, {0, 104, 100, 5e-324, 0, 0}}},
        {"control/geom", NULL,
            {{0, 100, 100, 0.4, 0.4, 0.4}, {0, 101, 100, 0.4, 0.8, 0.2}, {0, 110, 109, 0.3, 0.9, 0.3},
                {0, 111, 109, 0.3, 0.9, 0.1}}},
        {"control/fixed", NULL, {{0, 100, 100, 0.3, NAN, 0.3}, {0, 101, 100, 1, NAN, 1}}},
        {"control/fixed", "60%", {{0, 100, 100, 0.3, NAN, 0.6}}},
        {"control/fixed", "duty=0", {{0, 100, 100, 0.3, NAN, 0}}}, /* not a missing value */
        {"control/null", NULL, {{0, 100, 100, 0.3, NAN, 0.3}}},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RIG rig = rig_open(rows[i].module, rows[i].options, 1000, 1);
        const struct update *at = rows[i].updates;
        for (; at < rows[i].updates + 5 && at->target + at->seconds > 0; at++) {
            double duty =
                update_of(&rig, at->executor, at->seconds, at->since, at->target, at->load);
            assert_near(duty, at->duty, 1e-12);
        }
    }
}

TEST(fixed_and_null_control_ignore_the_load) {
    static const char *const modules[] = {"control/fixed", "control/null"};
    for (size_t i = 0; i < 2; i++) {
        RIG rig = rig_open(modules[i], NULL, 1, 1);
        assert_true(module_of(&rig)->open_loop);
    }
    assert_refused("control/fixed", "110%", "duty");
    assert_refused("control/fixed", "half", "duty");
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

/*
 * 100 s with e = 0.7: D is at its bound from the beginning (0.7 + 0.9), so I stays 0.9. Then e =
 * -0.1 for 0.1 s: I = 0.9 - 0.01, D = 0.89 - 0.1. Wound up to 1, it would give 0.89. The lower
 * bound: e = -0.8, D = 0.1 - 0.8 < 0; then e = 0.1 for 0.1 s.
 */
TEST(rbpid_does_not_wind_up_or_down) {
    for (int down = 0; down < 2; down++) {
        RIG rig = rig_open("control/rbpid", NULL, 1, 1);
        for (int i = 0; i <= 1000; i++) {
            double duty = update_at(&rig, 100 + i * 0.1, down ? 0.1 : 0.9, down ? 0.9 : 0.2);
            assert_that(duty, ==, !down);
        }
        if (down)
            assert_near(update_at(&rig, 200.1, 0.1, 0), 0.11 + 0.1, 1e-9);
        else
            assert_near(update_at(&rig, 200.1, 0.9, 1), 0.89 - 0.1, 1e-9);
    }
}

TEST(rbpid_as_published_winds_up) {
    RIG rig = rig_open("control/rbpid", "bounds=none", 1, 1);
    for (int second = 0; second <= 10; second++)
        update_at(&rig, 100 + second, 0.9, 0.7);
    /* I = 0.9 + 10 * 0.2, which takes 18 s at e = -0.1 to fall to 1.1. */
    assert_near(update_at(&rig, 110 + 17.9, 0.6, 0.7), 1, 0);
    assert_near(update_at(&rig, 110 + 21, 0.6, 0.7), -0.1 + 2.9 - 2.1, 1e-9);
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

/* Updates at a reading, with one instance that runs for two fifths of the time. */
static double update_account(const struct rig *rig, double ms, double capacity, double used_ms) {
    ss_time now = ss_time_from_double(ms * 1e6);
    struct ss_control_input input = {
        .moment = {.now = now, .since = 0},
        .place = {.count = 1},
        .target = 0.4,
        .load = 0.4,
        .account =
            {.time = now, .series = 1, .used = used_ms * 1e6, .capacity = capacity, .cpus = 4},
        .permission = {.given = now * 2 / 5},
        .rhythm = {.round = 100 * SS_MILLISECOND, .settling = 0.6},
    };
    return module_of(rig)->update(&rig->selves[0], &input);
}

/*
 * The limit of a group changes from one CPU to two: the time before the change was granted by the
 * earlier limit, so the balance does not change, and the duty is what the new limit needs. Without
 * that, the 40 ms by which the grants would differ would raise the duty to 1.
 */
TEST(deadbeat_applies_a_new_limit_to_later_grants_only) {
    RIG rig = rig_open("control/deadbeat", NULL, 1, 4);
    update_account(&rig, 1000, 1, 0);
    assert_near(update_account(&rig, 1100, 1, 40), 0.4, 0.05);
    assert_near(update_account(&rig, 1200, 2, 80), 0.8, 0.05);
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

UNIT_RUN
