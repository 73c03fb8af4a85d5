/* SPDX-License-Identifier: Apache-2.0 */

/* Processes that reuse the pid of a process of a run are never signaled. */

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"
#include "strangers.h"

/* Before Linux 6.9, pidfds can signal processes but not groups. */
static void deny_group_signals(void) {
    sandbox_deny_if(SYS_pidfd_send_signal, 3, ~0U, EINVAL);
}

/* This kernel, one before 6.9, and one without pidfds. */
static void (*const kernels[])(void) = {NULL, deny_group_signals, family_deny_pidfds};

#define KERNELS (sizeof kernels / sizeof *kernels)

/* Runs the body twice at a time: as the user of the tests, and as one without privileges. */
static void run_apart(void (*body)(void)) {
    pid_t children[2];
    bool possible = true;
    for (int unprivileged = 0; unprivileged < 2; unprivileged++) {
        bool can = strangers_are_possible(unprivileged);
        if (unprivileged && geteuid() == 0)
            family_need_nobody();
        possible &= can;
        children[unprivileged] = can ? fork() : 0;
        ck_assert_int_ge(children[unprivileged], 0);
        if (can && children[unprivileged] == 0) {
            strangers_run_apart(body, unprivileged);
            exit(EXIT_SUCCESS);
        }
    }
    for (int i = 0; i < 2; i++) {
        int status = 0;
        if (children[i] > 0)
            ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        if (status != 0)
            exit(EXIT_FAILURE); /* the process that found a failure has reported it */
    }
    SKIP_UNLESS(possible, "pid-choice: cannot choose pids");
}

static void expect_running_for(struct run *run, double seconds) {
    run_let_pass(run, seconds);
    ck_assert_msg(!run->ended, "status %d: %s", run->status, run->err.bytes);
}

/* Fails unless nothing is left and no stranger was touched. */
static void end_clean(struct run *run) {
    run_free_clean(run);
    strangers_dismiss(0);
}

/* Returns the next number that an instance has printed after `word`; 0 if not yet printed. */
static pid_t next_number(const struct run *run, const char *word, size_t *from) {
    const char *at = strstr(run->out.bytes + *from, word);
    const char *end = at ? strchr(at, '\n') : NULL;
    if (!end)
        return 0;
    *from = (size_t)(end - run->out.bytes);
    return (pid_t)atoi(at + strlen(word));
}

/* Reuses pids that an instance prints after `word`, most of them soon after they have ended. */
static void take_numbers(struct run *run, const char *word, int min) {
    size_t from = 0;
    for (int taken = 0; taken < min;) {
        pid_t number;
        RUN_UNTIL(run, (number = next_number(run, word, &from)) > 0);
        taken += stranger_try(run, number, 1);
        strangers_dismiss(20);
    }
}

static void end_master(struct run *run) {
    run_end(run, SIGTERM);
}

static void kill_master(struct run *run) {
    run_end(run, SIGKILL);
}

static void kill_executor(struct run *run) {
    kill(run_find(run, "ss-executor 1"), SIGKILL);
    run_expect(run_wait(run), 125);
}

static void kill_guardian(struct run *run) {
    pid_t first = run_find(run, "ss-guardian");
    pid_t pids[RUN_PIDS_MAX];
    kill(first, SIGKILL);
    RUN_UNTIL(run, run_named("ss-guardian", pids) == 1 && pids[0] != first);
    kill_master(run);
}

static void (*const ends[])(struct run *run) = {
    end_master, kill_master, kill_executor, kill_guardian};

#define ENDS (sizeof ends / sizeof *ends)

/* Two instances end early, and their pids are reused at once; a third one continues. */
static void try_the_reused_pid_of_an_ended_leader_is_not_signaled(void) {
    for (size_t i = 0; i < KERNELS * ENDS; i++) {
        struct run_setup setup = {.prepare = kernels[i / ENDS]};
        struct run *run = START_IN(&setup, "-v", "-n", "3", "-l", "50%", "-c", "fixed", "--grace",
            "500m", "sh", "-c",
            "case % in 1) exec " PAYLOAD " ignore-term;; esac;"
            "echo leader $$; sleep 0.1");
        size_t from = 0;
        for (int k = 0; k < 2; k++) {
            pid_t leader;
            RUN_UNTIL(run, (leader = next_number(run, "leader ", &from)) > 0);
            stranger_take(run, leader);
        }
        expect_running_for(run, 0.3);
        run_wait_text(run, "ready");
        ends[i % ENDS](run);
        end_clean(run);
    }
}

TEST_CASE(the_reused_pid_of_an_ended_leader_is_not_signaled) {
    run_apart(try_the_reused_pid_of_an_ended_leader_is_not_signaled);
}

/* Strangers reuse the pids of ended iterations while the next ones run. */
static void try_reused_pids_of_leaders_of_iterations_are_not_signaled(void) {
    for (size_t i = 0; i < KERNELS; i++) {
        struct run_setup setup = {.prepare = kernels[i]};
        struct run *run = START_IN(&setup, "-v", "-n", "2", "-l", "50%", "-c", "fixed", "--repeat",
            "sh", "-c", "echo leader $$; exec " PAYLOAD " run-ms 10");
        take_numbers(run, "leader ", 30);
        ends[i % ENDS](run);
        end_clean(run);
    }
}

TEST_CASE(reused_pids_of_leaders_of_iterations_are_not_signaled) {
    run_apart(try_reused_pids_of_leaders_of_iterations_are_not_signaled);
}

/*
 * Not in a kernel without pidfds, the last one: there, the check of a pid and its signal are two
 * steps, between which an executor may be preempted, and branches end all the time.
 */
