/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <showstopper/error.h>

#include "base/end_signals.h"
#include "base/module_call.h"
#include "platform/platform.h"

/* The write end of the pipe; global, because a handler has no context argument. */
static int pipe_end = -1;

/* Set in the byte of a signal that the kernel has sent, such as that of Ctrl-C to a whole group. */
#define FROM_KERNEL 0x80

/* Writes a byte to the pipe. If the pipe is full, enough events are waiting already. */
static void put_byte(unsigned char byte) {
    int saved = errno;
    ssize_t written = write(pipe_end, &byte, 1);
    (void)written;
    errno = saved;
}

static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    put_byte((unsigned char)(number | (info->si_code == SI_KERNEL ? FROM_KERNEL : 0)));
}

static volatile sig_atomic_t demoted;

/*
 * Maximum number of times that a process regains real-time priority. Before each loss of it, the
 * process has starved all others.
 */
#define REGAINED_MAX 8

/*
 * Gives up real-time priority if the kernel has sent the signal, and returns whether it has. The
 * signal means that this process has not slept for long. The cause need not be an endless loop:
 * when memory is short, this process may wait in the kernel for a process that cannot run because
 * of its lower priority.
 */
static bool is_demotion(const siginfo_t *info) {
    if (info->si_code != SI_KERNEL)
        return false;
    demoted = 1;
    ss_platform_drop_realtime();
    return true;
}

/*
 * May interrupt a module's endless loop at any point, so only async-signal-safe calls are allowed.
 * The guardian cleans up.
 */
static void exit_stuck(int number, siginfo_t *info, void *context) {
    static const char why[] = "showstopper: ending the run: a module is stuck in an endless loop\n";
    (void)number;
    (void)context;
    if (is_demotion(info))
        return;
    ssize_t written = write(STDERR_FILENO, why, sizeof why - 1);
    (void)written;
    _exit(SS_ERROR_FAILED);
}

static void handle_overrun(int number, siginfo_t *info, void *context) {
    (void)context;
    if (!is_demotion(info))
        ss_signals_raise_default(number);
}

void ss_signals_regain_priority(void) {
    static int regained;
    if (!demoted || regained >= REGAINED_MAX)
        return;
    demoted = 0;
    regained++;
    ss_platform_minimize_latency(SS_PRIORITY_REALTIME);
}

static const struct {
    int number;
    bool passed_on; /* by the master, which ignores the others */
} handled_signals[] = {
    {SIGINT, true},
    {SIGTERM, true},
    {SIGHUP, true},
    {SIGQUIT, true},
    {SIGTSTP, true},
    {SIGCONT, true},
    {SIGCHLD, true},
    {SIGWINCH, true},
    {SIGXCPU, false}, /* see catch_overrun() */
    {SIGPIPE, false},
    {SIGXFSZ, false}, /* writes beyond the limit then fail and are reported */
    {SIGTTIN, false},
    {SIGTTOU, false},
};

#define HANDLED_SIGNALS (sizeof handled_signals / sizeof *handled_signals)
_Static_assert(HANDLED_SIGNALS <= SS_SIGNALS_MAX, "room for every signal");

static const struct {
    int number;
    const char *name;
} crashes[] = {
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"},
};

#define CRASHES (sizeof crashes / sizeof *crashes)

static bool crashes_caught[CRASHES];

static void write_word(const char *word) {
    ssize_t written = write(STDERR_FILENO, word, strlen(word));
    (void)written;
}

/*
 * Ends this process after a crash in a module; the guardian cleans up. Only async-signal-safe calls
 * are allowed. The default action has already been restored, so a crash elsewhere happens again
 * when this function returns, and ends the process where it happened. A signal that was sent does
 * not come again, so it is raised.
 */
static void exit_crashed(int number, siginfo_t *info, void *context) {
    const char *module = ss_called_module_path;
    (void)context;
    bool is_own = info->si_code > 0 || info->si_pid == getpid();
    if (!module || !is_own) {
        if (info->si_code <= 0)
            raise(number);
        return;
    }

    write_word("showstopper: the module ");
    write_word(module);
    write_word(" crashed (");
    for (size_t i = 0; i < CRASHES; i++) {
        if (crashes[i].number == number)
            write_word(crashes[i].name);
    }
    write_word(")\n");
    _exit(SS_ERROR_FAILED);
}

void ss_signals_catch_crashes(void) {
    static char room[1 << 16]; /* an alternate stack: the module may have exhausted the usual one */
    struct sigaction caller, action = {.sa_sigaction = exit_crashed,
                                 .sa_flags = (int)SA_RESETHAND | SA_ONSTACK | SA_SIGINFO};
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    for (size_t i = 0; i < CRASHES; i++) {
        /* Do not replace SIG_IGN, which instances inherit, or the handlers of a sanitizer. */
        sigaction(crashes[i].number, NULL, &caller);
        crashes_caught[i] = caller.sa_handler == SIG_DFL;
        if (crashes_caught[i])
            sigaction(crashes[i].number, &action, NULL);
    }
}

static void catch_overrun(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigaction(SIGXCPU, &action, NULL);
}

/*
 * The caller's disposition of SIGXFSZ, which is ignored long before the other signals are set up.
 */
static struct sigaction caller_file_limit;
static bool file_limit_caught;

