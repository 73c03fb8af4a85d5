/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

#define MS SS_MILLISECOND

static struct trial trial;

/* With steal, the load by idle time is above that by run time, and control holds one of them. */
TEST(statistics_use_the_source_of_the_feedback) {
    static const char *const sources[] = {"source=runtime", "source=idle"};
    OWNED_MIX mix = parse_mix("blocking");
    for (int i = 0; i < 2; i++) {
        struct trial_options options = make_options(2, 3, "50%");
        options.mix = &mix;
        options.steal = 0.2;
        options.modules[SS_KIND_FEEDBACK] = "exact";
        options.options[SS_KIND_FEEDBACK] = sources[i];
        struct trial_figures figures = run(&options, 60 * SS_SECOND);
        assert_near(figures.load_mean, 0.5, 0.005);
        assert_near(figures.error_mean_percent, 0, 0.5);
    }
}

static struct trial_figures measure_cost(
    uint32_t instances, const char *quantum, uint64_t rate, ss_time cost) {
    struct trial_options options = make_options(2, instances, "25%");
    options.options[SS_KIND_DITHERING] = quantum;
    options.tick_rate = rate;
    options.switch_cost = cost;
    return run(&options, 70 * SS_SECOND);
}

/* Four executors wake up twice per round; the instances get the rest. */
TEST(shorter_quantum_costs_more_cpu_time) {
    struct trial_figures longer = measure_cost(4, "100m", 0, 50 * SS_MICROSECOND);
    struct trial_figures shorter = measure_cost(4, "20m", 0, 50 * SS_MICROSECOND);
    assert_near(longer.own_cpu, 4 * 2 * 50e-6 / 0.1, 1e-4);
    assert_near(shorter.own_cpu, 4 * 2 * 50e-6 / 0.02, 5e-4);
    assert_near(measure_cost(4, "20m", 0, 0).own_cpu, 0, 0);
}

/*
 * The executors' CPU time is load like any other: both accounts include it, and the modules
 * compensate for it.
 */
TEST(cpu_time_of_executors_counts_as_load) {
    for (int i = 0; i < 2; i++) {
        uint64_t rate = i == 0 ? 0 : 250;
        struct trial_figures figures = measure_cost(1, "20m", rate, 500 * SS_MICROSECOND);
        assert_near(figures.own_cpu, 0.05, 0.001);
        assert_near(figures.error_mean_percent, 0, 0.1);
        assert_near(figures.duty_mean, 0.5 - 0.05, 0.003);
    }
}

/*
 * Returns the mean error of the true load. Quanta of whole ticks are in step with the ticks, which
 * misleads the controller.
 */
static double measure_error(const char *count, const char *quantum, uint64_t rate) {
    struct trial_options options = make_options(2, 2, "25%");
    options.options[SS_KIND_FEEDBACK] = count;
    options.options[SS_KIND_DITHERING] = quantum;
    options.tick_rate = rate;
    return fabs(run(&options, 100 * SS_SECOND).error_mean_percent);
}

TEST(tick_counters_mislead_control_with_synchronized_rounds) {
    double misled = measure_error("count=ticks", "4m", 250);
    if (!(misled > 3))
        fail_msg("a mean error of %g %%", misled);
    assert_true(measure_error("count=ticks", "4m", 0) < 0.5);
    assert_true(measure_error("count=idle", "4m", 250) < 0.5);
    assert_true(measure_error("count=ticks", "18700u", 250) < 0.5);
}

/* The monitor reads the true load, not the modules' counters. */
TEST(trial_figures_describe_the_true_load) {
    struct log log = {0}, exact = {0};
    struct trial_options options = make_fixed(2, 2, "50%");
    options.background = 0.3;
    options.tick_rate = 250;
    keep_samples(&options, &log);
    run(&options, 20 * SS_SECOND);
    options.tick_rate = 0;
    options.context = &exact;
    run(&options, 20 * SS_SECOND);
    assert_int_equal(log.count, 40);
    assert_memory_equal(&log, &exact, sizeof log);
}

/*
 * Measures the mean lateness of wake-ups on one CPU: [0] if it is busy at the deadline, [1] if
 * idle. When the deadline was set, the state was mostly the opposite.
 */
static void measure_lateness(double late[2]) {

    struct trial_options options = make_fixed(1, 1, "50%");
    options.lateness = SS_TIME_NEVER;
    open_trial(&trial, &options);
    advance(&trial, SS_SECOND);
    int counts[2] = {0};
    late[0] = late[1] = 0;
    for (int i = 0; i < 10000; i++) {
        ss_time planned = trial.steppers[0].deadline;
        uint64_t before = trial.steps;
        trial_set_background(&trial, (i + 1) / 2 % 2, trial.now);
        advance(&trial, planned - trial.now);
        bool idle = machine_idle_cpus(&trial.machine) > 0;
        while (trial.steps == before)
            advance(&trial, trial.sleepers.due[0] - trial.now);
        late[idle] += (double)(trial.now - planned);
        counts[idle]++;
    }
    trial_close(&trial);
    assert_that(counts[0], >, 2000);
    assert_that(counts[1], >, 2000);
    late[0] /= counts[0];
    late[1] /= counts[1];
}

/* The mean exceeds the median because of a long tail. */
TEST(simulated_wake_ups_are_as_late_as_recorded_ones) {
    double late[2];
    measure_lateness(late);
    if (!(late[1] > 45e3 && late[1] < 90e3) || !(late[0] > 16e3 && late[0] < 60e3) ||
        !(late[1] > late[0] + 20e3))
        fail_msg("%g ns saturated, %g ns idle", late[0], late[1]);
}

