/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The step function alone. The five modules are made here: they do what a script says and note what
 * they were asked, so that nothing but the stepper and the pipeline is under test.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "modules.h"
#include "stepper.h"

#define MS    SS_MILLISECOND
#define START (100 * SS_SECOND) /* of control */

/* What the modules are to say, and what they were asked last. */
struct script {
    double target;
    ss_time free_from; /* on the trace's clock */
    ss_time free_until;
    double load; /* infinite: no estimate */
    double output;
    double share;              /* of the global duty */
    struct ss_stint stints[2]; /* what follows a stopped and a running state */
    ss_time round;             /* that dithering says it makes */
    int read_error;

    int decisions; /* times that dithering was asked */
    int updates;   /* times that control was */
    struct ss_turn turn;
    struct ss_control_input input;
    ss_time trace_time;
};

struct bench {
    struct script script;
    struct ss_rig rig;
    struct ss_board *board;
    struct ss_stepper stepper;
};

static struct script *script_of(const struct ss_self *self) {
    return (struct script *)self->config;
}

static void target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    struct script *script = script_of(self);
    script->trace_time = time;
    target->load = script->target;
    target->free = time >= script->free_from && time < script->free_until;
    target->until = script->free_until;
}

static bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    (void)self;
    (void)moment;
    return true;
}

static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    (void)self;
    (void)moment;
    (void)counters;
}

static bool estimate(const struct ss_self *self, const struct ss_moment *moment, double *load) {
    (void)moment;
    *load = script_of(self)->load;
    return !isinf(*load);
}

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    struct script *script = script_of(self);
    script->updates++;
    script->input = *input;
    return script->output;
}

static uint32_t no_peers(const struct ss_self *self) {
    (void)self;
    return 0;
}

static double local_duty(
    const struct ss_self *self, const struct ss_place *place, double global_duty) {
    (void)place;
    return script_of(self)->share * global_duty;
}

static void next(const struct ss_self *self, const struct ss_turn *turn, struct ss_stint *stint) {
    struct script *script = script_of(self);
    script->decisions++;
    script->turn = *turn;
    *stint = script->stints[turn->state];
}

static ss_time round_length(const struct ss_self *self) {
    return script_of(self)->round;
}

static const struct ss_trace_module trace_module = {.target = target};
static const struct ss_feedback_module feedback_module = {
    .wants_sample = wants_sample, .sample = take_sample, .estimate = estimate};
static const struct ss_control_module control_module = {.update = update, .peers = no_peers};
static const struct ss_space_module space_module = {.local_duty = local_duty};
static const struct ss_dithering_module dithering_module = {
    .next = next, .round_length = round_length};

static int read_counters(void *context, struct ss_counters *counters) {
    *counters = (struct ss_counters){0};
    return ((struct script *)context)->read_error;
}

