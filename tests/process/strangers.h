/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_STRANGERS_H
#define SHOWSTOPPER_TESTS_STRANGERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "run.h"

/*
 * Processes that are not part of a run but have reused the pids of its processes. A run must never
 * signal them: they record every signal that can be caught, and tests detect a stop or a kill.
 */

/* Returns whether we can create a PID namespace and choose pids in it. */
bool strangers_are_possible(bool unprivileged);

/*
 * Runs `body` in a PID namespace with its own /proc and few pids, in which it may choose pids.
 * Fails the test if `body` fails. All processes of the namespace end with it. With `unprivileged`,
 * runs as a user without privileges, in a user namespace.
 */
void strangers_run_apart(void (*body)(void), bool unprivileged);

/* Waits until the pid is free and starts a stranger with it, which leads a group. */
void stranger_take(struct run *run, pid_t number);

/* Like stranger_take(), but returns false if the pid is still in use after `patience` seconds. */
bool stranger_try(struct run *run, pid_t number, double patience);

/* Makes the pid the id of a group whose leader has exited and that has another member. */
void stranger_take_group(struct run *run, pid_t number);

/*
 * Ends the oldest strangers until `but` are left. Fails the test if one of them was signaled,
 * stopped or killed.
 */
void strangers_dismiss(size_t but);

#endif
