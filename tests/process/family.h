/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAMILY_H
#define SHOWSTOPPER_TESTS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "run.h"

/* Several processes of a run, examined together. */

struct family {
    pid_t pids[RUN_PIDS_MAX];
    size_t count;
};

/* Finds the processes with our mark whose name begins like this. */
struct family family_find(const char *name);

/* Returns how many are in this state. */
size_t family_count(const struct family *family, char state);

size_t family_count_living(const struct family *family);

bool family_has(const struct family *family, pid_t pid);

/* Returns whether there are exactly `count` with that name and all are stopped. */
bool family_is_stopped(const char *name, size_t count);

/* Returns whether there are any with that name and all are stopped. */
bool family_all_stopped(const char *name);

/* Waits until each of them has used this much more CPU time, which a stopped process never does. */
void family_expect_to_run(struct run *run, const struct family *family, double seconds);

/* Returns the CPU time that a process has used, in seconds. */
double family_cpu_time(pid_t pid);

void family_signal(const struct family *family, int number);

/* Signals all processes with that name, of which there must be some. */
void family_signal_named(const char *name, int number);

/*
 * Kills them all before any of them can react: at a priority above theirs, if that is allowed.
 * `last` is killed after the others; 0: none.
 */
void family_kill_together(const struct family *family, pid_t last);

/* Ends them by their pids, and all else that has been left. */
void family_end_all(void);

/* ---- other circumstances ---- */

/* For run_setup.prepare: simulates a kernel without pidfds. */
void family_deny_pidfds(void);

/* For run_setup.prepare: becomes a user without privileges, including real-time priority. */
void family_become_nobody(void);

/* Skips the test if that is impossible. */
void family_need_nobody(void);

#endif
