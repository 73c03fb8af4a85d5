/* SPDX-License-Identifier: Apache-2.0 */
#define MACHINE_FOLDER "actuate"
#include "actuator.h"
#include "place.h"

#include "machine_tree.h"
#include "text.h"

static struct ssactuate_machine machine;
static struct ssactuate_plan plan;

static void open_machine(const char *name) {
    struct ss_error error = {0};
    assert_succeeds(ssactuate_machine_open(&machine, machine_unpack(name, NULL), &error), error);
}

static void close_machine(void) {
    ssactuate_plan_free(&plan);
    ssactuate_machine_close(&machine);
}

#define PLAN(...) make_plan((const char *const[]){__VA_ARGS__, NULL})

static void make_plan(const char *const *words) {
    struct ss_error error = {0};
    ssactuate_plan_free(&plan);
    assert_succeeds(ssactuate_plan_make(&plan, &machine, words, &error), error);
}

/* Compares a setting with a text such as "policy0/scaling_governor userspace". */
static void expect_setting(size_t index, const char *expected) {
    char text[600];
    assert_that(index, <, plan.count);
    const char *path = plan.settings[index].path;
    const char *skipped = "sys/devices/system/cpu/";
    assert_int_equal(strncmp(path, skipped, strlen(skipped)), 0);
    snprintf(text, sizeof text, "%s %s", path + strlen(skipped), plan.settings[index].value);
    assert_string_equal(text, expected);
}

#define REFUSE(part, ...) refuse(part, (const char *const[]){__VA_ARGS__, NULL})

static void refuse(const char *part, const char *const *words) {
    struct ss_error error = {0};
    ssactuate_plan_free(&plan);
    assert_fails(ssactuate_plan_make(&plan, &machine, words, &error), error, part);
}

TEST(userspace_governor_sets_the_speed) {
    open_machine("acpi-cpufreq");
    PLAN("frequency=1.4GHz,turbo=off");
    assert_that(plan.count, ==, 9);
    expect_setting(0, "cpufreq/boost 0");
    expect_setting(1, "cpufreq/policy0/scaling_governor userspace");
    expect_setting(2, "cpufreq/policy0/scaling_setspeed 1400000");
    expect_setting(8, "cpufreq/policy3/scaling_setspeed 1400000");
    assert_string_equal(plan.settings[8].knob, "frequency-policy3");
    REFUSE("'1.5GHz' is not a frequency of these CPUs", "frequency=1.5GHz");
    REFUSE("out of range: these CPUs have 1.4GHz to 2.1GHz", "frequency=3GHz");
    REFUSE("unknown part 'turbo=maybe'", "frequency=1.4GHz,turbo=maybe");
    close_machine();
}

TEST(limits_are_set_without_the_userspace_governor) {
    open_machine("intel-pstate");
    PLAN("frequency@1=2GHz,turbo=off");
    assert_that(plan.count, ==, 3);
    expect_setting(0, "intel_pstate/no_turbo 1");
    expect_setting(1, "cpufreq/policy1/scaling_min_freq 2000000");
    expect_setting(2, "cpufreq/policy1/scaling_max_freq 2000000");
    PLAN("frequency@2=min,turbo=on");
    expect_setting(0, "intel_pstate/no_turbo 0");
    expect_setting(1, "cpufreq/policy2/scaling_min_freq 1200000");
    close_machine();
}

TEST(cpus_of_a_shared_policy_are_set_together) {
    open_machine("shared");
    PLAN("frequency@2-3=1.2GHz");
    assert_that(plan.count, ==, 2);
    expect_setting(1, "cpufreq/policy2/scaling_setspeed 1200000");
    REFUSE("CPUs 2-3 share one frequency: name all of them", "frequency@3=1.2GHz");
    REFUSE("no turbo switch", "frequency=1.2GHz,turbo=off");
    REFUSE("no cpufreq policy", "frequency@8=1.2GHz");
    close_machine();
}

TEST(boost_of_each_policy_is_switched) {
    open_machine("amd-boost");
    PLAN("frequency=max,turbo=off");
    expect_setting(0, "cpufreq/policy0/boost 0");
    expect_setting(3, "cpufreq/policy1/boost 0");
    assert_string_equal(plan.settings[3].knob, "frequency-policy1");
    close_machine();
}

