/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_PLANNER_H
#define SHOWSTOPPER_LOOP_PLANNER_H

#include "loop/pipeline.h"

/* The steps of one executor from the target to the next state of its instance. */
struct ss_planner {
    struct ss_pipeline pipeline;
    double previous;      /* the latest global duty since control began; NaN if none yet */
    ss_time quota_period; /* see struct ss_dithering_input */
    ss_time grain;        /* see struct ss_dithering_input */
    ss_time cost;         /* see struct ss_dithering_input; set by the caller */
    struct ss_place place;
    uint32_t membership_seen; /* the board's `membership_changes` when `place` was found */
};

/* A decision with the values that led to it. Zero-initialized before the first decision. */
struct ss_decision {
    bool free;          /* no control until `free_until`; the fields after that keep their previous
                           values */
    ss_time free_until; /* on the monotonic clock */
    double target;
    double load; /* the estimate; NaN if unknown */
    double global_duty;
    double local_duty;
    struct ss_planned_state next;
    enum ss_failure failure; /* why no decision was possible */
};

void ss_planner_open(struct ss_planner *planner, const struct ss_pipeline *pipeline);

/* Begins a run of control at `since` and forgets earlier values. */
void ss_planner_begin(struct ss_planner *planner, ss_time since);

/*
 * Returns the start of the executor's current round when control begins at `now`. Until its phase,
 * the executor is in the rest of a round that would have started before `now`; if rounds have no
 * known length, it waits for its phase, which is returned. If the phase has passed, a round starts
 * at `now`.
 */
ss_time ss_planner_first_round(const struct ss_planner *planner, ss_time now);

/*
 * Decides at `now`, for the target at this time, which state follows the one that was planned to
 * end at `planned`. `decision` holds this executor's previous decision, and then the new one.
 */
void ss_planner_decide(struct ss_planner *planner, ss_time now, const struct ss_target *target,
    ss_time planned, enum ss_state state, struct ss_decision *decision);

#endif
