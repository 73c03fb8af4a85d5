/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests that an instance is continued once more after it has run for a second. The test sets the
 * time, and replaces kill().
 */

#include <signal.h>

#include "tree/instance.h"
#include "unit.h"

#define LEADER 4242
#define BEGIN  (100 * SS_SECOND)

static int stops, continuations;

int __wrap_kill(pid_t pid, int signal);

int __wrap_kill(pid_t pid, int signal) {
    assert_int_equal(pid, -LEADER);
    assert_true(signal == SIGSTOP || signal == SIGCONT);
    *(signal == SIGSTOP ? &stops : &continuations) += 1;
    return 0;
}

/* Returns an instance that runs, and has not been stopped. */
static struct ss_instance *start(void) {
    static struct ss_instance instance; /* too large for the stack */
    stops = continuations = 0;
    instance = (struct ss_instance){.leader = LEADER};
    return &instance;
}

static void stop_and_continue(struct ss_instance *instance) {
    ss_instance_stop(instance);
    ss_instance_continue(instance);
    continuations = 0;
}

TEST(running_instance_is_continued_once_more) {
    struct ss_instance *instance = start();
    assert_int_equal(ss_instance_recontinue(instance, BEGIN), SS_TIME_NEVER); /* never stopped */
    assert_int_equal(continuations, 0);
    stop_and_continue(instance);
    assert_int_equal(ss_instance_recontinue(instance, BEGIN), BEGIN + SS_SECOND);
    assert_int_equal(ss_instance_recontinue(instance, BEGIN + SS_SECOND - 1), BEGIN + SS_SECOND);
    assert_int_equal(continuations, 0);
    assert_int_equal(ss_instance_recontinue(instance, BEGIN + SS_SECOND), SS_TIME_NEVER);
    assert_int_equal(continuations, 1);
    for (int i = 2; i < 10; i++)
        assert_int_equal(ss_instance_recontinue(instance, BEGIN + i * SS_SECOND), SS_TIME_NEVER);
    assert_int_equal(continuations, 1);
    assert_int_equal(stops, 1);
}

TEST(stop_restarts_the_second) {
    struct ss_instance *instance = start();
    ss_time later = BEGIN + SS_SECOND - 1;
    stop_and_continue(instance);
    assert_int_equal(ss_instance_recontinue(instance, BEGIN), BEGIN + SS_SECOND);
    stop_and_continue(instance);
    assert_int_equal(ss_instance_recontinue(instance, later), later + SS_SECOND);
    assert_int_equal(ss_instance_recontinue(instance, BEGIN + SS_SECOND), later + SS_SECOND);
    assert_int_equal(continuations, 0);
    assert_int_equal(ss_instance_recontinue(instance, later + SS_SECOND), SS_TIME_NEVER);
    assert_int_equal(continuations, 1);
}

UNIT_RUN
