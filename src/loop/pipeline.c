/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/pipeline.h"

#include <math.h>

#include "base/module_call.h"

void ss_pipeline_open(struct ss_pipeline *pipeline, const struct ss_module_set *set,
    struct ss_board *board, uint32_t executor, struct ss_counters_source counters) {
    *pipeline = (struct ss_pipeline){
        .set = set,
        .board = board,
        .executor = executor,
        .counters = counters,
        .previous = NAN,
        .membership_seen = atomic_load(&board->membership) - 1,
    };
    ss_module_set_selves(set, board, executor, pipeline->selves);
}

void ss_pipeline_begin(struct ss_pipeline *pipeline, ss_time since) {
    pipeline->since = since;
    pipeline->previous = NAN;
}

static ss_time round_length(const struct ss_pipeline *pipeline) {
    return pipeline->set->modules[SS_KIND_DITHERING].table.dithering.round_length(
        &pipeline->selves[SS_KIND_DITHERING]);
}

ss_time ss_pipeline_first_round(const struct ss_pipeline *pipeline, ss_time now) {
    ss_time phase = pipeline->set->modules[SS_KIND_DITHERING].table.dithering.phase(
        &pipeline->selves[SS_KIND_DITHERING]);
    ss_time first = ss_time_add(pipeline->since, phase);
    ss_time length = round_length(pipeline);
    if (first <= now)
        return now;
    if (length == 0)
        return first;
    ss_time into = (length - (first - now) % length) % length;
    return ss_time_since(now, into);
}

/* Smaller excesses are rounding errors and are not reported. */
#define EXCESS_MIN 1e-6

/* Limits a module's value to [0, 1], and keeps the first value outside that range for a warning. */
static double limit_to_range(struct ss_board *board, enum ss_kind kind, double value) {
    if (value < -EXCESS_MIN || value > 1 + EXCESS_MIN) {
        uint64_t none = 0;
        atomic_compare_exchange_strong(&board->excess[kind], &none, ss_word_from_double(value));
    }
    return fmin(fmax(value, 0), 1);
}

void ss_pipeline_target(const struct ss_module_set *set, const struct ss_self *trace,
    struct ss_board *board, ss_time now, struct ss_target *target) {
    *target = (struct ss_target){0};
    double setpoint = ss_double_from_word(atomic_load(&board->setpoint));
    const struct ss_loaded *module = &set->modules[SS_KIND_TRACE];
    ss_time time = ss_board_trace_time(board, now);
    if (!isnan(setpoint)) {
        target->load = setpoint;
    } else {
        ss_module_called = module->object.path;
        module->table.trace.target(trace, time, target);
        ss_module_called = NULL;
    }
    if (!target->free && !isnan(target->load))
        target->load = limit_to_range(board, SS_KIND_TRACE, target->load);
}

void ss_pipeline_warn_of_excess(
    const struct ss_module_set *set, struct ss_board *board, struct ss_option_store *store) {
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        char text[256];
        uint64_t word = atomic_load(&board->excess[kind]);
        if (word == 0)
            continue;
        snprintf(text, sizeof text,
            "%s/%s returned %g as a %s, which was limited to the range from 0 to 1",
            ss_kind_names[kind], set->modules[kind].head->name, ss_double_from_word(word),
            kind == SS_KIND_TRACE ? "target" : "duty");
        ss_option_store_warn(store, text);
    }
}

/* Returns the load estimate; NaN until it is known. */
static double ask_feedback(
    struct ss_pipeline *pipeline, const struct ss_moment *moment, enum ss_failure *failure) {
    const struct ss_feedback_module *feedback =
        &pipeline->set->modules[SS_KIND_FEEDBACK].table.feedback;
    const struct ss_self *self = &pipeline->selves[SS_KIND_FEEDBACK];
    if (feedback->wants_sample(self, moment)) {
        struct ss_counters counters;
        if (pipeline->counters.read(pipeline->counters.context, &counters) != 0) {
            *failure = SS_FAILURE_COUNTERS;
            return NAN;
        }
        feedback->sample(self, moment, &counters);
    }
    double load;
    if (!feedback->estimate(self, moment, &load))
        return NAN;
    if (isnan(load))
        *failure = SS_FAILURE_NOT_A_NUMBER;
    return fmin(fmax(load, 0), 1);
}

