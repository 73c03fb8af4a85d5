/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_STEPPER_H
#define SHOWSTOPPER_LOOP_STEPPER_H

#include "loop/planner.h"

/*
 * The life of an executor as a step function: given the time, it returns what to do now and when to
 * call it again. It never waits, so that the simulator and tests run the same code in virtual time.
 */
struct ss_stepper {
    struct ss_planner planner;
    enum ss_state state;         /* the state that was ordered last */
    ss_time deadline;            /* planned end of the present state; SS_TIME_NEVER without one */
    bool controlled;             /* true during a run of control */
    ss_time control_since_seen;  /* the board's `control_since` when control last began */
    struct ss_decision decision; /* the decision that led to the present state */
    uint32_t decisions;
};

struct ss_action {
    bool change; /* the instance must be brought into `state` */
    enum ss_state state;
    ss_time deadline; /* when to call again, unless woken earlier */
    enum ss_failure failure;
};

/* Begins with a running instance. */
void ss_stepper_open(struct ss_stepper *stepper, const struct ss_pipeline *pipeline);

/* Returns what to do at `now`. Call this at the deadline, or when woken. */
struct ss_action ss_stepper_step(struct ss_stepper *stepper, ss_time now);

#endif
