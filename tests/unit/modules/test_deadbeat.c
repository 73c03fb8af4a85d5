/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the default control, deadbeat with stagger on exact feedback, in complete loops. */

#include "loop.h"
#include "tree.h"

static struct log seen;

static struct trial_options make_default(uint32_t cpus, uint32_t instances, const char *load) {
    struct trial_options options = make_options(cpus, instances, load);
    options.modules[SS_KIND_FEEDBACK] = "exact";
    options.modules[SS_KIND_CONTROL] = NULL;
    options.modules[SS_KIND_DITHERING] = "stagger";
    options.settle = 2 * SS_SECOND;
    return options;
}

static void hold(const struct trial_options *options, double error, double mse) {
    struct trial_figures figures = run(options, 62 * SS_SECOND);
    assert_int_equal(figures.samples, 120);
    if (!(fabs(figures.error_mean_percent) <= error) || !(figures.error_mse_e4 <= mse))
        fail_msg("N %u P %u width %u at %s: mean error %g %%, MSE %g", options->instances,
            options->cpus, options->width, options->options[SS_KIND_TRACE],
            figures.error_mean_percent, figures.error_mse_e4);
}

/*
 * averageq plans whole rounds: if control made up differences within a round, the load would
 * oscillate around the target or miss it. With uneven duties a single instance makes the load
 * alternate: a square wave of 107 ms causes an MSE of up to 1.2. Near the bounds, runs or stops are
 * too short to occur in every round.
 */
TEST(deadbeat_holds_loads) {
    static const char *const normal[] = {"25%", "33%", "50%", "66%", "75%"};
    static const char *const extreme[] = {"2%", "5%", "95%", "98%", "10%"};
    static const struct {
        const char *space, *dithering, *const *loads;
        uint32_t cpus, instances, width; /* threads of each instance */
        double error, mse;
    } rows[] = {{"even", "stagger", normal, 2, 2, 1, 0.02, 0.45},
        {"even", "stagger", normal, 2, 2, 2, 0.02, 1.5},
        {"even", "stagger", normal, 2, 4, 1, 0.02, 0.3},
        {"even", "stagger", normal, 2, 4, 2, 0.02, 0.45},
        {"even", "stagger", normal, 2, 12, 1, 0.02, 0.2},
        {"even", "stagger", normal, 2, 12, 2, 0.02, 0.2},
        {"even", "stagger", normal, 2, 64, 1, 0.05, 0.5},
        {"even", "stagger", normal, 2, 64, 2, 0.05, 0.5},
        {"even", "stagger", normal, 12, 24, 1, 0.02, 0.1},
        {"even", "stagger", normal, 12, 12, 12, 0.02, 0.1},
        {"even", "stagger", normal, 128, 128, 1, 0.02, 0.1},
        {"even", "stagger", extreme, 2, 4, 1, 0.03, 0.5},
        {"even", "stagger", extreme, 2, 16, 1, 0.03, 0.5},
        {"even", "stagger", extreme, 2, 64, 1, 0.03, 0.5},
        {"even", "averageq", normal, 2, 2, 1, 0.05, 4},
        {"even", "averageq", normal, 4, 4, 1, 0.05, 4},
        {"even", "averageq", normal, 12, 12, 1, 0.05, 4},
        {"uneven", "stagger", normal, 2, 4, 1, 0.05, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t j = 0; j < 5; j++) {
            struct trial_options options =
                make_default(rows[i].cpus, rows[i].instances, rows[i].loads[j]);
            options.modules[SS_KIND_SPACE] = rows[i].space;
            options.modules[SS_KIND_DITHERING] = rows[i].dithering;
            options.width = rows[i].width;
            hold(&options, rows[i].error, rows[i].mse);
        }
    }
}

/*
 * Each instance fills all CPUs, which control does not know at first; decisions are two seconds
 * apart.
 */
TEST(deadbeat_holds_loads_of_many_parallel_instances) {
    static const char *const loads[] = {"25%", "50%", "75%"};
    for (size_t i = 0; i < 3; i++) {
        struct trial_options options = make_default(512, 1024, loads[i]);
        options.width = 512;
        options.settle = 20 * SS_SECOND;
        struct trial_figures figures = run(&options, 80 * SS_SECOND);
        assert_that(fabs(figures.error_mean_percent), <=, 0.05);
        assert_that(figures.error_mse_e4, <=, 1);
    }
}

TEST(deadbeat_holds_loads_with_idle_time_feedback) {
    struct trial_options options = make_default(2, 4, "50%");
    options.options[SS_KIND_FEEDBACK] = "source=idle";
    hold(&options, 0.02, 0.3);
    options.modules[SS_KIND_FEEDBACK] = "realtime";
    options.options[SS_KIND_FEEDBACK] = NULL;
    hold(&options, 0.05, 1);
}

