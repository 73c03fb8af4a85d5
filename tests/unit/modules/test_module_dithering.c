/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

TEST(averageq_runs_then_stops) {
    RIG rig = rig_open("dithering/averageq", NULL, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    for (int i = 0; i < 10; i++) {
        assert_plan(&walk, 0.25, SS_STATE_RUNNING, 0.25 * 107);
        assert_plan(&walk, 0.25, SS_STATE_STOPPED, 0.75 * 107);
    }
}

/* The stop depends on the duty when the stop begins, not when the previous run began. */
TEST(averageq_uses_current_duty_for_each_half) {
    RIG rig = rig_open("dithering/averageq", "100m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.5, SS_STATE_RUNNING, 50);
    assert_plan(&walk, 0.2, SS_STATE_STOPPED, 80);
    assert_plan(&walk, 0.9, SS_STATE_RUNNING, 90);
    assert_plan(&walk, 0.4, SS_STATE_STOPPED, 60);
}

TEST(averageq_never_switches_at_the_bounds) {
    RIG rig = rig_open("dithering/averageq", NULL, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    for (int i = 0; i < 1000; i++)
        assert_plan(&walk, 0, SS_STATE_STOPPED, 107);
    for (int i = 0; i < 1000; i++)
        assert_plan(&walk, 1, SS_STATE_RUNNING, 107);
}

/* Carried time stays with its state, however long the duty is at a bound. */
TEST(averageq_keeps_carried_time_at_bounds) {
    RIG rig = rig_open("dithering/averageq", "100m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.992, SS_STATE_RUNNING, 99.2);
    /* The stop of 0.8 ms is carried, and the run after it is planned at once. */
    assert_plan(&walk, 0.992, SS_STATE_RUNNING, 99.2);
    for (int i = 0; i < 100; i++)
        assert_plan(&walk, 1, SS_STATE_RUNNING, 100);
    /* 0.8 + 0.8 */
    assert_plan(&walk, 0.992, SS_STATE_STOPPED, 1.6);
}

/* Runs of 0.5 ms are too short: every second round of 100 ms has a run of 1 ms instead. */
TEST(averageq_carries_states_shorter_than_min_to_the_next_round) {
    RIG rig = rig_open("dithering/averageq", "100m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    for (int i = 0; i < 10; i++) {
        assert_plan(&walk, 0.005, SS_STATE_STOPPED, 99.5);
        assert_plan(&walk, 0.005, SS_STATE_RUNNING, 1);
        assert_plan(&walk, 0.005, SS_STATE_STOPPED, 99.5);
    }
}

TEST(averageq_shortest_state_is_configurable) {
    RIG rig = rig_open("dithering/averageq", "100m,min=20m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.9, SS_STATE_RUNNING, 90);
    assert_plan(&walk, 0.9, SS_STATE_RUNNING, 90);
    assert_plan(&walk, 0.9, SS_STATE_STOPPED, 20);
}

TEST(averageq_refuses_a_min_above_half_of_tau) {
    assert_refused("dithering/averageq", "10m,min=6m", "half of tau");
    RIG rig = rig_open("dithering/averageq", "10m,min=5m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    for (int i = 0; i < 1000; i++)
        step(&walk, 0.4999999);
}

/*
 * Over many rounds, the running time is the duty's share, except for the carried part of a state
 * and the halves of the unfinished round.
 */
static void assert_no_bias(const char *options, double duty, unsigned turns, ss_time tau,
    ss_time min, unsigned switches_at_least) {
    RIG rig = rig_open("dithering/averageq", options, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    for (unsigned i = 0; i < turns; i++)
        step(&walk, duty);
    double expected = duty * (walk.running + walk.stopped);
    double pending = (double)min + duty * (1 - duty) * (double)tau;
    assert_near(walk.running, expected, pending + 1);
    assert_that(walk.shortest, >=, min);
    assert_in_range(walk.states, switches_at_least, turns);
}

TEST(averageq_has_no_bias) {
    const double duties[] = {0.001, 0.009, 0.1, 1.0 / 3, 0.5, 0.7, 0.991, 0.999};
    for (unsigned i = 0; i < sizeof duties / sizeof *duties; i++)
        assert_no_bias(NULL, duties[i], 100000, MS(107), MS(1), 10000);
}

/*
 * A duty of 1e-9 with rounds of an hour is 3.6 us per round: a run of 1 ms every 278 rounds, so 359
 * in 100000 with two switches each; 1 - 1e-9 gives as many stops.
 */
TEST(averageq_has_no_bias_near_bounds) {
    assert_no_bias("1h", 1e-9, 100000, 3600 * SS_SECOND, MS(1), 2 * 358);
    assert_no_bias("1h", 1 - 1e-9, 100000, 3600 * SS_SECOND, MS(1), 2 * 358);
}

/* Fractions of a nanosecond are also carried: thirds of 1000001 ns, in 2 million rounds. */
TEST(averageq_loses_no_nanoseconds) {
    assert_no_bias("1000001n,min=100u", 1.0 / 3, 4000000, 1000001, 100 * SS_MICROSECOND, 3999999);
}

/* Returns the correlation between two executors, sampled every millisecond of their walks. */
static double correlate(const char *options) {
    RIG rig = rig_open("dithering/averageq", options, 2, 2);
    struct walk walks[] = {walk_begin(&rig, 0), walk_begin(&rig, 1)};
    const int samples = 200000;
    int both = 0, ran[2] = {0};
    for (int i = 0; i < samples; i++) {
        int runs[2];
        for (int j = 0; j < 2; j++) {
            while (walks[j].now <= SS_SECOND + MS(i + 1))
                step(&walks[j], 0.5);
            runs[j] = walks[j].state == SS_STATE_RUNNING;
            ran[j] += runs[j];
        }
        both += runs[0] && runs[1];
    }
    double parts[] = {(double)ran[0] / samples, (double)ran[1] / samples};
    assert_near(parts[0], 0.5, 0.01);
    assert_near(parts[1], 0.5, 0.01);
    return ((double)both / samples - parts[0] * parts[1]) / 0.25;
}

/* Rounds of equal length stay in step forever; jitter breaks the step. */
TEST(averageq_jitter_makes_executors_independent) {
    assert_that(correlate("100m,phase=together"), >, 0.98);
    assert_near(correlate("100m,phase=together,jitter=50%"), 0, 0.06);
    assert_near(correlate("100m,phase=7,jitter=50%"), 0, 0.06);
}

TEST(averageq_jitter_keeps_duty_and_mean_round) {
    RIG rig = rig_open("dithering/averageq", "100m,jitter=50%", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    for (int i = 0; i < 20000; i++) {
        struct ss_planned_state plan = step(&walk, 0.25);
        double round = (double)plan.length / (plan.state == SS_STATE_RUNNING ? 0.25 : 0.75);
        assert_that(round, >=, 50e6 - 2);
        assert_that(round, <=, 150e6 + 2);
    }
    assert_near(walk.running / (walk.running + walk.stopped), 0.25, 1e-6);
    assert_near((walk.running + walk.stopped) / 10000 / 1e6, 100, 1);
}

TEST(averageq_switches_twice_per_round_at_any_duty) {
    const double duties[] = {0.02, 0.3, 0.5, 0.98};
    for (unsigned i = 0; i < 4; i++) {
        RIG rig = rig_open("dithering/averageq", NULL, 1, 1);
        struct walk walk = walk_begin(&rig, 0);
        while (walk.now < SS_SECOND + 1000 * MS(107))
            step(&walk, duties[i]);
        assert_in_range(walk.states, 1990, 2002);
    }
}

TEST(averageq_resets_when_control_restarts) {
    RIG rig = rig_open("dithering/averageq", "100m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    /* 0.5 ms of running is carried, and a run is next. */
    assert_plan(&walk, 0.005, SS_STATE_STOPPED, 99.5);
    walk.now += SS_SECOND;
    walk.since = walk.now;
    assert_plan(&walk, 0.005, SS_STATE_STOPPED, 99.5);
    assert_plan(&walk, 0.005, SS_STATE_RUNNING, 1);
    /* A stop would be next, but control restarts with a run. */
    walk.now += SS_SECOND;
    walk.since = walk.now;
    assert_plan(&walk, 0.5, SS_STATE_RUNNING, 50);
}

/*
 * A state may be planned slightly before control begins. That resets the memory once, not with
 * every later state.
 */
TEST(averageq_resets_once_for_an_early_state) {
    RIG rig = rig_open("dithering/averageq", "100m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    walk.since = walk.now + SS_SECOND;
    assert_plan(&walk, 0.5, SS_STATE_RUNNING, 50);
    assert_plan(&walk, 0.5, SS_STATE_STOPPED, 50);
    rig_close(&rig);
    rig = rig_open("dithering/fixedq", NULL, 1, 1);
    walk = walk_begin(&rig, 0);
    walk.since = walk.now + SS_SECOND;
    assert_plan(&walk, 0.4, SS_STATE_STOPPED, 13);
    assert_plan(&walk, 0.4, SS_STATE_RUNNING, 13);
}

TEST(averageq_supports_a_thousand_executors) {
    RIG rig = rig_open("dithering/averageq", "100m", 1000, 4);
    for (uint32_t i = 0; i < 1000; i++) {
        struct walk walk = walk_begin(&rig, i);
        assert_plan(&walk, 0.25, SS_STATE_RUNNING, 25);
        assert_plan(&walk, 0.25, SS_STATE_STOPPED, 75);
    }
}

/* Sums of 0.4: 0.4 stop; 0.8 run, -0.2; 0.2 stop; 0.6 run, -0.4; 0 stop; then it repeats. */
TEST(fixedq_follows_the_duty) {
    RIG rig = rig_open("dithering/fixedq", NULL, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    const enum ss_state states[] = {
        SS_STATE_STOPPED, SS_STATE_RUNNING, SS_STATE_STOPPED, SS_STATE_RUNNING, SS_STATE_STOPPED};
    for (int i = 0; i < 20; i++)
        assert_plan(&walk, 0.4, states[i % 5], 13);
}

TEST(fixedq_quantum_is_configurable) {
    RIG rig = rig_open("dithering/fixedq", "20m", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.5, SS_STATE_RUNNING, 20);
    assert_plan(&walk, 0.5, SS_STATE_STOPPED, 20);
}

TEST(fixedq_never_switches_at_the_bounds) {
    RIG rig = rig_open("dithering/fixedq", NULL, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    /* Starts with a remainder: 0.3 below, -0.3 above. */
    step(&walk, 0.3);
    for (int i = 0; i < 1000; i++)
        assert_plan(&walk, 0, SS_STATE_STOPPED, 13);
    assert_plan(&walk, 0.4, SS_STATE_RUNNING, 13);
    for (int i = 0; i < 1000; i++)
        assert_plan(&walk, 1, SS_STATE_RUNNING, 13);
}

/* The number of running quanta differs from the sum of the duties by at most a half. */
TEST(fixedq_has_no_bias) {
    const double duties[] = {1e-9, 0.001, 0.1, 1.0 / 3, 0.5, 0.7, 0.999, 1 - 1e-9};
    for (unsigned i = 0; i < sizeof duties / sizeof *duties; i++) {
        RIG rig = rig_open("dithering/fixedq", NULL, 1, 1);
        struct walk walk = walk_begin(&rig, 0);
        for (unsigned turn = 1; turn <= 100000; turn++) {
            step(&walk, duties[i]);
            assert_near(walk.running / 13e6, duties[i] * turn, 0.5 + 1e-6);
        }
    }
}

/* Half a quantum minus 100e-9 is carried, and 100 times 1e-9 completes it; likewise from above. */
TEST(fixedq_carries_rounding_remainders_to_the_next_round) {
    RIG rig = rig_open("dithering/fixedq", NULL, 2, 1);
    struct walk low = walk_begin(&rig, 0);
    assert_plan(&low, 0.5 - 100e-9, SS_STATE_STOPPED, 13);
    for (int i = 0; i < 99; i++)
        assert_plan(&low, 1e-9, SS_STATE_STOPPED, 13);
    step(&low, 1e-9);
    step(&low, 1e-9);
    assert_near(low.running / 13e6, 1, 0);
    struct walk high = walk_begin(&rig, 1);
    assert_plan(&high, 0.5 + 100e-9, SS_STATE_RUNNING, 13);
    for (int i = 0; i < 99; i++)
        assert_plan(&high, 1 - 1e-9, SS_STATE_RUNNING, 13);
    step(&high, 1 - 1e-9);
    step(&high, 1 - 1e-9);
    assert_near(high.stopped / 13e6, 1, 0);
}

TEST(fixedq_resets_when_control_restarts) {
    RIG rig = rig_open("dithering/fixedq", NULL, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.4, SS_STATE_STOPPED, 13);
    walk.now += SS_SECOND;
    walk.since = walk.now;
    assert_plan(&walk, 0.4, SS_STATE_STOPPED, 13);
    assert_plan(&walk, 0.4, SS_STATE_RUNNING, 13);
}

#define EXECUTORS 100

/* Returns the phases of this many executors, in milliseconds. */
static const double *phases_of(const char *which, const char *options, uint32_t executors) {
    static double phases[EXECUTORS];
    RIG rig = rig_open(which, options, executors, 4);
    const struct ss_dithering_module *module = (const void *)rig.head;
    for (uint32_t i = 0; i < executors; i++)
        phases[i] = (double)module->phase(&rig.selves[i]) / 1e6;
    return phases;
}

static double mean_of(const double *values, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

TEST(hashed_phases_are_spread_over_the_round) {
    static const char *const options[] = {
        "100m", "100m,phase=hash", "100m,phase=0", "100m,phase=7"};
    for (size_t i = 0; i < 4; i++) {
        const double *phases = phases_of("dithering/averageq", options[i], EXECUTORS);
        for (uint32_t j = 0; j < EXECUTORS; j++) {
            assert_that(phases[j], >=, 0);
            assert_that(phases[j], <, 100);
            if (j > 0)
                assert_that(phases[j], !=, phases[j - 1]);
        }
        /* The mean of 100 uniform draws from 0 to 100 ms: 50 ms, plus or minus three times 2.9 ms.
         */
        assert_near(mean_of(phases, EXECUTORS), 50, 8.7);
    }
    assert_that(phases_of("dithering/fixedq", "13m", 2)[1], <, 13);
}

TEST(phases_depend_on_the_seed) {
    double hashed = phases_of("dithering/averageq", "100m", 2)[1];
    double seventh = phases_of("dithering/averageq", "100m,phase=7", 2)[1];
    assert_near(phases_of("dithering/averageq", "100m,phase=hash", 2)[1], hashed, 0);
    assert_near(phases_of("dithering/averageq", "100m,phase=7", 2)[1], seventh, 0);
    assert_that(seventh, !=, hashed);
    assert_that(phases_of("dithering/averageq", "100m,phase=8", 2)[1], !=, seventh);
}

TEST(executors_that_begin_together_are_spread_in_their_order) {
    static const char *const both[] = {"dithering/averageq", "dithering/fixedq"};
    for (size_t i = 0; i < 2; i++) {
        assert_near(phases_of(both[i], "phase=together", 12)[11], 0, 0);
        const double *phases = phases_of(both[i], "phase=together:22m", 12);
        for (uint32_t j = 0; j < 12; j++)
            assert_near(phases[j], 2 * j, 1e-6);
        assert_near(phases_of(both[i], "phase=together:22m", 1)[0], 0, 0);
    }
}

TEST(unknown_phases_are_refused) {
    static const char *const wrong[] = {"phase=", "phase=apart",
        "phase=together:", "phase=together:x", "phase=together:61M", "phase=together20m",
        "phase=-1", "phase=0.5", "phase=1e300", "phase=nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_refused("dithering/averageq", wrong[i], "phase");
        assert_refused("dithering/fixedq", wrong[i], "phase");
    }
}

TEST(null_dithering_always_runs) {
    RIG rig = rig_open("dithering/null", NULL, 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0, SS_STATE_RUNNING, 107);
    assert_plan(&walk, 1, SS_STATE_RUNNING, 107);
}

/* Checks `instances` on two CPUs: `words` of the refusal, or NULL if accepted. */
static void assert_min_length(
    const char *module, const char *options, uint32_t instances, const char *words) {
    RIG rig = {0};
    struct ss_self self = {
        .host = &ss_host, .instances = instances, .cpus = 2, .window = SS_WINDOW_DEFAULT};
    struct ss_error error = {0};
    rig_load(&rig, module);
    int status = rig_prepare(&rig, options, &self, &error);
    if (status != (words ? -1 : 0) || (words && !strstr(error.message, words)))
        fail_msg("%s %s, N %u: '%s', not '%s'", module, options, instances, error.message,
            words ? words : "");
    if (status == 0 && rig.head->release)
        rig.head->release(&self);
}

/*
 * A switch costs 42 us. Two switches per round of N instances may cost half of one of two CPUs: N x
 * 168 us.
 */
TEST(rounds_with_too_costly_switches_are_refused) {
    static const char *const modules[] = {"dithering/averageq", "dithering/stagger"};
    for (size_t i = 0; i < 2; i++) {
        assert_min_length(modules[i], "1670u,min=100u", 10, "at least tau=1.68ms");
        assert_min_length(modules[i], "1680u,min=100u", 10, NULL);
        assert_min_length(
            modules[i], "107m", 700, "Showstopper itself would need 27 % of the CPUs");
        assert_min_length(modules[i], "107m", 600, NULL);
    }
    assert_min_length("dithering/stagger", "10u,min=1u", 2, "at least tau=340us");
    assert_min_length("dithering/stagger", "1n", 2, "tau=1ns is too short");
    assert_min_length("dithering/stagger", "10u,min=1u", 2, "tau=10us is too short");
    assert_min_length(
        "dithering/fixedq", "1m", 100, "quantum=1ms is too short: Showstopper itself would");
    assert_min_length("dithering/fixedq", "1m", 100, "at least quantum=8.4ms");
    assert_min_length("dithering/fixedq", "8400u", 100, NULL);
    /* Lengths chosen by the module are never refused. */
    assert_min_length("dithering/stagger", NULL, 100000, NULL);
}

TEST(states_too_short_to_enforce_are_refused) {
    assert_min_length("dithering/averageq", "min=99u", 1, "min=99us is too short");
    assert_min_length("dithering/averageq", "min=1u", 1, "at least min=100us");
    assert_min_length("dithering/stagger", "min=99u", 1, "at least min=100us");
    assert_min_length("dithering/averageq", "min=100u", 1, NULL);
    assert_min_length("dithering/stagger", "min=100u", 1, NULL);
}

UNIT_RUN
