/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rounds that get shorter while a workload's use changes from round to round. */

#include "walk.h"

static struct walk walk_towards(const struct rig *rig, uint32_t executor, double target) {
    struct walk walk = walk_begin(rig, executor);
    walk.target = target;
    return walk;
}

/* Returns one of two duties, chosen pseudorandomly. */
static double any_of(const double duties[2], uint64_t round) {
    return duties[(round * UINT64_C(0x9e3779b97f4a7c15)) >> 63];
}

/* Alternates between two duties, as if each round made up for an error of the last reading. */
static double each_of(const double duties[2], uint64_t round) {
    return duties[round % 2];
}

static double (*duty_of)(const double duties[2], uint64_t round) = any_of;

/* Steps all executors through their rounds in order of time, until `end`. */
static void walk_all(struct walk *walks, uint32_t count, const double duties[2], ss_time end) {
    for (;;) {
        struct walk *first = &walks[0];
        for (uint32_t i = 1; i < count; i++)
            first = walks[i].now < first->now ? &walks[i] : first;
        if (first->now >= end)
            return;
        step(first, duty_of(duties, first->runs));
    }
}

static double tau_of(const struct rig *rig) {
    const struct ss_dithering_module *module = (const void *)rig->head;
    return (double)module->round_length(&rig->selves[0]) / 1e6;
}

struct found {
    double unsteady; /* milliseconds, after 30 s of changes */
    double steady;   /* after 30 more seconds without changes */
};

static ss_time quota_period;
static ss_time grain;
static ss_time cost;

static struct found find_tau(
    const char *options, uint32_t instances, uint32_t cpus, double target, const double duties[2]) {
    RIG rig = {0};
    struct walk walks[64];
    struct found found;
    rig = rig_open("dithering/stagger", options, instances, cpus);
    for (uint32_t i = 0; i < instances; i++)
        walks[i] = walk_towards(&rig, i, target);
    for (uint32_t i = 0; i < instances; i++) {
        walks[i].quota_period = quota_period;
        walks[i].grain = grain;
        walks[i].cost = cost;
    }
    walk_all(walks, instances, duties, BEGIN + 30 * SS_SECOND);
    found.unsteady = tau_of(&rig);
    const double steady[] = {duties[0], duties[0]};
    walk_all(walks, instances, steady, BEGIN + 60 * SS_SECOND);
    found.steady = tau_of(&rig);
    return found;
}

static void assert_found(struct found found, double unsteady, double steady) {
    assert_near(found.unsteady, unsteady, 1e-6);
    assert_near(found.steady, steady, 1e-6);
}

static const double steady[] = {0.4, 0.4}, unsteady[] = {0.3, 0.5}, little[] = {0.399, 0.401};

TEST(stagger_shortens_rounds_while_the_workload_changes) {
    assert_found(find_tau(NULL, 1, 2, 0.5, unsteady), 26.75, 107);
    assert_found(find_tau(NULL, 2, 2, 0.5, unsteady), 26.75, 107);
    assert_found(find_tau(NULL, 4, 2, 0.5, unsteady), 26.75, 107);
    assert_found(find_tau(NULL, 2, 2, 0.5, steady), 107, 107);
    assert_found(find_tau(NULL, 2, 2, 0.5, little), 107, 107);
    /* The same relative change has less effect at a small load. */
    assert_found(find_tau(NULL, 2, 2, 0.01, unsteady), 107, 107);
}

/* More instances level out larger changes. */
TEST(rounds_are_shortened_above_a_threshold) {
    static const struct {
        uint32_t instances;
        double threshold; /* difference of both duties from their mean, relative to it */
    } cases[] = {{1, 0.041}, {2, 0.067}, {4, 0.088}, {8, 0.129}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double small = 0.9 * cases[i].threshold, large = 1.1 * cases[i].threshold;
        const double below[] = {0.4 * (1 - small), 0.4 * (1 + small)};
        const double above[] = {0.4 * (1 - large), 0.4 * (1 + large)};
        assert_found(find_tau(NULL, cases[i].instances, 2, 0.5, below), 107, 107);
        assert_found(find_tau(NULL, cases[i].instances, 2, 0.5, above), 53.5, 107);
    }
}

/* The duty that a new target needs says nothing about how the workload changes. */
TEST(a_new_target_does_not_shorten_rounds) {
    static const double before[] = {0.4, 0.4}, after[] = {0.9, 0.9};
    RIG rig = {0};
    struct walk walks[2];
    rig = rig_open("dithering/stagger", NULL, 2, 2);
    for (uint32_t i = 0; i < 2; i++)
        walks[i] = walk_towards(&rig, i, 0.5);
    walk_all(walks, 2, before, BEGIN + 10 * SS_SECOND);
    for (uint32_t i = 0; i < 2; i++)
        walks[i].target = 0.6;
    for (int half = 1; half <= 20; half++) {
        walk_all(walks, 2, after, BEGIN + 10 * SS_SECOND + (ss_time)half * SS_SECOND / 2);
        assert_near(tau_of(&rig), 107, 1e-6);
    }
}

TEST(alternating_duties_do_not_shorten_rounds) {
    duty_of = each_of;
    assert_found(find_tau(NULL, 2, 2, 0.5, unsteady), 107, 107);
    assert_found(find_tau(NULL, 4, 2, 0.5, unsteady), 107, 107);
    duty_of = any_of;
}

