/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

static struct trial trial;

TEST(remaining_instances_make_up_for_a_departed_one) {

    static const char *const spaces[] = {"even", "uneven"};
    for (size_t i = 0; i < 2; i++) {
        struct trial_options options = make_options(4, 4, "50%");
        options.modules[SS_KIND_SPACE] = spaces[i];
        options.settle = 40 * SS_SECOND;
        open_trial(&trial, &options);
        advance(&trial, 30 * SS_SECOND);
        trial_leave(&trial, 0);
        advance(&trial, 70 * SS_SECOND);
        struct trial_figures figures;
        trial_get_figures(&trial, &figures);
        assert_near(figures.error_mean_percent, 0, 0.2);
        assert_near(figures.duty_mean, 2.0 / 3, 0.01);
        trial_close(&trial);
    }
}

/* Half of three instances is one and a half: the second always runs, the third half the time. */
TEST(remaining_instances_get_new_ranks_after_a_departure) {

    struct trial_options options = make_options(4, 4, "50%");
    options.modules[SS_KIND_CONTROL] = "fixed";
    options.modules[SS_KIND_SPACE] = "uneven";
    options.settle = 20 * SS_SECOND;
    open_trial(&trial, &options);
    advance(&trial, 10 * SS_SECOND);
    static const double before[] = {1, 1, 0, 0};
    for (int i = 0; i < 4; i++)
        assert_near(ss_double_from_word(trial.board->rows[i].local_duty), before[i], 0);
    trial_leave(&trial, 0);
    advance(&trial, 10 * SS_SECOND);
    static const double after[] = {0, 1, 0.5, 0};
    for (int i = 1; i < 4; i++)
        assert_near(ss_double_from_word(trial.board->rows[i].local_duty), after[i], 0);
    advance(&trial, 107 * SS_SECOND);
    struct trial_figures figures;
    trial_get_figures(&trial, &figures);
    assert_near(figures.load_mean, 1.5 / 4, 1e-8);
    trial_close(&trial);
}

/* Each state begins and ends late by the same time. */
TEST(late_wake_ups_cause_no_drift) {
    struct trial_options options = make_options(4, 4, "25%");
    options.lateness = 5 * SS_MILLISECOND;
    options.modules[SS_KIND_CONTROL] = "fixed";
    struct trial_figures figures = run(&options, 117 * SS_SECOND);
    assert_near(figures.error_mean_percent, 0, 1e-6);
    options.lateness_varies = true;
    figures = run(&options, 1010 * SS_SECOND);
    assert_near(figures.error_mean_percent, 0, 0.1);
    /* The few states shorter than the lateness are skipped. */
    assert_near(figures.switches_per_second, 4 * 2 / 0.107, 0.5);
    options.modules[SS_KIND_CONTROL] = "rbpid";
    assert_held(&options, 0.2, 5);
}

/* Both executors sleep for a minute. */
TEST(delayed_executor_does_not_make_up_for_lost_time) {

    struct trial_options options = make_options(2, 2, "50%");
    options.settle = 95 * SS_SECOND;
    open_trial(&trial, &options);
    advance(&trial, 30 * SS_SECOND);
    for (uint32_t i = 0; i < 2; i++) {
        trial.instances[i].has_lateness = true;
        sleepers_set(&trial.sleepers, i, trial.now + 60 * SS_SECOND);
    }
    advance(&trial, 60 * SS_SECOND - 1);
    uint64_t steps = trial.steps;
    uint64_t switches = trial.switches;
    advance(&trial, SS_SECOND);
    assert_that(trial.steps - steps, <=, 2 * 20);
    assert_that(trial.switches - switches, <=, 2 * 20);
    advance(&trial, 34 * SS_SECOND);
    struct trial_figures figures;
    trial_get_figures(&trial, &figures);
    assert_near(figures.error_mean_percent, 0, 0.5);
    trial_close(&trial);
}

/* Pauses as the master does, which takes no samples during a pause. */
static void pause_for(ss_time length) {
    struct ss_board *board = trial.board;
    struct ss_counters before, after;
    atomic_store(&board->phase, SS_PHASE_PAUSED);
    wake_all(&trial);
    sleepers_set(&trial.sleepers, trial.options.instances, SS_TIME_NEVER);
    machine_read_exactly(&trial.machine, trial.now, &before);
    advance(&trial, length);
    machine_read_exactly(&trial.machine, trial.now, &after);
    assert_int_equal(after.idle - before.idle, trial.options.cpus * length);
    atomic_store(&board->paused, board->paused + length);
    atomic_store(&board->control_since, trial.now);
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    ss_monitor_shift(&trial.monitor, length);
    ss_monitor_begin(&trial.monitor, trial.now, trial.now);
    sleepers_set(&trial.sleepers, trial.options.instances, trial.monitor.next);
    wake_all(&trial);
}

/* The pause lasts from 5 s to 35 s, so the steps at 10 s and 20 s follow at 40 s and 50 s. */
TEST(pause_delays_the_steps_of_a_trace) {

    struct log log;
    struct trial_options options = make_options(4, 4, PROJECT_SOURCE_DIR "/traces/steps.txt");
    options.modules[SS_KIND_TRACE] = "file";
    options.settle = 0;
    keep_samples(&options, &log);
    open_trial(&trial, &options);
    advance(&trial, 5 * SS_SECOND);
    pause_for(30 * SS_SECOND);
    advance(&trial, 24 * SS_SECOND);
    trial_close(&trial);
    for (size_t i = 0; i < log.count; i++) {
        const struct trial_sample *sample = &log.samples[i];
        assert_true(sample->elapsed <= 5 || sample->elapsed > 35);
        assert_near(
            sample->target, sample->elapsed > 40 && sample->elapsed <= 50 ? 0.6 : 0.1, 1e-12);
    }
    assert_settled(&log, 36, 39.5, 0.05);
    assert_settled(&log, 44, 49.5, 0.05);
    assert_settled(&log, 54, 59, 0.05);
}

static double return_nan(const struct ss_self *self, const struct ss_control_input *input) {
    return input->moment.now > 1020 * SS_SECOND ? NAN : 0.5;
}

TEST(nan_from_a_module_ends_the_trial) {

    struct ss_error error = {0};
    struct trial_options options = make_options(4, 4, "50%");
    open_trial(&trial, &options);
    trial.set.modules[SS_KIND_CONTROL].table.control.update = return_nan;
    assert_fails(trial_advance(&trial, 60 * SS_SECOND, &error), error, "returned NaN");
    assert_that(trial.now, <, 1021 * SS_SECOND);
    trial_close(&trial);
}

TEST(unsupported_simulations_are_refused) {

    static const struct {
        const char *module, *options, *words;
    } cases[] = {
        {"command", "cat /dev/null", "no programs that print numbers"},
        {"realtiem", NULL, "did you mean 'realtime'"},
        {"realtime", "0", "too small"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ss_error error = {0};
        struct trial_options options = make_options(4, 4, "50%");
        options.modules[SS_KIND_FEEDBACK] = cases[i].module;
        options.options[SS_KIND_FEEDBACK] = cases[i].options;
        assert_fails(trial_open(&trial, &options, &error), error, cases[i].words);
    }
}

UNIT_RUN
