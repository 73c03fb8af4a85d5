/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Processes that have stopped outside the group of their instance, and are not on the board yet: a
 * process that is leaving its group when the group is stopped stops in its new one.
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "family.h"
#include "kin.h"
#include "platform/platform.h"
#include "tree/instance.h"
#include "tree/rescue.h"

/* A child of the leader, and the child of that one: each is stopped, in a session of its own. */
static struct shared {
    volatile pid_t pids[2];
    volatile bool parent_looked, parent_saw_stop;
} * shared;

/* Returns the pid of a new process that outlives its parent. */
static pid_t fork_stopped(void (*act)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (act)
            act();
        close(kin_gate[1]); /* kin_start() waits until all have */
        raise(SIGSTOP);
        for (;;)
            pause();
    }
    return pid;
}

static void have_a_child(void) {
    shared->pids[1] = fork_stopped(NULL);
}

static void have_descendants(void) {
    setpgid(0, 0);
    shared->pids[0] = fork_stopped(have_a_child);
}

static pid_t start_leader(uint64_t started[2]) {
    shared = kin_share(sizeof *shared);
    pid_t leader = kin_start(have_descendants);
    RUN_UNTIL(NULL, kin_is_stopped(shared->pids[0]) && kin_is_stopped(shared->pids[1]));
    for (int i = 0; i < 2; i++)
        started[i] = ss_platform_process_started(shared->pids[i]);
    return leader;
}

/* Lets a rescue find that the executor of this instance is dead. */
static void rescue(struct ss_board *board, pid_t leader) {
    struct ss_rescue rescue;
    pid_t executor = kin_start(NULL);
    struct ss_row *row = &board->rows[0];
    atomic_store(&row->executor, executor);
    atomic_store(&row->executor_started, ss_platform_process_started(executor));
    atomic_store(&row->leader, leader);
    atomic_store(&row->leader_started, ss_platform_process_started(leader));
    ss_board_join(board, 0);
    kin_end(executor);
    ck_assert_int_eq(ss_rescue_open(&rescue, board, getpid(), -1, -1), 0);
    ck_assert_uint_eq(ss_rescue_step(&rescue, 0), 0);
    ck_assert_uint_eq(atomic_load(&row->life), SS_LIFE_CLEARED);
}

static bool has_ended(pid_t pid) {
    return !run_lives(pid);
}

/* Waits until both descendants are in this state, and ends them. Returns whether they were. */
static bool come_to(bool (*is_so)(pid_t pid), const uint64_t started[2]) {
    bool both = false;
    for (double end = run_now() + RUN_PATIENCE; !both && run_now() < end; run_nap(NULL))
        both = is_so(shared->pids[0]) && is_so(shared->pids[1]);
    for (int i = 0; i < 2; i++)
        ss_platform_process_signal_by_pid(shared->pids[i], started[i], SIGKILL);
    return both;
}

TEST_CASE(stopped_descendants_end_if_the_executor_is_dead) {
    uint64_t started[2];
    pid_t leader = start_leader(started);
    rescue(kin_board(1), leader);
    kin_reap(leader);
    ck_assert(come_to(has_ended, started));
}

TEST_CASE(stopped_descendants_of_a_kept_instance_survive_the_executor) {
    for (int attached = 0; attached < 2; attached++) {
        uint64_t started[2];
        pid_t leader = start_leader(started);
        struct ss_board *board = kin_board(1);
        board->keep = 1;
        board->attached = (uint32_t)attached;
        rescue(board, leader);
        RUN_UNTIL(NULL, kin_waits(leader));
        ck_assert(come_to(kin_waits, started));
        kin_end(leader);
    }
}

static struct ss_instance instance; /* too large for the stack */

TEST_CASE(stopped_descendants_are_continued_on_release) {
    for (int attached = 0; attached < 2; attached++) {
        uint64_t started[2];
        pid_t leader = start_leader(started);
        instance = (struct ss_instance){.board = kin_board(1)};
        if (attached)
            ss_instance_attach(&instance, leader, ss_platform_process_started(leader));
        else
            instance.leader = leader;
        ck_assert(ss_instance_release(&instance));
        ck_assert_msg(come_to(kin_waits, started), "attached: %d", attached);
        kin_end(leader);
    }
}

/* Like a shell, looks for stopped children when it is continued. */
static void look_for_stopped_child(void) {
    setpgid(0, 0);
    shared->pids[0] = shared->pids[1] = fork_stopped(NULL);
    close(kin_gate[1]);
    raise(SIGSTOP);
    shared->parent_saw_stop = waitpid(shared->pids[0], NULL, WUNTRACED | WNOHANG) != 0;
    shared->parent_looked = true;
}

TEST_CASE(parents_do_not_see_their_released_children_stopped) {
    for (int i = 0; i < 20; i++) {
        shared = kin_share(sizeof *shared);
        pid_t leader = kin_start(look_for_stopped_child);
        RUN_UNTIL(NULL, kin_is_stopped(leader) && kin_is_stopped(shared->pids[0]));
        instance = (struct ss_instance){.board = kin_board(1), .leader = leader};
        ck_assert(ss_instance_release(&instance));
        RUN_UNTIL(NULL, shared->parent_looked);
        kill(shared->pids[0], SIGKILL);
        kin_end(leader);
        ck_assert(!shared->parent_saw_stop);
    }
}

