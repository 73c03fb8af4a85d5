/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/stepper.h"

/*
 * An executor that is later than this was stopped, or got no CPU. It does not catch up on the
 * states that have passed.
 */
#define LATENESS_MAX SS_SECOND

/*
 * After this many lapsed states in one step, the executor skips the rest. This happens when quanta
 * are short and the executor is very late.
 */
#define LAPSES_MAX 16

void ss_stepper_open(struct ss_stepper *stepper, const struct ss_pipeline *pipeline) {
    *stepper = (struct ss_stepper){
        .state = SS_STATE_RUNNING,
        .deadline = SS_TIME_NEVER,
    };
    ss_planner_open(&stepper->planner, pipeline);
}

static struct ss_action enter_state(
    struct ss_stepper *stepper, ss_time now, enum ss_state state, ss_time deadline) {
    const struct ss_pipeline *pipeline = &stepper->planner.pipeline;
    ss_board_permit(pipeline->board, pipeline->executor, now, state == SS_STATE_RUNNING);
    struct ss_action action = {
        .change = stepper->state != state,
        .state = state,
        .deadline = deadline,
    };
    stepper->state = state;
    stepper->deadline = deadline;
    return action;
}

/* Keeps the instance in one state until an event or `until`, without control. */
static struct ss_action hold_state(
    struct ss_stepper *stepper, ss_time now, enum ss_state state, ss_time until) {
    stepper->controlled = false;
    return enter_state(stepper, now, state, until);
}

/*
 * Returns when the run of control began: at the start of the trace, at the end of a pause, or at
 * the end of a `free` section, which was the deadline unless --set ended the section earlier. All
 * executors must get the same time, whenever each of them notices the beginning.
 */
static ss_time find_beginning(
    const struct ss_stepper *stepper, ss_time now, ss_time control_start) {
    const struct ss_board *board = stepper->planner.pipeline.board;
    bool was_free = !stepper->controlled && stepper->state == SS_STATE_RUNNING;
    ss_time since = stepper->deadline;
    if (since > now && was_free)
        since = ss_setpoints_last(&board->setpoints);
    if (since > now || since < control_start)
        since = control_start;
    return stepper->control_since_seen > since ? stepper->control_since_seen : since;
}

static void begin_control(
    struct ss_stepper *stepper, ss_time now, ss_time control_start, bool is_free) {
    struct ss_planner *planner = &stepper->planner;
    stepper->control_since_seen = atomic_load(&planner->pipeline.board->control_since);
    ss_planner_begin(planner, find_beginning(stepper, now, control_start));
    stepper->controlled = true;
    stepper->deadline = is_free ? now : ss_planner_first_round(planner, now);
}

static struct ss_action decide_state(
    struct ss_stepper *stepper, ss_time now, const struct ss_target *target) {
    ss_time planned = stepper->deadline;
    enum ss_state state = stepper->state;
    struct ss_decision *decision = &stepper->decision;

    for (int lapses = 0;; lapses++) {
        ss_planner_decide(&stepper->planner, now, target, planned, state, decision);
        if (decision->failure)
            return (struct ss_action){.deadline = SS_TIME_NEVER, .failure = decision->failure};
        if (decision->free)
            return hold_state(stepper, now, SS_STATE_RUNNING, decision->free_until);
        state = decision->next.state;
        planned = ss_time_add(planned, decision->next.length);
        if (planned > now)
            break;
        /* The whole state has lapsed. Its time is lost, and the next state is due now. */
        if (lapses == LAPSES_MAX)
            planned = now;
    }

    stepper->decisions++;
    return enter_state(stepper, now, state, planned);
}

struct ss_action ss_stepper_step(struct ss_stepper *stepper, ss_time now) {
    const struct ss_pipeline *pipeline = &stepper->planner.pipeline;
    struct ss_board *board = pipeline->board;
    ss_time control_start = atomic_load(&board->control_start);
    struct ss_target target;

    switch (atomic_load(&board->phase)) {
    /*
     * No instance runs before all have been started: hundreds of running instances would leave
     * hardly any CPU time for the others to start, and the last one would start minutes after the
     * first.
     */
    case SS_PHASE_STARTING:
    case SS_PHASE_PAUSED:
        return hold_state(stepper, now, SS_STATE_STOPPED, SS_TIME_NEVER);
    case SS_PHASE_ENDING:
        return hold_state(stepper, now, SS_STATE_RUNNING, SS_TIME_NEVER);
    default:
        if (now < control_start)
            return hold_state(stepper, now, SS_STATE_RUNNING, control_start);
    }

    bool begins =
        !stepper->controlled || stepper->control_since_seen != atomic_load(&board->control_since);
    if (!begins && now < stepper->deadline)
        return enter_state(stepper, now, stepper->state, stepper->deadline);
    ss_pipeline_target(pipeline->set, &pipeline->selves[SS_KIND_TRACE], board, now, &target);
    /* The round in which control begins may have begun long before. */
    if (begins)
        begin_control(stepper, now, control_start, target.free);
    else if (ss_time_since(now, stepper->deadline) > LATENESS_MAX)
        stepper->deadline = now;
    /* The first round has not begun yet. */
    if (now < stepper->deadline)
        return enter_state(stepper, now, SS_STATE_STOPPED, stepper->deadline);
    return decide_state(stepper, now, &target);
}