TEST(configured_rounds_are_not_shortened) {
    assert_found(find_tau("107m", 2, 2, 0.5, unsteady), 107, 107);
    assert_found(find_tau("unsteady=0", 2, 2, 0.5, unsteady), 107, 107);
    assert_found(find_tau("unsteady=50m", 2, 2, 0.5, unsteady), 53.5, 107);
    assert_found(find_tau("unsteady=54m", 2, 2, 0.5, unsteady), 107, 107);
}

TEST(shortened_rounds_stay_long_enough_for_switches) {
    assert_found(find_tau("unsteady=1m", 12, 1, 0.5, unsteady), 142.5, 285);
    assert_found(find_tau("unsteady=1m", 24, 24, 0.5, unsteady), 53.5, 107);
    assert_found(find_tau("min=20m", 2, 2, 0.5, unsteady), 53.5, 107);
    /* Alone, an instance would have rounds of 53.5 ms. */
    assert_found(find_tau("min=25m", 12, 1, 0.5, unsteady), 142.5, 285);
    assert_found(find_tau("min=27m", 12, 1, 0.5, unsteady), 285, 285);
}

TEST(shortened_rounds_are_longer_than_a_quota_period) {
    quota_period = MS(10);
    assert_found(find_tau(NULL, 2, 2, 0.5, unsteady), 107, 107);
    quota_period = 0;
}

TEST(shortened_rounds_are_longer_than_a_counter_step) {
    grain = MS(10);
    assert_found(find_tau(NULL, 2, 2, 0.5, unsteady), 107, 107);
    grain = MS(4);
    assert_found(find_tau(NULL, 2, 2, 0.5, unsteady), 53.5, 107);
    grain = 0;
}

TEST(running_time_is_kept_while_round_lengths_change) {
    static const double calm[] = {0.3, 0.3}, wild[] = {0.2, 0.4};
    RIG rig = {0};
    struct walk walks[4];
    rig = rig_open("dithering/stagger", NULL, 4, 2);
    for (uint32_t i = 0; i < 4; i++)
        walks[i] = walk_towards(&rig, i, 0.5);
    for (int turn = 0; turn < 20; turn++)
        walk_all(walks, 4, turn % 2 ? calm : wild, BEGIN + (ss_time)(turn + 1) * 30 * SS_SECOND);
    for (int i = 0; i < 4; i++)
        assert_near(walks[i].running / (walks[i].running + walks[i].stopped), 0.3, 0.002);
}

/* Returns the length of rounds after 30 s in which a stop and a continue take this long. */
static double find_tau_at(const char *options, uint32_t instances, double milliseconds) {
    cost = ss_time_from_double(1e6 * milliseconds);
    struct found found = find_tau(options, instances, 2, 0.5, steady);
    cost = 0;
    return found.unsteady;
}

TEST(stagger_lengthens_rounds_if_stops_are_expensive) {
    assert_near(find_tau_at(NULL, 1, 3), 107, 1e-6);
    assert_near(find_tau_at(NULL, 1, 4), 214, 1e-6);
    assert_near(find_tau_at(NULL, 1, 8), 285, 1e-6);
    assert_near(find_tau_at(NULL, 1, 100), 285, 1e-6);
    assert_near(find_tau_at(NULL, 4, 2), 285, 1e-6);
    assert_near(find_tau_at("tau=107m", 1, 8), 107, 1e-6);
    /* Many small instances are no large tree: their rounds are as long as before. */
    assert_near(find_tau_at(NULL, 12, 0.45), 12 * 26.75 / 2, 1e-6);
}

TEST(stagger_does_not_shorten_rounds_if_stops_are_expensive) {
    cost = 8 * SS_MILLISECOND;
    assert_found(find_tau(NULL, 1, 2, 0.5, unsteady), 285, 285);
    cost = SS_MILLISECOND;
    assert_found(find_tau(NULL, 1, 2, 0.5, unsteady), 53.5, 107);
    cost = 0;
}

/* Otherwise rounds would get shorter and longer all the time. */
TEST(stagger_never_shortens_rounds_to_expensive_ones) {
    RIG rig = rig_open("dithering/stagger", NULL, 1, 2);
    struct walk walk = walk_towards(&rig, 0, 0.5);
    walk.cost = 2 * SS_MILLISECOND;
    for (int i = 1; i < 600; i++) {
        walk_all(&walk, 1, unsteady, BEGIN + i * 50 * SS_MILLISECOND);
        assert_near(tau_of(&rig), 107, 1e-6);
    }
}

TEST(stagger_shortens_rounds_when_a_tree_has_shrunk) {
    RIG rig = rig_open("dithering/stagger", NULL, 1, 2);
    struct walk walk = walk_towards(&rig, 0, 0.5);
    walk.cost = 8 * SS_MILLISECOND;
    walk_all(&walk, 1, steady, BEGIN + 10 * SS_SECOND);
    assert_near(tau_of(&rig), 285, 1e-6);
    walk.cost = SS_MILLISECOND;
    walk_all(&walk, 1, steady, BEGIN + 20 * SS_SECOND);
    assert_near(tau_of(&rig), 107, 1e-6);
}

UNIT_RUN
