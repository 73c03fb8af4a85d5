/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_KEEPER_SIGNALS_H
#define SHOWSTOPPER_KEEPER_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <showstopper/contract.h>

/* Limit of the number of signals whose disposition we change. */
#define SS_SIGNALS_MAX 16

struct ss_signals {
    struct sigaction caller[SS_SIGNALS_MAX];
    sigset_t caller_mask;
    int pipe[2];             /* one byte per signal; both ends are non-blocking */
    bool from_terminal;      /* a terminal sent the latest signal of ss_signals_next() */
    bool ignores_interrupts; /* the caller ignored SIGINT, as a shell script does in background
                                jobs; it is still reported, so that the run can explain this */
};

/*
 * Makes writes beyond the file size limit fail instead of killing the process. Instances get the
 * caller's setting. Call the second function, which restores that setting, before this process
 * executes another program.
 */
void ss_signals_catch_file_limit(void);
void ss_signals_release_file_limit(void);

/*
 * For the master, before it calls a module: a crash in a module that base/module_call.h names ends
 * this process with SS_ERROR_FAILED and a message. Any other crash ends it by its signal, and so
 * does a crash in a child after ss_signals_adopt().
 */
void ss_signals_catch_crashes(void);

/*
 * For the master: turns each signal into a byte in the pipe, which the main loop reads. A signal
 * that the caller ignored (nohup) stays ignored, except SIGCHLD and SIGINT. Returns 0, or -1 with
 * errno set.
 */
SS_MUST_USE int ss_signals_open(struct ss_signals *signals);

/* Returns the next signal that arrived, or 0. */
int ss_signals_next(struct ss_signals *signals);

/*
 * For the master, when its loop has ended and the pipe is no longer read: restores the caller's
 * dispositions of the signals that went to the pipe. Does nothing without ss_signals_open().
 * Returns the first unread signal that requests an end, or 0.
 */
SS_MUST_USE int ss_signals_close(struct ss_signals *signals);

/*
 * For a child of ss_child_fork_blocked(): installs `handler` for the signals in `handled`, which
 * ends with 0, and ignores all others that a terminal or a caller might send.
 */
void ss_signals_adopt(void (*handler)(int), const int *handled);

/*
 * Requests real-time priority again, a limited number of times, after a process has used it for
 * longer than our own limit and given it up. Call this once per turn of the loop. The watchdog
 * handles a loop that never does.
 */
void ss_signals_regain_priority(void);

/*
 * For a child before exec, with all signals blocked: restores the caller's dispositions. With
 * `terminal`, the child is not stopped when it reads from a terminal, writes to it or changes its
 * settings. Async-signal-safe.
 */
void ss_signals_restore(const struct ss_signals *signals, bool terminal);

/*
 * Stops this process as Ctrl-Z does, until it is continued. The kernel does not stop a process that
 * no shell could continue (in an orphaned process group). Call this for a SIGTSTP that was taken
 * from the pipe. Does not stop if a SIGCONT follows it there, and drops further SIGTSTP.
 */
void ss_signals_suspend(struct ss_signals *signals);

/*
 * Like ss_signals_suspend(), but without a pipe. SIGCONT must not be blocked and must have a
 * handler; `is_continued` returns whether it was called since the SIGTSTP.
 */
void ss_signals_suspend_unless(bool (*is_continued)(void *context), void *context);

/*
 * Ends this process by the signal, so that its parent learns the true cause. The first process of a
 * PID namespace, such as that of a container, exits with 128 plus the number instead.
 */
_Noreturn void ss_signals_raise_default(int number);

#endif
