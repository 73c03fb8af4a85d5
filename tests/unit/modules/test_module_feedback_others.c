/* SPDX-License-Identifier: Apache-2.0 */
/* Feedback from a control group, from a sensor, and none. */

#include "feedback.h"

static void sample_used(
    const struct rig *rig, uint32_t executor, double now, double capacity, double used) {
    sample_counters(rig, executor, 1000,
        (struct ss_counters){.time = MS(now), .capacity = capacity, .used = MS(used)});
}

static void cgroup_asks_for_its_group(void **state) {
    (void)state;
    struct rig rig;
    struct ss_source_request request = {.argument = "x"};
    rig_open(&rig, "feedback/cgroup", NULL, 1, 4);
    module_of(&rig)->source(&rig.selves[0], &request);
    assert_int_equal(request.source, SS_SOURCE_CGROUP);
    assert_null(request.argument);
    rig_close(&rig);
    rig_open(&rig, "feedback/cgroup", "/machine/box", 1, 4);
    module_of(&rig)->source(&rig.selves[0], &request);
    assert_string_equal(request.argument, "/machine/box");
    rig_close(&rig);
}

/* A quota of one and a half CPUs: 30 ms used of 1.5 * 40; then 150 of 1.5 * 100. */
static void cgroup_is_relative_to_its_allowance(void **state) {
    (void)state;
    struct rig rig;
    rig_open(&rig, "feedback/cgroup", "period=100m", 2, 4);
    assert_true(wants(&rig, 0, 1000, 1000));
    assert_false(wants(&rig, 1, 1000, 1000));
    sample_used(&rig, 0, 1000, 1.5, 700);
    assert_true(estimate_of(&rig, 1) == -1);
    sample_used(&rig, 0, 1040, 1.5, 730);
    assert_close(estimate_of(&rig, 1), 30 / (1.5 * 40), 1e-12);
    sample_used(&rig, 1, 1140, 1.5, 880);
    assert_close(estimate_of(&rig, 0), 0.5 * 0.5 + 0.5 * 1, 1e-12);
    rig_close(&rig);
}

/*
 * A quota of half a CPU is kept over 100 ms: 50 ms used in the first 40 are 50 / (0.5 * 40) = 2.5,
 * shown as 1. Nothing in the next 60 follows from it, and both together must count.
 */
static void cgroup_counts_bursts_in_full(void **state) {
    (void)state;
    struct rig rig;
    rig_open(&rig, "feedback/cgroup", "period=40m", 1, 4);
    sample_used(&rig, 0, 1000, 0.5, 0);
    sample_used(&rig, 0, 1040, 0.5, 50);
    assert_true(estimate_of(&rig, 0) == 1);
    sample_used(&rig, 0, 1100, 0.5, 50);
    assert_close(estimate_of(&rig, 0), 40.0 / (40 + 60) * 2.5, 1e-12);
    rig_close(&rig);
}

/* A change of the quota, and a group made anew: each begins a new sum and keeps the estimate. */
static void cgroup_survives_changes_of_the_group(void **state) {
    (void)state;
    struct rig rig;
    rig_open(&rig, "feedback/cgroup", "period=100m", 1, 4);
    sample_used(&rig, 0, 1000, 1, 100);
    sample_used(&rig, 0, 1040, 1, 110); /* 0.25 */
    sample_used(&rig, 0, 1080, 2, 150);
    assert_close(estimate_of(&rig, 0), 0.25, 1e-12);
    sample_used(&rig, 0, 1120, 2, 20);
    assert_close(estimate_of(&rig, 0), 0.25, 1e-12);
    sample_used(&rig, 0, 1220, 2, 220);
    assert_close(estimate_of(&rig, 0), 0.625, 1e-12);
    rig_close(&rig);
}

static void sample_value(const struct rig *rig, double now, double since, double value) {
    sample_counters(rig, 0, since, (struct ss_counters){.time = MS(now), .value = value});
}

static void command_asks_for_its_sensor(void **state) {
    (void)state;
    assert_refused("feedback/command", NULL, "command");
    struct rig rig;
    rig_open(&rig, "feedback/command", "cat /dev/meter", 1, 4);
    struct ss_source_request request;
    module_of(&rig)->source(&rig.selves[0], &request);
    assert_int_equal(request.source, SS_SOURCE_SENSOR);
    assert_string_equal(request.argument, "cat /dev/meter");
    rig_close(&rig);
}

static void command_takes_numbers_as_they_are(void **state) {
    (void)state;
    struct rig rig;
    rig_open(&rig, "feedback/command", "x", 1, 4);
    assert_true(estimate_of(&rig, 0) == -1);
    sample_value(&rig, 1000, 1000, NAN);
    assert_true(estimate_of(&rig, 0) == -1);
    const double given[] = {0.3, 0.9, -0.1, 1.5, 0, 1};
    const double taken[] = {0.3, 0.9, 0, 1, 0, 1};
    for (unsigned i = 0; i < 6; i++) {
        assert_true(wants(&rig, 0, 1000 + i, 1000));
        sample_value(&rig, 1000 + i, 1000, given[i]);
        assert_true(estimate_of(&rig, 0) == taken[i]);
    }
    /* Twice in one instant. */
    sample_value(&rig, 1005, 1000, 0.4);
    assert_true(estimate_of(&rig, 0) == 0.4);
    sample_value(&rig, 1010, 1000, NAN);
    assert_true(estimate_of(&rig, 0) == -1);
    rig_close(&rig);
}

static void command_blends_if_asked(void **state) {
    (void)state;
    struct rig rig;
    rig_open(&rig, "feedback/command", "x,period=100m", 1, 4);
    sample_value(&rig, 1000, 1000, 0.25);
    assert_close(estimate_of(&rig, 0), 0.25, 1e-12);
    /* w = 1 - 100 / (100 + 100) = 1/2 */
    sample_value(&rig, 1100, 1000, 1);
    assert_close(estimate_of(&rig, 0), 0.5 * 0.25 + 0.5 * 1, 1e-12);
    sample_value(&rig, 1100, 1000, 0);
    assert_close(estimate_of(&rig, 0), 0.625, 1e-12);
    /* A new stretch: as it stands. */
    assert_true(estimate_at(&rig, 0, 1200, 1200) == -1);
    sample_value(&rig, 1200, 1200, 0.1);
    assert_close(estimate_at(&rig, 0, 1200, 1200), 0.1, 1e-12);
    rig_close(&rig);
}

static void null_never_knows(void **state) {
    (void)state;
    struct rig rig;
    rig_open(&rig, "feedback/null", NULL, 1, 4);
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    module_of(&rig)->source(&rig.selves[0], &request);
    assert_int_equal(request.source, SS_SOURCE_NONE);
    assert_false(wants(&rig, 0, 1000, 1000));
    sample_idle(&rig, 0, 1000, 0);
    sample_idle(&rig, 0, 1040, 120);
    assert_true(estimate_of(&rig, 0) == -1);
    rig_close(&rig);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(cgroup_asks_for_its_group),
    cmocka_unit_test(cgroup_is_relative_to_its_allowance),
    cmocka_unit_test(cgroup_counts_bursts_in_full),
    cmocka_unit_test(cgroup_survives_changes_of_the_group),
    cmocka_unit_test(command_asks_for_its_sensor),
    cmocka_unit_test(command_takes_numbers_as_they_are),
    cmocka_unit_test(command_blends_if_asked),
    cmocka_unit_test(null_never_knows))