/* Returns the global duty: this executor's own output, averaged with its peers'. */
static double ask_control(
    struct ss_pipeline *pipeline, const struct ss_control_input *input, enum ss_failure *failure) {
    const struct ss_control_module *control =
        &pipeline->set->modules[SS_KIND_CONTROL].table.control;
    const struct ss_self *self = &pipeline->selves[SS_KIND_CONTROL];
    if (isnan(input->load) && !control->open_loop) {
        /*
         * Until the load is known, a control that keeps an account assumes that an instance uses
         * one CPU. If instances share CPUs, the target itself would be far too high: half of a
         * round for each of 64 instances exceeds two CPUs.
         */
        double cpus = pipeline->set->load_cpus, instances = pipeline->place.count;
        bool shared = control->keeps_account && cpus > 0 && cpus < instances;
        return shared ? input->target * cpus / instances : input->target;
    }
    double own = control->update(self, input);
    if (isnan(own)) {
        *failure = SS_FAILURE_NOT_A_NUMBER;
        return 0;
    }
    own = limit_to_range(pipeline->board, SS_KIND_CONTROL, own);
    ss_board_publish_output(pipeline->board, pipeline->executor, own);
    return ss_board_mean_output(pipeline->board, pipeline->executor, own, control->peers(self));
}

static void find_place(struct ss_pipeline *pipeline, ss_time now) {
    struct ss_board *board = pipeline->board;
    uint32_t membership = atomic_load(&board->membership);
    if (membership != pipeline->membership_seen) {
        uint32_t alive = atomic_load(&board->alive);
        pipeline->place.rank = ss_board_rank(board, pipeline->executor);
        pipeline->place.count = alive > pipeline->place.rank ? alive : pipeline->place.rank + 1;
        pipeline->membership_seen = membership;
    }
    pipeline->place.time = ss_board_trace_time(board, now);
}

/* Adds the inputs that a control with an account needs besides the load. */
static void read_account(const struct ss_pipeline *pipeline, struct ss_control_input *input) {
    const struct ss_feedback_module *feedback =
        &pipeline->set->modules[SS_KIND_FEEDBACK].table.feedback;
    if (!pipeline->set->modules[SS_KIND_CONTROL].table.control.keeps_account)
        return;
    feedback->account(&pipeline->selves[SS_KIND_FEEDBACK], &input->account);
    ss_permits_read(&pipeline->board->permits, input->moment.now, &input->permission);
    input->rhythm = (struct ss_rhythm){.round = round_length(pipeline),
        .settling = pipeline->set->modules[SS_KIND_DITHERING].table.dithering.settling};
}

/* Decides the duty of this instance, and keeps the values that led to it. */
static void decide_duty(
    struct ss_pipeline *pipeline, const struct ss_moment *moment, struct ss_decision *decision) {
    decision->load = NAN;
    if (!pipeline->set->modules[SS_KIND_CONTROL].table.control.open_loop)
        decision->load = ask_feedback(pipeline, moment, &decision->failure);
    struct ss_control_input input = {
        .moment = *moment,
        .target = decision->target,
        .load = decision->load,
        .place = pipeline->place,
        .previous = pipeline->previous,
    };
    read_account(pipeline, &input);
    pipeline->quota_period = input.account.period;
    pipeline->grain = input.account.grain;

    decision->global_duty = ask_control(pipeline, &input, &decision->failure);
    pipeline->previous = decision->global_duty;
    double duty = pipeline->set->modules[SS_KIND_SPACE].table.space.local_duty(
        &pipeline->selves[SS_KIND_SPACE], &pipeline->place, decision->global_duty);
    if (isnan(duty))
        decision->failure = SS_FAILURE_NOT_A_NUMBER;
    decision->local_duty = limit_to_range(pipeline->board, SS_KIND_SPACE, duty);
}

void ss_pipeline_decide(struct ss_pipeline *pipeline, ss_time now, const struct ss_target *target,
    ss_time planned, enum ss_state state, struct ss_decision *decision) {
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

    find_place(pipeline, now);
    struct ss_dithering_input input = {
        .moment = {.now = planned, .since = pipeline->since},
        .state = state,
        .target = decision->target,
        .duty = decision->local_duty,
        .place = pipeline->place,
    };
    if (!dithering->is_planned(&pipeline->selves[SS_KIND_DITHERING], &input))
        decide_duty(pipeline, &moment, decision);
    input.duty = decision->local_duty;
    input.quota_period = pipeline->quota_period;
    input.grain = pipeline->grain;

    dithering->next(&pipeline->selves[SS_KIND_DITHERING], &input, &decision->next);
    if (decision->next.length == 0)
        decision->next.length = 1;
    atomic_store(&row->global_duty, ss_word_from_double(decision->global_duty));
    atomic_store(&row->local_duty, ss_word_from_double(decision->local_duty));
}
