/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_SIGNALS_H
#define SHOWSTOPPER_TREE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The signals whose treatment we change, and what the caller had set for them. */
#define SS_SIGNALS_MAX 16

struct ss_signals {
    struct sigaction caller[SS_SIGNALS_MAX];
    sigset_t caller_mask;
    int pipe[2]; /* one byte per signal that arrived; both ends non-blocking */
};

/*
 * From now on a write beyond the limit on file size fails and does not kill. What the caller had
 * set for it is what instances get, and what release() gives back, before another program is
 * executed.
 */
void ss_signals_catch_file_limit(void);
void ss_signals_release_file_limit(void);

/*
 * The master's: each signal it lives by becomes a byte in the pipe, which its one loop reads. What
 * the caller ignored (nohup) stays ignored.
 */
int ss_signals_open(struct ss_signals *signals);

/* Which signal arrived next; 0: none. */
int ss_signals_next(struct ss_signals *signals);

/*
 * Forks. The child gets no signal before ss_signals_adopt() or ss_signals_restore(): what a key
 * sends to the whole group must not reach the master a second time, through its handlers there.
 */
pid_t ss_signals_fork(void);

/*
 * In a process of ours after the fork: `handler` for `wanted` (ended by 0), everything else that
 * a terminal or a caller might send is ignored.
 */
void ss_signals_adopt(void (*handler)(int), const int *wanted);

/*
 * Who used real-time priority for longer than we allow ourselves has lost it by then and goes on
 * without: once a turn of its loop it may ask for it again. A loop without turns is the watchdog's.
 */
void ss_signals_regain_priority(void);

/*
 * In a child before exec: exactly what the caller of the program had. With `terminal`, reading from
 * a terminal, writing to it and changing its settings no longer stop the child. Async-signal-safe.
 */
void ss_signals_restore(const struct ss_signals *signals, bool terminal);

/*
 * Stops this process as Ctrl-Z does, until it is continued. Not where nobody could do that: the
 * kernel then goes on at once.
 */
void ss_signals_suspend(void);

/* Ends this process by the signal, so that whoever waits for it sees the true cause. */
void ss_signals_raise_default(int signal);

#endif
