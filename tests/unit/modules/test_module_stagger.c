/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rounds with one run and one stop, which executors begin at staggered times. */

#include "walk.h"

/* The round scales with the window unless switches would cost too much. */
TEST(stagger_round_follows_window_instances_and_cpus) {
    static const struct {
        const char *options;
        ss_time window; /* ms */
        uint32_t instances, cpus;
        double tau;
    } rows[] = {
        {NULL, 500, 1, 1, 107},
        {NULL, 500, 4, 1, 107},
        /* 26.75 ms per instance on a CPU, up to the limit; 8.9 ms beyond it. */
        {NULL, 500, 7, 1, 7 * 26.75},
        {NULL, 500, 24, 4, 24 * 26.75 / 4},
        {NULL, 500, 48, 4, 285},
        {NULL, 500, 64, 2, 285},
        {NULL, 500, 1000, 2, 1000 * 8.9 / 2},
        /* At least 2.2 ms per instance, for any number of CPUs. */
        {NULL, 500, 48, 48, 107},
        {NULL, 500, 100, 8, 285},
        {NULL, 500, 140, 100, 140 * 2.2},
        {NULL, 500, 256, 256, 256 * 2.2},
        {"50m", 500, 100, 1, 50},
        {"tau=1s,jitter=0", 500, 1, 1, 1000},
        {NULL, 100, 1, 1, 21.4},
        {NULL, 100, 4, 2, 21.4},
        {NULL, 100, 4, 1, 4 * 8.9},
        {NULL, 100, 30, 30, 30 * 2.2},
        {NULL, 100, 64, 64, 64 * 2.2},
        {NULL, 10000, 4, 2, 2140},
        {"107m", 100, 4, 2, 107},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RIG rig = rig_open_window("dithering/stagger", rows[i].options, rows[i].instances,
            rows[i].cpus, MS(rows[i].window));
        const struct ss_dithering_module *module = (const void *)rig.head;
        assert_null(module->phase);
        double tau = (double)module->round_length(&rig.selves[0]) / 1e6;
        if (!(fabs(tau - rows[i].tau) <= 1e-6))
            fail_msg("row %zu: %g ms, not %g", i, tau, rows[i].tau);
    }
}

TEST(stagger_describes_its_round_and_limits_min) {
    RIG rig = rig_open_window("dithering/stagger", NULL, 4, 2, 100 * SS_MILLISECOND);
    assert_described(
        &rig, 21400000, "tau is 21.4 ms, for 4 instances on 2 CPUs and a window of 100 ms");
    rig_close(&rig);
    rig = rig_open("dithering/stagger", "min=50m", 1, 2);
    rig_close(&rig);
    rig = rig_open("dithering/stagger", "10m,min=5m,jitter=0", 1, 2);
    assert_described(&rig, 10000000, "");
    assert_refused("dithering/stagger", "10m,min=6m", "min=6ms is more than half of");
    assert_refused("dithering/stagger", "min=54m", "tau=107m");
}

/*
 * Each round has one run and one stop. The third of four executors begins its rounds half a round
 * later.
 */
TEST(stagger_spreads_the_starts_of_instances_over_the_round) {
    RIG rig = rig_open("dithering/stagger", "100m,jitter=0", 4, 1);
    struct walk walks[4];
    for (uint32_t i = 0; i < 4; i++)
        walks[i] = walk_begin(&rig, i);
    /* Rounds began before control, and only the last executor's run is not over. */
    assert_plan(&walks[1], 0.3, SS_STATE_STOPPED, 25);
    assert_plan(&walks[2], 0.3, SS_STATE_STOPPED, 50);
    assert_plan(&walks[3], 0.3, SS_STATE_RUNNING, 5);
    assert_plan(&walks[3], 0.3, SS_STATE_STOPPED, 70);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 4; i++) {
            assert_near((double)(walks[i].now - BEGIN) / 1e6, 100 * round + 25 * i, 2e-6);
            assert_plan(&walks[i], 0.3, SS_STATE_RUNNING, 30);
            assert_plan(&walks[i], 0.3, SS_STATE_STOPPED, 70);
        }
    }
}