/*
 * Starts a child that stops, after 3 ms of CPU time since this process was continued. The kernel
 * stops a child like that if its parent's group was stopped and continued during fork().
 */
static void bear_a_stopped_child(void) {
    struct timespec used = {0};
    setpgid(0, 0);
    close(kin_gate[1]);
    raise(SIGSTOP);
    while (used.tv_sec == 0 && used.tv_nsec < 3000000)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    shared->pids[0] = shared->pids[1] = fork_stopped(NULL);
}

static pid_t start_parent(struct ss_board *board) {
    shared = kin_share(sizeof *shared);
    pid_t leader = kin_start(bear_a_stopped_child);
    RUN_UNTIL(NULL, kin_is_stopped(leader));
    board->keep = 1;
    return leader;
}

static void expect_child_runs(pid_t leader) {
    RUN_UNTIL(NULL, shared->pids[1]);
    uint64_t started = ss_platform_process_started(shared->pids[0]);
    ck_assert(come_to(kin_waits, (uint64_t[2]){started, started}));
    kin_end(leader);
}

TEST_CASE(descendants_stopped_by_an_earlier_signal_are_continued) {
    struct ss_board *board = kin_board(1);
    pid_t leader = start_parent(board);
    instance = (struct ss_instance){.board = board, .leader = leader};
    ck_assert(ss_instance_release(&instance));
    expect_child_runs(leader);
    board = kin_board(1);
    leader = start_parent(board);
    rescue(board, leader);
    expect_child_runs(leader);
}

/* At full load an instance is not continued again for hours, so each new branch must be. */
TEST_CASE(stopped_descendants_are_continued_as_branches) {
    uint64_t started[2];
    pid_t leader = start_leader(started);
    instance = (struct ss_instance){.board = kin_board(1), .leader = leader};
    for (int i = 0; i < 2; i++)
        ck_assert_uint_lt(ss_branch_claim(instance.board, 0, shared->pids[i], started[i], true),
            SS_BOARD_BRANCHES_MAX);
    ss_instance_refresh_branches(&instance, 0);
    ck_assert(come_to(kin_waits, started));
}

/* The more memory, the longer fork() takes, and the more often it is stopped. */
#define FORKED (64 << 20)

/* Its children end at once, unless they are stopped. */
static void fork_for_ever(void) {
    setpgid(0, 0);
    char *memory = malloc(FORKED);
    if (!memory)
        _exit(99);
    memset(memory, 1, FORKED);
    close(kin_gate[1]);
    for (;;) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        shared->pids[0] = child;
        waitpid(child, NULL, 0);
    }
}

/* Returns whether the leader waits for a child that has stopped, and not only for a moment. */
static bool is_stuck(pid_t leader) {
    pid_t child = shared->pids[0];
    for (int i = 0; i < 10; i++) {
        if (shared->pids[0] != child || !kin_is_stopped(child) || !kin_waits(leader))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return true;
}

/* Also passes on a kernel that does not stop such children. */
TEST_CASE(child_stopped_during_fork_is_continued_after_a_second) {
    bool stuck = false;
    shared = kin_share(sizeof *shared);
    pid_t leader = kin_start(fork_for_ever);
    instance = (struct ss_instance){.board = kin_board(1), .leader = leader};
    for (int i = 0; i < 2000 && !stuck; i++) {
        ss_instance_stop(&instance);
        nanosleep(&(struct timespec){.tv_nsec = 1000 * (i % 300)}, NULL);
        ss_instance_continue(&instance);
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        stuck = is_stuck(leader);
    }

    pid_t child = shared->pids[0];
    ck_assert_uint_eq(ss_instance_recontinue(&instance, SS_SECOND), 2 * SS_SECOND);
    ck_assert_uint_eq(ss_instance_recontinue(&instance, 2 * SS_SECOND - 1), 2 * SS_SECOND);
    ck_assert(!stuck || is_stuck(leader));
    ck_assert_uint_eq(ss_instance_recontinue(&instance, 2 * SS_SECOND), SS_TIME_NEVER);
    if (stuck)
        RUN_UNTIL(NULL, shared->pids[0] != child);
    kill(-leader, SIGKILL);
    kin_reap(leader);
}

TEST_CASE(stop_by_another_process_is_confirmed) {
    pid_t leader = kin_start(family_lead_group);
    instance = (struct ss_instance){.board = kin_board(1), .leader = leader};
    ck_assert_uint_eq(ss_instance_recontinue(&instance, SS_SECOND), SS_TIME_NEVER);
    kill(-leader, SIGSTOP);
    RUN_UNTIL(NULL, kin_is_stopped(leader));
    ss_instance_unstop(&instance);
    ck_assert_uint_eq(ss_instance_recontinue(&instance, SS_SECOND), 2 * SS_SECOND);
    kin_end(leader);
}
