/* SPDX-License-Identifier: Apache-2.0 */
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"
#include "signals.h"
#include "terminal.h"

/* What the first process inside tells the one outside. */
struct message {
    enum { FAILED, ENDED } kind;
    int value; /* an errno; how the run ended, as waitpid() tells */
};

/* To whom signals are passed on: from outside to the first process inside, from there to the run.
 */
static volatile sig_atomic_t next_one;
static volatile sig_atomic_t suspended;

/* The keyboard's signals come from the kernel, and to all of our group by themselves. */
static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code <= 0 && next_one > 1)
        kill((pid_t)next_one, number);
    if (number == SIGTSTP)
        suspended = 1;
}

static void pass_signals_on(pid_t to) {
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};
    next_one = to;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
        struct sigaction before;
        sigaction(passed[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(passed[i], &action, NULL);
    }
}

_Noreturn static void tell(int report, int kind, int value) {
    struct message message = {.kind = kind, .value = value};
    _exit(write(report, &message, sizeof message) == sizeof message ? 0 : SS_ERROR_FAILED);
}

/* Whether the process outside had died before its death could reach us. */
static bool is_alone(int report) {
    struct pollfd outside = {.fd = report};
    return poll(&outside, 1, 0) > 0 && (outside.revents & POLLERR);
}

/* The first process inside: when it ends, so does everything there. Returns in the run. */
static void be_first(int report, const struct ss_isolation *isolation) {
    int why = ss_platform_isolation_settle(isolation);
    if (why)
        tell(report, FAILED, why);
    if (is_alone(report))
        _exit(SS_ERROR_FAILED);
    pid_t run = fork();
    if (run == 0) {
        close(report);
        return;
    }
    if (run < 0)
        tell(report, FAILED, errno);
    ss_platform_set_name("ss-init");
    pass_signals_on(run);
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == run)
            tell(report, ENDED, status);
    }
}

/* false: the first process inside was killed, and everything with it. */
static bool hear(int report, struct message *message) {
    for (;;) {
        ssize_t length = read(report, message, sizeof *message);
        if (length == sizeof *message)
            return true;
        if (length == 0 || errno != EINTR)
            return false;
        if (suspended) {
            suspended = 0;
            ss_signals_suspend();
        }
    }
}

static int stand_outside(pid_t first, int report, struct ss_error *error) {
    struct ss_terminal terminal;
    struct message message;
    ss_terminal_open(&terminal);
    pass_signals_on(first);
    bool heard = hear(report, &message);
    next_one = 0;
    close(report);
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    ss_terminal_close(&terminal);
    if (!heard)
        return ss_error_set(error, SS_ERROR_FAILED,
            "the first process of the run's PID namespace was killed: the run ended with it");
    if (message.kind == FAILED)
        return ss_error_set(error, SS_ERROR_FAILED,
            "--isolate: a PID namespace with a /proc of its own cannot be made: %s: run as root, "
            "or where user namespaces are allowed",
            strerror(message.value));
    if (WIFSIGNALED(message.value))
        ss_signals_raise_default(WTERMSIG(message.value));
    _exit(WEXITSTATUS(message.value));
}

int ss_isolate(struct ss_error *error) {
    int report[2];
    struct ss_isolation isolation;
    if (pipe2(report, O_CLOEXEC) < 0)
        return ss_error_set(error, SS_ERROR_FAILED, "a pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t first = ss_platform_isolation_fork(&isolation);
    if (first == 0) {
        close(report[0]);
        be_first(report[1], &isolation);
        return 0;
    }
    int why = errno;
    close(report[1]);
    if (first > 0)
        return stand_outside(first, report[0], error);
    close(report[0]);
    return ss_error_set(error, SS_ERROR_FAILED,
        "--isolate: a PID namespace cannot be made: %s: run as root, or where user namespaces are "
        "allowed",
        strerror(why));
}
