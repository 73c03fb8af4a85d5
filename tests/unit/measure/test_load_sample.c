/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>

#include "measure/load.h"
#include "measure/load_sample.h"
#include "tree.h"

#define TICK (10 * SS_MILLISECOND)
#define ALL  SS_LOAD_ALL_CPUS

static struct ss_load_meter meter = SS_LOAD_METER_CLOSED;
static struct ss_load_sample sample;

static struct ss_cpus cpus_of(const char *list) {
    struct ss_cpus cpus;
    assert_int_equal(ss_cpus_parse(list, &cpus, NULL), 0);
    return cpus;
}

static void open_meter(enum ss_source source, const char *group, const char *list) {
    struct ss_error error = {0};
    struct ss_cpus cpus = cpus_of(list);
    struct ss_platform_roots roots = {.proc = tree_path("proc"), .cgroup = tree_path("cgroup")};
    struct ss_source_request request = {.source = source, .argument = group};
    ss_load_meter_close(&meter);
    assert_succeeds(ss_load_meter_open(&meter, &request, &cpus, &roots, &error), error);
}

static void read_meter(void) {
    assert_int_equal(ss_load_meter_read(&meter), 0);
}

static void begin(const char *list, const char *stat) {
    tree_new();
    tree_write("proc/stat", stat);
    open_meter(SS_SOURCE_SYSTEM, NULL, list);
    read_meter();
}

static void read_after(ss_time time) {
    read_meter();
    meter.last.counters.time = meter.previous.counters.time + time;
}

/* Takes the next reading after `ticks` of clock time. */
static void read_next(const char *stat, uint64_t ticks) {
    tree_write("proc/stat", stat);
    read_after(ticks * TICK);
}

static bool take(int32_t cpu) {
    struct ss_load_span span;
    sample = ss_load_sample_new();
    if (!ss_load_span_between(&meter.previous, &meter.last, cpu, &span))
        return false;
    ss_load_sample_set(&sample, &span);
    return true;
}

static void expect(double value, double expected) {
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.9f, not %.9f", value, expected);
}

/* Columns: user nice system idle iowait irq softirq steal guest guest_nice. */
#define BEFORE "cpu 0 0 0 0\ncpu0 10 20 30 400 50 6 7 8 9 10\ncpu1 100 0 0 0 0 0 0 0 0 0\nintr 1\n"

/* 100 ticks on CPU 0: 20 + 2 user, 8 system, 40 idle, 10 iowait, 3 + 4 irq, 13 steal. */
#define AFTER "cpu0 30 22 38 440 60 9 11 21 29 12\n"

TEST(load_parts_are_fractions_of_all_ticks) {
    begin("0", BEFORE);
    read_next(AFTER, 200);
    assert_true(take(ALL));
    expect(sample.user, 0.22);
    expect(sample.system, 0.08);
    expect(sample.irq, 0.07);
    expect(sample.steal, 0.13);
    expect(sample.iowait, 0.10);
    expect(sample.idle, 0.40);
    expect(sample.load_ticks, 0.5);
    /* 200 ticks of clock time passed. */
    expect(sample.load, 0.75);
    assert_true(isnan(sample.pressure));
    assert_true(isnan(sample.error));
    sample.target = 0.6;
    struct ss_load_span span;
    assert_true(ss_load_span_between(&meter.previous, &meter.last, ALL, &span));
    ss_load_sample_set(&sample, &span);
    expect(sample.error, -0.15);
}

