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

static const double steady[] = {0.4, 0.4}, unsteady[] = {0.3, 0.5}, little[] = {0.399, 0.401};

/* The input of all walks, and the target. */
struct setting {
    const char *options;
    uint32_t instances, cpus;
    double target;
    ss_time quota_period, grain, cost;
};

/* Checks the length of rounds after 30 s of changes, and after 30 more seconds without. */
static void assert_tau(
    const struct setting *setting, const double duties[2], double changing, double constant) {
    RIG rig = rig_open("dithering/stagger", setting->options, setting->instances, setting->cpus);
    struct walk walks[64];
    for (uint32_t i = 0; i < setting->instances; i++) {
        walks[i] = walk_towards(&rig, i, setting->target);
        walks[i].quota_period = setting->quota_period;
        walks[i].grain = setting->grain;
        walks[i].cost = setting->cost;
    }
    walk_all(walks, setting->instances, duties, BEGIN + 30 * SS_SECOND);
    double first = tau_of(&rig);
    const double same[] = {duties[0], duties[0]};
    walk_all(walks, setting->instances, same, BEGIN + 60 * SS_SECOND);
    double second = tau_of(&rig);
    if (fabs(first - changing) > 1e-6 || fabs(second - constant) > 1e-6)
        fail_msg("%s, N %u P %u: tau %g and %g ms, not %g and %g",
            setting->options ? setting->options : "", setting->instances, setting->cpus, first,
            second, changing, constant);
}

TEST(round_lengths_follow_changes_and_costs) {
    static const struct {
        struct setting setting;
        const double *duties;
        double changing, constant; /* ms */
    } rows[] = {
        {{NULL, 1, 2, 0.5}, unsteady, 26.75, 107},
        {{NULL, 2, 2, 0.5}, unsteady, 26.75, 107},
        {{NULL, 4, 2, 0.5}, unsteady, 26.75, 107},
        {{NULL, 2, 2, 0.5}, steady, 107, 107},
        {{NULL, 2, 2, 0.5}, little, 107, 107},
        /* The same relative change has less effect at a small load. */
        {{NULL, 2, 2, 0.01}, unsteady, 107, 107},
        /* Lengths that the options set. */
        {{"107m", 2, 2, 0.5}, unsteady, 107, 107},
        {{"unsteady=0", 2, 2, 0.5}, unsteady, 107, 107},
        {{"unsteady=50m", 2, 2, 0.5}, unsteady, 53.5, 107},
        {{"unsteady=54m", 2, 2, 0.5}, unsteady, 107, 107},
        /* Shortened rounds stay long enough for switches. */
        {{"unsteady=1m", 12, 1, 0.5}, unsteady, 142.5, 285},
        {{"unsteady=1m", 24, 24, 0.5}, unsteady, 53.5, 107},
        {{"min=20m", 2, 2, 0.5}, unsteady, 53.5, 107},
        /* Alone, an instance would have rounds of 53.5 ms. */
        {{"min=25m", 12, 1, 0.5}, unsteady, 142.5, 285},
        {{"min=27m", 12, 1, 0.5}, unsteady, 285, 285},
        /* Shortened rounds are longer than a quota period and a step of the counters. */
        {{NULL, 2, 2, 0.5, .quota_period = MS(10)}, unsteady, 107, 107},
        {{NULL, 2, 2, 0.5, .grain = MS(10)}, unsteady, 107, 107},
        {{NULL, 2, 2, 0.5, .grain = MS(4)}, unsteady, 53.5, 107},
        /* Expensive stops and continues lengthen rounds. */
        {{NULL, 1, 2, 0.5, .cost = MS(3)}, steady, 107, 107},
        {{NULL, 1, 2, 0.5, .cost = MS(4)}, steady, 214, 214},
        {{NULL, 1, 2, 0.5, .cost = MS(8)}, steady, 285, 285},
        {{NULL, 1, 2, 0.5, .cost = MS(100)}, steady, 285, 285},
        {{NULL, 4, 2, 0.5, .cost = MS(2)}, steady, 285, 285},
        {{"tau=107m", 1, 2, 0.5, .cost = MS(8)}, steady, 107, 107},
        {{NULL, 1, 2, 0.5, .cost = MS(8)}, unsteady, 285, 285},
        {{NULL, 1, 2, 0.5, .cost = MS(1)}, unsteady, 53.5, 107},
        /* Many small instances are not a large tree: their rounds are as long as before. */
        {{NULL, 12, 2, 0.5, .cost = MS(0.45)}, steady, 12 * 26.75 / 2, 12 * 26.75 / 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_tau(&rows[i].setting, rows[i].duties, rows[i].changing, rows[i].constant);
    duty_of = each_of;
    assert_tau(&rows[1].setting, unsteady, 107, 107);
    assert_tau(&rows[2].setting, unsteady, 107, 107);
    duty_of = any_of;
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
        const struct setting setting = {NULL, cases[i].instances, 2, 0.5};
        assert_tau(&setting, below, 107, 107);
        assert_tau(&setting, above, 53.5, 107);
    }
}

TEST(running_time_is_kept_while_round_lengths_change) {
    static const double calm[] = {0.3, 0.3}, wild[] = {0.2, 0.4};
    RIG rig = rig_open("dithering/stagger", NULL, 4, 2);
    struct walk walks[4];
    for (uint32_t i = 0; i < 4; i++)
        walks[i] = walk_towards(&rig, i, 0.5);
    for (int turn = 0; turn < 20; turn++)
        walk_all(walks, 4, turn % 2 ? calm : wild, BEGIN + (ss_time)(turn + 1) * 30 * SS_SECOND);
    for (int i = 0; i < 4; i++)
        assert_near(walks[i].running / (walks[i].running + walks[i].stopped), 0.3, 0.002);
}

/* The duty that a new target needs says nothing about how the workload changes. */
TEST(new_target_does_not_shorten_rounds) {
    static const double after[] = {0.9, 0.9};
    RIG rig = rig_open("dithering/stagger", NULL, 2, 2);
    struct walk walks[] = {walk_towards(&rig, 0, 0.5), walk_towards(&rig, 1, 0.5)};
    walk_all(walks, 2, steady, BEGIN + 10 * SS_SECOND);
    walks[0].target = walks[1].target = 0.6;
    for (int half = 1; half <= 20; half++) {
        walk_all(walks, 2, after, BEGIN + 10 * SS_SECOND + (ss_time)half * SS_SECOND / 2);
        assert_near(tau_of(&rig), 107, 1e-6);
    }
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
