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
    double load; /* infinite if there is no estimate */
    double output;
    double share;                     /* local duty per global duty */
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

static struct {
    struct script script;
    struct ss_module_set rig;
    struct ss_board *board;
    struct ss_stepper stepper;
} bench;

static inline void target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    bench.script.trace_time = time;
    bench.script.asked++;
    target->load = bench.script.target;
    target->free = time >= bench.script.free_from && time < bench.script.free_until;
    target->until = bench.script.free_until;
}

static inline bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    return true;
}

static inline void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
}

static inline bool estimate(
    const struct ss_self *self, const struct ss_moment *moment, double *load) {
    *load = bench.script.load;
    return !isinf(*load);
}

static inline double update(const struct ss_self *self, const struct ss_control_input *input) {
    bench.script.updates++;
    bench.script.input = *input;
    return bench.script.output;
}

static inline uint32_t no_peers(const struct ss_self *self) {
    return 0;
}

static inline double local_duty(
    const struct ss_self *self, const struct ss_place *place, double global_duty) {
    return bench.script.share * global_duty;
}

static inline void next(const struct ss_self *self, const struct ss_dithering_input *input,
    struct ss_planned_state *plan) {
    bench.script.decisions++;
    bench.script.dithering = *input;
    *plan = bench.script.plans[input->state];
}

static inline bool is_planned(const struct ss_self *self, const struct ss_dithering_input *input) {
    return bench.script.planned;
}

static inline ss_time round_length(const struct ss_self *self) {
    return bench.script.round;
}

static inline ss_time phase(const struct ss_self *self) {
    return bench.script.phase;
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
    return bench.script.read_error;
}

static inline int close_bench(void **state) {
    free(bench.board);
    bench.board = NULL;
    return 0;
}

/* Runs for 10 ms and stops for 20 ms, unless the script is changed. Closes an earlier bench. */
static inline int open_bench(void **state) {
    close_bench(state);
    bench.script = (struct script){.target = 0.5,
        .free_from = SS_TIME_NEVER,
        .load = 0.4,
        .output = 0.6,
        .share = 1,
        .plans = {{SS_STATE_RUNNING, 10 * MS}, {SS_STATE_STOPPED, 20 * MS}}};
    bench.rig = (struct ss_module_set){.instances = 1, .cpus = 1};
    struct ss_loaded_module *modules = bench.rig.modules;
    modules[SS_KIND_TRACE].table.trace = trace_module;
    modules[SS_KIND_FEEDBACK].table.feedback = feedback_module;
    modules[SS_KIND_CONTROL].table.control = control_module;
    modules[SS_KIND_SPACE].table.space = space_module;
    modules[SS_KIND_DITHERING].table.dithering = dithering_module;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        modules[kind].head = &modules[kind].table.head;
        bench.rig.configs[kind] = &bench.script;
    }
    bench.board = ss_board_allocate(1, ss_module_set_memory(&bench.rig), false);
    assert_non_null(bench.board);
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    atomic_store(&bench.board->control_start, START);
    ss_board_join(bench.board, 0);
    struct ss_pipeline pipeline;
    ss_pipeline_open(
        &pipeline, &bench.rig, bench.board, 0, (struct ss_counters_source){read_counters, NULL});
    ss_stepper_open(&bench.stepper, &pipeline);
    return 0;
}

/* A case with a new bench. */
#define BENCH_TEST(name) TEST_WITH(name, open_bench, close_bench)

/* Steps at a time relative to the start of control. */
static inline struct ss_action step_at(ss_time time) {
    return ss_stepper_step(&bench.stepper, START + time);
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
