/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "measure/doubt.h"
#include "unit.h"

/* Two instances on four CPUs that could use more; nothing else explains the low load. */
static const struct ss_doubt below = {
    .kind = SS_DOUBT_BELOW,
    .part = 0.8,
    .instances_use = 0.5,
    .others_use = 0.01,
    .idle = 0.48,
    .instances = 2,
    .running = 2,
    .cpus = 4,
};

static const struct ss_doubt above = {
    .kind = SS_DOUBT_ABOVE,
    .part = 0.25,
    .instances_use = 0.01,
    .others_use = 0.98,
    .idle = 0.01,
    .instances = 2,
    .running = 2,
    .cpus = 4,
};

static void assert_reported(
    const struct ss_doubt *doubt, enum ss_doubt_cause cause, const char *expected) {
    char text[256];
    assert_int_equal(ss_doubt_cause(doubt), cause);
    ss_doubt_print(text, sizeof text, doubt);
    assert_string_equal(text, expected);
}

#define BELOW "the target could not be reached in 80 % of the samples: "

TEST(low_load_with_idle_cpus_suggests_more_instances) {
    struct ss_doubt doubt = below;
    assert_reported(&doubt, SS_DOUBT_FEW,
        BELOW "the instances, always running, used 50 % of the CPUs, other processes 1 %; run more "
              "instances");
    doubt.attached = true;
    assert_reported(&doubt, SS_DOUBT_FEW,
        BELOW "the instances, always running, used 50 % of the CPUs, other processes 1 %; attach "
              "more programs, or lower the target");
    /* If CPUs are idle, other processes take none from the instances. */
    doubt.others_use = 0.4;
    doubt.idle = 0.06;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_FEW);
}

TEST(low_load_without_idle_cpus_is_blamed_on_other_processes) {
    struct ss_doubt doubt = below;
    doubt.instances_use = 0.4;
    doubt.others_use = 0.58;
    doubt.idle = 0.02;
    assert_reported(&doubt, SS_DOUBT_BUSY,
        BELOW "the instances, always running, used 40 % of the CPUs, other processes 58 %; no CPU "
              "was idle");
}

TEST(low_load_is_blamed_on_ended_instances) {
    struct ss_doubt doubt = below;
    doubt.running = 1;
    doubt.instances_use = 0.25;
    assert_reported(&doubt, SS_DOUBT_ENDED,
        BELOW "the rest, always running, used 25 % of the CPUs, other processes 1 %; 1 of 2 "
              "instances had ended");
    doubt.open_loop = "fixed";
    doubt.idle = 0;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_ENDED);
    doubt.running = 1.6; /* fewer than 2 run too rarely to be the cause */
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_OPEN_LOOP);
}

TEST(low_load_is_blamed_on_open_loop_control) {
    struct ss_doubt doubt = below;
    doubt.open_loop = "fixed";
    assert_reported(&doubt, SS_DOUBT_OPEN_LOOP,
        BELOW "the instances, always running, used 50 % of the CPUs, other processes 1 %; the "
              "control module 'fixed' does not follow the load");
}

TEST(low_load_is_blamed_on_an_exhausted_quota) {
    struct ss_doubt doubt = below;
    doubt.quota_cpus = 0.5;
    doubt.throttled = 0.97;
    doubt.instances_use = 0.125;
    doubt.running = 1;
    assert_reported(&doubt, SS_DOUBT_QUOTA,
        BELOW "the instances, always running, used 12 % of the CPUs, other processes 1 %; a CPU "
              "quota limits their control group to 0.5 of 4 CPUs: raise it");
    doubt.running = 2;
    doubt.throttled = 0.1;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_FEW);
    doubt.throttled = 1;
    doubt.quota_cpus = 0;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_FEW);
}

TEST(unknown_shares_are_omitted_from_the_text) {
    struct ss_doubt doubt = below;
    doubt.instances_use = doubt.others_use = doubt.idle = NAN;
    assert_reported(
        &doubt, SS_DOUBT_FEW, BELOW "the instances were always running; run more instances");
    doubt = above;
    doubt.instances_use = doubt.others_use = doubt.idle = NAN;
    assert_reported(&doubt, SS_DOUBT_OTHERS,
        "other processes took more than the target in 25 % of the samples: the instances "
        "stayed stopped");
}

TEST(high_load_is_blamed_on_other_processes) {
    assert_reported(&above, SS_DOUBT_OTHERS,
        "other processes took more than the target in 25 % of the samples: the instances "
        "stayed stopped and used 1 % of the CPUs, other processes 98 %");
}

TEST(high_load_is_blamed_on_unstoppable_instances) {
    struct ss_doubt doubt = above;
    doubt.instances_use = 0.6;
    doubt.others_use = 0.05;
    assert_reported(&doubt, SS_DOUBT_ESCAPED,
        "the load was above the target in 25 % of the samples although the instances were stopped: "
        "processes of the instances that cannot be stopped used 60 % of the CPUs, other processes "
        "5 %");
    /* On an idle machine no process uses much. */
    doubt.instances_use = 0.015;
    doubt.others_use = 0.01;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_OTHERS);
}

/* Two executors with rounds of 10 us use much CPU time themselves. */
TEST(high_load_is_blamed_on_cpu_time_of_showstopper) {
    struct ss_doubt doubt = above;
    doubt.own_use = 0.7;
    doubt.others_use = 0.3;
    assert_reported(&doubt, SS_DOUBT_OWN,
        "the load was above the target in 25 % of the samples although the instances were stopped: "
        "Showstopper itself used 70 % of the CPUs, other processes 30 %; use a longer "
        "round (-D) to reduce it");
    doubt.others_use = 0.8;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_OTHERS);
    doubt.own_use = 0.015;
    doubt.others_use = doubt.instances_use = 0.01;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_OTHERS);
    doubt = below;
    doubt.own_use = 0.58;
    doubt.instances_use = 0.4;
    doubt.idle = 0.01;
    assert_reported(&doubt, SS_DOUBT_OWN,
        BELOW "the instances, always running, used 40 % of the CPUs, other processes 1 %; "
              "Showstopper itself used 58 %: use a longer round (-D) to reduce it");
    doubt.idle = 0.2;
    assert_int_equal(ss_doubt_cause(&doubt), SS_DOUBT_FEW);
}

TEST(longest_cause_fits_in_a_warning) {
    char text[1024];
    for (int i = 0; i < 128; i++) {
        struct ss_doubt doubt = i & 1 ? above : below;
        doubt.part = 1;
        doubt.instances_use = i & 2 ? 1 : 0.3;
        doubt.others_use = i & 4 ? 1 : 0;
        doubt.own_use = i & 64 ? 1 : 0;
        doubt.idle = i & 8 ? 0 : 1;
        doubt.instances = doubt.cpus = 1000000;
        doubt.running = i & 16 ? 1 : 1000000;
        doubt.quota_cpus = i & 32 ? 99999.5 : 0;
        doubt.throttled = 1;
        doubt.open_loop = i & 2 ? "a_module_with_a_name_longer_than_any_that_there_is" : NULL;
        ss_doubt_print(text, sizeof text, &doubt);
        assert_in_range(strlen(text), 20, 255);
    }
}

UNIT_RUN
