/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_crew.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/wakeup.h"
#include "base/walk.h"
#include "platform/child.h"
#include "platform/platform.h"

/* Interval and number of attempts to kill the remaining descendants. */
#define KILL_INTERVAL     (20 * SS_MILLISECOND)
#define KILL_ATTEMPTS_MAX 250

struct watch {
    const struct ssbatch_minder *minder;
    pid_t command; /* 0: reaped */
    sigset_t signals;
};

/* The children of a process, collected before all of them get a signal. */
struct siblings {
    pid_t parent;
    int signal;
    bool (*is_spared)(void *context, pid_t pid); /* NULL: none is spared */
    void *context;
    pid_t *pids;
    size_t count, room;
};

static void signal_children(struct siblings *siblings);

/*
 * Signals a process and its descendants. Skips a pid that is no longer a child of its parent: it
 * may have been reused.
 */
static void signal_tree(const struct siblings *siblings, pid_t pid) {
    struct siblings children = {.parent = pid, .signal = siblings->signal};
    struct ss_process process;
    if (siblings->is_spared && siblings->is_spared(siblings->context, pid))
        return;
    if (!ss_platform_process_info(pid, &process) || process.parent != siblings->parent)
        return;
    signal_children(&children);
    ss_platform_process_signal_by_pid(pid, process.started, siblings->signal);
}

/*
 * Collects the children first, because a signal may end them and give their children another
 * parent. If memory is exhausted, signals at once.
 */
static void add_child(void *context, pid_t pid) {
    struct siblings *siblings = context;
    if (SS_GROW(siblings->pids, siblings->count + 1, siblings->room))
        siblings->pids[siblings->count++] = pid;
    else
        signal_tree(siblings, pid);
}

static void signal_children(struct siblings *siblings) {
    ss_platform_process_children(siblings->parent, add_child, siblings);
    for (size_t i = 0; i < siblings->count; i++)
        signal_tree(siblings, siblings->pids[i]);
    free(siblings->pids);
}

void ssbatch_signal_descendants(
    int signal, bool (*is_spared)(void *context, pid_t pid), void *context) {
    struct siblings children = {
        .parent = getpid(), .signal = signal, .is_spared = is_spared, .context = context};
    signal_children(&children);
}

/* Runs in the child before exec. Returns the step that failed, or 0. */
static int prepare(const void *context) {
    const struct ssbatch_minder *minder = context;
    const struct ssbatch_command *command = minder->command;
    char temporary[4400];

    snprintf(temporary, sizeof temporary, "%s/tmp", command->scratch ? command->scratch : "");
    SS_OWNED(close)
    int made = command->scratch ? ss_walk_folder_path(temporary, O_PATH | O_CREAT, NULL) : -1;
    if (command->scratch && (made < 0 || setenv("TMPDIR", temporary, 1) < 0))
        return SSBATCH_SET_UP;

    if (chdir(command->folder) < 0)
        return SSBATCH_ENTER_FOLDER;
    ss_signals_restore(minder->signals, false);
    return 0;
}

/* Starts the command, or exits with the reason for the failure in the slot. */
static void start_command(struct watch *watch) {
    const struct ssbatch_minder *minder = watch->minder;
    struct ssbatch_slot *slot = minder->slot;
    SS_OWNED(close) int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const struct ss_child_setup setup = {
        .words = minder->command->words,
        .streams = {input, minder->command->output, minder->command->error_output},
        .death_signal = SIGKILL,
        .has_group = true,
        .mask = &minder->signals->caller_mask,
        .prepare = prepare,
        .context = minder,
    };
    struct ss_child child;
    int result = input < 0 ? -errno : ss_child_fork(&child, &setup);
    struct ss_child_failure failure = {.step = SSBATCH_SET_UP, .err = -result};

    if (result == 0) {
        atomic_store(&slot->pid, child.pid);
        result = ss_child_execute(&child, &failure);
    }
    if (result < 0) {
        atomic_store(&slot->step, failure.step);
        atomic_store(&slot->err, failure.err);
        _exit(SS_ERROR_FAILED);
    }
    watch->command = child.pid;
}

static void reap(struct watch *watch) {
    struct ssbatch_slot *slot = watch->minder->slot;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != watch->command)
            continue;
        watch->command = 0;
        atomic_store(&slot->signal, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        atomic_store(&slot->status, ss_child_exit_status(status));
        atomic_store(&slot->ended, 1);
        ss_wakeup_send(watch->minder->wakeup);
    }
}

static bool is_orphan(const struct watch *watch) {
    return getppid() != watch->minder->master;
}

