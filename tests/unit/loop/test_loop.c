/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

TEST(simulated_machine_counts_exactly) {
    struct machine machine;
    struct ss_error error = {0};
    struct ss_counters counters;
    assert_int_equal(machine_open(&machine, 3, 4, 1, 1000, &error), 0);
    machine.instances[3].width = 7;
    machine_read(&machine, 1100, &counters);
    assert_int_equal(counters.idle, 3 * 100);
    machine_continue(&machine, 0, 1100);
    machine_continue(&machine, 0, 1110);
    machine_continue(&machine, 1, 1150);
    machine_read(&machine, 1200, &counters);
    assert_int_equal(counters.idle, 300 + 2 * 50 + 1 * 50);
    assert_int_equal(counters.busy_ticks, 3 * 200 - 450);
    machine_continue(&machine, 3, 1200);
    machine_stop(&machine, 0, 0, 1250);
    machine_read(&machine, 1300, &counters);
    assert_int_equal(counters.idle, 450);
    /* While no instance runs, other processes use one and a half CPUs. */
    machine_stop(&machine, 1, 0, 1300);
    machine_stop(&machine, 3, 0, 1300);
    machine.background = 1.5;
    for (ss_time now = 1301; now <= 1401; now++)
        machine_read(&machine, now, &counters);
    assert_int_equal(counters.idle, 450 + 151);
    assert_int_equal(counters.time, 1401);
    assert_near(counters.capacity, 3, 0);
    machine_close(&machine);
}

TEST(default_modules_hold_the_target_load) {
    static const char *const loads[] = {"25%", "50%", "75%"};
    for (size_t i = 0; i < 3; i++) {
        struct trial_options options = make_options(2, 4, loads[i]);
        assert_held(&options, 0.2, 10);
    }
}

/* With many more instances than CPUs, the load must be held from the first sample. */
TEST(many_instances_start_on_target) {
    static const char *const loads[] = {"20%", "50%", "80%"};
    for (size_t i = 0; i < 3; i++) {
        struct log log;
        struct trial_options options = make_options(2, 64, loads[i]);
        options.modules[SS_KIND_FEEDBACK] = "exact";
        options.modules[SS_KIND_CONTROL] = "deadbeat";
        options.modules[SS_KIND_DITHERING] = "stagger";
        options.settle = 0;
        keep_samples(&options, &log);
        run(&options, 2 * SS_SECOND);
        assert_settled(&log, 0, 2, 0.01);
    }
}

/* Uses the default modules and samples of 100 ms; `max` has one bound per class. */
static void assert_windows_held(
    const struct trial_options *machine, const char *const *classes, const double *max) {
    static const char *const loads[] = {"25%", "50%", "75%"};
    for (size_t i = 0; classes[i]; i++) {
        struct demand_mix mix = parse_mix(classes[i]);
        for (size_t j = 0; j < 3; j++) {
            struct trial_options options = *machine;
            options.mix = &mix;
            options.options[SS_KIND_TRACE] = loads[j];
            struct trial_figures figures = run(&options, 12 * SS_SECOND);
            assert_int_equal(figures.samples, 100);
            assert_near(figures.error_mean_percent, 0, 0.1);
            if (!(figures.error_mse_e4 <= max[i]))
                fail_msg("%u CPUs, %s at %s: MSE %g", machine->cpus, classes[i], loads[j],
                    figures.error_mse_e4);
        }
        demand_mix_free(&mix);
    }
}

static struct trial_options make_window_options(uint32_t cpus) {
    struct trial_options options = make_options(cpus, 4, NULL);
    options.modules[SS_KIND_FEEDBACK] = "exact";
    options.modules[SS_KIND_CONTROL] = "deadbeat";
    options.modules[SS_KIND_DITHERING] = "stagger";
    options.window = 100 * SS_MILLISECOND;
    options.settle = 2 * SS_SECOND;
    return options;
}

TEST(even_duties_hold_the_load_in_short_windows) {
    static const char *const classes[] = {"serial", "parallel", "blocking", "forking", NULL};
    static const double max[] = {1, 3, 3, 3};
    for (uint32_t cpus = 2; cpus <= 4; cpus += 2) {
        struct trial_options options = make_window_options(cpus);
        options.switch_cost = 42 * SS_MICROSECOND;
        options.lateness = SS_TIME_NEVER;
        assert_windows_held(&options, classes, max);
    }
}

