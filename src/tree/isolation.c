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

#include "keeper/signals.h"
#include "platform/platform.h"
#include "screen/terminal.h"
#include "screen/window.h"

/*
 * How long to wait for the end of the namespace. A process in it that cannot be killed keeps it
 * alive.
 */
#define END_PATIENCE SS_SECOND

/* Milliseconds between looks. The end of the namespace interrupts the wait. */
#define END_INTERVAL_MS 10

/* A message from the first process inside the namespace to the process outside. */
struct message {
    enum { FAILED, STOPPED, ENDED } kind;
    int value; /* an errno, or the run's wait status */
};

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

#define FORWARDED (sizeof forwarded / sizeof *forwarded)

/* The caller's signal mask and disposition of SIGCHLD, which the run gets back. */
struct caller {
    sigset_t mask;
    struct sigaction child;
};

/*
 * The process to which signals are passed on: outside, the first process inside; inside, the run.
 * Global, because a handler has no context argument.
 */
static volatile sig_atomic_t next_process;

/*
 * Outside only: whether SIGTSTP was passed on since the last pause, and SIGCONT after it. If so,
 * the run may have been continued before its stop is reported.
 */
static volatile sig_atomic_t last_request;
enum { NO_REQUEST, TO_STOP, TO_CONTINUE };

static void forward(int number) {
    int saved = errno;
    if (number == SIGTSTP)
        last_request = TO_STOP;
    else if (number == SIGCONT && last_request == TO_STOP)
        last_request = TO_CONTINUE;
    if (next_process > 1)
        kill((pid_t)next_process, number);
    errno = saved;
}

/*
 * Blocks all signals: until there is a process to pass them on to, they would be lost, or would
 * kill this process.
 */
static void block_signals(struct caller *caller) {
    static const struct sigaction default_action = {.sa_handler = SIG_DFL};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &caller->mask);
    /* With SIG_IGN, a parent cannot wait for children. */
    sigaction(SIGCHLD, &default_action, &caller->child);
}

static void restore_signals(const struct caller *caller) {
    sigaction(SIGCHLD, &caller->child, NULL);
    sigprocmask(SIG_SETMASK, &caller->mask, NULL);
}

static void unblock_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Passes signals on to `to`. The signals are still blocked afterwards. */
static void forward_signals(pid_t to) {
    next_process = to;
    for (size_t i = 0; i < FORWARDED; i++) {
        struct sigaction action = {.sa_handler = forward};
        struct sigaction before;
        sigaction(forwarded[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(forwarded[i], &action, NULL);
    }
}

static void send_message(int report, int kind, int value) {
    struct message message = {.kind = kind, .value = value};
    if (write(report, &message, sizeof message) != sizeof message)
        _exit(SS_ERROR_FAILED);
}

_Noreturn static void send_last(int report, int kind, int value) {
    send_message(report, kind, value);
    _exit(0);
}

/*
 * Runs the first process inside; when it ends, so does everything inside. Returns only in the run.
 * Both processes have groups of their own, so that signals from the keyboard, or to the whole group
 * of the process outside, arrive only once, through that process.
 */
static void run_init(int report, const struct ss_isolation *isolation) {
    int why = ss_platform_isolation_set_up(isolation), name_set[2];
    if (why)
        send_last(report, FAILED, -why);
    if (pipe2(name_set, O_CLOEXEC) < 0)
        send_last(report, FAILED, errno);

    /* The process outside may have died before the parent-death signal was set. */
    struct pollfd outside = {.fd = report};
    if (poll(&outside, 1, 0) > 0 && (outside.revents & POLLERR))
        _exit(SS_ERROR_FAILED);

    setpgid(0, 0);
    pid_t run = fork();
    if (run == 0) {
        setpgid(0, 0);
        close(report);
        close(name_set[1]);
        /* Wait until ss-init has its name, which an instance may see. */
        char byte;
        while (read(name_set[0], &byte, 1) < 0 && errno == EINTR) {
        }
        close(name_set[0]);
        return;
    }

    if (run < 0)
        send_last(report, FAILED, errno);
    ss_platform_set_name("ss-init");
    close(name_set[0]);
    close(name_set[1]);
    forward_signals(run);
    unblock_signals();

    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WUNTRACED);
        if (pid == run && WIFSTOPPED(status))
            send_message(report, STOPPED, 0);
        else if (pid == run)
            send_last(report, ENDED, status);
    }
}