/* Each row is a sample of one CPU over 100 ticks. */
TEST(user_time_includes_guest_time_and_iowait_may_fall) {
    static const struct {
        const char *before, *after;
        double load, user, iowait, idle;
    } rows[] = {
        {"cpu0 100 0 0 100 0 0 0 0 50 0\n", "cpu0 150 10 0 140 0 0 0 0 100 10\n", 0.6, 0.6, 0, 0.4},
        /* The kernel may move time from iowait to idle, or back; the sum does not fall. */
        {"cpu0 0 0 0 100 50\n", "cpu0 20 0 0 200 30\n", 0.2, 0.2, 0, 0.8},
        {"cpu0 0 0 0 100 50\n", "cpu0 20 0 0 80 150\n", 0.2, 0.2, 0.8, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        begin("0", rows[i].before);
        read_next(rows[i].after, 100);
        assert_true(take(ALL));
        expect(sample.load, rows[i].load);
        expect(sample.load_ticks, rows[i].load);
        expect(sample.user, rows[i].user);
        expect(sample.iowait, rows[i].iowait);
        expect(sample.idle, rows[i].idle);
    }
}

TEST(cpus_are_sampled_separately) {
    begin("0-1,3", "cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu2 0 0 0 0\ncpu3 0 0 0 0\n");
    read_next("cpu0 100 0 0 0\ncpu1 0 0 0 100\ncpu2 50 0 0 50\ncpu3 20 0 0 80\n", 100);
    assert_int_equal(meter.last.count, 3);
    assert_true(take(0));
    expect(sample.load, 1);
    assert_true(take(1));
    expect(sample.load, 0);
    expect(sample.load_ticks, 0);
    assert_true(take(3));
    expect(sample.load, 0.2);
    assert_true(take(ALL));
    expect(sample.load, 0.4);
    expect(sample.idle, 0.6);
    /* CPU 2 is not measured, and CPU 4 is absent. */
    assert_false(take(2));
    assert_false(take(4));
}

static void expect_each(const char *list, const double *expected, size_t count) {
    struct ss_cpus cpus = cpus_of(list);
    double loads[8];
    ss_load_of_each_cpu(&meter.previous, &meter.last, &cpus, loads);
    for (size_t i = 0; i < count; i++) {
        if (isnan(expected[i]))
            assert_true(isnan(loads[i]));
        else
            expect(loads[i], expected[i]);
    }
}

TEST(loads_of_single_cpus_are_reported) {
    begin("0-1,3-4", "cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu3 0 0 0 0\n");
    /* CPU 1 goes offline, CPU 4 comes online, and CPU 3 waited for a disk half of the time. */
    read_next("cpu0 70 0 0 30\ncpu3 20 0 0 30 50\ncpu4 0 0 0 100\n", 100);
    expect_each("0-1,3-4", (const double[]){0.7, NAN, 0.2, NAN}, 4);
    expect_each("3", (const double[]){0.2}, 1);
    read_next("cpu0 60 0 0 130\ncpu3 60 0 0 90 50\ncpu4 5 0 0 195\n", 100);
    expect_each("0-1,3-4", (const double[]){NAN, NAN, 0.4, 0.05}, 4);
    /* No clock time passed, or one of the readings is of a group. */
    meter.last.counters.time = meter.previous.counters.time;
    expect_each("0,3", (const double[]){NAN, NAN}, 2);
    read_next("cpu0 60 0 0 230\n", 100);
    meter.last.group = true;
    expect_each("0", (const double[]){NAN}, 1);
}

TEST(steal_covers_all_measured_cpus) {
    begin("0,2", "cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu2 0 0 0 0\n");
    read_next("cpu0 0 0 0 70 0 0 0 30\ncpu1 0 0 0 0 0 0 0 100\ncpu2 0 0 0 90 0 0 0 10\n", 100);
    expect(ss_load_steal(&meter.previous, &meter.last), 0.2);
    meter.last.count = 0;
    assert_true(isnan(ss_load_steal(&meter.previous, &meter.last)));
}

TEST(cpus_without_an_earlier_reading_are_skipped) {
    begin("0-2", "cpu0 0 0 0 0\ncpu2 0 0 0 0\n");
    /* CPU 1 returns with its old counters. */
    read_next("cpu0 50 0 0 50\ncpu1 900 0 0 900\ncpu2 100 0 0 0\n", 100);
    assert_true(take(ALL));
    expect(sample.load, 0.75);
    expect(sample.load_ticks, 0.75);
    assert_false(take(1));
    read_next("cpu1 900 0 0 1000\ncpu2 100 0 0 100\n", 100);
    assert_true(take(ALL));
    expect(sample.load, 0);
    assert_true(take(1));
    assert_false(take(0));
    /* No CPU has an earlier reading. */
    read_next("cpu0 50 0 0 50\n", 100);
    assert_false(take(ALL));
    read_next("cpu0 60 0 0 140\n", 100);
    assert_true(take(ALL));
    expect(sample.load, 0.1);
}

TEST(samples_of_falling_counters_are_skipped) {
    static const char *const back[] = {
        "cpu0 99 100 100 150 100 100 100 100\n",
        "cpu0 100 100 99 150 100 100 100 100\n",
        "cpu0 100 100 100 99 100 100 100 100\n",
        "cpu0 100 100 100 150 100 99 100 100\n",
        "cpu0 100 100 100 150 100 100 100 99\n",
    };
    for (size_t i = 0; i < sizeof back / sizeof *back; i++) {
        char stat[256];
        begin("0-1", "cpu0 100 100 100 100 100 100 100 100\ncpu1 0 0 0 0\n");
        snprintf(stat, sizeof stat, "%scpu1 25 0 0 75\n", back[i]);
        read_next(stat, 100);
        assert_false(take(0));
        assert_true(take(ALL));
        expect(sample.load, 0.25);
        expect(sample.load_ticks, 0.25);
    }
    /* No time passed. */
    begin("0", "cpu0 0 0 0 0\n");
    read_next("cpu0 10 0 0 10\n", 0);
    assert_false(take(ALL));
}

TEST(load_parts_are_unknown_without_ticks) {
    begin("0", BEFORE);
    read_next(BEFORE, 1);
    assert_true(take(ALL));
    expect(sample.load, 1);
    assert_true(isnan(sample.load_ticks));
    assert_true(isnan(sample.user));
    /* More idle time than clock time: a late tick. */
    begin("0", "cpu0 0 0 0 0\n");
    read_next("cpu0 0 0 0 11\n", 10);
    assert_true(take(ALL));
    expect(sample.load, 0);
}

TEST(summed_samples_are_weighted_by_length) {
    struct ss_load_span sum = {0}, span;
    begin("0", "cpu0 0 0 0 0\n");
    read_next("cpu0 100 0 0 0\n", 100);
    assert_true(ss_load_span_between(&meter.previous, &meter.last, ALL, &span));
    ss_load_span_add(&sum, &span);
    read_next("cpu0 100 0 0 270 30\n", 300);
    assert_true(ss_load_span_between(&meter.previous, &meter.last, ALL, &span));
    ss_load_span_add(&sum, &span);
    ss_load_sample_set(&sample, &sum);
    expect(sample.load, 0.25);
    expect(sample.load_ticks, 0.25);
    expect(sample.iowait, 0.075);
}

static double pressure_of(const char *text) {
    tree_new();
    tree_write("proc/stat", "cpu0 1 2 3 4\n");
    if (text)
        tree_write("proc/pressure/cpu", text);
    open_meter(SS_SOURCE_SYSTEM, NULL, "0");
    read_meter();
    return meter.last.pressure;
}

TEST(pressure_is_read_as_a_fraction) {
    expect(
        pressure_of("some avg10=12.34 avg60=1.00 avg300=0.00 total=1\nfull avg10=9.00\n"), 0.1234);
    expect(pressure_of("some avg10=0.05 avg60=1.00 avg300=0.00 total=1\n"), 0.0005);
    expect(pressure_of("some avg10=100.00 avg60=1.00 avg300=0.00 total=1\n"), 1);
    assert_true(isnan(pressure_of(NULL)));
    assert_true(isnan(pressure_of("")));
    assert_true(isnan(pressure_of("full avg10=9.00 avg60=1.00\n")));
    assert_true(isnan(pressure_of("some avg10=nan\n")));
}

TEST(pressure_is_read_only_when_it_may_change) {
    expect(pressure_of("some avg10=1.00 avg60=1.00\n"), 0.01);
    tree_write("proc/pressure/cpu", "some avg10=2.00 avg60=1.00\n");
    meter.reader.pressure_due = ss_platform_now() + 60 * SS_SECOND;
    read_meter();
    expect(meter.last.pressure, 0.01);
    meter.reader.pressure_due = ss_platform_now();
    read_meter();
    expect(meter.last.pressure, 0.02);
    assert_that(meter.reader.pressure_due, >=, meter.last.counters.time + 2 * SS_SECOND);
}

#define USAGE(used, user, system)                                                                  \
    "usage_usec " #used "\nuser_usec " #user "\nsystem_usec " #system "\nnr_periods 0\n"

TEST(v2_group_load_is_relative_to_the_allowance) {
    tree_new();
    tree_write("cgroup/web/cpu.stat", USAGE(1000000, 600000, 400000));
    tree_write("cgroup/web/cpu.max", "200000 100000\n");
    tree_write("cgroup/web/cpu.pressure", "some avg10=25.00 avg60=0.00 avg300=0.00 total=0\n");
    open_meter(SS_SOURCE_CGROUP, "web", "0-3");
    read_meter();
    tree_write("cgroup/web/cpu.stat", USAGE(1500000, 900000, 600000));
    read_after(SS_SECOND);
    assert_true(take(ALL));
    expect(sample.load, 0.25); /* half a second of two CPUs */
    expect(sample.user, 0.15);
    expect(sample.system, 0.1);
    expect(sample.idle, 0.75);
    expect(meter.last.pressure, 0.25);
    assert_true(isnan(sample.load_ticks));
    assert_true(isnan(sample.irq));
    assert_true(isnan(sample.steal));
    assert_true(isnan(sample.iowait));
    tree_write("cgroup/web/cpu.stat", USAGE(1400000, 900000, 600000));
    read_meter();
    assert_false(take(ALL));
}

TEST(v1_group_usage_is_read_in_nanoseconds) {
    tree_new();
    tree_write("cgroup/cpuacct/web/cpuacct.usage", "1000000000\n");
    open_meter(SS_SOURCE_CGROUP, "web", "0-3");
    read_meter();
    tree_write("cgroup/cpuacct/web/cpuacct.usage", "3000000000\n");
    read_after(SS_SECOND);
    assert_true(take(ALL));
    expect(sample.load, 0.5);
    assert_true(isnan(sample.user));
    /* Later kernels have user and system time in separate files. */
    tree_write("cgroup/cpuacct/web/cpuacct.usage_user", "1000000000\n");
    tree_write("cgroup/cpuacct/web/cpuacct.usage_sys", "500000000\n");
    open_meter(SS_SOURCE_CGROUP, "web", "0-3");
    read_meter();
    tree_write("cgroup/cpuacct/web/cpuacct.usage", "4000000000\n");
    tree_write("cgroup/cpuacct/web/cpuacct.usage_user", "1800000000\n");
    tree_write("cgroup/cpuacct/web/cpuacct.usage_sys", "700000000\n");
    read_after(SS_SECOND);
    assert_true(take(ALL));
    expect(sample.load, 0.25);
    expect(sample.user, 0.2);
    expect(sample.system, 0.05);
}

UNIT_RUN