/* The highest frequency with turbo is known only once turbo is on. */
TEST(limits_of_turbo_are_left_to_the_kernel) {
    open_machine("amd-boost");
    tree_write("sys/devices/system/cpu/cpufreq/policy0/boost", "0\n");
    tree_write("sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "2000000\n");
    tree_write("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "2000000\n");
    REFUSE("out of range", "frequency@0=3.5GHz");
    PLAN("frequency@0=3.5GHz,turbo=on");
    expect_setting(1, "cpufreq/policy0/scaling_max_freq 3500000");
    assert_int_equal(plan.settings[1].tolerance, SSACTUATE_ROUNDED);
    PLAN("frequency@0=1GHz-max,turbo=on");
    expect_setting(2, "cpufreq/policy0/scaling_max_freq 2147483647");
    assert_int_equal(plan.settings[2].tolerance, SSACTUATE_LOWERED);
    PLAN("frequency@0=1GHz-max,turbo=off");
    expect_setting(2, "cpufreq/policy0/scaling_max_freq 2000000");
    assert_int_equal(plan.settings[2].tolerance, SSACTUATE_LOWERED);
    REFUSE("out of range", "frequency@0=3.5GHz,turbo=off");
    close_machine();
}

TEST(frequencies_of_turbo_can_be_set) {
    open_machine("acpi-cpufreq");
    tree_write("sys/devices/system/cpu/cpufreq/boost", "0\n");
    tree_write("sys/devices/system/cpu/cpufreq/policy0/scaling_boost_frequencies", "2500000 \n");
    PLAN("frequency@0=2.5GHz,turbo=on");
    expect_setting(3, "cpufreq/policy0/scaling_setspeed 2500000");
    REFUSE("'2.4GHz' is not a frequency of these CPUs", "frequency@0=2.4GHz,turbo=on");
    close_machine();
}

TEST(last_knob_of_a_policy_decides) {
    open_machine("acpi-cpufreq");
    PLAN("frequency@0-1=1.4GHz,turbo=on", "frequency@2-3=1.4GHz,turbo=off");
    assert_that(plan.count, ==, 9);
    expect_setting(0, "cpufreq/boost 0");
    PLAN("frequency@0-1=1.4GHz", "frequency=1.4GHz-2.1GHz");
    assert_that(plan.count, ==, 8);
    expect_setting(0, "cpufreq/policy0/scaling_min_freq 1400000");
    expect_setting(1, "cpufreq/policy0/scaling_max_freq 2100000");
    close_machine();
}

TEST(power_is_set_for_each_package) {
    open_machine("intel-pstate");
    PLAN("power=62.5W");
    assert_that(plan.count, ==, 1);
    assert_string_equal(
        plan.settings[0].path, "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw");
    assert_string_equal(plan.settings[0].value, "62500000");
    REFUSE("power is absent: the kernel has no intel-rapl:0:0", "power@intel-rapl:0:0=1W");
    close_machine();
}

TEST(pin_to_all_cpus_means_free) {
    open_machine("shared");
    PLAN("pin=first:4");
    assert_false(plan.pinned);
    PLAN("pin=0-1,3,each");
    assert_true(plan.pinned);
    assert_true(plan.binds_threads);
    assert_that(plan.cpus.count, ==, 3);
    PLAN("pin=first:2", "cpus=1");
    assert_that(plan.cpu_count, ==, 1);
    REFUSE("cpus=3 exceeds the 2 CPUs of pin", "pin=first:2", "cpus=3");
    REFUSE("unknown scheme 'frst': did you mean 'first'", "pin=frst:2");
    REFUSE("first requires a number of CPUs", "pin=first");
    REFUSE("ssactuate may not use CPU 4", "pin=3-4");
    REFUSE("from 1 to 4", "cpus=5");
    close_machine();
}

static const char *choose_cpus(void) {
    static char text[100];
    struct ssactuate_place place = {0};
    struct ss_error error = {0};
    assert_int_equal(ssactuate_place_choose(&place, &machine, &plan, &error), 0);
    ss_cpus_print(text, sizeof text, &place.mask);
    return text;
}

TEST(cpus_are_the_first_in_the_order_of_pin) {
    open_machine("../platform/m620-near");
    PLAN("cpus=2");
    assert_string_equal(choose_cpus(), "0-1");
    PLAN("pin=spread", "cpus=2");
    assert_string_equal(choose_cpus(), "0,16");
    PLAN("pin=free,each", "cpus=2");
    assert_string_equal(choose_cpus(), "0-1");
    close_machine();
}

TEST(lists_of_cpus_may_be_long) {
    char word[1000] = "pin=0";
    open_machine("../platform/m620-near");
    for (int i = 0; i < 10; i++) {
        for (unsigned cpu = 2; cpu < 32; cpu += 2)
            snprintf(word + strlen(word), sizeof word - strlen(word), ",%u", cpu);
    }
    PLAN(word);
    assert_int_equal(plan.cpus.count, 16);
    close_machine();
}

/* Gives the recorded machine control groups of version 1. */
static void add_groups(void) {
    tree_write("proc/self/cgroup", "1:cpu:/\n2:memory:/\n3:cpuset:/\n");
    tree_write("sys/fs/cgroup/cpu/cgroup.procs", "");
    tree_write("sys/fs/cgroup/memory/cgroup.procs", "");
    tree_write("sys/fs/cgroup/cpuset/cgroup.procs", "");
}

TEST(size_sets_cpus_quota_and_memory) {
    open_machine("shared");
    add_groups();
    PLAN("size=small:cpus=2,quota=150%,period=10m,memory=4G");
    assert_string_equal(plan.size, "small");
    assert_that(plan.cpu_count, ==, 2);
    assert_near(plan.quota, 1.5, 1e-12);
    assert_that(plan.period, ==, 10 * SS_MILLISECOND);
    assert_that(plan.memory, ==, UINT64_C(4) << 30);
    REFUSE("quota is given twice", "size=small:quota=50%", "quota=60%");
    REFUSE("is not cpus, quota or memory", "size=small:pin=free");
    REFUSE("use size=NAME", "size=small");
    close_machine();
}

TEST(quota_and_memory_have_limits) {
    open_machine("shared");
    add_groups();
    REFUSE("below the kernel's minimum of 1 ms", "quota=5%,period=10m");
    REFUSE("the period must be from 1ms to 1s", "quota=50%,period=2s");
    REFUSE("use at least 1M", "memory=1023K");
    PLAN("memory=1M");
    REFUSE("unknown part 'perod=1m'", "quota=50%,perod=1m");
    PLAN("quota=none", "memory=none");
    assert_near(plan.quota, 0, 0);
    assert_that(plan.memory, ==, 0);
    assert_int_equal(setenv("PATH", TEST_BIN_DIR, 1), 0); /* folder of showstopper */
    PLAN("duty=38.5%,tau=10m");
    assert_near(plan.duty, 0.385, 1e-12);
    REFUSE("duty", "duty=0%");
    close_machine();
}

TEST(printed_levels_describe_the_current_state) {
    static const struct {
        const char *machine, *word, *expected;
    } cases[] = {
        {"acpi-cpufreq", "frequency", "frequency=1.4GHz-2.1GHz,turbo=on\n"},
        {"intel-pstate", "frequency@1-2", "frequency@1-2=1.2GHz-3.2GHz,turbo=on\n"},
        {"intel-pstate", "power", "power@intel-rapl:0=85W\n"},
        {"shared", "pin", "pin=free\n"},
        {"shared", "cpus", "cpus=4\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ssactuate_knob knob;
        struct ss_error error = {0};
        open_machine(cases[i].machine);
        assert_int_equal(ssactuate_knob_parse(&knob, cases[i].word, &error), 0);
        knob.machine = &machine;
        assert_int_equal(knob.actuator->get(&knob, text_begin(), &error), 0);
        assert_string_equal(text_end(), cases[i].expected);
        close_machine();
    }
}

UNIT_RUN
