/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of states that are too short for every round. */

#include "walk.h"

static void assert_no_short_states(const char *options, double duty, double min) {
    RIG rig = rig_open("dithering/stagger", options, 5, 4);
    for (uint32_t executor = 0; executor < 5; executor += 2) {
        struct walk walk = walk_begin(&rig, executor);
        while (walk.states < 2000)
            step(&walk, duty);
        if (!((double)walk.shortest >= min * 1e6 - 1))
            fail_msg("%s: duty %g: a state of %g ms", options, duty, (double)walk.shortest / 1e6);
    }
}

TEST(stagger_plans_no_short_states) {
    const double duties[] = {
        0.001, 0.0034, 0.009, 0.05, 0.3, 0.4, 0.45, 0.49, 0.5, 0.51, 0.6, 0.7, 0.95, 0.991, 0.999};
    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
        assert_no_short_states("jitter=0", duties[i], 1);
        assert_no_short_states("jitter=0.1", duties[i], 1);
        assert_no_short_states("jitter=0.5", duties[i], 1);
        assert_no_short_states("min=20m", duties[i], 20);
        /* Carried time must not leave too little of a round for the other state. */
        assert_no_short_states("10m,min=5m,jitter=0", duties[i], 5);
        assert_no_short_states("10m,min=4m", duties[i], 4);
    }
}

#define TEN     10
#define CHECKED 1000 /* rounds */

/* Number of instances that begin the rare state, by round. */
static unsigned taken[CHECKED + 1];

/*
 * Counts the rare states of an executor in taken[]. Returns its longest wait for one, in rounds,
 * after the first 25 rounds.
 */
static double take(const struct rig *rig, uint32_t executor, double duty) {
    enum ss_state rare = duty < 0.5 ? SS_STATE_RUNNING : SS_STATE_STOPPED;
    struct walk walk = walk_begin(rig, executor);
    double last = 25;
    double longest = 0;
    for (;;) {
        ss_time begin = walk.now - BEGIN;
        double round = (double)begin / 107e6;
        if (round >= CHECKED)
            return longest;
        if (step(&walk, duty).state != rare)
            continue;
        /* Stays 5 ms away from the edge: the beginnings are a tenth of a round apart. */
        taken[(begin + MS(5)) / MS(107)]++;
        if (round > 25)
            longest = fmax(longest, round - last);
        last = fmax(round, 25);
    }
}

/* Runs ten executors. Each is owed a tenth of the shortest state per round, or slightly less. */
static void assert_turns(const char *options, double duty, unsigned max) {
    RIG rig = {0};
    memset(taken, 0, sizeof taken);
    rig = rig_open("dithering/stagger", options, TEN, 4);
    for (uint32_t i = 0; i < TEN; i++) {
        double longest = take(&rig, i, duty);
        if (longest > 14)
            fail_msg("%s: executor %u waits for %g rounds", options ? options : "", i, longest);
    }
    unsigned all = 0;
    for (int round = 0; round < CHECKED; round++) {
        if (round > 25 && taken[round] > max)
            fail_msg("%s: %u rare states in round %d", options ? options : "", taken[round], round);
        all += taken[round];
    }
    assert_in_range(all, CHECKED * 8 / 10, CHECKED * 11 / 10);
}

/* Neither rounds of unequal length nor rounding errors may disturb the order. */
TEST(instances_take_turns_with_states_too_short_for_one_round) {
    assert_turns("jitter=0", 0.00095, 1);
    assert_turns("jitter=0", 0.99905, 1);
    assert_turns(NULL, 0.00095, 2);
    assert_turns(NULL, 0.99905, 2);
    /* Each is owed exactly a tenth: the sum of ten may be slightly less than the shortest state. */
    assert_turns("jitter=0", 0.1 / 107, 1);
    assert_turns("jitter=0", 1 - 0.1 / 107, 1);
}

/*
 * A shortest state that suits a hundred instances may be too long for a single one. It must be
 * refused at the start or not prevent that instance from running.
 */
TEST(stagger_keeps_duty_of_remaining_instances) {
    RIG rig = {0};
    struct ss_self self = {.instances = 100, .cpus = 1, .window = SS_WINDOW_DEFAULT};
    struct ss_error error = {0};
    rig_load(&rig, "dithering/stagger");
    if (rig_prepare(&rig, "min=200m,jitter=0", &self, &error) == 0) {
        rig_share(&rig, self);
        struct walk walk = walk_begin(&rig, 0);
        walk.place = (struct ss_place){.rank = 0, .count = 1};
        walk_until(&walk, 0.4, BEGIN + 1000 * MS(107));
        assert_near(walk.running / (walk.running + walk.stopped), 0.4, 0.01);
    }
}

UNIT_RUN