TEST(default_control_switches_at_most_as_often_as_averageq) {
    for (uint32_t instances = 2; instances <= 64; instances *= 2) {
        struct trial_options options = make_default(2, instances, "50%");
        struct trial_figures figures = run(&options, 62 * SS_SECOND);
        assert_that(figures.switches_per_second, <=, 1.01 * instances * 2 / 0.107);
    }
}

/* The load must be held from the second sample and barely exceed the target in the first. */
TEST(deadbeat_follows_steps_within_one_sample) {
    static const double periods[][3] = {
        {2, 10, 0.01}, {10.6, 20, 0.01}, {20.6, 29, 0.01}, {10.2, 10.6, 0.06}, {20.2, 20.6, 0.06}};
    tree_new();
    const char *path = tree_write("trace", "0 10%\n10s 10%\n10s 60%\n20s 60%\n20s 10%\n30s 10%\n");
    for (uint32_t instances = 2; instances <= 64; instances *= 2) {
        struct trial_options options = make_default(2, instances, path);
        options.modules[SS_KIND_TRACE] = "file";
        keep_samples(&options, &seen);
        run(&options, 29 * SS_SECOND);
        for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
            assert_settled(&seen, periods[i][0], periods[i][1], periods[i][2]);
    }
}

static struct trial trial;

/* Two of six instances end after 28 s. */
TEST(deadbeat_compensates_varying_background_load_and_ended_instances) {
    struct trial_options options = make_default(2, 6, "50%");
    keep_samples(&options, &seen);
    open_trial(&trial, &options);
    for (int half = 0; half < 9; half++) {
        trial.machine.background = half % 2 ? 0.3 : 0;
        advance(&trial, 3500 * SS_MILLISECOND);
        if (half == 7) {
            trial_leave(&trial, 1);
            trial_leave(&trial, 4);
        }
    }
    trial_close(&trial);
    for (int half = 0; half < 9; half++)
        assert_settled(&seen, half * 3.5 + 1, half * 3.5 + 3.5, 0.02);
}

TEST(deadbeat_does_not_wind_up_at_an_unreachable_load) {
    struct trial_options options = make_default(2, 4, "50%");
    keep_samples(&options, &seen);
    open_trial(&trial, &options);
    advance(&trial, 5 * SS_SECOND);
    trial.machine.background = 1.6; /* of two CPUs: above the target */
    advance(&trial, 10 * SS_SECOND);
    trial.machine.background = 0;
    advance(&trial, 5 * SS_SECOND);
    trial_close(&trial);
    /* The instances are stopped, so this is the lowest possible load. */
    assert_settled(&seen, 6, 15, 0.31);
    for (size_t i = 0; i < seen.count; i++) {
        if (seen.samples[i].elapsed > 6 && seen.samples[i].elapsed < 15)
            assert_near(seen.samples[i].load, 0.8, 0.005);
        if (seen.samples[i].elapsed > 15.1)
            assert_that(seen.samples[i].load, <, 0.55);
    }
    assert_settled(&seen, 16, 20, 0.01);
}

#define LOOK (50 * SS_MICROSECOND)

/* Measures how long each instance is permitted to run. */
static void watch(struct trial *watched, ss_time length, double *running) {
    uint32_t count = watched->options.instances;
    for (uint32_t i = 0; i < count; i++)
        running[i] = 0;
    for (ss_time at = 0; at < length; at += LOOK) {
        advance(watched, LOOK);
        for (uint32_t i = 0; i < count; i++)
            running[i] += watched->machine.instances[i].running;
    }
}

/*
 * Must hold for any control, although instances decide at different times. Ten seconds are not a
 * multiple of rounds: one of 62 runs may be inside or outside.
 */
TEST(even_duties_are_equal_over_ten_seconds) {
    static const char *const loads[] = {"10%", "33%", "50%", "75%"};
    for (size_t i = 0; i < 16; i++) {
        uint32_t instances = i / 4 % 2 ? 12 : 4;
        double running[12], sum = 0;
        struct trial_options options = make_default(2, instances, loads[i % 4]);
        options.width = i < 8 ? 1 : 2;
        options.lateness = 20 * SS_MICROSECOND;
        open_trial(&trial, &options);
        advance(&trial, 2 * SS_SECOND);
        watch(&trial, 10 * SS_SECOND, running);
        trial_close(&trial);
        for (uint32_t j = 0; j < instances; j++)
            sum += running[j];
        for (uint32_t j = 0; j < instances; j++) {
            double share = running[j] * instances / sum;
            if (!(fabs(share - 1) < 0.02))
                fail_msg("N %u width %u %s: instance %u ran %g of its share", instances,
                    options.width, loads[i % 4], j, share);
        }
    }
}

TEST(deadbeat_requires_feedback_with_cpu_time_readings) {
    struct trial_options options = make_default(2, 4, "50%");
    struct ss_error error = {0};
    options.modules[SS_KIND_FEEDBACK] = "null";
    options.modules[SS_KIND_CONTROL] = "deadbeat";
    assert_fails(trial_open(&trial, &options, &error), error, "needs an account");
}

UNIT_RUN