/* A third of a nanosecond per round must not accumulate over ten thousand rounds, or months. */
TEST(stagger_rounds_are_exact) {
    RIG rig = rig_open("dithering/stagger", "jitter=0", 7, 3);
    for (uint32_t executor = 0; executor < 7; executor += 3) {
        struct walk walk = walk_begin(&rig, executor);
        for (unsigned before = 0; walk.runs < ROUNDS; before = walk.runs) {
            if (step(&walk, 1.0 / 3).state != SS_STATE_RUNNING || walk.runs == before)
                continue;
            double expected = 107e6 * (walk.runs - 1 + executor / 7.0);
            if (executor == 6) /* the previous round was not over */
                expected = walk.runs == 1 ? 0 : expected - 107e6;
            assert_near((double)(walk.changed - BEGIN), expected, 2);
        }
    }
    rig_close(&rig);
    rig = rig_open("dithering/stagger", NULL, 7, 4);
    struct walk walk = walk_begin(&rig, 5);
    walk.now += 100 * 86400 * SS_SECOND;
    double begin = (double)walk.now;
    walk_until(&walk, 0.3, walk.now + ROUNDS * MS(107));
    assert_near(walk.running, 0.3 * ((double)walk.now - begin), 2 * 107e6);
}

static const char *const jitters[] = {"jitter=0", NULL, "jitter=0.5"};

/*
 * The running time is the duty's share, except for carried time of less than three times the
 * shortest state, the unfinished round, and the round that began before control.
 */
TEST(stagger_has_no_bias) {
    const double duties[] = {0, 0.001, 0.01, 0.3, 0.5, 0.99, 0.999, 1};
    for (size_t i = 0; i < 24; i++) {
        double duty = duties[i % 8];
        RIG rig = rig_open("dithering/stagger", jitters[i / 8], 7, 4);
        for (uint32_t executor = 0; executor < 7; executor += 3) {
            struct walk walk = walk_begin(&rig, executor);
            walk_until(&walk, duty, BEGIN + ROUNDS * MS(107));
            double within = duty == 0 || duty == 1 ? 0 : 3e6 + 2.6 * duty * (1 - duty) * 107e6;
            assert_near(walk.running, duty * (walk.running + walk.stopped), within + 1);
        }
    }
}

/* The duty varies between the bounds, and which state is the shorter one varies with it. */
TEST(stagger_follows_changing_duty) {
    RIG rig = rig_open("dithering/stagger", NULL, 3, 4);
    struct walk walk = walk_begin(&rig, 1);
    double expected = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double duty = 0.5 + 0.5 * sin(i * 0.01);
        unsigned before = walk.runs;
        ss_time begin = walk.now;
        while (walk.runs == before && walk.now < begin + MS(100))
            step(&walk, duty);
        expected += duty * (double)(walk.now - begin);
    }
    assert_near(walk.running / expected, 1, 0.002);
}

TEST(stagger_adapts_to_changed_instances_at_once) {
    for (size_t i = 0; i < 3; i++) {
        RIG rig = rig_open("dithering/stagger", jitters[i], 40, 16);
        struct walk walk = walk_begin(&rig, 3);
        srand(1);
        for (int change = 0; change < 3000; change++) {
            walk.place.count = 1 + (uint32_t)(rand() % 40);
            walk.place.rank = (uint32_t)rand() % walk.place.count;
            double duty = (rand() % 101) / 100.0;
            for (int turn = rand() % 4; turn >= 0; turn--)
                assert_that(step(&walk, duty).length, <=, MS(2 * 107));
        }
        /* The following rounds are as if the number had never changed. */
        double before = walk.running;
        ss_time end = walk.now + 1000 * MS(107);
        double begin = (double)walk.now;
        walk_until(&walk, 0.4, end);
        assert_near(walk.running - before, 0.4 * ((double)walk.now - begin), 3 * 107e6);
    }
}

TEST(stagger_moves_to_its_new_place_in_the_round) {
    RIG rig = rig_open("dithering/stagger", "100m,jitter=0", 4, 1);
    struct walk walk = walk_begin(&rig, 2);
    walk_until(&walk, 0.25, BEGIN + MS(1030));
    assert_near((double)(walk.now - BEGIN) / 1e6, 1050, 2e-6);
    assert_plan(&walk, 0.25, SS_STATE_RUNNING, 25);
    /*
     * The first of four has exited: this executor is now the second of three, a third of a round
     * late.
     */
    walk.place = (struct ss_place){.rank = 1, .count = 3};
    assert_plan(&walk, 0.25, SS_STATE_STOPPED, 1100 + 100.0 / 3 - 1075);
    for (int i = 0; i < 10; i++) {
        assert_plan(&walk, 0.25, SS_STATE_RUNNING, 25);
        assert_plan(&walk, 0.25, SS_STATE_STOPPED, 75);
    }
}

