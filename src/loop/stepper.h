/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_STEPPER_H
#define SHOWSTOPPER_LOOP_STEPPER_H

#include "loop/pipeline.h"

/*
 * An executor's life as a step function: given the time, it says what to do now and when to come
 * back. It never waits, so that the simulator and tests drive the very same code in virtual time.
 */
struct ss_stepper {
    struct ss_pipeline pipeline;
    enum ss_state state;         /* of the instance, as last ordered */
    ss_time deadline;            /* planned end of the present state; SS_TIME_NEVER: open */
    bool controlled;             /* in a run of control */
    ss_time pause_seen;          /* the board's `control_since` when control began last */
    struct ss_decision decision; /* the latest that the present state comes from */
    uint32_t decisions;          /* how many there were */
};

struct ss_action {
    bool change; /* bring the instance into `state` */
    enum ss_state state;
    ss_time deadline; /* call again then, or earlier when woken */
    enum ss_failure failure;
};

/* The instance runs when this is called. */
void ss_stepper_open(struct ss_stepper *stepper, const struct ss_pipeline *pipeline);

/* What the executor does at `now`. To be called at the deadline or whenever it was woken. */
struct ss_action ss_stepper_step(struct ss_stepper *stepper, ss_time now);

#endif
