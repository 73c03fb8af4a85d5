/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/trace.h>

#include "modules.h"

#define MINUTE (60 * SS_SECOND)

static struct ss_target target_of(const struct rig *rig, uint32_t executor, ss_time time) {
    const struct ss_trace_module *module = (const void *)rig->head;
    struct ss_target target;
    memset(&target, 0xff, sizeof target);
    module->target(&rig->selves[executor], time, &target);
    return target;
}

static double load_at(const struct rig *rig, ss_time time) {
    struct ss_target target = target_of(rig, 0, time);
    assert_false(target.free);
    assert_that(target.load, >=, 0);
    assert_that(target.load, <=, 1);
    return target.load;
}

static ss_time length_of(const struct rig *rig) {
    const struct ss_trace_module *module = (const void *)rig->head;
    return module->length ? module->length(&rig->selves[0]) : SS_TIME_NEVER;
}

struct point {
    double seconds, load;
};

TEST(traces_follow_their_formulas) {
    // clang-format off
    static const struct {
        const char *module, *options;
        ss_time length;
        struct point points[5];
        int count;
    } rows[] = {
        {"constant", "60%", SS_TIME_NEVER, {{0, 0.6}, {1e10, 0.6}}, 2},
        {"constant", "0", SS_TIME_NEVER, {{1, 0}}, 1},
        {"constant", "load=1", SS_TIME_NEVER, {{1, 1}}, 1},
        /* Quarters of the period, where sin is 0, 1, 0, -1, and a twelfth, where it is a half. */
        {"sine", "0.5,amplitude=0.2,period=20s", SS_TIME_NEVER,
            {{0, 0.5}, {5, 0.5 + 0.2}, {10, 0.5}, {15, 0.5 - 0.2}, {20 / 12.0, 0.5 + 0.2 * 0.5}}, 5},
        {"sine", "0.5", SS_TIME_NEVER, {{15, 0.5 + 0.1}, {75, 0.5 + 0.1}}, 2},
        {"sine", "0.5,phase=1/4", SS_TIME_NEVER, {{0, 0.6}, {30, 0.4}}, 2},
        {"sine", "0.95", SS_TIME_NEVER, {{15, 1}, {45, 0.95 - 0.1}}, 2},
        {"sine", "5%", SS_TIME_NEVER, {{45, 0}}, 1},
        {"random", "1,interpolate=yes", SS_TIME_NEVER, /* between two draws */
            {{0, 0.36818951565166946}, {5, (0.36818951565166946 + 0.9435642308648544) / 2},
                {9, 0.36818951565166946 + 0.9 * (0.9435642308648544 - 0.36818951565166946)},
                {10, 0.9435642308648544}}, 4},
        {"staircase", "0:1:1/4,hold=2s", 10 * SS_SECOND,
            {{0, 0}, {2, 0.25}, {4, 0.5}, {6, 0.75}, {8, 1}}, 5},
        {"staircase", "9%:100%:7%,hold=1s", 14 * SS_SECOND, {{13, 1}}, 1}, /* 1 + 2e-16 in binary */
        {"staircase", "10%:95%:20%,hold=1s", 5 * SS_SECOND, {{4, 0.9}}, 1},
        {"staircase", "0.5:0.5:0.1,hold=1s,symmetric=yes", 2 * SS_SECOND, {{0, 0.5}, {1, 0.5}}, 2},
        /* 901 levels of 1000 days each are 2467 years; a time holds 584. */
        {"staircase", "95%:5%:0.1%,hold=1000d", SS_TIME_NEVER, {{1e11, 0.95 - 0.001 * 213}}, 1},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char which[32];
        snprintf(which, sizeof which, "trace/%s", rows[i].module);
        RIG rig = rig_open(which, rows[i].options, 1, 1);
        assert_that(length_of(&rig), ==, rows[i].length);
        for (const struct point *at = rows[i].points; at < rows[i].points + rows[i].count; at++)
            assert_near(load_at(&rig, ss_time_from_double(at->seconds * 1e9)), at->load, 1e-9);
    }
}

/* 10^8 periods and a twelfth, after 190 years: sin 30 degrees is a half. */
TEST(sine_keeps_its_phase_for_centuries) {
    RIG rig = rig_open("trace/sine", "0.5", 1, 1);
    assert_near(load_at(&rig, 100000000 * MINUTE + 5 * SS_SECOND), 0.5 + 0.1 * 0.5, 1e-12);
}

TEST(null_trace_is_always_free) {
    RIG rig = rig_open("trace/null", NULL, 1, 1);
    struct ss_target target = target_of(&rig, 0, 5 * MINUTE);
    assert_true(target.free);
    assert_that(target.until, ==, SS_TIME_NEVER);
    assert_that(target.load, ==, 0);
    assert_that(length_of(&rig), ==, SS_TIME_NEVER);
}

/*
 * Computed independently of the module: mix() is the last step of splitmix64 and g its constant, so
 * draw i of seed s is the upper 53 bits of mix(mix(s + g) + (i + 1) g), over 2^53.
 */
