/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/instance.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/child.h"
#include "tree/descendants.h"
#include "tree/freezer.h"
#include "tree/sweep.h"

#define ROUND (2 * SS_MILLISECOND)

/* How long to wait for the leader to stop. The rest of the instance keeps running meanwhile. */
#define STOP_PATIENCE (50 * SS_MILLISECOND)
#define STOP_ROUND    (50 * SS_MICROSECOND)

/* Number of stops between two searches for a running thread. */
#define STOPS_PER_SEARCH 8

/* How long an instance runs before it is continued once more: hardly any fork() takes longer. */
#define RECONTINUE_DELAY SS_SECOND

/* Runs in the child between fork and exec. Fails if memory is exhausted. */
static int prepare(const void *context) {
    const struct ss_launch *launch = context;
    if (setenv("SHOWSTOPPER_INSTANCE", launch->index, 1) < 0 ||
        setenv("SHOWSTOPPER_INSTANCES", launch->instances, 1) < 0 ||
        setenv(SS_SWEEP_MARK, launch->mark, 1) < 0)
        return 1;
    ss_platform_scheduling_restore(launch->scheduling, launch->pin);
    ss_signals_restore(launch->signals, launch->terminal);
    return 0;
}

int ss_instance_start(struct ss_instance *instance, const struct ss_launch *launch) {
    const struct ss_child_setup setup = {
        .words = launch->command,
        .streams = {launch->input, launch->output, launch->errors},
        .death_signal = launch->keep ? 0 : SIGKILL,
        .has_group = true,
        .mask = &launch->signals->caller_mask,
        .prepare = prepare,
        .context = launch,
    };
    struct ss_child child;
    struct ss_child_failure failure;
    int status = ss_child_fork(&child, &setup);
    if (status < 0)
        return status;

    if (launch->on_fork)
        launch->on_fork(launch->context, child.pid);
    if (ss_child_execute(&child, &failure) < 0)
        return failure.step ? -failure.err : failure.err;
    instance->leader = child.pid;
    instance->stops = 0;
    instance->listener = 0;
    instance->recontinue_at = 0;
    return 0;
}

void ss_instance_attach(struct ss_instance *instance, pid_t pid, uint64_t started) {
    instance->leader = pid;
    instance->attached = true;
    instance->root = (struct ss_hold){.pid = pid, .started = started};
    ss_hold_open(&instance->root);
}

static void signal_group(struct ss_instance *instance, int signal) {
    if (instance->attached)
        ss_hold_signal(&instance->root, signal);
    else if (instance->leader > 1)
        kill(-instance->leader, signal);
}

/* Returns 'T' if stopped, 't' if stopped by a debugger, 0 if ended, or another state. */
static char attached_state(const struct ss_instance *instance) {
    return ss_platform_process_state(instance->root.pid, instance->root.started);
}