/* Counters are only updated at ticks, and a stop reaches some threads only at the next tick. */
TEST(even_duties_hold_the_load_in_short_windows_with_ticks) {
    static const char *const classes[] = {"serial", "blocking", "forking", NULL};
    static const double max[] = {1, 2, 1.5};
    struct trial_options options = make_window_options(2);
    options.tick_rate = 250;
    options.stop_lateness = 4 * SS_MILLISECOND;
    assert_windows_held(&options, classes, max);
}

/* Published bounds of the class `fop`: see constant-load-*.csv among the published figures. */
TEST(errors_with_serial_instances_match_the_published_ones) {
    static const struct {
        const char *load;
        double rbpid, geom; /* published MSE, space even */
    } published[] = {{"25%", 3.63, 6.5}, {"1/3", 5.25, 8.31}, {"50%", 3.49, 11.9},
        {"2/3", 2.74, 5.76}, {"75%", 2.56, 3.79}};
    for (size_t i = 0; i < 5; i++) {
        struct trial_options options = make_options(12, 12, published[i].load);
        assert_held(&options, 0.3, 3 * published[i].rbpid);
        options.modules[SS_KIND_CONTROL] = "geom";
        assert_held(&options, 0.7, 3 * published[i].geom);
    }
}

/* Published bounds of `sunflow`. A single instance of it saturates the machine. */
TEST(errors_with_parallel_instances_match_the_published_ones) {
    static const struct {
        const char *load;
        double rbpid, geom;
    } published[] = {{"25%", 2.58, 5.38}, {"1/3", 2.84, 7.28}, {"50%", 4.0, 13.9},
        {"2/3", 7.74, 26.6}, {"75%", 11.3, 28.4}};
    for (size_t i = 0; i < 5; i++) {
        struct trial_options options = make_options(12, 12, published[i].load);
        options.width = 12;
        assert_held(&options, 0.6, 3 * published[i].rbpid);
        options.modules[SS_KIND_CONTROL] = "geom";
        assert_held(&options, 2, 3 * published[i].geom);
    }
}

/*
 * Without feedback some instance is always running, and each can use the whole machine, whatever
 * the target. The published baseline behaves the same, because its executors are not in step.
 */
TEST(parallel_instances_exceed_the_target_without_feedback) {
    struct trial_options options = make_options(12, 12, "50%");
    options.width = 12;
    options.modules[SS_KIND_CONTROL] = "fixed";
    for (int i = 0; i < 2; i++) {
        options.modules[SS_KIND_SPACE] = i == 0 ? "even" : "uneven";
        struct trial_figures figures = run(&options, 60 * SS_SECOND);
        assert_near(figures.load_mean, 1, 1e-12);
        assert_near(figures.error_mse_e4, 2500, 1e-6);
    }
}

/*
 * Returns the sum of the mean squared errors at the published loads, on a machine that counts in
 * ticks.
 */
static double sum_mse(uint32_t width, const char *control, const char *control_options,
    const char *space, double *sum_error) {
    static const char *const loads[] = {"25%", "33%", "50%", "66%", "75%"};
    double sum = 0;
    *sum_error = 0;
    for (size_t i = 0; i < 5; i++) {
        struct trial_options options = make_options(12, 12, loads[i]);
        options.width = width;
        options.tick_rate = 250;
        options.lateness = SS_TIME_NEVER;
        options.stop_lateness = 4 * SS_MILLISECOND;
        options.modules[SS_KIND_CONTROL] = control;
        options.options[SS_KIND_CONTROL] = control_options;
        options.modules[SS_KIND_SPACE] = space;
        struct trial_figures figures = run(&options, 190 * SS_SECOND);
        sum += figures.error_mse_e4;
        *sum_error += fabs(figures.error_mean_percent);
    }
    return sum;
}

/*
 * PI is steadier than geom, and both are worst with `uneven` if an instance saturates the machine.
 * For such instances, the published sums are 28 (PI, even), 83 (geom, even), 139 (PI, uneven) and
 * 680.
 */