/* Runs for 10 ms and stops for 20 ms, unless the script is changed. */
static void open_bench(struct bench *bench) {
    *bench = (struct bench){
        .script = {.target = 0.5,
            .free_from = SS_TIME_NEVER,
            .load = 0.4,
            .output = 0.6,
            .share = 1,
            .stints = {{SS_STATE_RUNNING, 10 * MS}, {SS_STATE_STOPPED, 20 * MS}}},
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
    bench->board = ss_board_allocate(1, ss_rig_memory(&bench->rig));
    assert_non_null(bench->board);
    atomic_store(&bench->board->phase, SS_PHASE_RUNNING);
    atomic_store(&bench->board->control_start, START);
    ss_board_join(bench->board, 0);
    struct ss_pipeline pipeline;
    ss_pipeline_open(&pipeline, &bench->rig, bench->board, 0, read_counters, &bench->script);
    ss_stepper_open(&bench->stepper, &pipeline);
}

/* As another executor of a run of many, in rounds of 100 ms. */
static void become(struct bench *bench, uint32_t executor) {
    bench->script.round = 100 * MS;
    bench->stepper.pipeline.executor = executor;
}

static void close_bench(struct bench *bench) {
    free(bench->board);
}

/* The time of a step is given from the start of control. */
static struct ss_action step_at(struct bench *bench, ss_time time) {
    return ss_stepper_step(&bench->stepper, START + time);
}

static void assert_action(
    struct ss_action action, bool change, enum ss_state state, ss_time deadline) {
    assert_int_equal(action.failure, SS_FAILURE_NONE);
    assert_int_equal(action.change, change);
    assert_int_equal(action.state, state);
    if (deadline != SS_TIME_NEVER)
        deadline += START;
    assert_int_equal(action.deadline, deadline);
}

static void nothing_is_asked_before_control(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    struct ss_action action = ss_stepper_step(&bench.stepper, START - 7 * SS_SECOND);
    assert_action(action, false, SS_STATE_RUNNING, 0);
    action = ss_stepper_step(&bench.stepper, START - 1);
    assert_action(action, false, SS_STATE_RUNNING, 0);
    atomic_store(&bench.board->control_start, SS_TIME_NEVER);
    assert_action(step_at(&bench, 5 * MS), false, SS_STATE_RUNNING, SS_TIME_NEVER);
    assert_int_equal(bench.script.decisions, 0);
    close_bench(&bench);
}

/* They must not keep step; where in a round each begins is the same in every run. */
static void executors_begin_anywhere_in_a_round(void **state) {
    (void)state;
    ss_time sum = 0;
    ss_time last = SS_TIME_NEVER;
    for (uint32_t executor = 0; executor < 100; executor++) {
        struct bench bench;
        open_bench(&bench);
        become(&bench, executor);
        struct ss_action action = step_at(&bench, 0);
        ss_time phase = action.deadline - START;
        assert_action(action, false, SS_STATE_RUNNING, phase);
        assert_int_equal(bench.script.decisions, 0);
        assert_true(phase < 100 * MS && phase != last);
        assert_action(step_at(&bench, phase), true, SS_STATE_STOPPED, phase + 20 * MS);
        assert_int_equal(bench.script.turn.moment.since, START);
        ss_stepper_open(&bench.stepper, &bench.stepper.pipeline);
        assert_int_equal(step_at(&bench, 0).deadline, START + phase);
        sum += phase;
        last = phase;
        close_bench(&bench);
    }
    /* The mean of 100 even draws from 0 to 100 ms: 50 ms, give or take three times 2.9 ms. */
    assert_in_range(sum / 100, 41 * MS, 59 * MS);
}

static void nobody_runs_before_all_are_there(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    atomic_store(&bench.board->phase, SS_PHASE_STARTING);
    atomic_store(&bench.board->control_start, SS_TIME_NEVER);
    assert_action(step_at(&bench, 0), true, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_action(step_at(&bench, 1 * MS), false, SS_STATE_STOPPED, SS_TIME_NEVER);
    /* Warm-up. */
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    atomic_store(&bench.board->control_start, START + 50 * MS);
    assert_action(step_at(&bench, 2 * MS), true, SS_STATE_RUNNING, 50 * MS);
    assert_int_equal(bench.script.decisions, 0);
    assert_action(step_at(&bench, 51 * MS), true, SS_STATE_STOPPED, 71 * MS);
    assert_int_equal(bench.script.turn.moment.since, START + 50 * MS);
    close_bench(&bench);
}

/* The instance has run until now; what comes first is dithering's choice. */
static void the_first_state_begins_when_first_asked(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    assert_action(step_at(&bench, 4 * MS), true, SS_STATE_STOPPED, 24 * MS);
    assert_int_equal(bench.script.turn.state, SS_STATE_RUNNING);
    assert_int_equal(bench.script.turn.moment.now, START + 4 * MS);
    assert_int_equal(bench.script.turn.moment.since, START);
    assert_close(bench.script.turn.duty, 0.6, 0);
    close_bench(&bench);

    open_bench(&bench);
    bench.script.stints[SS_STATE_RUNNING] = (struct ss_stint){SS_STATE_RUNNING, 10 * MS};
    assert_action(step_at(&bench, 0), false, SS_STATE_RUNNING, 10 * MS);
    close_bench(&bench);
}

static void control_is_given_what_is(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 4 * MS);
    assert_int_equal(bench.script.trace_time, 4 * MS);
    assert_int_equal(bench.script.input.moment.now, START + 4 * MS);
    assert_int_equal(bench.script.input.moment.since, START);
    assert_close(bench.script.input.target, 0.5, 0);
    assert_close(bench.script.input.load, 0.4, 0);
    assert_close(ss_double_from_word(bench.board->rows[0].output), 0.6, 0);
    assert_close(ss_double_from_word(bench.board->rows[0].global_duty), 0.6, 0);
    assert_close(ss_double_from_word(bench.board->rows[0].local_duty), 0.6, 0);
    close_bench(&bench);
}

static void a_needless_wake_up_changes_nothing(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    for (int time = 1; time < 20; time++)
        assert_action(step_at(&bench, time * MS), false, SS_STATE_STOPPED, 20 * MS);
    assert_int_equal(bench.script.decisions, 1);
    assert_action(step_at(&bench, 20 * MS), true, SS_STATE_RUNNING, 30 * MS);
    close_bench(&bench);
}

/* Late by 3 ms every time, and yet every state ends on the grid. */
static void deadlines_are_absolute(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    for (int round = 0; round < 1000; round++) {
        ss_time begin = (ss_time)round * 30 * MS;
        assert_action(step_at(&bench, begin + 23 * MS), true, SS_STATE_RUNNING, begin + 30 * MS);
        assert_int_equal(bench.script.turn.moment.now, START + begin + 20 * MS);
        assert_action(step_at(&bench, begin + 33 * MS), true, SS_STATE_STOPPED, begin + 50 * MS);
        assert_int_equal(bench.script.turn.moment.now, START + begin + 30 * MS);
    }
    close_bench(&bench);
}

/* Stopped to 20, run to 30, stopped to 50, run to 60: at 55 two states have passed. */
static void states_that_have_passed_are_skipped(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    assert_action(step_at(&bench, 55 * MS), true, SS_STATE_RUNNING, 60 * MS);
    assert_int_equal(bench.script.decisions, 4);
    /* Stopped to 80: over before anybody could have been told. */
    assert_action(step_at(&bench, 85 * MS), false, SS_STATE_RUNNING, 90 * MS);
    close_bench(&bench);
}

static void many_short_states_are_not_made_up_for(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.stints[SS_STATE_STOPPED].length = MS;
    bench.script.stints[SS_STATE_RUNNING].length = MS;
    step_at(&bench, 0);
    struct ss_action action = step_at(&bench, 900 * MS);
    assert_int_equal(action.failure, SS_FAILURE_NONE);
    assert_true(bench.script.decisions <= 20);
    assert_int_equal(action.deadline, START + 901 * MS);
    close_bench(&bench);
}

static void who_was_away_begins_anew(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    assert_action(
        step_at(&bench, 60 * SS_SECOND), true, SS_STATE_RUNNING, 60 * SS_SECOND + 10 * MS);
    assert_int_equal(bench.script.decisions, 2);
    close_bench(&bench);
}

static void a_length_of_zero_is_not_endless(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.stints[SS_STATE_STOPPED].length = 0;
    bench.script.stints[SS_STATE_RUNNING].length = 0;
    step_at(&bench, 0);
    struct ss_action action = step_at(&bench, 5 * MS);
    assert_true(action.deadline > START + 5 * MS);
    close_bench(&bench);
}

static void a_pause_stops_and_begins_anew(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    step_at(&bench, 20 * MS);
    atomic_store(&bench.board->phase, SS_PHASE_PAUSED);
    assert_action(step_at(&bench, 25 * MS), true, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_action(step_at(&bench, 26 * MS), false, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_int_equal(bench.script.decisions, 2);
    atomic_store(&bench.board->paused, 40 * MS);
    atomic_store(&bench.board->control_since, START + 65 * MS);
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    assert_action(step_at(&bench, 66 * MS), true, SS_STATE_RUNNING, 76 * MS);
    assert_int_equal(bench.script.turn.moment.since, START + 65 * MS);
    assert_int_equal(bench.script.trace_time, 26 * MS);
    close_bench(&bench);
}

/* Asleep from before the pause to after its end. */
static void a_pause_slept_through_is_noticed(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    atomic_store(&bench.board->paused, 4 * MS);
    atomic_store(&bench.board->control_since, START + 9 * MS);
    assert_action(step_at(&bench, 10 * MS), true, SS_STATE_RUNNING, 20 * MS);
    assert_int_equal(bench.script.turn.moment.since, START + 9 * MS);
    close_bench(&bench);
}

static void the_end_lets_the_instance_run(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    step_at(&bench, 0);
    atomic_store(&bench.board->phase, SS_PHASE_ENDING);
    assert_action(step_at(&bench, 5 * MS), true, SS_STATE_RUNNING, SS_TIME_NEVER);
    assert_action(step_at(&bench, 6 * MS), false, SS_STATE_RUNNING, SS_TIME_NEVER);
    close_bench(&bench);
}

/* All who come late out of a `free` stretch must agree on when it ended. */
static void free_runs_and_control_begins_afresh(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.free_from = 15 * MS;
    bench.script.free_until = 95 * MS;
    step_at(&bench, 0);
    assert_action(step_at(&bench, 21 * MS), true, SS_STATE_RUNNING, 95 * MS);
    assert_action(step_at(&bench, 40 * MS), false, SS_STATE_RUNNING, 95 * MS);
    assert_int_equal(bench.script.decisions, 1);
    assert_action(step_at(&bench, 98 * MS), true, SS_STATE_STOPPED, 118 * MS);
    assert_int_equal(bench.script.turn.moment.since, START + 95 * MS);
    assert_int_equal(bench.script.turn.moment.now, START + 98 * MS);
    close_bench(&bench);
}

static void free_without_end_is_for_ever(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.free_from = 0;
    bench.script.free_until = SS_TIME_NEVER;
    assert_action(step_at(&bench, 0), false, SS_STATE_RUNNING, SS_TIME_NEVER);
    close_bench(&bench);
}

static void a_pause_in_a_free_stretch_moves_its_end(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.free_from = 0;
    bench.script.free_until = 95 * MS;
    step_at(&bench, 0);
    atomic_store(&bench.board->paused, 40 * MS);
    atomic_store(&bench.board->control_since, START + 60 * MS);
    assert_action(step_at(&bench, 95 * MS), false, SS_STATE_RUNNING, 135 * MS);
    step_at(&bench, 135 * MS);
    assert_int_equal(bench.script.turn.moment.since, START + 135 * MS);
    close_bench(&bench);
}

static void a_set_target_is_heeded(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.free_from = 0;
    bench.script.free_until = SS_TIME_NEVER;
    atomic_store(&bench.board->setpoint, ss_word_from_double(0.9));
    step_at(&bench, 0);
    assert_close(bench.script.input.target, 0.9, 0);
    assert_int_equal(bench.script.decisions, 1);
    atomic_store(&bench.board->setpoint, ss_word_from_double(NAN));
    assert_action(step_at(&bench, 20 * MS), true, SS_STATE_RUNNING, SS_TIME_NEVER);
    close_bench(&bench);
}

static void without_an_estimate_the_duty_is_the_target(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.script.load = INFINITY;
    step_at(&bench, 0);
    assert_int_equal(bench.script.updates, 0);
    assert_int_equal(bench.board->publications, 0);
    assert_close(bench.script.turn.duty, 0.5, 0);
    close_bench(&bench);
}

static void an_open_loop_asks_no_feedback(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    bench.rig.modules[SS_KIND_CONTROL].table.control.open_loop = true;
    bench.script.read_error = EIO;
    struct ss_action action = step_at(&bench, 0);
    assert_int_equal(action.failure, SS_FAILURE_NONE);
    assert_int_equal(bench.script.updates, 1);
    assert_true(isnan(bench.script.input.load));
    close_bench(&bench);
}

static void answers_are_kept_within_bounds(void **state) {
    (void)state;
    static const double loads[][2] = {{-3, 0}, {7, 1}, {0.3, 0.3}};
    static const double outputs[][2] = {{-3, 0}, {7, 1}, {INFINITY, 1}, {0.3, 0.3}};
    for (size_t i = 0; i < 3; i++) {
        struct bench bench;
        open_bench(&bench);
        bench.script.load = loads[i][0];
        step_at(&bench, 0);
        assert_close(bench.script.input.load, loads[i][1], 0);
        close_bench(&bench);
    }
    for (size_t i = 0; i < 4; i++) {
        struct bench bench;
        open_bench(&bench);
        bench.script.output = outputs[i][0];
        step_at(&bench, 0);
        assert_close(bench.script.turn.duty, outputs[i][1], 0);
        assert_close(ss_double_from_word(bench.board->rows[0].output), outputs[i][1], 0);
        close_bench(&bench);
    }
}

static enum ss_failure failure_of(const struct script *change) {
    struct bench bench;
    open_bench(&bench);
    bench.script = *change;
    struct ss_action action = step_at(&bench, 0);
    assert_false(action.change);
    assert_int_equal(action.deadline, SS_TIME_NEVER);
    close_bench(&bench);
    return action.failure;
}

static void what_is_not_a_number_ends_the_run(void **state) {
    (void)state;
    struct bench bench;
    open_bench(&bench);
    struct script good = bench.script;
    close_bench(&bench);
    struct script script = good;
    script.load = NAN;
    assert_int_equal(failure_of(&script), SS_FAILURE_NOT_A_NUMBER);
    script = good;
    script.output = NAN;
    assert_int_equal(failure_of(&script), SS_FAILURE_NOT_A_NUMBER);
    script = good;
    script.share = NAN;
    assert_int_equal(failure_of(&script), SS_FAILURE_NOT_A_NUMBER);
    script = good;
    script.target = NAN;
    script.load = INFINITY;
    assert_int_equal(failure_of(&script), SS_FAILURE_NOT_A_NUMBER);
    script = good;
    script.read_error = EIO;
    assert_int_equal(failure_of(&script), SS_FAILURE_COUNTERS);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(nothing_is_asked_before_control),
    cmocka_unit_test(executors_begin_anywhere_in_a_round),
    cmocka_unit_test(nobody_runs_before_all_are_there),
    cmocka_unit_test(the_first_state_begins_when_first_asked),
    cmocka_unit_test(control_is_given_what_is),
    cmocka_unit_test(a_needless_wake_up_changes_nothing),
    cmocka_unit_test(deadlines_are_absolute),
    cmocka_unit_test(states_that_have_passed_are_skipped),
    cmocka_unit_test(many_short_states_are_not_made_up_for),
    cmocka_unit_test(who_was_away_begins_anew),
    cmocka_unit_test(a_length_of_zero_is_not_endless),
    cmocka_unit_test(a_pause_stops_and_begins_anew),
    cmocka_unit_test(a_pause_slept_through_is_noticed),
    cmocka_unit_test(the_end_lets_the_instance_run),
    cmocka_unit_test(free_runs_and_control_begins_afresh),
    cmocka_unit_test(free_without_end_is_for_ever),
    cmocka_unit_test(a_pause_in_a_free_stretch_moves_its_end),
    cmocka_unit_test(a_set_target_is_heeded),
    cmocka_unit_test(without_an_estimate_the_duty_is_the_target),
    cmocka_unit_test(an_open_loop_asks_no_feedback),
    cmocka_unit_test(answers_are_kept_within_bounds),
    cmocka_unit_test(what_is_not_a_number_ends_the_run))
