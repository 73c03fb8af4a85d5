/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_STRANGERS_H
#define SHOWSTOPPER_TESTS_STRANGERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "run.h"

/*
 * Processes that have nothing to do with a run, but get the pids of some that had. They must never
 * be signaled: they note every signal that can be noted, and being stopped or killed is seen.
 */

/* Whether a process can be given a number of one's choice in a name space of one's own. */
bool strangers_are_possible(bool unprivileged);

/*
 * Runs the rest of a test in a PID name space with a /proc and few numbers of its own, where it may
 * choose numbers, and fails the test if that fails. All that is left there ends with it. With
 * `unprivileged` as a user of no privilege, in a user name space.
 */
void strangers_run_apart(void (*body)(void), bool unprivileged);

/* Waits until the pid is free and gives it to a stranger at once, which leads a group. */
void stranger_take(struct run *run, pid_t number);

/* The same, as long as it takes no longer than so many seconds. */
bool stranger_try(struct run *run, pid_t number, double patience);

/* Only the group of that pid is left of it, with another process in it. */
void stranger_take_group(struct run *run, pid_t number);

/* Fails the test if any of them has been touched since it was there. */
void strangers_expect_untouched(void);

/* How many there are, and an end to the oldest ones beyond so many, untouched. */
size_t strangers_count(void);
void strangers_dismiss(size_t but);

#endif
