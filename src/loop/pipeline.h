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

/* The steps from the target to the output of control, for one executor. */
struct ss_pipeline {
    const struct ss_module_set *set;
    struct ss_board *board;
    struct ss_self selves[SS_KINDS];
    uint32_t executor;
    struct ss_counters_source counters;
    ss_time since; /* when the present run of control began */
};

void ss_pipeline_open(struct ss_pipeline *pipeline, const struct ss_module_set *set,
    struct ss_board *board, uint32_t executor, struct ss_counters_source counters);

/*
 * Computes the output of control from the feedback. Sets `input->load` and the members for a
 * control that keeps an account; the caller sets the others before. Sets `output`, which is NaN as
 * long as control needs a load that is not known yet. Returns why there can be no output, or
 * SS_FAILURE_NONE.
 */
enum ss_failure ss_pipeline_compute_output(
    const struct ss_pipeline *pipeline, struct ss_control_input *input, double *output);

/*
 * Limits the value of a module to [0, 1], and keeps the first value outside that range for
 * ss_pipeline_warn_of_excess().
 */
double ss_pipeline_limit(struct ss_board *board, enum ss_kind kind, double value);

/* Returns the mean length of a round of dithering; 0 if there are no rounds. */
ss_time ss_pipeline_round_length(const struct ss_pipeline *pipeline);

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
