/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

/* A state that is planned `times` times with this duty. */
struct planned {
    double duty;
    char state;    /* 'R' or 'S' */
    double length; /* ms */
    int times;
    char event; /* before the plan: 'C' control restarts after 1 s, 'E' control begins in 1 s */
};

TEST(plans_follow_the_duty) {
    static const struct {
        const char *module, *options;
        struct planned plans[7];
    } rows[] = {
        {"averageq", NULL,
            {{0.25, 'R', 0.25 * 107, 1}, {0.25, 'S', 0.75 * 107, 1}, {0.25, 'R', 0.25 * 107, 1}}},
        /* The stop depends on the duty when the stop begins, not when the previous run began. */
        {"averageq", "100m",
            {{0.5, 'R', 50, 1}, {0.2, 'S', 80, 1}, {0.9, 'R', 90, 1}, {0.4, 'S', 60, 1}}},
        {"averageq", NULL, {{0, 'S', 107, 1000}, {1, 'R', 107, 1000}}},
        /* A stop of 0.8 ms is carried while the duty is at a bound. */
        {"averageq", "100m", {{0.992, 'R', 99.2, 2}, {1, 'R', 100, 100}, {0.992, 'S', 1.6, 1}}},
        /* Runs of 0.5 ms are too short: every second round has one of 1 ms. */
        {"averageq", "100m",
            {{0.005, 'S', 99.5, 1}, {0.005, 'R', 1, 1}, {0.005, 'S', 99.5, 2}, {0.005, 'R', 1, 1}}},
        {"averageq", "100m,min=20m", {{0.9, 'R', 90, 2}, {0.9, 'S', 20, 1}}},
        /* A restart drops the carried 0.5 ms and begins with a run. */
        {"averageq", "100m",
            {{0.005, 'S', 99.5, 1}, {0.005, 'S', 99.5, 1, 'C'}, {0.005, 'R', 1, 1},
                {0.5, 'R', 50, 1, 'C'}}},
        /* A state planned before control begins resets once, not with every later state. */
        {"averageq", "100m", {{0.5, 'R', 50, 1, 'E'}, {0.5, 'S', 50, 1}}},
        {"fixedq", NULL, {{0.4, 'S', 13, 1, 'E'}, {0.4, 'R', 13, 1}}},
        /* Sums of 0.4: 0.4 stop; 0.8 run, -0.2; 0.2 stop; 0.6 run, -0.4; 0 stop. */
        {"fixedq", NULL,
            {{0.4, 'S', 13, 1}, {0.4, 'R', 13, 1}, {0.4, 'S', 13, 1}, {0.4, 'R', 13, 1},
                {0.4, 'S', 13, 2}, {0.4, 'R', 13, 1}}},
        {"fixedq", "20m", {{0.5, 'R', 20, 1}, {0.5, 'S', 20, 1}}},
        /* At the bounds a remainder is kept: 0.3 below, -0.3 above. */
        {"fixedq", NULL,
            {{0.3, 'S', 13, 1}, {0, 'S', 13, 1000}, {0.4, 'R', 13, 1}, {1, 'R', 13, 1000}}},
        {"fixedq", NULL, {{0.4, 'S', 13, 1}, {0.4, 'S', 13, 1, 'C'}, {0.4, 'R', 13, 1}}},
        /* Half a quantum minus 100e-9 is carried, and 100 times 1e-9 complete it. */
        {"fixedq", NULL, {{0.5 - 100e-9, 'S', 13, 1}, {1e-9, 'S', 13, 99}, {2e-9, 'R', 13, 1}}},
        {"fixedq", NULL,
            {{0.5 + 100e-9, 'R', 13, 1}, {1 - 1e-9, 'R', 13, 99}, {1 - 2e-9, 'S', 13, 1}}},
        {"null", NULL, {{0, 'R', 107, 1}, {1, 'R', 107, 1}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        char which[32];
        snprintf(which, sizeof which, "dithering/%s", rows[i].module);
        RIG rig = rig_open(which, rows[i].options, 1, 1);
        struct walk walk = walk_begin(&rig, 0);
        const struct planned *at = rows[i].plans;
        for (; at < rows[i].plans + 7 && at->times > 0; at++) {
            walk.now += at->event == 'C' ? SS_SECOND : 0;
            if (at->event)
                walk.since = walk.now + (at->event == 'E' ? SS_SECOND : 0);
            for (int turn = 0; turn < at->times; turn++) {
                enum ss_state next = at->state == 'R' ? SS_STATE_RUNNING : SS_STATE_STOPPED;
                assert_plan(&walk, at->duty, next, at->length);
            }
        }
    }
}

TEST(averageq_accepts_a_min_of_half_of_tau) {
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
    /*
     * A duty of 1e-9 with rounds of an hour is 3.6 us per round: a run of 1 ms every 278 rounds, so
     * 359 in 100000 with two switches each; 1 - 1e-9 gives as many stops.
     */
    assert_no_bias("1h", 1e-9, 100000, 3600 * SS_SECOND, MS(1), 2 * 358);
    assert_no_bias("1h", 1 - 1e-9, 100000, 3600 * SS_SECOND, MS(1), 2 * 358);
    /* Fractions of a nanosecond are also carried: thirds of 1000001 ns, in 2 million rounds. */
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
        /* The mean of 100 uniform draws from 0 to 100 ms: 50 ms +- three times 2.9 ms. */
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

/*
 * A switch costs 42 us. Two switches per round of N instances may cost a quarter of two CPUs, so a
 * round takes at least N x 168 us.
 */
TEST(rounds_and_states_that_are_too_short_are_refused) {
    static const struct {
        const char *module, *options;
        uint32_t instances;
        const char *words; /* NULL if accepted */
    } rows[] = {
        {"averageq", "1670u,min=100u", 10, "at least tau=1.68ms"},
        {"averageq", "1680u,min=100u", 10, NULL},
        {"averageq", "107m", 700, "Showstopper itself would need 27 % of the CPUs"},
        {"averageq", "107m", 600, NULL},
        {"stagger", "1670u,min=100u", 10, "at least tau=1.68ms"},
        {"stagger", "1680u,min=100u", 10, NULL},
        {"stagger", "107m", 700, "Showstopper itself would need 27 % of the CPUs"},
        {"stagger", "107m", 600, NULL},
        {"stagger", "10u,min=1u", 2, "at least tau=340us"},
        {"stagger", "1n", 2, "tau=1ns is too short"},
        {"fixedq", "1m", 100, "at least quantum=8.4ms"},
        {"fixedq", "8400u", 100, NULL},
        {"stagger", NULL, 100000, NULL}, /* the module chooses the length */
        {"averageq", "min=99u", 1, "min=99us is too short"},
        {"averageq", "min=1u", 1, "at least min=100us"},
        {"averageq", "min=100u", 1, NULL},
        {"stagger", "min=99u", 1, "at least min=100us"},
        {"stagger", "min=100u", 1, NULL},
        {"averageq", "10m,min=6m", 1, "half of tau"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RIG rig = {0};
        char which[32];
        struct ss_self self = {.host = &ss_host,
            .instances = rows[i].instances,
            .cpus = 2,
            .window = SS_WINDOW_DEFAULT};
        struct ss_error error = {0};
        snprintf(which, sizeof which, "dithering/%s", rows[i].module);
        rig_load(&rig, which);
        int err = rig_prepare(&rig, rows[i].options, &self, &error);
        if (err != (rows[i].words ? -1 : 0) ||
            (rows[i].words && !strstr(error.message, rows[i].words)))
            fail_msg("row %zu: '%s'", i, error.message);
        if (err == 0 && rig.head->release)
            rig.head->release(&self);
    }
}

UNIT_RUN