TEST(errors_of_control_and_space_rank_as_published) {
    double error[4];
    double serial_pi = sum_mse(1, "rbpid", NULL, "even", &error[0]);
    double serial_geom = sum_mse(1, "geom", NULL, "even", &error[0]);
    double pi = sum_mse(12, "rbpid", NULL, "even", &error[0]);
    double geom = sum_mse(12, "geom", NULL, "even", &error[1]);
    double pi_uneven = sum_mse(12, "rbpid", NULL, "uneven", &error[2]);
    double geom_uneven = sum_mse(12, "geom", NULL, "uneven", &error[3]);
    if (!(serial_pi < serial_geom / 3 && pi < geom / 2 && pi_uneven > 3 * pi &&
            geom_uneven > 1.5 * geom && geom_uneven > pi_uneven && error[2] > error[0]))
        fail_msg("serial: PI %g, geom %g; parallel: PI %g (errors %g), geom %g (%g), uneven: PI %g "
                 "(%g), geom %g (%g)",
            serial_pi, serial_geom, pi, error[0], geom, error[1], pi_uneven, error[2], geom_uneven,
            error[3]);
}

/*
 * The publication does not say whether an executor scales its own duty or the average that it used.
 * Only its own duty comes near the published sum of 83 for instances that saturate the machine.
 */
TEST(geom_matches_the_published_error_by_scaling_its_own_duty) {
    double error;
    double own = sum_mse(12, "geom", NULL, "even", &error);
    double global = sum_mse(12, "geom", "previous=global", "even", &error);
    if (!(own > 83 / 1.5 && own < 83 * 1.5 && global < 83.0 / 5))
        fail_msg("MSE %g with own duties, %g with the global duty", own, global);
}

/* 107 s are exactly 1000 rounds of 107 ms and a whole number of samples, so nothing is rounded. */
TEST(fixed_duty_is_kept_to_the_nanosecond) {
    static const char *const loads[] = {"1%", "25%", "1/3", "50%", "75%", "99.5%"};
    for (size_t i = 0; i < 6; i++) {
        struct trial_options options = make_options(4, 4, loads[i]);
        options.modules[SS_KIND_CONTROL] = "fixed";
        struct trial_figures figures = run(&options, 117 * SS_SECOND);
        assert_int_equal(figures.samples, 214);
        assert_near(figures.error_mean_percent, 0, 1e-6);
        options.modules[SS_KIND_SPACE] = "uneven";
        figures = run(&options, 117 * SS_SECOND);
        assert_near(figures.error_mean_percent, 0, 1e-6);
    }
}

TEST(fixed_quanta_keep_the_duty) {
    struct trial_options options = make_options(4, 4, "30%");
    options.modules[SS_KIND_DITHERING] = "fixedq";
    options.modules[SS_KIND_CONTROL] = "fixed";
    struct trial_figures figures = run(&options, (10 + 130) * SS_SECOND); /* 10 000 quanta */
    assert_near(figures.error_mean_percent, 0, 1e-6);
    options.modules[SS_KIND_CONTROL] = "rbpid";
    assert_held(&options, 0.1, 1);
}

/* Returns the duty in the first 400 ms of control. Permits are exact to a microsecond. */
static double first_duty(const char *dithering, const char *options_text, ss_time warmup) {
    struct trial_options options = make_options(2, 2, "10%");
    options.modules[SS_KIND_CONTROL] = "fixed";
    options.modules[SS_KIND_DITHERING] = dithering;
    options.options[SS_KIND_DITHERING] = options_text;
    options.warmup = warmup;
    options.settle = 0;
    options.interval = 400 * SS_MILLISECOND;
    struct trial_figures figures = run(&options, warmup + 400 * SS_MILLISECOND);
    assert_int_equal(figures.samples, 1);
    return figures.duty_mean;
}

TEST(duty_is_kept_from_the_beginning_of_control) {
    for (ss_time warmup = 0; warmup <= 300 * SS_MILLISECOND; warmup += 300 * SS_MILLISECOND) {
        assert_near(first_duty("averageq", "400m", warmup), 0.1, 1e-5);
        assert_near(first_duty("averageq", "400m,phase=together", warmup), 0.1, 1e-5);
        assert_near(first_duty("averageq", "400m,phase=together:2s", warmup), 0.1, 1e-5);
        assert_near(first_duty("fixedq", "20m", warmup), 0.1, 0.05);
    }
}

