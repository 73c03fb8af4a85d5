/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Executors are threads on one board, because ThreadSanitizer observes only one process. Each has
 * its own virtual clock and waits only for those that lag far behind.
 */

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "loop/module_set.h"
#include "loop/stepper.h"
#include "machine.h"
#include "modules.h"

#define EXECUTORS 8
#define CPUS      4
#define STEPS     2000 /* of each thread */
#define START     (100 * SS_SECOND)

/* Largest difference between the clocks, slightly more than wake-ups are late on a busy machine. */
#define APART (20 * SS_MILLISECOND)

/* The simulated kernel: one account for all threads, whose clock never goes backward. */
struct kernel {
    pthread_mutex_t lock;
    struct machine machine;
    _Atomic ss_time clocks[EXECUTORS]; /* SS_TIME_NEVER if finished */
};

struct run {
    struct ss_module_set rig;
    struct ss_board *board;
    struct kernel kernel;
};

struct executor {
    struct run *run;
    pthread_t thread;
    uint32_t number;
    ss_time now;
    uint64_t steps;
    int bad; /* number of faults; only the main thread may assert */
};

static ss_time machine_time(const struct kernel *kernel, ss_time now) {
    return now > kernel->machine.now ? now : kernel->machine.now;
}

static int read_counters(void *context, struct ss_counters *counters) {
    struct executor *executor = context;
    struct kernel *kernel = &executor->run->kernel;
    pthread_mutex_lock(&kernel->lock);
    machine_read(&kernel->machine, machine_time(kernel, executor->now), counters);
    pthread_mutex_unlock(&kernel->lock);
    return 0;
}

static void set_running(struct executor *executor, bool running) {
    struct kernel *kernel = &executor->run->kernel;
    pthread_mutex_lock(&kernel->lock);
    ss_time now = machine_time(kernel, executor->now);
    if (running)
        machine_continue(&kernel->machine, executor->number, now);
    else
        machine_stop(&kernel->machine, executor->number, 0, now);
    pthread_mutex_unlock(&kernel->lock);
}

static void sleep_until(struct executor *executor, ss_time until) {
    struct kernel *kernel = &executor->run->kernel;
    atomic_store(&kernel->clocks[executor->number], until);
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        while (ss_time_add(atomic_load(&kernel->clocks[i]), APART) < until)
            sched_yield();
    }
    executor->now = until;
}

static bool is_duty(uint64_t word) {
    double duty = ss_double_from_word(word);
    return duty >= 0 && duty <= 1;
}

static void *execute(void *context) {
    struct executor *executor = context;
    struct ss_board *board = executor->run->board;
    struct ss_row *row = &board->rows[executor->number];
    struct ss_pipeline pipeline;
    struct ss_stepper stepper;
    ss_pipeline_open(&pipeline, &executor->run->rig, board, executor->number,
        (struct ss_counters_source){read_counters, executor});
    ss_stepper_open(&stepper, &pipeline);
    ss_board_join(board, executor->number);
    set_running(executor, true);
    for (executor->steps = 0; executor->steps < STEPS; executor->steps++) {
        struct ss_action action = ss_stepper_step(&stepper, executor->now);
        if (action.failure || action.deadline <= executor->now || !is_duty(row->global_duty) ||
            !is_duty(row->local_duty)) {
            executor->bad++;
            break;
        }
        if (action.change)
            set_running(executor, action.state == SS_STATE_RUNNING);
        sleep_until(executor, action.deadline);
    }
    atomic_store(&executor->run->kernel.clocks[executor->number], SS_TIME_NEVER);
    ss_board_leave(board, executor->number, SS_LIFE_ENDED);
    return NULL;
}

static void open_run(struct run *run, const char *const modules[SS_KINDS]) {
    struct ss_error error = {0};
    *run = (struct run){.kernel.lock = PTHREAD_MUTEX_INITIALIZER};
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        const char *options = kind == SS_KIND_TRACE ? "50%" : NULL;
        assert_succeeds(ss_module_set_load(&run->rig, kind, modules[kind], options, &error), error);
    }
    run->rig.instances = EXECUTORS;
    run->rig.cpus = CPUS;
    run->rig.window = SS_WINDOW_DEFAULT;
    assert_int_equal(ss_module_set_prepare(&run->rig, &error), 0);
    run->board = ss_board_allocate(EXECUTORS, ss_module_set_memory(&run->rig), false);
    assert_non_null(run->board);
    assert_int_equal(machine_open(&run->kernel.machine, CPUS, EXECUTORS, 1, START, &error), 0);
    atomic_store(&run->board->phase, SS_PHASE_RUNNING);
    atomic_store(&run->board->control_start, START);
}

static void close_run(struct run *run) {
    machine_close(&run->kernel.machine);
    free(run->board);
    ss_module_set_release(&run->rig);
}

/* Acts as the monitor: reads executor output and moves the target. */
static uint64_t watch(struct run *run) {
    uint64_t bad = 0;
    struct ss_self selves[SS_KINDS];
    ss_module_set_selves(&run->rig, run->board, EXECUTORS, selves);
    ss_time slowest;
    do {
        slowest = SS_TIME_NEVER;
        for (uint32_t i = 0; i < EXECUTORS; i++) {
            ss_time clock = atomic_load(&run->kernel.clocks[i]);
            slowest = clock < slowest ? clock : slowest;
            bad += !is_duty(run->board->rows[i].global_duty);
        }
        struct ss_target target;
        ss_pipeline_target(&run->rig, &selves[SS_KIND_TRACE], run->board, slowest, &target);
        bad += isnan(target.load);
        bool set = slowest > START + 5 * SS_SECOND && slowest < START + 10 * SS_SECOND;
        atomic_store(&run->board->setpoint, ss_word_from_double(set ? 0.3 : NAN));
        sched_yield();
    } while (slowest != SS_TIME_NEVER);
    return bad;
}

static void assert_threads_agree(const char *const modules[SS_KINDS]) {
    static struct run run;
    static struct executor executors[EXECUTORS];
    open_run(&run, modules);
    for (uint32_t i = 0; i < EXECUTORS; i++)
        atomic_store(&run.kernel.clocks[i], START);
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        executors[i] = (struct executor){.run = &run, .number = i, .now = START};
        assert_int_equal(pthread_create(&executors[i].thread, NULL, execute, &executors[i]), 0);
    }
    uint64_t bad = watch(&run);
    uint64_t published = 0;
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        assert_int_equal(pthread_join(executors[i].thread, NULL), 0);
        assert_int_equal(executors[i].bad, 0);
        assert_int_equal(executors[i].steps, STEPS);
        assert_that(run.board->rows[i].publications, >, STEPS / 2);
        published += run.board->rows[i].publications;
    }
    assert_int_equal(bad, 0);
    assert_int_equal(run.board->publications, published);
    assert_int_equal(run.board->alive, 0);
    assert_int_equal(run.board->membership_changes, 2 * EXECUTORS);
    for (uint32_t i = 0; i < SS_BOARD_PUBLISHERS_MAX; i++)
        assert_that(run.board->publishers[i], <, EXECUTORS);
    close_run(&run);
}

TEST(threads_with_rbpid_and_averageq_share_a_board) {
    static const char *const modules[] = {"constant", "realtime", "rbpid", "even", "averageq"};
    assert_threads_agree(modules);
}

TEST(threads_with_geom_and_fixedq_share_a_board) {
    static const char *const modules[] = {"constant", "realtime", "geom", "uneven", "fixedq"};
    assert_threads_agree(modules);
}

UNIT_RUN