void ss_signals_catch_file_limit(void) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    file_limit_caught = sigaction(SIGXFSZ, &action, &caller_file_limit) == 0;
}

void ss_signals_release_file_limit(void) {
    if (file_limit_caught)
        sigaction(SIGXFSZ, &caller_file_limit, NULL);
}

int ss_signals_open(struct ss_signals *signals) {
    if (pipe2(signals->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    pipe_end = signals->pipe[1];
    sigprocmask(SIG_SETMASK, NULL, &signals->caller_mask);

    for (size_t i = 0; i < HANDLED_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART};
        sigaction(handled_signals[i].number, NULL, &signals->caller[i]);
        if (handled_signals[i].number == SIGXFSZ && file_limit_caught)
            signals->caller[i] = caller_file_limit;

        bool ignored = signals->caller[i].sa_handler == SIG_IGN;
        if (handled_signals[i].number == SIGINT)
            signals->ignores_interrupts = ignored;
        if (handled_signals[i].passed_on && (!ignored || handled_signals[i].number == SIGCHLD ||
                                                handled_signals[i].number == SIGINT)) {
            action.sa_sigaction = pass_on;
            action.sa_flags |= SA_SIGINFO;
        }
        sigaction(handled_signals[i].number, &action, NULL);
    }

    catch_overrun(exit_stuck);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return 0;
}

/* Returns the next byte of the pipe, or 0. */
static unsigned char take_byte(const struct ss_signals *signals) {
    unsigned char byte;
    return read(signals->pipe[0], &byte, 1) == 1 ? byte : 0;
}

int ss_signals_next(struct ss_signals *signals) {
    unsigned char byte = take_byte(signals);
    signals->from_terminal = byte & FROM_KERNEL;
    return byte & ~FROM_KERNEL;
}

int ss_signals_close(struct ss_signals *signals) {
    int first = 0;
    if (pipe_end < 0)
        return 0;

    for (size_t i = 0; i < HANDLED_SIGNALS; i++) {
        if (handled_signals[i].passed_on)
            sigaction(handled_signals[i].number, &signals->caller[i], NULL);
    }

    /* Read after the handlers are removed, so that no signal is lost in between. */
    for (int number; (number = ss_signals_next(signals));) {
        bool ignored = number == SIGINT && signals->ignores_interrupts;
        if (!first && ss_end_signals_has(number) && !ignored)
            first = number;
    }

    pipe_end = -1;
    close(signals->pipe[0]);
    close(signals->pipe[1]);
    return first;
}

void ss_signals_adopt(void (*handler)(int), const int *handled) {
    for (size_t i = 0; i < HANDLED_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
        for (const int *number = handled; *number; number++) {
            if (*number == handled_signals[i].number)
                action.sa_handler = handler;
        }
        /* If SIGCHLD were ignored, the kernel would reap our children. */
        if (handled_signals[i].number == SIGCHLD && action.sa_handler == SIG_IGN)
            action.sa_handler = SIG_DFL;
        sigaction(handled_signals[i].number, &action, NULL);
    }

    catch_overrun(handle_overrun);
    for (size_t i = 0; i < CRASHES; i++) {
        if (crashes_caught[i])
            signal(crashes[i].number, SIG_DFL);
    }

    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void ss_signals_restore(const struct ss_signals *signals, bool terminal) {
    for (size_t i = 0; i < HANDLED_SIGNALS; i++) {
        /* Discard a keyboard signal that arrived while the child was still in our group. */
        signal(handled_signals[i].number, SIG_IGN);
        sigaction(handled_signals[i].number, &signals->caller[i], NULL);
    }
    if (terminal) {
        signal(SIGTTIN, SIG_IGN);
        signal(SIGTTOU, SIG_IGN);
    }
}

/*
 * Takes all SIGTSTP and SIGCONT out of the pipe. Returns whether the last one was a SIGCONT. Keeps
 * one of each other signal; the pipe may be full of them.
 */
static bool take_continuation(void *context) {
    unsigned char others[2 * HANDLED_SIGNALS];
    size_t count = 0;
    bool continued = false;
    for (unsigned char byte; (byte = take_byte(context)) != 0;) {
        int number = byte & ~FROM_KERNEL;
        if (number == SIGTSTP || number == SIGCONT)
            continued = number == SIGCONT;
        else if (!memchr(others, byte, count))
            others[count++] = byte;
    }

    for (size_t i = 0; i < count; i++)
        put_byte(others[i]);
    return continued;
}

void ss_signals_suspend_unless(bool (*is_continued)(void *context), void *context) {
    struct sigaction before, action = {.sa_handler = SIG_DFL}, none = {.sa_handler = SIG_IGN};
    sigset_t stop, mask;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_BLOCK, &stop, &mask);
    sigaction(SIGTSTP, &action, &before);

    /* A later SIGCONT discards the pending signal. An earlier one has already been handled. */
    raise(SIGTSTP);
    if (is_continued(context))
        sigaction(SIGTSTP, &none, NULL); /* discards it, too */

    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    sigaction(SIGTSTP, &before, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

void ss_signals_suspend(struct ss_signals *signals) {
    ss_signals_suspend_unless(take_continuation, signals);
}

void ss_signals_raise_default(int number) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigaction(number, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL); /* it is blocked in its handler */
    raise(number);
    _exit(128 + number); /* reached in the first process of a PID namespace, which the signal does
                            not end */
}
