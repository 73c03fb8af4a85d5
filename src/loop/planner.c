/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/planner.h"

#include <math.h>

void ss_planner_open(struct ss_planner *planner, const struct ss_pipeline *pipeline) {
    *planner = (struct ss_planner){
        .pipeline = *pipeline,
        .previous = NAN,
        .membership_seen = atomic_load(&pipeline->board->membership_changes) - 1,
    };
}

void ss_planner_begin(struct ss_planner *planner, ss_time since) {
    planner->pipeline.since = since;
    planner->previous = NAN;
}

ss_time ss_planner_first_round(const struct ss_planner *planner, ss_time now) {
    const struct ss_pipeline *pipeline = &planner->pipeline;
    ss_time phase = pipeline->set->modules[SS_KIND_DITHERING].table.dithering.phase(
        &pipeline->selves[SS_KIND_DITHERING]);
    ss_time first = ss_time_add(pipeline->since, phase);
    ss_time length = ss_pipeline_round_length(pipeline);
    if (first <= now)
        return now;
    if (length == 0)
        return first;
    ss_time into = (length - (first - now) % length) % length;
    return ss_time_since(now, into);
}

static void update_place(struct ss_planner *planner, ss_time now) {
    struct ss_board *board = planner->pipeline.board;
    uint32_t executor = planner->pipeline.executor;
    uint32_t membership = atomic_load(&board->membership_changes);
    if (membership != planner->membership_seen) {
        uint32_t alive = atomic_load(&board->alive);
        planner->place.rank = ss_board_rank(board, executor);
        planner->place.count = alive > planner->place.rank ? alive : planner->place.rank + 1;
        planner->membership_seen = membership;
    }
    planner->place.time = ss_board_trace_time(board, now);
}

/*
 * Returns the duty to use until the load is known: the target. A control that keeps an account
 * assumes that each instance uses one CPU, so if instances share CPUs, the target is divided among
 * them: at half of each round, 64 instances would need far more than two CPUs.
 */
static double compute_first_duty(const struct ss_planner *planner, double target) {
    const struct ss_module_set *set = planner->pipeline.set;
    double cpus = set->load_cpus, instances = planner->place.count;
    bool shared =
        set->modules[SS_KIND_CONTROL].table.control.keeps_account && cpus > 0 && cpus < instances;
    return shared ? target * cpus / instances : target;
}

/* Returns the global duty: the mean of this executor's own output and its peers'. */
static double average_with_peers(const struct ss_pipeline *pipeline, double output) {
    const struct ss_control_module *control =
        &pipeline->set->modules[SS_KIND_CONTROL].table.control;
    double own = ss_pipeline_limit(pipeline->board, SS_KIND_CONTROL, output);
    ss_board_publish_output(pipeline->board, pipeline->executor, own);
    return ss_board_mean_output(pipeline->board, pipeline->executor, own,
        control->peers(&pipeline->selves[SS_KIND_CONTROL]));
}

/* Decides the duty of this instance, and keeps the values that led to it. */
static void decide_duty(
    struct ss_planner *planner, const struct ss_moment *moment, struct ss_decision *decision) {
    const struct ss_pipeline *pipeline = &planner->pipeline;
    double output;
    struct ss_control_input input = {
        .moment = *moment,
        .target = decision->target,
        .place = planner->place,
        .previous = planner->previous,
    };
    decision->failure = ss_pipeline_compute_output(pipeline, &input, &output);
    if (decision->failure)
        return;
    decision->load = input.load;
    planner->quota_period = input.account.period;
    planner->grain = input.account.grain;

    decision->global_duty = isnan(output) ? compute_first_duty(planner, decision->target)
                                          : average_with_peers(pipeline, output);
    planner->previous = decision->global_duty;
    double duty = pipeline->set->modules[SS_KIND_SPACE].table.space.local_duty(
        &pipeline->selves[SS_KIND_SPACE], &planner->place, decision->global_duty);
    if (isnan(duty))
        decision->failure = SS_FAILURE_NOT_A_NUMBER;
    decision->local_duty = ss_pipeline_limit(pipeline->board, SS_KIND_SPACE, duty);
}

void ss_planner_decide(struct ss_planner *planner, ss_time now, const struct ss_target *target,
    ss_time planned, enum ss_state state, struct ss_decision *decision) {
    const struct ss_pipeline *pipeline = &planner->pipeline;
    const struct ss_dithering_module *dithering =
        &pipeline->set->modules[SS_KIND_DITHERING].table.dithering;
    struct ss_moment moment = {.now = now, .since = pipeline->since};
    struct ss_row *row = &pipeline->board->rows[pipeline->executor];

    decision->failure = SS_FAILURE_NONE;
    decision->free = target->free;
    if (target->free) {
        ss_time trace_now = ss_board_trace_time(pipeline->board, now);
        decision->free_until = ss_time_add(now, ss_time_since(target->until, trace_now));
        return;
    }
    if (isnan(target->load)) {
        decision->failure = SS_FAILURE_NOT_A_NUMBER;
        return;
    }
    decision->target = target->load;

    update_place(planner, now);
    struct ss_dithering_input input = {
        .moment = {.now = planned, .since = pipeline->since},
        .state = state,
        .target = decision->target,
        .duty = decision->local_duty,
        .place = planner->place,
    };
    if (!dithering->is_planned(&pipeline->selves[SS_KIND_DITHERING], &input))
        decide_duty(planner, &moment, decision);
    input.duty = decision->local_duty;
    input.quota_period = planner->quota_period;
    input.grain = planner->grain;
    input.cost = planner->cost;

    dithering->next(&pipeline->selves[SS_KIND_DITHERING], &input, &decision->next);
    if (decision->next.length == 0)
        decision->next.length = 1;
    atomic_store(&row->global_duty, ss_word_from_double(decision->global_duty));
    atomic_store(&row->local_duty, ss_word_from_double(decision->local_duty));
}