/* Sleeps until a child ends, SIGTERM arrives, or the deadline. Returns the signal, or 0. */
static int sleep_until(const struct watch *watch, ss_time deadline) {
    ss_time left = ss_time_since(deadline, ss_platform_now());
    struct timespec time = {(time_t)(left / SS_SECOND), (long)(left % SS_SECOND)};
    int signal = deadline == SS_TIME_NEVER ? sigwaitinfo(&watch->signals, NULL)
                                           : sigtimedwait(&watch->signals, NULL, &time);
    return signal > 0 ? signal : 0;
}

/*
 * Returns whether the command has ended within its grace. If ssbatch dies meanwhile, the grace is
 * SSBATCH_ORPHAN_GRACE from then on.
 */
static bool ends_within(struct watch *watch, ss_time grace) {
    ss_time deadline = ss_platform_now() + grace;
    for (reap(watch); watch->command && ss_platform_now() < deadline; reap(watch)) {
        if (sleep_until(watch, deadline) == SIGTERM && is_orphan(watch))
            deadline = ss_platform_now() + SSBATCH_ORPHAN_GRACE;
    }
    return watch->command == 0;
}

/*
 * Sends SIGTERM to the command's process group, and continues it. As long as the leader has not
 * been reaped, the number of the group cannot be reused.
 */
static void terminate(const struct watch *watch) {
    kill(-watch->command, SIGTERM);
    kill(-watch->command, SIGCONT);
}

/* Ends the command. A second SIGTERM makes showstopper end without grace. */
static void end_command(struct watch *watch) {
    bool orphan = is_orphan(watch);
    ss_time grace = atomic_load(&watch->minder->slot->grace);
    if (!watch->command)
        return;

    terminate(watch);
    if (ends_within(watch, orphan ? SSBATCH_ORPHAN_GRACE : grace))
        return;

    if (is_orphan(watch)) {
        terminate(watch);
        if (ends_within(watch, SSBATCH_ORPHAN_KILL_GRACE))
            return;
    }

    kill(watch->command, SIGKILL);
}

static bool has_descendants(struct watch *watch) {
    reap(watch);
    return watch->command || ss_platform_has_living_children();
}

/*
 * Ends the command and its descendants. At first only the command itself is killed, so that its
 * guardian, if it has one, can clean up. Guardians ignore SIGTERM.
 */
static void end_descendants(struct watch *watch) {
    end_command(watch);
    ssbatch_signal_descendants(SIGTERM, NULL, NULL);
    ssbatch_signal_descendants(SIGCONT, NULL, NULL);
    ss_time deadline = ss_platform_now() + SSBATCH_GUARDIAN_PATIENCE;
    while (has_descendants(watch) && ss_platform_now() < deadline)
        sleep_until(watch, deadline);
    for (int i = 0; i < KILL_ATTEMPTS_MAX && has_descendants(watch); i++) {
        ssbatch_signal_descendants(SIGKILL, NULL, NULL);
        sleep_until(watch, ss_platform_now() + KILL_INTERVAL);
    }
}

void ssbatch_minder_run(const struct ssbatch_minder *minder, int executed) {
    struct watch watch = {.minder = minder};
    struct rusage usage;
    struct ssbatch_slot *slot = minder->slot;

    /* All signals stay blocked; sleep_until() waits for these two. */
    sigemptyset(&watch.signals);
    sigaddset(&watch.signals, SIGCHLD);
    sigaddset(&watch.signals, SIGTERM);

    setpgid(0, 0);
    atomic_store(&slot->minder_started, ss_platform_process_started(getpid()));
    atomic_store(&slot->minder, getpid());
    ss_platform_set_name("ssbatch-minder");
    ss_platform_adopt_orphans();
    if (ss_platform_die_with(minder->master, SIGTERM) < 0)
        _exit(SS_ERROR_FAILED);

    start_command(&watch);
    close(executed);

    while (has_descendants(&watch)) {
        if (sleep_until(&watch, SS_TIME_NEVER) == SIGTERM || is_orphan(&watch)) {
            end_descendants(&watch);
            break;
        }
    }

    getrusage(RUSAGE_CHILDREN, &usage);
    atomic_store(&slot->cpu_time,
        ((ss_time)usage.ru_utime.tv_sec + (ss_time)usage.ru_stime.tv_sec) * SS_SECOND +
            ((ss_time)usage.ru_utime.tv_usec + (ss_time)usage.ru_stime.tv_usec) * SS_MICROSECOND);
    _exit(0);
}
