/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/commands.h"
#include "platform/child.h"
#include "platform/platform.h"

static const int caught_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};

#define CAUGHT_COUNT (sizeof caught_signals / sizeof *caught_signals)

/* Inherited dispositions, restored in the command. */
static struct sigaction old_actions[CAUGHT_COUNT];
static sigset_t old_mask;
static _Atomic uint32_t changes; /* changed to wake the sleeper */
static _Atomic pid_t command;    /* pid; 0: not started, or about to be reaped */
static atomic_bool over;

/*
 * Forwards the signal to the command, unless it came from the keyboard: the kernel has then sent it
 * to the whole process group. SIGCHLD only wakes the sleeper.
 */
static void on_signal(int number, siginfo_t *info, void *context) {
    int saved = errno;
    pid_t child = atomic_load(&command);
    (void)context;
    if (number != SIGCHLD && child > 0 && info->si_code != SI_KERNEL)
        kill(child, number);
    else if (number != SIGCHLD && child == 0)
        atomic_store(&over, true);
    ss_platform_wake(&changes);
    errno = saved;
}

void ssload_command_catch(bool has_command) {
    /* With a command, signals must not interrupt a write to a reader that is slow. */
    struct sigaction action = {
        .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | (has_command ? SA_RESTART : 0)};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    sigprocmask(SIG_SETMASK, NULL, &old_mask);
    for (size_t i = 0; i < CAUGHT_COUNT; i++)
        sigaction(caught_signals[i], NULL, &old_actions[i]);

    sigset_t held;
    sigemptyset(&held);
    if (has_command)
        sigfillset(&held); /* until the command exists and can receive signals */
    sigprocmask(SIG_SETMASK, &held, NULL);

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (old_actions[2].sa_handler != SIG_IGN) /* SIGHUP is ignored under nohup */
        sigaction(SIGHUP, &action, NULL);

    if (!has_command)
        return;
    sigaction(SIGQUIT, &action, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGCHLD, &action, NULL);
}

static int restore_signals(const void *unused) {
    (void)unused;
    for (size_t i = 0; i < CAUGHT_COUNT; i++)
        sigaction(caught_signals[i], &old_actions[i], NULL);
    return 0;
}

int ssload_command_check(char **words, struct ss_error *error) {
    struct ss_commands commands = {0};
    int result = ss_commands_repeat(&commands, words, 1, error);
    if (result == 0)
        result = ss_commands_check(&commands, error);
    ss_commands_free(&commands);
    return result;
}

/* Signals have been blocked since ssload_command_catch(). */
int ssload_command_start(char **words, struct ss_error *error) {
    const struct ss_child_setup setup = {
        .words = words,
        .streams = {-1, -1, -1},
        .mask = &old_mask,
        .prepare = restore_signals,
    };
    struct ss_child child;
    struct ss_child_failure failure;
    sigset_t none;

    sigemptyset(&none);
    int result = ss_child_fork(&child, &setup);
    if (result < 0)
        result = ss_error_fail(error, "cannot start a process: %s", strerror(-result));
    else if (ss_child_execute(&child, &failure) < 0)
        result = ss_child_fail(&failure, words[0], error);
    else
        atomic_store(&command, child.pid);

    sigprocmask(SIG_SETMASK, &none, NULL);
    return result;
}

static bool has_ended(pid_t child, int options) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | options) == 0 &&
           info.si_pid == child;
}

bool ssload_command_is_over(void) {
    return atomic_load(&over);
}

bool ssload_command_sleep(ss_time until) {
    for (;;) {
        uint32_t seen = atomic_load(&changes);
        pid_t child = atomic_load(&command);
        if (atomic_load(&over) || (child > 0 && has_ended(child, WNOHANG)))
            return true;
        if (ss_platform_now() >= until)
            return false;
        ss_platform_sleep(&changes, seen, until);
    }
}

int ssload_command_wait(void) {
    pid_t child = atomic_load(&command);
    int status = 0;

    while (!has_ended(child, 0))
        continue;
    /* Forget the pid before reaping: afterwards it may be reused. */
    atomic_store(&command, 0);
    waitpid(child, &status, 0);
    return ss_child_exit_status(status);
}
