/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"
#include "screen/terminal.h"
#include "screen/window.h"
#include "tree/signals.h"

/* What the first process inside tells the one outside. */
struct message {
    enum { FAILED, STOPPED, ENDED } kind;
    int value; /* an errno; how the run ended, as waitpid() tells */
};

static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

#define PASSED (sizeof passed / sizeof *passed)

/* The caller's signal mask, and what it does with the end of a child: the run's again. */
struct caller {
    sigset_t mask;
    struct sigaction child;
};

/* To whom signals are passed on: from outside to the first process inside, from there to the run.
 */
static volatile sig_atomic_t next_one;

static void pass_on(int number) {
    int saved = errno;
    if (next_one > 1)
        kill((pid_t)next_one, number);
    errno = saved;
}

/* Until somebody is there who can pass them on no signal may come: it would be lost, or kill. */
static void hold_signals(struct caller *caller) {
    static const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &caller->mask);
    sigaction(SIGCHLD, &usual, &caller->child); /* who ignores it cannot wait for children */
}

static void give_back_signals(const struct caller *caller) {
    sigaction(SIGCHLD, &caller->child, NULL);
    sigprocmask(SIG_SETMASK, &caller->mask, NULL);
}

static void let_signals_in(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* They still have to be let in. */
static void pass_signals_on(pid_t to) {
    next_one = to;
    for (size_t i = 0; i < PASSED; i++) {
        struct sigaction action = {.sa_handler = pass_on};
        struct sigaction before;
        sigaction(passed[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(passed[i], &action, NULL);
    }
}

static void say(int report, int kind, int value) {
    struct message message = {.kind = kind, .value = value};
    if (write(report, &message, sizeof message) != sizeof message)
        _exit(SS_ERROR_FAILED);
}

_Noreturn static void tell(int report, int kind, int value) {
    say(report, kind, value);
    _exit(0);
}

/* Whether the process outside had died before its death could reach us. */
static bool is_alone(int report) {
    struct pollfd outside = {.fd = report};
    return poll(&outside, 1, 0) > 0 && (outside.revents & POLLERR);
}

/*
 * The first process inside: when it ends, so does everything there. Returns in the run. Both are in
 * groups of their own, so that the keyboard's signals, and those that somebody sends to the whole
 * group of the process outside, come through it and only once.
 */
static void be_first(int report, const struct ss_isolation *isolation) {
    int why = ss_platform_isolation_settle(isolation);
    if (why)
        tell(report, FAILED, why);
    if (is_alone(report))
        _exit(SS_ERROR_FAILED);
    setpgid(0, 0);
    pid_t run = fork();
    if (run == 0) {
        setpgid(0, 0);
        close(report);
        return;
    }
    if (run < 0)
        tell(report, FAILED, errno);
    ss_platform_set_name("ss-init");
    pass_signals_on(run);
    let_signals_in();
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WUNTRACED);
        if (pid == run && WIFSTOPPED(status))
            say(report, STOPPED, 0);
        else if (pid == run)
            tell(report, ENDED, status);
    }
}

/* When the run has stopped, so do we. Without a shell that could continue us, both go on. */
static void suspend(void) {
    sigset_t stop;
    sigset_t before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    ss_signals_suspend();
    sigprocmask(SIG_SETMASK, &before, NULL);
    pass_on(SIGCONT);
}

/* Signals come in only while we wait. false: the first process inside was killed. */
static bool hear(int report, struct message *message) {
    sigset_t none;
    sigemptyset(&none);
    for (;;) {
        struct pollfd inside = {.fd = report, .events = POLLIN};
        if (ppoll(&inside, 1, NULL, &none) <= 0)
            continue;
        if (read(report, message, sizeof *message) != sizeof *message)
            return false;
        if (message->kind != STOPPED)
            return true;
        suspend();
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
    let_signals_in();
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    ss_terminal_close(&terminal);
    if (!heard) {
        if (ss_screen_has_cursor(STDERR_FILENO))
            ss_screen_release(STDERR_FILENO); /* master and guardian are gone */
        return ss_error_set(error, SS_ERROR_FAILED,
            "the first process of the run's PID namespace was killed: the run ended with it");
    }
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
    struct caller caller;
    if (pipe2(report, O_CLOEXEC) < 0)
        return ss_error_set(error, SS_ERROR_FAILED, "a pipe: %s", strerror(errno));
    fflush(NULL);
    hold_signals(&caller);
    pid_t first = ss_platform_isolation_fork(&isolation);
    if (first == 0) {
        close(report[0]);
        be_first(report[1], &isolation);
        give_back_signals(&caller);
        return 0;
    }
    int why = errno;
    close(report[1]);
    if (first > 0)
        return stand_outside(first, report[0], error);
    give_back_signals(&caller);
    close(report[0]);
    return ss_error_set(error, SS_ERROR_FAILED,
        "--isolate: a PID namespace cannot be made: %s: run as root, or where user namespaces are "
        "allowed",
        strerror(why));
}