static bool is_continued(void *unused) {
    (void)unused;
    return last_request == TO_CONTINUE;
}

/*
 * Stops this process after the run has stopped, unless the run has been continued since. If there
 * is no shell that could continue them, both keep running.
 */
static void suspend(void) {
    sigset_t continuation, mask;
    sigemptyset(&continuation);
    sigaddset(&continuation, SIGCONT);
    sigprocmask(SIG_UNBLOCK, &continuation, &mask);
    ss_signals_suspend_unless(is_continued, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    last_request = NO_REQUEST;
    forward(SIGCONT);
}

/* Does nothing: the signal only interrupts a wait. */
static void interrupt_wait(int number) {
    (void)number;
}

/*
 * Continues the first process inside if something has stopped it: otherwise no signal would be
 * passed on, and the end of the run would not be reported.
 */
static void unstop(pid_t first) {
    siginfo_t stopped = {0};
    if (waitid(P_PID, (id_t)first, &stopped, WSTOPPED | WNOHANG) == 0 && stopped.si_pid == first)
        kill(first, SIGCONT);
}

/*
 * Waits for a message. Signals are delivered only during the wait. Returns false if the first
 * process inside was killed.
 */
static bool receive(pid_t first, int report, struct message *message) {
    struct sigaction stopped = {.sa_handler = interrupt_wait, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &stopped, NULL);
    sigset_t none;
    sigemptyset(&none);

    for (;;) {
        struct pollfd inside = {.fd = report, .events = POLLIN};
        if (ppoll(&inside, 1, NULL, &none) <= 0) {
            unstop(first);
            continue;
        }
        if (read(report, message, sizeof *message) != sizeof *message)
            return false;
        if (message->kind != STOPPED)
            return true;
        suspend();
    }
}

/* Waits for the first process inside, which ends after all others there. */
static void await_end(pid_t first) {
    ss_time deadline = ss_platform_now() + END_PATIENCE;
    while (waitpid(first, NULL, WNOHANG) == 0 && ss_platform_now() < deadline) {
        unstop(first);
        poll(NULL, 0, END_INTERVAL_MS);
    }
}

static int run_outside(pid_t first, int report, const struct ss_board *board,
    struct ss_terminal *terminal, struct ss_error *error) {
    struct message message;
    forward_signals(first);
    bool received = receive(first, report, &message);

    next_process = 0;
    close(report);
    unblock_signals();
    await_end(first);
    ss_terminal_close(terminal);
    /* If the master was killed, the namespace may have ended before the guardian did this. */
    if (atomic_load(&board->view_rows))
        ss_screen_release(STDERR_FILENO);

    if (!received)
        return ss_error_fail(
            error, "the first process of the run's PID namespace was killed, which ended the run");
    if (message.kind == FAILED)
        return ss_error_fail(error,
            "--isolate: cannot create a PID namespace with its own /proc: %s: run as root, or "
            "where user namespaces are allowed",
            strerror(message.value));
    if (WIFSIGNALED(message.value))
        ss_signals_raise_default(WTERMSIG(message.value));
    _exit(WEXITSTATUS(message.value));
}

int ss_isolate(const struct ss_board *board, struct ss_error *error) {
    int report[2];
    struct ss_isolation isolation;
    struct caller caller;
    struct ss_terminal terminal;
    if (pipe2(report, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));

    fflush(NULL);
    block_signals(&caller);
    ss_terminal_open(&terminal); /* before an instance can change its settings */
    pid_t first = ss_platform_isolation_fork(&isolation);
    if (first == 0) {
        close(report[0]);
        ss_terminal_leave(&terminal);
        run_init(report[1], &isolation);
        restore_signals(&caller);
        return 0;
    }

    int why = errno;
    close(report[1]);
    if (first > 0)
        return run_outside(first, report[0], board, &terminal, error);
    ss_terminal_leave(&terminal);
    restore_signals(&caller);
    close(report[0]);
    return ss_error_fail(error,
        "--isolate: cannot create a PID namespace: %s: run as root, or where user namespaces are "
        "allowed",
        strerror(why));
}
