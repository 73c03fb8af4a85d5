/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"
#include "machine.h"

#define START SS_SECOND
#define MS    SS_MILLISECOND

static struct machine machine;

/*
 * Opens a machine with two CPUs, two instances of two threads each, and a quota of 50 ms per 100
 * ms.
 */
static void open_machine(void) {
    machine_close(&machine); /* of the previous case */
    struct ss_error error = {0};
    assert_int_equal(machine_open(&machine, 2, 2, 2, START, &error), 0);
    machine_set_quota(&machine, 0.5, 100 * MS);
}

static struct ss_counters look(ss_time after) {
    struct ss_counters counters;
    machine_read_group(&machine, START + after, &counters);
    return counters;
}

TEST(used_up_quota_is_refilled_in_the_next_period) {
    open_machine();
    assert_that(machine_quota_due(&machine), ==, SS_TIME_NEVER);
    machine_continue(&machine, 0, START + 10 * MS);
    assert_int_equal(machine_quota_due(&machine), START + 35 * MS);
    assert_int_equal(look(30 * MS).used, 40 * MS);
    assert_true(machine_enforce_quota(&machine, START + 35 * MS));
    assert_that(machine_idle_cpus(&machine), ==, 2);
    assert_int_equal(look(90 * MS).used, 50 * MS);
    /* Like the kernel, the machine counts throttled time only when the group continues. */
    assert_int_equal(look(90 * MS).throttled, 0);
    assert_int_equal(machine_quota_due(&machine), START + 100 * MS);
    assert_true(machine_enforce_quota(&machine, START + 100 * MS));
    struct ss_counters counters = look(110 * MS);
    assert_int_equal(counters.used, 70 * MS);
    assert_int_equal(counters.throttled, 65 * MS);
    assert_int_equal(counters.period, 100 * MS);
    assert_that(counters.capacity, ==, 0.5);
    assert_that(counters.cpus, ==, 2);
}

TEST(unused_quota_is_not_carried_over) {
    open_machine();
    machine_continue(&machine, 1, START + 90 * MS);
    assert_int_equal(machine_quota_due(&machine), START + 100 * MS);
    assert_false(machine_enforce_quota(&machine, START + 100 * MS));
    assert_int_equal(machine_quota_due(&machine), START + 125 * MS);
    /* Periods pass even if no instance ran. */
    machine_stop(&machine, 1, 0, START + 110 * MS);
    machine_continue(&machine, 1, START + 430 * MS);
    assert_int_equal(machine_quota_due(&machine), START + 455 * MS);
}

/* Tasks outside of the group get their share of the CPUs and have no quota. */
TEST(quota_applies_only_to_its_group) {
    open_machine();
    machine_set_background(&machine, 2, START);
    machine_continue(&machine, 0, START);
    assert_int_equal(machine_quota_due(&machine), START + 50 * MS);
    assert_true(machine_enforce_quota(&machine, START + 50 * MS));
    assert_that(machine_idle_cpus(&machine), ==, 0);
    assert_int_equal(look(80 * MS).used, 50 * MS);
}

static struct demand_mix mix;

static struct trial_options make_group(
    const char *class, uint32_t instances, double quota, const char *load) {
    struct trial_options options = make_options(2, instances, load);
    mix = parse_mix(class);
    options.mix = &mix;
    options.modules[SS_KIND_FEEDBACK] = "cgroup";
    options.modules[SS_KIND_CONTROL] = "deadbeat";
    options.modules[SS_KIND_DITHERING] = "stagger";
    options.quota = quota;
    options.quota_period = 100 * MS;
    options.settle = 4 * SS_SECOND;
    return options;
}

/*
 * In a container the executors belong to the group and stop no instance while it is throttled.
 * Periods range from shorter than any round to long enough for a round to use up the whole quota.
 */
TEST(load_is_held_within_a_quota) {
    static const struct {
        const char *class;
        ss_time period;
        bool inside; /* the executors */
    } rows[] = {{"serial", 100 * MS, false}, {"blocking", 100 * MS, false},
        {"parallel", 100 * MS, false}, {"forking", 100 * MS, false}, {"serial", 100 * MS, true},
        {"parallel", 100 * MS, true}, {"serial", 10 * MS, false}, {"serial", 10 * MS, true},
        {"serial", 30 * MS, true}, {"parallel", 1000 * MS, false}, {"parallel", 1000 * MS, true}};
    static const uint32_t instances[] = {1, 2, 4};
    static const double quotas[] = {0.25, 0.5, 1, 1.5};
    static const char *const loads[] = {"30%", "50%", "60%"};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        for (size_t i = 0; i < 3 * 4 * 3; i++) {
            struct trial_options options =
                make_group(rows[row].class, instances[i / 12], quotas[i / 3 % 4], loads[i % 3]);
            options.quota_period = rows[row].period;
            options.preempt = rows[row].inside ? 1 : 0;
            double error = run(&options, 34 * SS_SECOND).error_mean_percent;
            demand_mix_free(&mix);
            if (!(fabs(error) <= 0.5)) /* percent of the allowance */
                fail_msg("row %zu, N %u, quota %g, %s: mean error %g %%", row, options.instances,
                    options.quota, loads[i % 3], error);
        }
    }
}

static struct log seen;

/* Changes the limit as an administrator does: what has been used in this period still counts. */
static void change_quota(struct trial *trial, double cpus) {
    struct machine_group *group = &trial->machine.group;
    double quota = cpus * (double)group->period;
    group->left = fmax(group->left + quota - group->quota, 0);
    group->quota = quota;
    wake_all(trial);
}

/* The load follows the new limit within a second, and the CPU time is what both limits granted. */
TEST(load_follows_a_limit_that_changes) {
    static const double limits[][2] = {{1, 1.6}, {1, 0.5}, {0.25, 2}, {2, 0.25}};
    static const char *const controls[] = {"deadbeat", "rbpid"};
    for (size_t i = 0; i < 8; i++) {
        static struct trial trial;
        const double *limit = limits[i / 2];
        struct trial_options options = make_group("serial", 2, limit[0], "60%");
        options.modules[SS_KIND_CONTROL] = controls[i % 2];
        keep_samples(&options, &seen);
        open_trial(&trial, &options);
        advance(&trial, 10 * SS_SECOND);
        uint64_t used = trial.machine.group.used;
        change_quota(&trial, limit[1]);
        advance(&trial, 10 * SS_SECOND);
        used = trial.machine.group.used - used;
        assert_int_equal(trial.monitor.capacity.changes, 1);
        trial_close(&trial);
        demand_mix_free(&mix);
        assert_settled(&seen, 4, 10, 0.06);
        assert_settled(&seen, 12, 20, 0.06);
        if (i % 2 == 0)
            assert_near((double)used / 1e9, 0.6 * limit[1] * 10, 0.06 * limit[1] * 10);
    }
}

UNIT_RUN
