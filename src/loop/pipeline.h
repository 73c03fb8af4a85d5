/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_PIPELINE_H
#define SHOWSTOPPER_LOOP_PIPELINE_H

#include "loop/board.h"
#include "loop/module_set.h"

/* What reads the counters that the feedback module asked for. read() returns 0 or a negative errno.
 */
struct ss_counters_source {
    int (*read)(void *context, struct ss_counters *counters);
    void *context;
};

/* One executor's way from the target to its next state. */
struct ss_pipeline {
    const struct ss_module_set *set;
    struct ss_board *board;
    struct ss_self selves[SS_KINDS];
    uint32_t executor;
    struct ss_counters_source counters;
    ss_time since;        /* when the present run of control began */
    double previous;      /* the global duty decided last; NaN: none since then */
    ss_time quota_period; /* see struct ss_dithering_input */
    ss_time grain;        /* likewise */
    struct ss_place place;
    uint32_t membership_seen; /* of the board, when `place` was found */
};

/* Everything that was decided, and from what. Zeroed: nothing was yet. */
struct ss_decision {
    bool free;          /* no control until `free_until`; the rest is not set */
    ss_time free_until; /* on the monotonic clock */
    double target;
    double load; /* the estimate; NaN: there was none */
    double global_duty;
    double local_duty;
    struct ss_planned_state next;
    enum ss_failure failure; /* nothing could be decided */
};

void ss_pipeline_open(struct ss_pipeline *pipeline, const struct ss_module_set *set,
    struct ss_board *board, uint32_t executor, struct ss_counters_source counters);

/* Control begins, or begins again, at this moment: what was seen before is void. */
void ss_pipeline_begin(struct ss_pipeline *pipeline, ss_time since);

/*
 * How far into its first round this executor begins: anywhere, as if it had been started without
 * regard to the others, but the same in every run.
 */
ss_time ss_pipeline_phase(const struct ss_pipeline *pipeline);

/*
 * Decides at `now` on what follows the state that ends, as planned, at `planned`. `decision` holds
 * this executor's last one.
 */
void ss_pipeline_decide(struct ss_pipeline *pipeline, ss_time now, ss_time planned,
    enum ss_state state, struct ss_decision *decision);

/* Warns of every module that gave a target or a duty beyond [0, 1]. */
void ss_pipeline_warn_of_excess(
    const struct ss_module_set *set, struct ss_board *board, struct ss_option_store *store);

/* The target at this moment, with --set heeded; for the monitor, too. */
void ss_pipeline_target(const struct ss_module_set *set, const struct ss_self *trace,
    const struct ss_board *board, ss_time now, struct ss_target *target);

#endif