TEST(random_trace_is_reproducible) {
    RIG rig = rig_open("trace/random", NULL, 1000, 1);
    const double draws[] = {0.36818951565166946, 0.9435642308648544, 0.04525699773739167};
    for (unsigned i = 0; i < 3; i++) {
        assert_near(load_at(&rig, i * 10 * SS_SECOND), draws[i], 1e-15);
        assert_near(load_at(&rig, (i + 1) * 10 * SS_SECOND - 1), draws[i], 1e-15);
    }
    assert_near(load_at(&rig, 0), draws[0], 1e-15); /* earlier times may be requested again */
    assert_near(target_of(&rig, 999, 10 * SS_SECOND).load, draws[1], 1e-15);
    assert_that(length_of(&rig), ==, SS_TIME_NEVER);
    rig_close(&rig);
    rig = rig_open("trace/random", "2,step=2s", 1, 1);
    assert_near(load_at(&rig, 2 * SS_SECOND - 1), 0.3922164624235318, 1e-15);
    assert_that(load_at(&rig, 2 * SS_SECOND), !=, load_at(&rig, 0));
    rig_close(&rig);
    /* If the seed were only added, this would be the sequence of seed 0, shifted by one. */
    rig = rig_open("trace/random", "0", 1, 1);
    RIG other = rig_open("trace/random", "11400714819323198485", 1, 1);
    for (unsigned i = 0; i < 10; i++)
        assert_that(
            load_at(&rig, (i + 1) * 10 * SS_SECOND), !=, load_at(&other, i * 10 * SS_SECOND));
}

/* 10000 uniform draws from [0.2, 0.6]: mean 0.4, whose deviation is 0.4 / sqrt(12) / 100. */
TEST(random_loads_are_uniform) {
    RIG rig = rig_open("trace/random", "3,min=0.2,max=60%", 1, 1);
    double sum = 0, lowest = 1, highest = 0;
    for (unsigned i = 0; i < 10000; i++) {
        double load = load_at(&rig, i * 10 * SS_SECOND);
        sum += load;
        lowest = fmin(lowest, load);
        highest = fmax(highest, load);
    }
    assert_near(sum / 10000, 0.4, 5 * 0.4 / sqrt(12) / 100);
    assert_that(lowest, >=, 0.2);
    assert_that(lowest, <, 0.201);
    assert_that(highest, <, 0.6);
    assert_that(highest, >, 0.599);
}

/*
 * 95 % to 5 % in steps of 5 % are 90 / 5 + 1 = 19 levels, although 0.9 / 0.05 is not 18 in binary.
 */
TEST(staircase_goes_down) {
    RIG rig = rig_open("trace/staircase", "95%:5%:5%", 1, 1);
    for (unsigned i = 0; i < 19; i++) {
        double level = 0.95 - 0.05 * i;
        assert_near(load_at(&rig, i * 3 * MINUTE), level, 1e-12);
        assert_near(load_at(&rig, (i + 1) * 3 * MINUTE - 1), level, 1e-12);
    }
    assert_that(length_of(&rig), ==, 19 * 3 * MINUTE);
    assert_near(load_at(&rig, 19 * 3 * MINUTE), 0.05, 1e-12);
    assert_near(load_at(&rig, SS_TIME_NEVER), 0.05, 1e-12);
}

/* 19 levels make 38 steps: 95 to 5 %, then 5 to 95 %, in either notation. */
TEST(symmetric_staircase_goes_down_and_up) {
    const char *const written[] = {"95%:5%:5%,symmetric=yes", "5%:95%:5%,symmetric=yes"};
    for (unsigned way = 0; way < 2; way++) {
        RIG rig = rig_open("trace/staircase", written[way], 1, 1);
        assert_that(length_of(&rig), ==, 38 * 3 * MINUTE);
        for (unsigned i = 0; i < 19; i++) {
            assert_near(load_at(&rig, i * 3 * MINUTE), 0.95 - 0.05 * i, 1e-12);
            assert_near(load_at(&rig, (37 - i) * 3 * MINUTE), 0.95 - 0.05 * i, 1e-12);
        }
        assert_near(load_at(&rig, 38 * 3 * MINUTE), 0.95, 1e-12);
    }
}

TEST(staircase_begins_with_its_warm_up) {
    RIG rig = rig_open("trace/staircase", "0.8:0.2:0.2,hold=10s,warmup=5s", 1, 1);
    struct ss_target target = target_of(&rig, 0, 5 * SS_SECOND - 1);
    assert_true(target.free);
    assert_that(target.until, ==, 5 * SS_SECOND);
    assert_near(load_at(&rig, 5 * SS_SECOND), 0.8, 1e-12);
    assert_near(load_at(&rig, 15 * SS_SECOND - 1), 0.8, 1e-12);
    assert_near(load_at(&rig, 15 * SS_SECOND), 0.6, 1e-12);
    assert_that(length_of(&rig), ==, 5 * SS_SECOND + 4 * 10 * SS_SECOND);
}

TEST(invalid_trace_options_are_refused) {
    assert_refused("trace/constant", NULL, "load");
    assert_refused("trace/constant", "1.1", "load");
    assert_refused("trace/random", "1,min=0.6,max=0.5", "min=0.6 is more than max=0.5");
    assert_refused("trace/staircase", NULL, "levels");
    assert_refused("trace/staircase", "0.1:0.9", "3 loads");
    assert_refused("trace/staircase", "0.1:0.9:0.1:0.1", "3 loads");
    assert_refused("trace/staircase", "0.1:0.9:0", "more than 0");
    assert_refused("trace/staircase", "0.1:1.9:0.1", "FROM:TO:STEP");
    assert_refused("trace/staircase", "0:1:0.0000001", "use a larger STEP");
}

UNIT_RUN
