/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_STEPPER_BENCH_H
#define SHOWSTOPPER_TESTS_STEPPER_BENCH_H

/* A stepper in virtual time, with modules that follow a test's script. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "loop/stepper.h"
#include "modules.h"

#define MS    SS_MILLISECOND
#define START (100 * SS_SECOND) /* when control begins */

/* The results of the modules, and the arguments of their last calls. */
struct script {
    double target;
    ss_time free_from; /* in trace time */
    ss_time free_until;
    double load; /* infinite: no estimate */
    double output;
    double share;                     /* part of the global duty */
    struct ss_planned_state plans[2]; /* the plans after a stopped and a running state */
    ss_time phase;                    /* reported by dithering, as is `round` */
    ss_time round;
    int read_error;
    bool planned; /* the next state does not depend on the duty */

    int asked;     /* calls of the trace */
    int decisions; /* calls of dithering */
    int updates;   /* calls of control */
    struct ss_dithering_input dithering;
    struct ss_control_input input;
    ss_time trace_time;
};

struct bench {
    struct script script;
    struct ss_module_set rig;
    struct ss_board *board;
    struct ss_stepper stepper;
};

static inline struct script *script_of(const struct ss_self *self) {
    return (struct script *)self->config;
}

static inline void target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    struct script *script = script_of(self);
    script->trace_time = time;
    script->asked++;
    target->load = script->target;
    target->free = time >= script->free_from && time < script->free_until;
    target->until = script->free_until;
}

static inline bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    (void)self;
    (void)moment;
    return true;
}

static inline void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    (void)self;
    (void)moment;
    (void)counters;
}

static inline bool estimate(
    const struct ss_self *self, const struct ss_moment *moment, double *load) {
    (void)moment;
    *load = script_of(self)->load;
    return !isinf(*load);
}

static inline double update(const struct ss_self *self, const struct ss_control_input *input) {
    struct script *script = script_of(self);
    script->updates++;
    script->input = *input;
    return script->output;
}

static inline uint32_t no_peers(const struct ss_self *self) {
    (void)self;
    return 0;
}

static inline double local_duty(
    const struct ss_self *self, const struct ss_place *place, double global_duty) {
    (void)place;
    return script_of(self)->share * global_duty;
}

static inline void next(const struct ss_self *self, const struct ss_dithering_input *input,
    struct ss_planned_state *plan) {
    struct script *script = script_of(self);
    script->decisions++;
    script->dithering = *input;
    *plan = script->plans[input->state];
}

static inline bool is_planned(const struct ss_self *self, const struct ss_dithering_input *input) {
    (void)input;
    return script_of(self)->planned;
}

static inline ss_time round_length(const struct ss_self *self) {
    return script_of(self)->round;
}

static inline ss_time phase(const struct ss_self *self) {
    return script_of(self)->phase;
}

static const struct ss_trace_module trace_module = {.target = target};
static const struct ss_feedback_module feedback_module = {
    .wants_sample = wants_sample, .sample = take_sample, .estimate = estimate};
static const struct ss_control_module control_module = {.update = update, .peers = no_peers};
static const struct ss_space_module space_module = {.local_duty = local_duty};
static const struct ss_dithering_module dithering_module = {
    .next = next, .round_length = round_length, .phase = phase, .is_planned = is_planned};

static inline int read_counters(void *context, struct ss_counters *counters) {
    *counters = (struct ss_counters){0};
    return ((struct script *)context)->read_error;
}

static inline void close_bench(struct bench *bench) {
    free(bench->board);
    bench->board = NULL;
}

/* A bench that is closed at the end of its scope. */
#define BENCH __attribute__((cleanup(close_bench))) struct bench

/* Runs for 10 ms and stops for 20 ms, unless the script is changed. */
static inline void open_bench(struct bench *bench) {
    *bench = (struct bench){
        .script = {.target = 0.5,
            .free_from = SS_TIME_NEVER,
            .load = 0.4,
            .output = 0.6,
            .share = 1,
            .plans = {{SS_STATE_RUNNING, 10 * MS}, {SS_STATE_STOPPED, 20 * MS}}},
        .rig = {.instances = 1, .cpus = 1},
    };
    struct ss_loaded *modules = bench->rig.modules;
    modules[SS_KIND_TRACE].table.trace = trace_module;
    modules[SS_KIND_FEEDBACK].table.feedback = feedback_module;
    modules[SS_KIND_CONTROL].table.control = control_module;
    modules[SS_KIND_SPACE].table.space = space_module;
    modules[SS_KIND_DITHERING].table.dithering = dithering_module;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        modules[kind].head = &modules[kind].table.head;
        bench->rig.configs[kind] = &bench->script;
    }
    bench->board = ss_board_allocate(1, ss_module_set_memory(&bench->rig));
    assert_non_null(bench->board);
    atomic_store(&bench->board->phase, SS_PHASE_RUNNING);
    atomic_store(&bench->board->control_start, START);
    ss_board_join(bench->board, 0);
    struct ss_pipeline pipeline;
    ss_pipeline_open(&pipeline, &bench->rig, bench->board, 0,
        (struct ss_counters_source){read_counters, &bench->script});
    ss_stepper_open(&bench->stepper, &pipeline);
}

/* Steps at a time relative to the start of control. */
static inline struct ss_action step_at(struct bench *bench, ss_time time) {
    return ss_stepper_step(&bench->stepper, START + time);
}

static inline void assert_action(
    struct ss_action action, bool change, enum ss_state state, ss_time deadline) {
    assert_int_equal(action.failure, SS_FAILURE_NONE);
    assert_int_equal(action.change, change);
    assert_int_equal(action.state, state);
    if (deadline != SS_TIME_NEVER)
        deadline += START;
    assert_int_equal(action.deadline, deadline);
}

#endif