/*
 * Only one instance switches. The others read the load in rounds of the same length, so always at
 * the same phase; hence the wider bound.
 */
TEST(uneven_duties_hold_the_target_load) {
    static const char *const loads[] = {"25%", "40%", "66%"};
    for (size_t i = 0; i < 3; i++) {
        struct trial_options options = make_options(4, 4, loads[i]);
        options.modules[SS_KIND_SPACE] = "uneven";
        assert_held(&options, 1, 3);
        options.options[SS_KIND_SPACE] = "rotate=5s";
        assert_held(&options, 1, 6);
    }
}

/* Twelve instances that each use all CPUs, with a fixed duty and rounds of one length. */
static double load_covered(const char *dithering) {
    struct trial_options options = make_options(4, 12, "25%");
    options.width = 4;
    options.modules[SS_KIND_CONTROL] = "fixed";
    options.options[SS_KIND_CONTROL] = "duty=25%";
    options.options[SS_KIND_DITHERING] = dithering;
    return run(&options, 117 * SS_SECOND).load_mean;
}

TEST(loads_of_simultaneous_rounds_cover_the_duty_and_the_spread) {
    assert_near(load_covered("100m,phase=together"), 0.25, 0.001);
    assert_near(load_covered("100m,phase=together:20m"), 0.45, 0.001);
    assert_that(load_covered("100m,phase=hash"), >, 0.9);
}

TEST(load_of_other_processes_is_compensated) {
    struct trial_options options = make_options(4, 4, "60%");
    options.background = 0.7;
    assert_held(&options, 0.2, 3);
    struct trial_figures figures = run(&options, 60 * SS_SECOND);
    assert_near(figures.duty_mean, (0.6 * 4 - 0.7) / 4, 0.02);
}

TEST(averaging_reduces_the_spread_of_duties) {
    static struct trial trial;
    double spread[2];
    for (int i = 0; i < 2; i++) {
        struct trial_options options = make_options(8, 8, "50%");
        options.options[SS_KIND_CONTROL] = i == 0 ? "0" : "7";
        options.lateness = 3 * SS_MILLISECOND;
        options.lateness_varies = true;
        open_trial(&trial, &options);
        advance(&trial, 60 * SS_SECOND);
        double min = 1, max = 0;
        for (uint32_t n = 0; n < 8; n++) {
            double duty = ss_double_from_word(trial.board->rows[n].global_duty);
            min = fmin(min, duty);
            max = fmax(max, duty);
        }
        spread[i] = max - min;
        trial_close(&trial);
    }
    if (!(spread[1] < spread[0] / 2))
        fail_msg("spread of duties %g without and %g with peers", spread[0], spread[1]);
}

TEST(targets_of_0_and_1_need_no_signals) {
    static const char *const controls[] = {"rbpid", "geom", "fixed"};
    for (size_t i = 0; i < 3; i++) {
        struct trial_options options = make_options(4, 4, "0");
        options.modules[SS_KIND_CONTROL] = controls[i];
        struct trial_figures figures = run(&options, 60 * SS_SECOND);
        assert_near(figures.load_mean, 0, 0);
        assert_near(figures.switches_per_second, 0, 0);
        options.options[SS_KIND_TRACE] = "1";
        figures = run(&options, 60 * SS_SECOND);
        assert_near(figures.load_mean, 1, 0);
        assert_near(figures.switches_per_second, 0, 0);
    }
}

/* One serial instance on four CPUs cannot reach 75 %; back at 10 %, it must follow at once. */
TEST(unreachable_target_does_not_wind_up) {
    static struct trial trial;
    static const char *const controls[] = {"rbpid", "geom"};
    for (size_t i = 0; i < 2; i++) {
        struct log log;
        struct trial_options options = make_options(4, 1, "75%");
        options.modules[SS_KIND_CONTROL] = controls[i];
        keep_samples(&options, &log);
        open_trial(&trial, &options);
        advance(&trial, 60 * SS_SECOND);
        assert_near(log.samples[log.count - 1].load, 0.25, 1e-12);
        atomic_store(&trial.board->setpoint, ss_word_from_double(0.1));
        advance(&trial, 30 * SS_SECOND);
        assert_settled(&log, 64, 90, 0.05);
        trial_close(&trial);
    }
}

