/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cages.h"
#include "sweep.h"

#define ROUND (2 * SS_MILLISECOND)

/* Nobody else may run on for longer because of that. */
#define STOP_PATIENCE (50 * SS_MILLISECOND)
#define STOP_ROUND    (50 * SS_MICROSECOND)

/* Stops between two looks for the thread that is at work. */
#define AIM_INTERVAL 8

/* A negative number is no fault of the command's. */
_Noreturn static void give_up(int report, int why) {
    while (write(report, &why, sizeof why) < 0 && errno == EINTR) {
    }
    _exit(SS_ERROR_NOT_EXECUTABLE);
}

/* The child between fork and exec; never returns. What goes wrong is told through `report`. */
static void become(const struct ss_launch *launch, pid_t executor, int report) {
    setpgid(0, 0);
    /* With --keep the instance must survive us. */
    if (!launch->keep && ss_platform_die_with(executor, SIGKILL) < 0)
        _exit(SS_ERROR_FAILED);
    dup2(launch->input, STDIN_FILENO);
    if (launch->output >= 0)
        dup2(launch->output, STDOUT_FILENO);
    if (launch->errors >= 0)
        dup2(launch->errors, STDERR_FILENO);
    if (setenv("SHOWSTOPPER_INSTANCE", launch->number, 1) < 0 ||
        setenv("SHOWSTOPPER_INSTANCES", launch->instances, 1) < 0 ||
        setenv(SS_SWEEP_MARK, launch->mark, 1) < 0)
        give_up(report, -errno);
    ss_platform_scheduling_restore(launch->scheduling, launch->pin);
    ss_signals_restore(launch->signals, launch->terminal);
    execvp(launch->command[0], launch->command);
    give_up(report, errno);
}

/* End of file says that exec closed the pipe; anything else is an errno. */
static int read_report(int report) {
    int why = 0;
    ssize_t length;
    do
        length = read(report, &why, sizeof why);
    while (length < 0 && errno == EINTR);
    return length == sizeof why ? why : 0;
}

int ss_workload_start(
    struct ss_workload *workload, const struct ss_launch *launch, bool *exec_failed) {
    *exec_failed = false;
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    /* Our handlers must not run in the child; it gets the caller's mask back at the end. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t executor = getpid();
    pid_t leader = fork();
    if (leader == 0)
        become(launch, executor, report[1]);
    int why = leader < 0 ? errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (leader > 0) {
        setpgid(leader, leader); /* whichever of the two comes first */
        why = read_report(report[0]);
        *exec_failed = why > 0;
        why = abs(why);
        workload->leader = leader;
        workload->stops = 0;
        workload->listener = 0;
        if (why) {
            waitpid(leader, NULL, 0);
            workload->leader = 0;
        }
    }
    close(report[0]);
    return why;
}

static void signal_group(struct ss_workload *workload, int signal) {
    if (workload->leader > 1)
        kill(-workload->leader, signal);
}

static void freeze(struct ss_workload *workload, bool frozen) {
    if (workload->cage > 0)
        ss_platform_cage_freeze(workload->cage, frozen);
}

/*
 * A shell that waits for a job is told of its stop unless it is stopped itself by then, and that
 * takes until it has been given a CPU.
 */
static void await_stop(const struct ss_workload *workload) {
    _Atomic uint32_t nothing = 0;
    ss_time deadline = ss_platform_now() + STOP_PATIENCE;
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)workload->leader, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) <
                0 ||
            info.si_pid == workload->leader)
            return;
        ss_time now = ss_platform_now();
        if (now >= deadline)
            return;
        ss_platform_sleep(&nothing, 0, now + STOP_ROUND);
    }
}

/*
 * A stop takes hold when one of a process's threads takes notice, and the kernel asks the first
 * one. If that one sleeps while others keep all CPUs busy, it must wait for one, for milliseconds.
 */
static void stop_leader(struct ss_workload *workload) {
    if (workload->leader <= 1)
        return;
    /* At its first stop it has only just been started. */
    if (workload->stops++ % AIM_INTERVAL == 1)
        workload->listener = ss_platform_thread_at_work(workload->leader);
    if (workload->listener)
        ss_platform_thread_signal(workload->leader, workload->listener, SIGSTOP);
}