/* Returns the shortest time after continuing its instance until an executor runs again. */
static ss_time measure_hold_up(uint32_t cpus, uint32_t width, double background, ss_time preempt) {

    ss_time shortest = SS_TIME_NEVER;
    struct trial_options options = make_fixed(cpus, 1, "50%");
    options.options[SS_KIND_DITHERING] = "2m";
    options.width = width;
    options.background = background;
    options.preempt = preempt;
    open_trial(&trial, &options);
    for (int i = 0; i < 1000; i++) {
        advance(&trial, 100 * SS_MICROSECOND);
        bool running = trial.machine.instances[0].running;
        ss_time due = trial.sleepers.due[0] - trial.now;
        if (running && i > 10 && due < shortest)
            shortest = due;
        while (trial.machine.instances[0].running == running)
            advance(&trial, 10 * SS_MICROSECOND);
    }
    trial_close(&trial);
    return shortest;
}

/*
 * On a real machine with two CPUs, sixteen woken threads delayed the executor by 34 ms, but not at
 * all if it had real-time priority.
 */
TEST(woken_threads_delay_the_executor) {
    assert_that(measure_hold_up(2, 16, 0, 0), <, 1 * MS);
    ss_time idle = measure_hold_up(2, 16, 0, 2 * MS);
    assert_that(idle, >, 27 * MS);
    assert_that(idle, <=, 28 * MS);
    ss_time saturated = measure_hold_up(2, 16, 2, 2 * MS);
    assert_that(saturated, >, 31 * MS);
    assert_that(saturated, <=, 32 * MS);
    /* Only woken threads delay the executor, not those that were waiting before. */
    ss_time crowded = measure_hold_up(2, 1, 5, 2 * MS);
    assert_that(crowded, >, 1 * MS);
    assert_that(crowded, <=, 2 * MS);
    /* There are enough CPUs for all threads. */
    assert_that(measure_hold_up(16, 16, 0, 2 * MS), <, 1 * MS);
}

static int compare(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Measures the seconds from a stop until the last thread has stopped. */
static void measure_stops(double *seconds, int count, uint32_t width) {

    struct trial_options options = make_fixed(4, 1, "50%");
    options.options[SS_KIND_DITHERING] = "53297u";
    options.width = width;
    options.preempt = 2 * MS;
    options.stop_lateness = 4 * MS;
    open_trial(&trial, &options);
    for (int i = 0; i < count; i++) {
        const struct machine_instance *one = &trial.machine.instances[0];
        while (!one->running)
            advance(&trial, 10 * SS_MICROSECOND);
        while (one->running)
            advance(&trial, 10 * SS_MICROSECOND);
        assert_int_equal(trial.machine.threads, one->lingering);
        ss_time stopped = trial.now;
        while (one->lingering > 0) {
            assert_int_equal(one->lingering, width - 1);
            advance(&trial, 10 * SS_MICROSECOND);
        }
        assert_int_equal(trial.machine.threads, 0);
        seconds[i] = ss_time_seconds(trial.now - stopped);
    }
    trial_close(&trial);
}

/* On a real machine with ticks of 4 ms, nine in ten stops took up to 3.7 ms. */
TEST(stops_take_effect_at_the_next_tick) {
    static double seconds[1000];
    measure_stops(seconds, 1000, 3);
    qsort(seconds, 1000, sizeof *seconds, compare);
    assert_near(seconds[500], 0.002, 0.0003);
    assert_near(seconds[900], 0.0036, 0.0002);
    assert_that(seconds[999], <=, 0.00401);
    measure_stops(seconds, 100, 1);
    for (int i = 0; i < 100; i++)
        assert_near(seconds[i], 0, 0);
}

TEST(ended_instance_has_no_late_stop_effects) {

    struct trial_options options = make_options(4, 2, "50%");
    OWNED_MIX mix = parse_mix("blocking,parallel");
    options.mix = &mix;
    options.stop_lateness = SS_SECOND;
    open_trial(&trial, &options);
    advance(&trial, 10 * SS_SECOND);
    for (uint32_t i = 0; i < 2; i++) {
        while (trial.machine.instances[i].lingering == 0)
            advance(&trial, 100 * SS_MICROSECOND);
        trial_leave(&trial, i);
    }
    assert_int_equal(trial.machine.threads, 0);
    advance(&trial, 10 * SS_SECOND);
    assert_int_equal(trial.machine.threads, 0);
    trial_close(&trial);
}

static void log_everything(struct log *log, uint64_t seed) {
    OWNED_MIX mix = parse_mix("blocking,forking,serial,parallel");
    struct trial_options options = make_options(4, 6, "60%");
    options.mix = &mix;
    options.background = 0.4;
    options.tick_rate = 250;
    options.lateness = SS_TIME_NEVER;
    options.stop_lateness = 4 * MS;
    options.seed = seed;
    keep_samples(&options, log);
    *log = (struct log){0};
    struct trial_figures figures = run(&options, 30 * SS_SECOND);
    assert_near(figures.error_mean_percent, 0, 5);
}

TEST(equal_seeds_give_identical_trials) {
    static struct log one, again, other;
    log_everything(&one, 42);
    log_everything(&again, 42);
    log_everything(&other, 43);
    assert_int_equal(one.count, 60);
    assert_memory_equal(&one, &again, sizeof one);
    assert_memory_not_equal(&one, &other, sizeof one);
}

UNIT_RUN