TEST(load_follows_the_published_saw_trace) {
    struct trial_options options = make_options(12, 12, PROJECT_SOURCE_DIR "/traces/saw.txt");
    options.modules[SS_KIND_TRACE] = "file";
    options.settle = 0;
    struct trial_figures figures = run(&options, 120 * SS_SECOND);
    assert_near(figures.target_mean, 0.5, 0.01);
    assert_near(figures.error_mean_percent, 0, 0.5);
    assert_that(figures.error_mse_e4, <, 10);
    /* At three times the speed, the trace is steeper but still followed. */
    options.options[SS_KIND_TRACE] = PROJECT_SOURCE_DIR "/traces/saw.txt,scale=1/3";
    figures = run(&options, 120 * SS_SECOND);
    assert_near(figures.error_mean_percent, 0, 0.5);
    assert_that(figures.error_mse_e4, <, 40);
}

TEST(load_settles_after_steps_of_a_trace) {
    struct log log;
    struct trial_options options = make_options(4, 4, PROJECT_SOURCE_DIR "/traces/steps.txt");
    options.modules[SS_KIND_TRACE] = "file";
    keep_samples(&options, &log);
    run(&options, 29 * SS_SECOND);
    assert_settled(&log, 4, 9.5, 0.05);
    assert_settled(&log, 14, 19.5, 0.05);
    assert_settled(&log, 24, 29, 0.05);
}

TEST(control_restarts_after_free_sections) {
    struct log log;
    char path[] = "/tmp/test_loop.XXXXXX";
    write_trace(path, "0 free\n10s 30%\n20s 30%\n20s free\n30s 40%\n40s 40%\n");
    struct trial_options options = make_options(4, 4, path);
    options.modules[SS_KIND_TRACE] = "file";
    options.settle = 0;
    keep_samples(&options, &log);
    struct trial_figures figures = run(&options, 39 * SS_SECOND);
    unlink(path);
    assert_int_equal(figures.samples, 20 + 18);
    for (size_t i = 0; i < log.count; i++) {
        double end = log.samples[i].elapsed;
        bool uncontrolled = end <= 10 || (end > 20 && end <= 30);
        assert_int_equal(isnan(log.samples[i].target), uncontrolled);
        if (uncontrolled && end > 0.5 && end != 20.5)
            assert_near(log.samples[i].load, 1, 1e-12);
    }
    /*
     * The load of the `free` section is forgotten. All instances begin at once, so control has to
     * recover from a first sample of a machine on which all of them run.
     */
    assert_settled(&log, 12, 19.5, 0.05);
    assert_settled(&log, 32, 39, 0.05);
}

TEST(partly_free_samples_are_not_counted) {
    char path[] = "/tmp/test_loop.XXXXXX";
    write_trace(path, "0 free\n200m 30%\n5200m free\n5700m 30%\n10s 30%\n");
    struct trial_options options = make_options(4, 4, path);
    options.modules[SS_KIND_TRACE] = "file";
    options.settle = 0;
    struct trial_figures figures = run(&options, 10 * SS_SECOND);
    unlink(path);
    assert_int_equal(figures.samples, 20 - 3);
}

TEST(warm_up_samples_are_not_counted) {
    struct log log;
    struct trial_options options = make_options(4, 4, "50%");
    options.warmup = 7300 * SS_MILLISECOND;
    options.settle = 0;
    keep_samples(&options, &log);
    struct trial_figures figures = run(&options, 17300 * SS_MILLISECOND);
    assert_int_equal(figures.samples, 20);
    assert_near(figures.error_mean_percent, 0, 5);
    for (size_t i = 0; i < 15; i++) {
        assert_true(isnan(log.samples[i].target));
        assert_near(log.samples[i].load, 1, 0);
    }
    assert_near(log.samples[14].elapsed, 7.3, 1e-9);
    assert_false(isnan(log.samples[15].target));
}

UNIT_RUN
