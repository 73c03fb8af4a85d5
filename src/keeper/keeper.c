/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "keeper/signals.h"
#include "platform/child.h"
#include "platform/platform.h"

/* Number of times that a killed keeper is replaced while it is being dismissed. */
#define SUCCESSORS_MAX 10

/* Polling interval while awaiting a keeper without a pidfd. */
#define AWAIT_INTERVAL (20 * SS_MILLISECOND)

/* Sleeps until the parent dies or dismisses the keeper. Returns false if it is dismissed. */
static bool sleep_until_needed(const struct ss_keeper *keeper, int parent) {
    struct pollfd polls[] = {
        {.fd = parent, .events = POLLIN},
        {.fd = keeper->dismissal[0], .events = POLLIN},
    };
    poll(polls, 2, parent < 0 ? SS_KEEPER_POLL_MS : -1);
    return !polls[1].revents;
}

_Noreturn static void run(const struct ss_keeper *keeper, pid_t parent) {
    static const int none[] = {0};
    const struct ss_keeper_job *job = keeper->job;

    setpgid(0, 0); /* keeps signals to the parent's group away */
    /* If the keeper is stopped, the death of its parent continues it, and so does the lifeline. */
    ss_platform_die_with(parent, SIGCONT);
    if (keeper->lifeline >= 0 && ss_platform_lifeline_own(keeper->lifeline) < 0)
        _exit(SS_ERROR_FAILED);
    ss_signals_adopt(SIG_IGN, none);
    ss_platform_set_name(job->name);

    int watched = ss_platform_process_open(parent, ss_platform_process_started(parent));
    if (job->open && job->open(job->context, watched) < 0)
        _exit(SS_ERROR_FAILED);

    bool needed = true;
    while (needed && getppid() == parent)
        needed = job->turn ? job->turn(job->context) : sleep_until_needed(keeper, watched);
    if (needed)
        job->orphaned(job->context);
    if (job->close)
        job->close(job->context);
    _exit(0);
}

int ss_keeper_open(struct ss_keeper *keeper, const struct ss_keeper_job *job) {
    *keeper = (struct ss_keeper){.job = job, .dismissal = {-1, -1}};
    keeper->lifeline = ss_platform_lifeline_open();
    keeper->parent_lifeline = ss_platform_lifeline_open();
    return pipe2(keeper->dismissal, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : 0;
}

pid_t ss_keeper_start(struct ss_keeper *keeper) {
    pid_t parent = getpid();
    SS_OWNED(close) int held = ss_platform_lifeline_hold(keeper->parent_lifeline);
    pid_t pid = ss_child_fork_blocked();
    if (pid == 0)
        run(keeper, parent);
    if (pid < 0)
        return -errno;
    keeper->pid = pid;
    return pid;
}

/* Waits for the keeper to exit. Returns whether its exit status was 0. */
static bool await_child(struct ss_keeper *keeper) {
    int status = 0;
    if (keeper->pid <= 0)
        return false;
    do
        kill(keeper->pid, SIGCONT); /* it may be stopped, even while we wait */
    while (ss_platform_reap(keeper->pid, &status, WUNTRACED) > 0 && WIFSTOPPED(status));
    keeper->pid = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ss_keeper_dismiss(struct ss_keeper *keeper) {
    if (write(keeper->dismissal[1], "", 1) < 0 && errno != EAGAIN)
        return false;
    for (int i = 0; i < SUCCESSORS_MAX; i++) {
        if (await_child(keeper))
            return true;
        if (ss_keeper_start(keeper) < 0)
            poll(NULL, 0, 1 << i); /* retry: a process that was just killed may still hold memory */
    }
    return await_child(keeper);
}

void ss_keeper_close(struct ss_keeper *keeper) {
    const int owned[] = {
        keeper->lifeline, keeper->parent_lifeline, keeper->dismissal[0], keeper->dismissal[1]};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        if (owned[i] >= 0)
            close(owned[i]);
    }
}

void ss_keeper_await(pid_t pid, uint64_t started, ss_time patience) {
    ss_platform_process_signal_by_pid(pid, started, SIGCONT);
    struct pollfd end = {.fd = ss_platform_process_open(pid, started), .events = POLLIN};
    if (end.fd == -ESRCH)
        return;
    if (end.fd >= 0) {
        poll(&end, 1, (int)(patience / SS_MILLISECOND));
        close(end.fd);
        return;
    }

    ss_time deadline = ss_platform_now() + patience;
    for (ss_time now;
         ss_platform_process_is_alive(pid, started) && (now = ss_platform_now()) < deadline;)
        ss_platform_sleep_until(now + AWAIT_INTERVAL);
}