static void try_the_reused_pid_of_an_ended_branch_is_not_signaled(void) {
    for (size_t i = 0; i < KERNELS - 1; i++) {
        struct run_setup setup = {.prepare = kernels[i]};
        struct run *run = START_IN(&setup, "-v", "-n", "2", "-l", "60%", "-c", "fixed", "--grace",
            "300m", "sh", "-c", "while :; do setsid sh -c 'echo branch $$; exec sleep 0.02'; done");
        take_numbers(run, "branch ", 30);
        expect_running_for(run, 0.4);
        ends[i % ENDS](run);
        end_clean(run);
    }
}

TEST_CASE(the_reused_pid_of_an_ended_branch_is_not_signaled) {
    run_apart(try_the_reused_pid_of_an_ended_branch_is_not_signaled);
}

/*
 * Stops a process so that no signal continues it. The kernel sends SIGCONT to the guardian at the
 * master's death.
 */
static void hold_still(pid_t pid) {
    int status;
    ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
    ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
    ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
    ck_assert_int_eq(run_state(pid), 't');
}

/* Kills all processes but the guardian, which is stopped meanwhile. */
static void kill_unseen_by_guardian(struct run *run, pid_t guardian) {
    kill(run->pid, SIGSTOP);
    RUN_UNTIL(run, run_state(run->pid) == 'T');
    hold_still(guardian);
    family_signal_named("ss-executor", SIGKILL);
    kill_master(run);
    ck_assert_int_eq(run_state(guardian), 't');
}

static void take_all(struct run *run, const struct family *family, bool only_groups) {
    for (size_t i = 0; i < family->count; i++) {
        if (only_groups)
            stranger_take_group(run, family->pids[i]);
        else
            stranger_take(run, family->pids[i]);
    }
}

/* Strangers reuse pids on the guardian's list. */
static void take_over_with_strangers(size_t kernel, bool only_groups) {
    struct run_setup setup = {.prepare = kernels[kernel]};
    struct run *run = START_IN(&setup, "-v", "-n", "3", "-l", "50%", "-c", "fixed", "sh", "-c",
        "setsid " PAYLOAD " spin & exec " PAYLOAD " ignore-term");
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run_count(run, "ready\n") == 3 && run_named("payload", pids) == 6);
    expect_running_for(run, 0.5); /* by now the guardian knows the branches */
    pid_t guardian = run_find(run, "ss-guardian");
    struct family executors = family_find("ss-executor");
    struct family instances = family_find("payload");
    ck_assert_uint_eq(executors.count, 3);
    ck_assert_uint_eq(instances.count, 6);
    pid_t master = run->pid;
    kill_unseen_by_guardian(run, guardian);
    family_signal(&instances, SIGKILL);
    take_all(run, &executors, only_groups);
    take_all(run, &instances, only_groups);
    stranger_take(run, master);
    ck_assert_int_eq(ptrace(PTRACE_DETACH, guardian, NULL, NULL), 0);
    end_clean(run);
}

static bool may_trace(void) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        pause();
        _exit(0);
    }
    bool may = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return may;
}

static void try_reused_pids_and_groups_of_any_process_are_not_signaled(void) {
    SKIP_UNLESS(may_trace(), "ptrace: not permitted");
    for (size_t i = 0; i < 2 * KERNELS; i++)
        take_over_with_strangers(i / 2, i % 2 == 1);
}

TEST_CASE(reused_pids_and_groups_of_any_process_are_not_signaled) {
    run_apart(try_reused_pids_and_groups_of_any_process_are_not_signaled);
}

/*
 * Since Linux 6.9 (pidfs), the inode of a pidfd distinguishes processes that got the same pid
 * within one clock tick.
 */
static bool system_has_identities(void) {
    struct statfs system;
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    bool has = self >= 0 && fstatfs(self, &system) == 0 && system.f_type == 0x50494446;
    if (self >= 0)
        close(self);
    return has;
}

/*
 * While executors are stopped, branches begin and end, and processes that reuse their pids have the
 * same start time in clock ticks.
 */
static void try_reused_pids_with_equal_start_time_are_not_signaled(void) {
    SKIP_UNLESS(system_has_identities(),
        "pidfd-group: the kernel distinguishes processes only by pid and tick");
    struct run *run =
        START("-v", "-n", "1", "-l", "50%", "-c", "fixed", "--grace", "300m", PAYLOAD, "gone", "4");
    run_wait_text(run, "gone ");
    for (int round = 0; round < 6; round++) {
        struct family executors = family_find("ss-executor");
        size_t from = run->out.length;
        kill(run->pid, SIGSTOP);
        RUN_UNTIL(run, run_state(run->pid) == 'T');
        family_signal(&executors, SIGSTOP);
        RUN_UNTIL(run, run_state(executors.pids[0]) == 'T');
        /* The stopped executors do not continue their instances. */
        struct family instances = family_find("payload");
        family_signal(&instances, SIGCONT);
        for (int taken = 0; taken < 25;) {
            pid_t number;
            while ((number = next_number(run, "gone ", &from)) == 0)
                run_nap(run);
            taken += stranger_try(run, number, 0);
        }
        family_signal(&executors, SIGCONT);
        kill(run->pid, SIGCONT);
        expect_running_for(run, 0.4);
        strangers_dismiss(0);
    }
    end_master(run);
    run_expect_nothing_left();
}

TEST_CASE(reused_pids_with_equal_start_time_are_not_signaled) {
    run_apart(try_reused_pids_with_equal_start_time_are_not_signaled);
}
