/* SPDX-License-Identifier: Apache-2.0 */

#include "feedback.h"

/* Provides a reading of run time on the same 4 CPUs. */
static void sample_ran(const struct rig *rig, uint32_t executor, double now, double used) {
    sample_counters(rig, executor, 1000,
        (struct ss_counters){
            .time = MS(now), .set = 7, .capacity = 4, .used = MS(used), .ran = true});
}

static struct ss_account account_of(const struct rig *rig, uint32_t executor) {
    struct ss_account account = {.time = 99, .series = 99, .used = 99, .capacity = 99};
    assert_non_null(module_of(rig)->account);
    module_of(rig)->account(&rig->selves[executor], &account);
    return account;
}

static void assert_account(
    const struct rig *rig, uint32_t executor, double now, double used, double capacity) {
    struct ss_account account = account_of(rig, executor);
    assert_int_equal(account.time, MS(now));
    assert_int_equal(account.series, 7);
    assert_near(account.used, used * 1e6, 0);
    assert_near(account.capacity, capacity, 0);
}

TEST(exact_records_used_or_non_idle_time) {
    RIG rig = rig_open("feedback/exact", NULL, 2, 4);
    assert_near(account_of(&rig, 0).capacity, 0, 0);
    sample_ran(&rig, 0, 1000, 5000);
    assert_account(&rig, 0, 1000, 5000, 4);
    assert_account(&rig, 1, 1000, 5000, 4);
    sample_ran(&rig, 1, 1012, 5003);
    assert_account(&rig, 0, 1012, 5003, 4);
    /* The account is exact to the nanosecond because it is not blended. */
    sample_ran(&rig, 0, 1024, 5003.000001);
    assert_account(&rig, 1, 1024, 5003.000001, 4);
    /* A new series begins when CPUs change. */
    sample_counters(&rig, 0, 1000,
        (struct ss_counters){
            .time = MS(1040), .set = 8, .capacity = 2, .used = MS(5004), .ran = true});
    struct ss_account account = account_of(&rig, 0);
    assert_int_equal(account.series, 8);
    assert_near(account.capacity, 2, 0);
    assert_near(account.used, 5004e6, 0);
    rig_close(&rig);
    rig = rig_open("feedback/exact", "source=idle", 2, 4);
    sample_idle(&rig, 0, 1000, 600);
    assert_account(&rig, 1, 1000, 4 * 1000 - 600, 4);
    sample_idle(&rig, 1, 1040, 720);
    assert_account(&rig, 0, 1040, 4 * 1040 - 720, 4);
}

TEST(exact_keeps_its_series_when_control_restarts) {
    RIG rig = rig_open("feedback/exact", NULL, 1, 4);
    sample_ran(&rig, 0, 1000, 5000);
    assert_true(wants(&rig, 0, 1001, 1001));
    assert_account(&rig, 0, 1000, 5000, 4);
    struct ss_counters next = {
        .time = MS(1001), .set = 7, .capacity = 4, .used = MS(5002), .ran = true};
    sample_counters(&rig, 0, 1001, next);
    assert_account(&rig, 0, 1001, 5002, 4);
    assert_that(estimate_at(&rig, 0, 1001, 1001), ==, -1);
}

/* Another executor has just taken a reading: one less than half the spacing later is dropped. */
TEST(exact_drops_readings_just_after_the_latest) {
    RIG rig = rig_open("feedback/exact", NULL, 2, 4);
    sample_ran(&rig, 0, 1000, 0);
    sample_ran(&rig, 1, 1006, 4);
    assert_account(&rig, 0, 1000, 0, 4);
    sample_ran(&rig, 1, 1006.001, 4);
    assert_account(&rig, 0, 1006.001, 4, 4);
    rig_close(&rig);
    rig = rig_open("feedback/exact", NULL, 2, 4);
    sample_idle(&rig, 0, 1000, 0);
    sample_idle(&rig, 1, 1008, 0);
    assert_account(&rig, 0, 1000, 4000, 4);
    sample_idle(&rig, 1, 1008.001, 0);
    assert_account(&rig, 0, 1008.001, 4 * 1008.001, 4);
}

