/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_STRANGERS_H
#define SHOWSTOPPER_TESTS_STRANGERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "run.h"

/*
 * Processes that do not belong to a run but get the pids of some that did. They must never be
 * signaled: they note every signal that can be noted, and a stop or a kill is detected.
 */

/* Returns whether we can choose pids in a PID namespace of our own. */
bool strangers_are_possible(bool unprivileged);

/*
 * Runs the rest of a test in a PID namespace with its own /proc and few pids, in which it may
 * choose pids, and fails the test if that fails. All processes in it end with it. With
 * `unprivileged`, runs as a user without privileges, in a user namespace.
 */
void strangers_run_apart(void (*body)(void), bool unprivileged);

/* Waits until the pid is free and gives it at once to a stranger, which leads a group. */
void stranger_take(struct run *run, pid_t number);

/* Does the same within this many seconds. */
bool stranger_try(struct run *run, pid_t number, double patience);

/* Gives the pid to a stranger of which only the group remains, with another process in it. */
void stranger_take_group(struct run *run, pid_t number);

/* Fails the test if any of them has been touched since its start. */
void strangers_expect_untouched(void);

/* Counts them; dismiss() ends the oldest ones beyond `but`, untouched. */
size_t strangers_count(void);
void strangers_dismiss(size_t but);

#endif
