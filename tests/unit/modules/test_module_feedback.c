/* SPDX-License-Identifier: Apache-2.0 */

#include "feedback.h"
#include "platform/platform.h"
#include "tree.h"

TEST(modules_request_their_sources) {
    static const struct {
        const char *module, *options;
        enum ss_source source;
        const char *argument;
        int required; /* -1: unchanged */
    } rows[] = {
        {"realtime", NULL, SS_SOURCE_SYSTEM, NULL, -1},
        {"exact", NULL, SS_SOURCE_RUNTIME, NULL, false},
        {"exact", "source=auto", SS_SOURCE_RUNTIME, NULL, false},
        {"exact", "source=runtime", SS_SOURCE_RUNTIME, NULL, true},
        {"exact", "source=idle", SS_SOURCE_IDLE, NULL, false},
        {"exact", "source=stat", SS_SOURCE_SYSTEM, NULL, false},
        {"cgroup", NULL, SS_SOURCE_CGROUP, NULL, -1},
        {"cgroup", "/machine/box", SS_SOURCE_CGROUP, "/machine/box", -1},
        {"command", "cat /dev/meter", SS_SOURCE_SENSOR, "cat /dev/meter", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        char which[32];
        struct ss_source_request request = {
            .source = SS_SOURCE_NONE, .argument = "x", .required = !rows[i].required};
        snprintf(which, sizeof which, "feedback/%s", rows[i].module);
        RIG rig = rig_open(which, rows[i].options, 1, 4);
        module_of(&rig)->source(&rig.selves[0], &request);
        assert_int_equal(request.source, rows[i].source);
        if (rows[i].required >= 0)
            assert_int_equal(request.required, rows[i].required);
        if (rows[i].argument)
            assert_string_equal(request.argument, rows[i].argument);
        else
            assert_null(request.argument);
    }
    assert_refused("feedback/command", NULL, "command");
}

/*
 * realtime takes a sample every 160 ms / P. For exact, the source in use decides, not the number of
 * CPUs, and counters that advance only at ticks set a lower limit.
 */
TEST(one_executor_at_a_time_takes_a_sample_when_it_is_due) {
    static const struct {
        const char *module;
        ss_time window; /* ms */
        bool ran;
        uint32_t cpus;
        double spacing;
    } rows[] = {{"feedback/realtime", 500, false, 4, 40}, {"feedback/realtime", 500, false, 1, 160},
        {"feedback/realtime", 500, false, 1000, 0.16}, {"feedback/exact", 500, true, 4, 12},
        {"feedback/exact", 500, true, 1, 12}, {"feedback/exact", 500, true, 100, 12},
        {"feedback/exact", 500, false, 4, 16}, {"feedback/exact", 500, false, 1, 16},
        {"feedback/exact", 500, false, 100, 16}, {"feedback/exact", 250, true, 4, 6},
        {"feedback/exact", 250, false, 4, 8}, {"feedback/exact", 100, true, 4, 4},
        {"feedback/exact", 1000, true, 4, 24}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        RIG rig = rig_open_window(rows[i].module, NULL, 2, rows[i].cpus, MS(rows[i].window));
        for (uint32_t turn = 0; turn < 3; turn++) {
            double now = 1000 + turn * rows[i].spacing;
            uint32_t executor = turn % 2;
            if (turn > 0)
                assert_false(wants(&rig, executor, now - 0.001, 1000));
            assert_true(wants(&rig, executor, now, 1000));
            assert_false(wants(&rig, 1 - executor, now, 1000));
            sample_counters(&rig, executor, 1000,
                (struct ss_counters){
                    .time = MS(now), .set = 7, .capacity = rows[i].cpus, .ran = rows[i].ran});
        }
    }
}

static void sample_used(
    const struct rig *rig, uint32_t executor, double now, double capacity, double used) {
    sample_counters(rig, executor, 1000,
        (struct ss_counters){.time = MS(now), .capacity = capacity, .used = MS(used)});
}

/* A reading of an executor, in ms, and the estimate after it; -1: unknown. */
struct reading {
    uint32_t executor;
    double now, time, load;
};

/* A sample of length s has the weight w = 1 - period / (period + s). */
TEST(estimates_blend_the_samples_of_all_executors) {
    // clang-format off
    static const struct {
        const char *module, *options;
        double capacity; /* of a group; 0 if readings are idle times of 4 CPUs */
        struct reading readings[5];
        int count;
    } rows[] = {
        /* The first sample is not blended: T_i = 120 / 4 of 40 ms. */
        {"feedback/realtime", NULL, 0, {{0, 1000, 5000, -1}, {1, 1040, 5000 + 120, 0.25}}, 2},
        /* Samples of one and three periods: w = 1/2 and 3/4. */
        {"feedback/realtime", "100m", 0,
            {{0, 1000, 0, -1}, {1, 1040, 120, 0.25}, {2, 1140, 120, 0.5 * 0.25 + 0.5 * 1},
                {0, 1440, 120 + 1200, 0.25 * 0.625}}, 4},
        /* The default period is 333 ms: w = 0.1 for a sample of 37 ms. */
        {"feedback/realtime", NULL, 0,
            {{0, 1000, 0, -1}, {0, 1040, 120, 0.25}, {0, 1077, 120, 0.9 * 0.25 + 0.1 * 1}}, 3},
        {"feedback/realtime", NULL, 0, {{0, 1000, 0, -1}, {0, 1050, 200, 0}}, 2},
        {"feedback/realtime", NULL, 0, {{0, 1000, 0, -1}, {0, 1050, 0, 1}}, 2},
        /* A tick too many: (40 - 50) / 40 = -0.25, shown as 0, but the next sample lacks the tick. */
        {"feedback/realtime", "100m", 0,
            {{0, 1000, 0, -1}, {0, 1040, 200, 0}, {0, 1140, 200, 0.5 * -0.25 + 0.5 * 1}}, 3},
        /* A repeated time must not cause a division by zero. */
        {"feedback/realtime", "100m", 0,
            {{0, 1000, 500, -1}, {0, 1000, 500, -1}, {0, 1040, 620, 0.25}, {1, 1040, 660, 0.25},
                {0, 1140, 620, 0.625}}, 5},
        /* Another executor reads first, but reports later. */
        {"feedback/realtime", "100m", 0,
            {{0, 1000, 500, -1}, {0, 1040, 620, 0.25}, {1, 1030, 540, 0.25}, {0, 1140, 620, 0.625}}, 4},
        /* Idle time falls by 50 ms, as iowait can; then T_i is 200 / 4 of 100 ms. */
        {"feedback/realtime", "100m", 0,
            {{0, 1000, 500, -1}, {0, 1040, 620, 0.25}, {1, 1080, 570, 0.25},
                {0, 1180, 770, 0.5 * 0.25 + 0.5 * 0.5}}, 4},
        /* Four CPUs cannot be idle for 4 * (40 + 21) ms or more in 40 ms: a counter jumped. */
        {"feedback/realtime", "100m", 0,
            {{0, 1000, 500, -1}, {0, 1040, 620, 0.25}, {1, 1080, 620 + 4 * 61 + 1, 0.25},
                {0, 1180, 865, 0.625}}, 4},
        /* Another group: sums restart and the estimate is kept. */
        {"feedback/cgroup", "period=100m", 2,
            {{0, 1000, 100, -1}, {0, 1040, 120, 0.25}, {0, 1120, 20, 0.25}, {0, 1220, 220, 0.625}}, 4},
        /* With a quota of one and a half CPUs: 30 ms used of 1.5 * 40, then 150 of 1.5 * 100. */
        {"feedback/cgroup", "period=100m", 1.5,
            {{0, 1000, 700, -1}, {0, 1040, 730, 0.5}, {1, 1140, 880, 0.5 * 0.5 + 0.5 * 1}}, 3},
        /*
         * A quota of half a CPU is enforced over 100 ms: 50 ms used in 40 are 2.5, shown as 1. The
         * next 60 ms alone mean nothing; both intervals together must count.
         */
        {"feedback/cgroup", "period=40m", 0.5,
            {{0, 1000, 0, -1}, {0, 1040, 50, 1}, {0, 1100, 50, 40.0 / (40 + 60) * 2.5}}, 3},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RIG rig = rig_open(rows[i].module, rows[i].options, 3, 4);
        assert_that(estimate_of(&rig, 0), ==, -1);
        const struct reading *at = rows[i].readings;
        for (; at < rows[i].readings + rows[i].count; at++) {
            if (rows[i].capacity > 0)
                sample_used(&rig, at->executor, at->now, rows[i].capacity, at->time);
            else
                sample_idle(&rig, at->executor, at->now, at->time);
            assert_near(estimate_of(&rig, 0), at->load, 1e-12);
            assert_near(estimate_of(&rig, 2), at->load, 1e-12);
        }
    }
}

TEST(estimates_adapt_to_changed_cpus_and_limits) {
    static const struct {
        const char *module;
        struct {
            uint64_t set;
            double capacity, now, time, load; /* as in struct reading */
        } readings[4];
        int count;
    } rows[] = {
        /* Two of four CPUs go offline: the sums restart, then T_i = 100 / 2 = 50 of 100 ms. */
        {"feedback/realtime",
            {{7, 4, 1000, 1000, -1}, {7, 4, 1040, 1120, 0.25}, {8, 2, 1080, 1130, 0.25},
                {8, 2, 1180, 1230, 0.5 * 0.25 + 0.5 * 0.5}},
            4},
        /* Another CPU replaces an offline one: the number is the same, but the counters differ. */
        {"feedback/realtime", {{7, 4, 1000, 0, -1}, {8, 4, 1040, 100, -1}, {8, 4, 1080, 220, 0.25}},
            3},
        {"feedback/realtime", {{1, 0, 1000, 0, -1}, {1, 0, 1040, 0, -1}}, 2},
        /* A group's limit is raised: what it used before counts relative to the new limit. */
        {"feedback/cgroup",
            {{0, 1, 1000, 0, -1}, {0, 1, 1100, 50, 0.5}, {0, 2, 1200, 100, 0.25},
                {0, 2, 1300, 250, 0.5 * 0.25 + 0.5 * 0.75}},
            4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RIG rig = rig_open(rows[i].module, "period=100m", 1, 4);
        for (int j = 0; j < rows[i].count; j++) {
            ss_time time = MS(rows[i].readings[j].time);
            sample_counters(&rig, 0, 1000,
                (struct ss_counters){.time = MS(rows[i].readings[j].now),
                    .set = rows[i].readings[j].set,
                    .capacity = rows[i].readings[j].capacity,
                    .idle = time,
                    .used = time});
            if (!(fabs(estimate_of(&rig, 0) - rows[i].readings[j].load) <= 1e-12))
                fail_msg("row %zu, reading %d: %g", i, j, estimate_of(&rig, 0));
        }
    }
}

TEST(realtime_resets_when_control_restarts) {
    RIG rig = rig_open("feedback/realtime", "100m", 2, 4);
    sample_idle(&rig, 0, 1000, 0);
    sample_idle(&rig, 0, 1040, 120);
    assert_near(estimate_at(&rig, 1, 1050, 1000), 0.25, 1e-12);
    /* Control restarted at 1050: earlier samples are invalid, and a new one is due at once. */
    assert_that(estimate_at(&rig, 1, 1050, 1050), ==, -1);
    assert_true(wants(&rig, 1, 1050, 1050));
    struct ss_counters counters = {.time = MS(1050), .set = 7, .capacity = 4, .idle = MS(120)};
    sample_counters(&rig, 1, 1050, counters);
    assert_that(estimate_at(&rig, 0, 1050, 1050), ==, -1);
    counters.time = MS(1090);
    counters.idle = MS(120 + 80);
    sample_counters(&rig, 0, 1050, counters);
    /* Not blended: T_i = 80 / 4 = 20 of 40 ms. */
    assert_near(estimate_at(&rig, 1, 1090, 1050), 0.5, 1e-12);
}

/*
 * Columns: user nice system idle iowait irq softirq steal guest guest_nice. Of 16 ticks, 6 are
 * idle, 2 wait for a disk, 4 are stolen, and 3 are busy; one is not counted at all.
 */
static const char stat_before[] = "cpu  105 0 0 907 50 0 0 20 0 0\n"
                                  "cpu0 100 0 0 900 50 0 0 20 0 0\n"
                                  "cpu1 5 0 0 7 0 0 0 0 0 0\n";
static const char stat_after[] = "cpu  108 0 0 913 52 0 0 24 0 0\n"
                                 "cpu0 102 0 0 903 52 0 0 24 0 0\n"
                                 "cpu1 6 0 0 10 0 0 0 0 0 0\n";

/* Reads this /proc/stat as if it were `now`. */
static struct ss_counters counters_of(const char *text, double now) {
    struct ss_platform_roots roots = {.proc = tree_new(), .sys = tree_root};
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    struct ss_counter_reader reader;
    struct ss_counters counters;
    struct ss_cpus cpus;
    tree_write("stat", text);
    assert_int_equal(ss_cpus_parse("0-1", &cpus, NULL), 0);
    assert_int_equal(ss_platform_counters_open(&reader, &request, &cpus, &roots, NULL), 0);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    ss_platform_counters_close(&reader);
    counters.time = MS(now);
    return counters;
}

/* Returns the load of two CPUs in 80 ms, from two readings of /proc/stat. */
static double load_counted(const char *options) {
    RIG rig = rig_open("feedback/realtime", options, 1, 2);
    sample_counters(&rig, 0, 1000, counters_of(stat_before, 1000));
    sample_counters(&rig, 0, 1000, counters_of(stat_after, 1080));
    double load = estimate_of(&rig, 0);
    return load;
}

TEST(realtime_options_select_the_times_that_count_as_load) {
    assert_near(load_counted(NULL), 1 - 8.0 / 16, 1e-12);
    assert_near(load_counted("count=idle,iowait=idle,steal=work"), 1 - 8.0 / 16, 1e-12);
    assert_near(load_counted("steal=idle"), 1 - 12.0 / 16, 1e-12);
    assert_near(load_counted("iowait=work"), 1 - 6.0 / 16, 1e-12);
    assert_near(load_counted("iowait=work,steal=idle"), 1 - 10.0 / 16, 1e-12);
    assert_near(load_counted("count=ticks"), 7.0 / 16, 1e-12);
    assert_near(load_counted("count=ticks,steal=idle"), 3.0 / 16, 1e-12);
    assert_near(load_counted("count=ticks,iowait=work"), 9.0 / 16, 1e-12);
    assert_near(load_counted("count=ratio"), 7.0 / 15, 1e-12);
    assert_near(load_counted("count=ratio,iowait=work"), 9.0 / 15, 1e-12);
    assert_near(load_counted("count=ratio,steal=idle"), 3.0 / 15, 1e-12);
}

/* The 15 counted ticks are 75 ms of two CPUs: w = 1 - 75 / (75 + 75) for a period of 75 ms. */
TEST(realtime_ratio_is_weighted_by_counted_time) {
    RIG rig = rig_open("feedback/realtime", "75m,count=ratio", 1, 2);
    struct ss_counters idle = counters_of(stat_before, 920);
    idle.idle -= MS(160);
    sample_counters(&rig, 0, 900, idle);
    sample_counters(&rig, 0, 900, counters_of(stat_before, 1000)); /* load 0 */
    sample_counters(&rig, 0, 900, counters_of(stat_after, 1080));
    assert_near(estimate_at(&rig, 0, 1080, 900), 0.5 * 7 / 15, 1e-12);
    /* No tick since then: the estimate stays. */
    sample_counters(&rig, 0, 900, counters_of(stat_after, 1180));
    assert_near(estimate_at(&rig, 0, 1180, 900), 0.5 * 7 / 15, 1e-12);
}

static void sample_value(const struct rig *rig, double now, double since, double value) {
    sample_counters(rig, 0, since, (struct ss_counters){.time = MS(now), .value = value});
}

TEST(command_does_not_blend_by_default) {
    RIG rig = rig_open("feedback/command", "x", 1, 4);
    assert_that(estimate_of(&rig, 0), ==, -1);
    sample_value(&rig, 1000, 1000, NAN);
    assert_that(estimate_of(&rig, 0), ==, -1);
    const double given[] = {0.3, 0.9, -0.1, 1.5, 0, 1};
    const double taken[] = {0.3, 0.9, 0, 1, 0, 1};
    for (unsigned i = 0; i < 6; i++) {
        assert_true(wants(&rig, 0, 1000 + i, 1000));
        sample_value(&rig, 1000 + i, 1000, given[i]);
        assert_that(estimate_of(&rig, 0), ==, taken[i]);
    }
    /* Two numbers arrive at the same time. */
    sample_value(&rig, 1005, 1000, 0.4);
    assert_that(estimate_of(&rig, 0), ==, 0.4);
    sample_value(&rig, 1010, 1000, NAN);
    assert_that(estimate_of(&rig, 0), ==, -1);
}

TEST(command_blends_samples_if_configured) {
    RIG rig = rig_open("feedback/command", "x,period=100m", 1, 4);
    sample_value(&rig, 1000, 1000, 0.25);
    assert_near(estimate_of(&rig, 0), 0.25, 1e-12);
    /* w = 1 - 100 / (100 + 100) = 1/2 */
    sample_value(&rig, 1100, 1000, 1);
    assert_near(estimate_of(&rig, 0), 0.5 * 0.25 + 0.5 * 1, 1e-12);
    sample_value(&rig, 1100, 1000, 0);
    assert_near(estimate_of(&rig, 0), 0.625, 1e-12);
    /* After a restart of control, the number is not blended with earlier ones. */
    assert_that(estimate_at(&rig, 0, 1200, 1200), ==, -1);
    sample_value(&rig, 1200, 1200, 0.1);
    assert_near(estimate_at(&rig, 0, 1200, 1200), 0.1, 1e-12);
}

TEST(null_feedback_has_no_estimate) {
    RIG rig = rig_open("feedback/null", NULL, 1, 4);
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    module_of(&rig)->source(&rig.selves[0], &request);
    assert_int_equal(request.source, SS_SOURCE_NONE);
    assert_false(wants(&rig, 0, 1000, 1000));
    sample_idle(&rig, 0, 1000, 0);
    sample_idle(&rig, 0, 1040, 120);
    assert_that(estimate_of(&rig, 0), ==, -1);
}

UNIT_RUN