/* With fewer instances rounds get shorter: the instances remaining from 100 share one CPU. */
TEST(stagger_round_follows_instance_count) {
    RIG rig = rig_open("dithering/stagger", "jitter=0", 100, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.5, SS_STATE_RUNNING, 445);
    assert_plan(&walk, 0.5, SS_STATE_STOPPED, 445);
    walk = walk_begin(&rig, 1);
    walk.place = (struct ss_place){.rank = 0, .count = 1};
    assert_plan(&walk, 0.5, SS_STATE_RUNNING, 53.5);
    assert_plan(&walk, 0.5, SS_STATE_STOPPED, 53.5);
}

/*
 * Must hold even if an executor is late, or a round is so short that fractions of a nanosecond
 * matter.
 */
TEST(stagger_plans_no_state_of_length_zero) {
    static const char *const options[] = {NULL, "10m,min=4m", "1m,min=100u", "600u,min=100u"};
    for (size_t i = 0; i < 4; i++) {
        RIG rig = rig_open("dithering/stagger", options[i], 7, 4);
        for (uint32_t executor = 0; executor < 7; executor++) {
            struct walk walk = walk_begin(&rig, executor);
            for (int turn = 0; turn < ROUNDS; turn++) {
                step(&walk, 0.3);
                if (turn % 7 == 0)
                    walk.now += (ss_time)turn * 1009 % 50000000;
            }
        }
    }
}

TEST(stagger_restarts_when_control_does) {
    RIG rig = rig_open("dithering/stagger", "100m,jitter=0", 1, 1);
    struct walk walk = walk_begin(&rig, 0);
    assert_plan(&walk, 0.4, SS_STATE_RUNNING, 40);
    walk.now += MS(1234);
    walk.since = walk.now;
    assert_plan(&walk, 0.4, SS_STATE_RUNNING, 40);
    assert_plan(&walk, 0.4, SS_STATE_STOPPED, 60);
    /* Rounds are counted from 0 again; otherwise only every third would have a run. */
    for (int i = 0; i < 8; i++) {
        walk.now += SS_SECOND;
        walk.since = walk.now;
        assert_plan(&walk, 0.004, SS_STATE_RUNNING, 1.2);
        assert_plan(&walk, 0.004, SS_STATE_STOPPED, 98.8);
    }
    /* A round may be planned slightly before control begins. */
    walk.since = walk.now + MS(1);
    assert_plan(&walk, 0.4, SS_STATE_RUNNING, 41);
    assert_plan(&walk, 0.4, SS_STATE_STOPPED, 60);
}

/* Returns how closely runs begin in step with a tick of 4 ms: 1 if all do, 0 if none. */
static double step_with_tick(const char *options, uint32_t instances) {
    RIG rig = rig_open("dithering/stagger", options, instances, 4);
    struct walk walk = walk_begin(&rig, 0);
    double x = 0;
    double y = 0;
    while (walk.runs < 2000) {
        unsigned before = walk.runs;
        step(&walk, 0.3);
        if (walk.runs == before)
            continue;
        double phase = 2 * 3.14159265358979 * (double)((walk.changed - BEGIN) % MS(4)) / 4e6;
        x += cos(phase);
        y += sin(phase);
    }
    return sqrt(x * x + y * y) / walk.runs;
}

TEST(stagger_does_not_synchronize_with_the_kernel_tick) {
    assert_near(step_with_tick("100m,jitter=0", 4), 1, 1e-6);
    assert_near(step_with_tick("100m", 4), 0, 0.2);
    assert_near(step_with_tick("108m", 4), 0, 0.2);
    assert_near(step_with_tick(NULL, 4), 0, 0.05);
    assert_near(step_with_tick(NULL, 40), 0, 0.2);
}

UNIT_RUN