/* Steps of 40 ms with idle times from none to all, and one impossible reading. */
static const double idle_times[] = {0, 120, 120, 280, 440, 445, 500, 660, 1200, 1240, 1400};

TEST(exact_and_realtime_estimates_agree) {
    static const char *const options[] = {NULL, "100m", "period=50m"};
    for (size_t i = 0; i < 3; i++) {
        RIG realtime = rig_open("feedback/realtime", options[i], 2, 4);
        RIG idle = rig_open("feedback/exact", options[i], 2, 4);
        RIG ran = rig_open("feedback/exact", options[i], 2, 4);
        for (size_t j = 0; j < sizeof idle_times / sizeof *idle_times; j++) {
            double now = 1000 + 40 * (double)j;
            uint32_t executor = j % 2;
            sample_idle(&realtime, executor, now, idle_times[j]);
            sample_idle(&idle, executor, now, idle_times[j]);
            assert_near(estimate_of(&idle, 0), estimate_of(&realtime, 0), 0);
            if (j < 8) {
                sample_ran(&ran, executor, now, 4 * now - idle_times[j]);
                assert_near(estimate_of(&ran, 1), estimate_of(&realtime, 1), 1e-12);
            }
        }
    }
}

/* 4 CPUs cannot run for 4 * (40 + 21) ms or more in 40 ms, and used time cannot fall. */
TEST(exact_ignores_counters_that_jump) {
    RIG rig = rig_open("feedback/exact", "100m", 1, 4);
    sample_ran(&rig, 0, 1000, 1000);
    sample_ran(&rig, 0, 1040, 1040); /* load 0.25 */
    sample_ran(&rig, 0, 1080, 1040 + 4 * 61 + 1);
    assert_near(estimate_of(&rig, 0), 0.25, 1e-12);
    sample_ran(&rig, 0, 1120, 1030);
    assert_near(estimate_of(&rig, 0), 0.25, 1e-12);
    assert_account(&rig, 0, 1120, 1030, 4);
    /* w = 1/2; 200 ms of 4 * 100 ms. */
    sample_ran(&rig, 0, 1220, 1230);
    assert_near(estimate_of(&rig, 0), 0.5 * 0.25 + 0.5 * 0.5, 1e-12);
}

/*
 * feedback/realtime keeps an account, too; without one, control would have only the load. Control
 * needs the quota, because a group may briefly use more CPUs than its mean allowance.
 */
TEST(realtime_and_cgroup_record_cpu_time_readings) {
    RIG rig = rig_open("feedback/realtime", NULL, 2, 4);
    sample_idle(&rig, 0, 1000, 600);
    assert_account(&rig, 1, 1000, 4 * 1000 - 600, 4);
    assert_int_equal(account_of(&rig, 1).period, 0);
    rig_close(&rig);
    rig = rig_open("feedback/cgroup", NULL, 2, 4);
    sample_counters(&rig, 0, 1000,
        (struct ss_counters){.time = MS(1000),
            .set = 7,
            .capacity = 1.5,
            .cpus = 3,
            .period = MS(100),
            .throttled = MS(77),
            .used = MS(700)});
    assert_account(&rig, 1, 1000, 700, 1.5);
    struct ss_account account = account_of(&rig, 1);
    assert_near(account.cpus, 3, 0);
    assert_int_equal(account.period, MS(100));
    assert_int_equal(account.throttled, MS(77));
    rig_close(&rig);
    rig = rig_open("feedback/command", "x", 1, 4);
    assert_null(module_of(&rig)->account);
    rig_close(&rig);
    rig = rig_open("feedback/null", NULL, 1, 4);
    assert_null(module_of(&rig)->account);
}

UNIT_RUN
