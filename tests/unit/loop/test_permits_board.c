/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the permits kept by the step function match the time that a machine gives to
 * instances.
 */

#include "loop.h"
#include "loop/permits.h"

/* CPU time used before the first step of the executors. */
static double used_before;

static struct trial trial;

static void look(struct ss_counters *counters, struct ss_permission *seen) {
    machine_read(&trial.machine, trial.now, counters);
    ss_permits_read(&trial.board->permits, trial.now, seen);
}

/* Each change of a permit may lose up to a unit of 1024 ns. */
static void assert_permits_match(void) {
    struct ss_counters counters;
    struct ss_permission permission;
    uint32_t running = 0;
    look(&counters, &permission);
    for (uint32_t i = 0; i < trial.options.instances; i++)
        running += trial.machine.instances[i].running;
    assert_int_equal(permission.running, running);
    assert_near((double)permission.given, (double)counters.used - used_before, 50e3);
}

static void begin(const struct trial_options *options) {
    struct ss_counters counters;
    struct ss_permission permission;
    open_trial(&trial, options);
    advance(&trial, options->warmup + 10 * SS_MILLISECOND);
    look(&counters, &permission);
    used_before = (double)counters.used - (double)permission.given;
    assert_that(used_before, <=, options->instances * ((double)options->warmup + 10e6));
}

static void follow(ss_time length) {
    for (ss_time end = trial.now + length; trial.now < end;) {
        advance(&trial, 7 * SS_MILLISECOND + 1);
        assert_permits_match();
    }
}

/* With as many CPUs as instances, each instance uses all its permitted time. */
TEST(permits_match_the_cpu_time_of_the_machine) {
    static const char *const ditherings[] = {"averageq", "fixedq", "stagger"};

    for (size_t i = 0; i < 3; i++) {
        struct trial_options options = make_options(6, 6, "40%");
        options.modules[SS_KIND_DITHERING] = ditherings[i];
        options.warmup = 500 * SS_MILLISECOND;
        options.lateness = 300 * SS_MICROSECOND;
        options.lateness_varies = true;
        begin(&options);
        follow(10 * SS_SECOND);
        trial_leave(&trial, 2);
        trial_leave(&trial, 5);
        assert_permits_match();
        /* Spurious wake-ups change no permit. */
        for (int j = 0; j < 200; j++) {
            wake_all(&trial);
            follow(3 * SS_MILLISECOND);
        }
        trial_close(&trial);
    }
}

TEST(pauses_and_the_end_change_permits) {
    struct trial_options options = make_options(4, 4, "60%");
    struct ss_counters counters;
    struct ss_permission permission;
    begin(&options);
    follow(SS_SECOND);
    atomic_store(&trial.board->phase, SS_PHASE_PAUSED);
    wake_all(&trial);
    follow(SS_SECOND);
    look(&counters, &permission);
    assert_int_equal(permission.running, 0);
    atomic_store(&trial.board->phase, SS_PHASE_ENDING);
    wake_all(&trial);
    advance(&trial, SS_SECOND);
    assert_permits_match();
    look(&counters, &permission);
    assert_int_equal(permission.running, 4);
    trial_close(&trial);
}

UNIT_RUN
