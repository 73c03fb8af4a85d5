/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_PIPELINE_H
#define SHOWSTOPPER_LOOP_PIPELINE_H

#include "loop/board.h"
#include "loop/module_set.h"

/* Reads the counters that the feedback module requested. read() returns 0 or a negative errno. */
struct ss_counters_source {
    int (*read)(void *context, struct ss_counters *counters);
    void *context;
};

/* The steps of one executor from the target to its next state. */
struct ss_pipeline {
    const struct ss_module_set *set;
    struct ss_board *board;
    struct ss_self selves[SS_KINDS];
    uint32_t executor;
    struct ss_counters_source counters;
    ss_time since;        /* when the present run of control began */
    double previous;      /* the latest global duty since `since`; NaN: none yet */
    ss_time quota_period; /* see struct ss_dithering_input */
    ss_time grain;        /* see struct ss_dithering_input */
    struct ss_place place;
    uint32_t membership_seen; /* the board's `membership` when `place` was found */
};

/* A decision with the values that led to it. Zero-initialized: no decision yet. */
struct ss_decision {
    bool free;          /* no control until `free_until`; the fields below keep their previous
                           values */
    ss_time free_until; /* on the monotonic clock */
    double target;
    double load; /* the estimate; NaN: unknown */
    double global_duty;
    double local_duty;
    struct ss_planned_state next;
    enum ss_failure failure; /* why no decision was possible */
};

void ss_pipeline_open(struct ss_pipeline *pipeline, const struct ss_module_set *set,
    struct ss_board *board, uint32_t executor, struct ss_counters_source counters);

/* Begins a run of control at `since` and forgets earlier values. */
void ss_pipeline_begin(struct ss_pipeline *pipeline, ss_time since);

/*
 * Returns when the round begins that this executor is in at `now`, as control begins: its first
 * round begins at the phase, and earlier ones are thought to have begun before control did. The
 * result is later than `now` if the rounds have no known length.
 */
ss_time ss_pipeline_first_round(const struct ss_pipeline *pipeline, ss_time now);

/*
 * Decides at `now`, for the target at this time, which state follows the one that was planned to
 * end at `planned`. `decision` holds this executor's previous decision.
 */
void ss_pipeline_decide(struct ss_pipeline *pipeline, ss_time now, const struct ss_target *target,
    ss_time planned, enum ss_state state, struct ss_decision *decision);

/* Warns of each module that gave a target or a duty beyond [0, 1]. */
void ss_pipeline_warn_of_excess(
    const struct ss_module_set *set, struct ss_board *board, struct ss_option_store *store);

/*
 * Sets the target at `now`: the target of --set if one is in force, otherwise the trace's, limited
 * to [0, 1] unless it is not a number. The monitor calls this, too.
 */
void ss_pipeline_target(const struct ss_module_set *set, const struct ss_self *trace,
    struct ss_board *board, ss_time now, struct ss_target *target);

#endif
