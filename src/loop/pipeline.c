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
    };
    ss_module_set_selves(set, board, executor, pipeline->selves);
}

ss_time ss_pipeline_round_length(const struct ss_pipeline *pipeline) {
    return pipeline->set->modules[SS_KIND_DITHERING].table.dithering.round_length(
        &pipeline->selves[SS_KIND_DITHERING]);
}

/* Smaller excesses are rounding errors and are not reported. */
#define EXCESS_MIN 1e-6

double ss_pipeline_limit(struct ss_board *board, enum ss_kind kind, double value) {
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
    const struct ss_loaded_module *module = &set->modules[SS_KIND_TRACE];
    ss_time time = ss_board_trace_time(board, now);
    if (!isnan(setpoint)) {
        target->load = setpoint;
    } else {
        ss_called_module_path = module->object.path;
        module->table.trace.target(trace, time, target);
        ss_called_module_path = NULL;
    }

    if (!target->free && !isnan(target->load))
        target->load = ss_pipeline_limit(board, SS_KIND_TRACE, target->load);
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
static double estimate_load(
    const struct ss_pipeline *pipeline, const struct ss_moment *moment, enum ss_failure *failure) {
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

/* Adds the inputs that a control with an account needs besides the load. */
static void read_account(const struct ss_pipeline *pipeline, struct ss_control_input *input) {
    const struct ss_feedback_module *feedback =
        &pipeline->set->modules[SS_KIND_FEEDBACK].table.feedback;
    if (!pipeline->set->modules[SS_KIND_CONTROL].table.control.keeps_account || !feedback->account)
        return;
    feedback->account(&pipeline->selves[SS_KIND_FEEDBACK], &input->account);
    ss_permits_read(&pipeline->board->permits, input->moment.now, &input->permission);
    input->rhythm = (struct ss_rhythm){.round = ss_pipeline_round_length(pipeline),
        .settling = pipeline->set->modules[SS_KIND_DITHERING].table.dithering.settling};
}

enum ss_failure ss_pipeline_compute_output(
    const struct ss_pipeline *pipeline, struct ss_control_input *input, double *output) {
    const struct ss_control_module *control =
        &pipeline->set->modules[SS_KIND_CONTROL].table.control;
    enum ss_failure failure = SS_FAILURE_NONE;
    *output = NAN;
    input->load = NAN;
    if (!control->open_loop)
        input->load = estimate_load(pipeline, &input->moment, &failure);
    read_account(pipeline, input);
    if (failure || (isnan(input->load) && !control->open_loop))
        return failure;

    *output = control->update(&pipeline->selves[SS_KIND_CONTROL], input);
    return isnan(*output) ? SS_FAILURE_NOT_A_NUMBER : SS_FAILURE_NONE;
}
