/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_WALK_H
#define SHOWSTOPPER_TESTS_WALK_H

/* Simulates executors of a dithering module that plan a new state whenever one ends. */

#include <showstopper/dithering.h>

#include "modules.h"

#define MS(x)  ((ss_time)((x)*1e6))
#define BEGIN  SS_SECOND
#define ROUNDS 20000

/* An executor that follows its plans: the clock advances by each planned length. */
struct walk {
    const struct rig *rig;
    struct ss_self *self;
    struct ss_place place;
    ss_time now;
    ss_time since;
    double target; /* 0 if the length of rounds does not adapt */
    ss_time quota_period;
    ss_time grain;
    ss_time cost;
    enum ss_state state;
    ss_time changed; /* beginning of the present state */
    double running;  /* nanoseconds */
    double stopped;
    unsigned runs;
    ss_time shortest; /* shortest complete state that began after `since` */
    unsigned states;
};

static inline struct walk walk_begin(const struct rig *rig, uint32_t executor) {
    return (struct walk){
        .rig = rig,
        .self = &rig->selves[executor],
        .place = {.rank = executor, .count = rig->selves[0].instances},
        .now = BEGIN,
        .since = BEGIN,
        .state = SS_STATE_STOPPED,
        .changed = BEGIN,
        .shortest = SS_TIME_NEVER,
    };
}

static inline struct ss_planned_state step(struct walk *walk, double duty) {
    const struct ss_dithering_module *module = (const void *)walk->rig->head;
    struct ss_dithering_input input = {
        .moment = {.now = walk->now, .since = walk->since},
        .state = walk->state,
        .target = walk->target,
        .quota_period = walk->quota_period,
        .grain = walk->grain,
        .cost = walk->cost,
        .duty = duty,
        .place = walk->place,
    };
    struct ss_planned_state plan = {0};
    module->next(walk->self, &input, &plan);
    if (plan.length == 0 || plan.length > SS_TIME_NEVER / 2)
        fail_msg("a state of %.0f ns at %.0f ns", (double)plan.length, (double)(walk->now - BEGIN));
    if (plan.state != walk->state) {
        walk->states++;
        if (walk->changed > walk->since && walk->now - walk->changed < walk->shortest)
            walk->shortest = walk->now - walk->changed;
        walk->runs += plan.state == SS_STATE_RUNNING;
        walk->state = plan.state;
        walk->changed = walk->now;
    }
    *(plan.state == SS_STATE_RUNNING ? &walk->running : &walk->stopped) += (double)plan.length;
    walk->now += plan.length;
    return plan;
}

static inline void walk_until(struct walk *walk, double duty, ss_time end) {
    while (walk->now < end)
        step(walk, duty);
}

/* Lengths are in milliseconds. */
static inline void assert_plan(struct walk *walk, double duty, enum ss_state state, double length) {
    struct ss_planned_state plan = step(walk, duty);
    assert_int_equal(plan.state, state);
    assert_near((double)plan.length / 1e6, length, 2e-6);
}

#endif