/* Returns whether the leader is in a state that waitid() would select with these options. */
static bool leader_is(const struct ss_instance *instance, int states) {
    siginfo_t info = {0};
    if (instance->leader <= 1)
        return false;
    if (instance->attached) {
        char state = attached_state(instance);
        return state ? (states & WSTOPPED) && (state == 'T' || state == 't') : states & WEXITED;
    }
    return waitid(P_PID, (id_t)instance->leader, &info, states | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == instance->leader;
}

static void freeze(struct ss_instance *instance, bool frozen) {
    if (instance->freezer > 0)
        ss_platform_freezer_freeze(instance->freezer, frozen);
}

/*
 * Waits until the leader has stopped. A shell must stop before its jobs, or it would be notified
 * that they have stopped; and it stops only once it gets a CPU.
 */
static void await_stop(const struct ss_instance *instance) {
    ss_time deadline = ss_platform_now() + STOP_PATIENCE;
    for (;;) {
        ss_time now = ss_platform_now();
        if (leader_is(instance, WSTOPPED | WEXITED) || now >= deadline)
            return;
        ss_platform_sleep_until(now + STOP_ROUND);
    }
}

/*
 * Stops the leader through one of its running threads, if one is known. A stop takes effect when a
 * thread of the process notices the signal, and by default the kernel picks the first thread. If
 * that one sleeps while others keep all CPUs busy, it waits milliseconds for a CPU.
 */
static void stop_leader(struct ss_instance *instance) {
    /* Signaling a thread by its ID is safe only for our own children. */
    if (instance->leader <= 1 || instance->attached)
        return;
    /* At the first stop the leader has only just started. */
    if (instance->stops++ % STOPS_PER_SEARCH == 1)
        instance->listener = ss_platform_runnable_thread(instance->leader);
    if (instance->listener)
        ss_platform_thread_signal(instance->leader, instance->listener, SIGSTOP);
}

void ss_instance_stop(struct ss_instance *instance) {
    instance->recontinue_at = SS_TIME_NEVER;
    stop_leader(instance);
    signal_group(instance, SIGSTOP);
    if (instance->holds.count > 0 && instance->leader > 1)
        await_stop(instance);
    ss_holds_signal(&instance->holds, 0, SS_HOLDS_ALL, SIGSTOP);
    freeze(instance, true);
}

void ss_instance_continue(struct ss_instance *instance) {
    freeze(instance, false);
    ss_holds_signal_reversed(&instance->holds, SS_HOLDS_ALL, SIGCONT);
    signal_group(instance, SIGCONT);
}

/*
 * If a group is stopped while one of its processes is in fork(), and is continued before fork()
 * returns, the kernel still stops the child. The next round continues it, but at full duty there is
 * no next round.
 */
ss_time ss_instance_recontinue(struct ss_instance *instance, ss_time now) {
    if (instance->recontinue_at == 0)
        return SS_TIME_NEVER;
    if (instance->recontinue_at == SS_TIME_NEVER)
        instance->recontinue_at = ss_time_add(now, RECONTINUE_DELAY);
    if (now < instance->recontinue_at)
        return instance->recontinue_at;

    instance->recontinue_at = 0;
    ss_instance_continue(instance);
    return SS_TIME_NEVER;
}

void ss_instance_signal(struct ss_instance *instance, int signal) {
    signal_group(instance, signal);
    ss_holds_signal(&instance->holds, 0, SS_HOLDS_ALL, signal);
}

void ss_instance_refresh_branches(struct ss_instance *instance, int signal) {
    uint32_t first_new;
    if (!ss_holds_refresh(&instance->holds, instance->board, instance->row, &first_new))
        return;
    if (signal)
        ss_holds_signal(&instance->holds, first_new, SS_HOLDS_ALL, signal);
    /* They may have been stopped with the group that they were leaving. */
    if (signal != SIGSTOP)
        ss_holds_signal(&instance->holds, first_new, SS_HOLDS_ALL, SIGCONT);
    if (instance->freezer <= 0)
        instance->freezer = ss_freezer_open(instance->board, instance->row);
    freeze(instance, signal == SIGSTOP);
}

bool ss_instance_release(struct ss_instance *instance) {
    struct ss_descendants list = {0};
    ss_instance_refresh_branches(instance, 0);
    if (instance->attached)
        ss_descendants_add(&list, instance->root.pid, instance->root.started);
    else
        ss_descendants_add_children(&list, getpid(), ss_platform_process_started(getpid()));
    ss_descendants_add_branches(&list, &instance->holds, instance->row);

    ss_descendants_find(&list, false);
    ss_descendants_signal(&list, SIGCONT);
    ss_instance_continue(instance);
    ss_descendants_settle(&list);

    bool complete = !list.incomplete;
    ss_descendants_close(&list);
    ss_instance_continue(instance); /* orphans that stopped meanwhile are in a group that we hold */
    return complete;
}

void ss_instance_unstop(struct ss_instance *instance) {
    if (instance->attached ? attached_state(instance) != 'T' : !leader_is(instance, WSTOPPED))
        return;
    instance->recontinue_at = SS_TIME_NEVER;
    ss_instance_continue(instance);
}

bool ss_instance_has_ended(const struct ss_instance *instance) {
    if (instance->attached && *instance->board->group)
        return atomic_load(&instance->board->emptied);
    if (instance->attached)
        return ss_hold_has_ended(&instance->root);
    return instance->leader <= 1 || leader_is(instance, WEXITED);
}

void ss_instance_reap_orphans(const struct ss_instance *instance) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid > 0 &&
           info.si_pid != instance->leader) {
        ss_platform_reap(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

uint32_t ss_instance_count_left(const struct ss_instance *instance) {
    uint32_t left = !ss_instance_has_ended(instance);
    for (uint32_t i = 0; i < instance->holds.count; i++) {
        const struct ss_hold *hold = &instance->holds.list[i];
        left += hold->pid != instance->root.pid && !ss_hold_has_ended(hold);
    }
    return left;
}

bool ss_instance_is_runnable(const struct ss_instance *instance) {
    if (ss_hold_is_runnable(&instance->root))
        return true;
    for (uint32_t i = 0; i < instance->holds.count; i++) {
        if (ss_hold_is_runnable(&instance->holds.list[i]))
            return true;
    }
    return false;
}

bool ss_instance_is_empty(const struct ss_instance *instance) {
    if (instance->attached)
        return ss_instance_count_left(instance) == 0;
    return ss_instance_has_ended(instance) && !ss_platform_has_living_children();
}

struct search {
    const struct ss_instance *instance;
    bool found;
};

/* Kills a grandchild: in an endless chain, a child may already have forked the next process. */
static void kill_grandchild(void *context, pid_t pid) {
    const pid_t *parent = context;
    struct ss_process process;
    if (ss_platform_process_info(pid, &process) && process.parent == *parent)
        ss_platform_process_signal_by_pid(pid, process.started, SIGKILL);
}

/*
 * Kills a child and its children. Every descendant becomes our child when the processes in between
 * die, and only we can reap it. A child that has just changed its user is not in a freezer yet.
 */
static void kill_child(void *context, pid_t pid) {
    struct search *search = context;
    const struct ss_instance *instance = search->instance;
    struct ss_process process;
    char name[SS_FREEZER_NAME_SIZE];
    if (!ss_platform_process_info(pid, &process) || process.parent != getpid() ||
        process.state == 'Z')
        return;

    ss_platform_process_children(pid, kill_grandchild, &pid);
    search->found = true;
    if (kill(pid, SIGKILL) == 0 || errno != EPERM)
        return;

    ss_freezer_prepare(instance->board, instance->row, name);
    if (ss_platform_freezer_put(name, pid, process.started))
        atomic_fetch_add(&instance->board->rows[instance->row].frozen, 1);
}

/*
 * ss_instance_kill_all() kills known processes in every round. Unknown processes are rare and have
 * to be searched for, so the first rounds skip the search. After a find the next round searches
 * again, for the children of the processes found; otherwise the time between searches doubles. The
 * last round always searches: on a busy machine, all rounds before it may be among the first.
 */
#define FIRST_SEARCH (32 * SS_MILLISECOND)

/*
 * Kills children and searches again for up to ROUND, because an endless chain of processes is fast.
 */
static bool kill_children(const struct ss_instance *instance) {
    struct search search = {.instance = instance, .found = true};
    ss_time end = ss_platform_now() + ROUND;
    bool found = false;

    while (search.found && (!found || ss_platform_now() < end)) {
        search.found = false;
        ss_platform_process_children(getpid(), kill_child, &search);
        ss_instance_reap_orphans(instance);
        found |= search.found;
    }
    return found;
}

void ss_instance_kill_all(struct ss_instance *instance, _Atomic uint32_t *word, ss_time deadline) {
    ss_time begin = ss_platform_now(), next_search = begin + FIRST_SEARCH;
    for (;;) {
        uint32_t seen = atomic_load(word);
        ss_time now = ss_platform_now();

        ss_instance_refresh_branches(instance, 0);
        ss_instance_signal(instance, SIGKILL);
        ss_instance_continue(instance);

        if (now >= next_search || now >= deadline)
            next_search = kill_children(instance) ? now : now + (now - begin);
        ss_freezer_kill(instance->board, instance->row);
        ss_instance_reap_orphans(instance);

        if (ss_instance_is_empty(instance) || now >= deadline)
            return;
        ss_platform_sleep(word, seen, ss_platform_now() + ROUND);
    }
}

int ss_instance_reap(struct ss_instance *instance) {
    int status = 0;
    if (instance->attached)
        ss_hold_close(&instance->root);
    else if (instance->leader > 1)
        ss_platform_reap(instance->leader, &status, 0);
    instance->leader = 0;
    ss_instance_reap_orphans(instance);
    return status;
}