void ss_workload_stop(struct ss_workload *workload) {
    stop_leader(workload);
    signal_group(workload, SIGSTOP);
    if (workload->holds.count > 0 && workload->leader > 1)
        await_stop(workload);
    ss_holds_signal(&workload->holds, 0, SS_HOLDS_ALL, SIGSTOP);
    freeze(workload, true);
}

void ss_workload_continue(struct ss_workload *workload) {
    freeze(workload, false);
    ss_holds_signal_reversed(&workload->holds, SS_HOLDS_ALL, SIGCONT);
    signal_group(workload, SIGCONT);
}

void ss_workload_signal(struct ss_workload *workload, int signal) {
    signal_group(workload, signal);
    ss_holds_signal(&workload->holds, 0, SS_HOLDS_ALL, signal);
}

void ss_workload_follow(struct ss_workload *workload, int signal) {
    uint32_t fresh;
    if (!ss_holds_refresh(&workload->holds, workload->board, workload->row, &fresh))
        return;
    if (signal)
        ss_holds_signal(&workload->holds, fresh, SS_HOLDS_ALL, signal);
    if (workload->cage <= 0)
        workload->cage = ss_cage_open(workload->board, workload->row);
    freeze(workload, signal == SIGSTOP);
}

void ss_workload_unstop(struct ss_workload *workload) {
    siginfo_t info = {0};
    if (workload->leader > 1 &&
        waitid(P_PID, (id_t)workload->leader, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == workload->leader)
        ss_workload_continue(workload);
}

bool ss_workload_has_ended(const struct ss_workload *workload) {
    siginfo_t info = {0};
    if (workload->leader <= 1)
        return true;
    return waitid(P_PID, (id_t)workload->leader, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid == workload->leader;
}

void ss_workload_reap_orphans(const struct ss_workload *workload) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid > 0 &&
           info.si_pid != workload->leader) {
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

bool ss_workload_is_empty(const struct ss_workload *workload) {
    return ss_workload_has_ended(workload) && !ss_platform_has_living_children();
}

struct search {
    const struct ss_workload *workload;
    bool found;
};

/*
 * Every descendant becomes our child when those between us die, and nobody but us can reap it. One
 * that has become another user's just now is in no cage yet.
 */
static void kill_child(void *context, pid_t pid) {
    struct search *search = context;
    const struct ss_workload *workload = search->workload;
    struct ss_process process;
    char name[SS_CAGE_NAME];
    if (!ss_platform_process_look(pid, &process) || process.parent != getpid() ||
        process.state == 'Z')
        return;
    search->found = true;
    if (kill(pid, SIGKILL) == 0 || errno != EPERM)
        return;
    ss_cage_name(workload->board, workload->row, name);
    if (ss_platform_cage_put(name, pid))
        atomic_fetch_add(&workload->board->rows[workload->row].caged, 1);
}

/*
 * What we know of is killed in every round. What we do not know of must be looked for among all
 * processes: not at once, as it is hardly ever there. Where there was one its children are found by
 * the next search, at once; where there was none the next one may wait ever longer.
 */
#define FIRST_SEARCH 16

static int search_children(const struct ss_workload *workload, int round) {
    struct search search = {.workload = workload};
    ss_platform_process_each(kill_child, &search);
    return search.found ? round + 1 : 2 * round;
}

void ss_workload_clear(struct ss_workload *workload, _Atomic uint32_t *word, ss_time deadline) {
    int next_search = FIRST_SEARCH;
    for (int round = 0;; round++) {
        uint32_t seen = atomic_load(word);
        ss_workload_follow(workload, 0);
        ss_workload_signal(workload, SIGKILL);
        ss_workload_continue(workload);
        if (round == next_search)
            next_search = search_children(workload, round);
        ss_cage_kill(workload->board, workload->row);
        ss_workload_reap_orphans(workload);
        ss_time now = ss_platform_now();
        if (ss_workload_is_empty(workload) || now >= deadline)
            return;
        ss_platform_sleep(word, seen, now + ROUND);
    }
}

int ss_workload_reap(struct ss_workload *workload) {
    int status = 0;
    if (workload->leader > 1) {
        while (waitpid(workload->leader, &status, 0) < 0 && errno == EINTR) {
        }
    }
    workload->leader = 0;
    ss_workload_reap_orphans(workload);
    return status;
}
