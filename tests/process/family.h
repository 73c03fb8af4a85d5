/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAMILY_H
#define SHOWSTOPPER_TESTS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "run.h"

/* Processes with our mark whose names have the same beginning, such as all executors. */

struct family {
    pid_t pids[RUN_PIDS_MAX];
    size_t count;
};

/* Returns the processes with our mark whose name begins with `name`. */
struct family family_find(const char *name);

/* Returns the number of processes in this state, a letter as in ps. */
size_t family_count(const struct family *family, char state);

size_t family_count_living(const struct family *family);

bool family_has(const struct family *family, pid_t pid);

/* Returns whether exactly `count` processes have that name and all of them are stopped. */
bool family_is_stopped(const char *name, size_t count);

/* Returns whether at least one process has that name and all of them are stopped. */
bool family_all_stopped(const char *name);

/* Waits until each process has used `seconds` more CPU time; a stopped process never does. */
void family_expect_to_run(struct run *run, const struct family *family, double seconds);

/* Returns the CPU time that a process has used, in seconds. */
double family_cpu_time(pid_t pid);

void family_signal(const struct family *family, int number);

/* Signals all processes with that name; fails the test if no process has it. */
void family_signal_named(const char *name, int number);

/*
 * Kills all processes before any of them can react, at a higher priority if that is allowed. Stops
 * `last` before and kills it afterwards, unless it is 0.
 */
void family_kill_together(const struct family *family, pid_t last);

/* Waits for the one guardian whose pid is not `except`. */
pid_t family_find_guardian(struct run *run, pid_t except);

/* Kills every remaining process with our mark. */
void family_end_all(void);

/*
 * Waits until no process of showstopper is left, and fails the test unless all of `kept` run. Then
 * kills every process with our mark.
 */
void family_end_kept(const struct family *kept);

/* For run_setup.prepare: simulates a kernel without pidfds. */
void family_deny_pidfds(void);

/* For run_setup.prepare: only ordinary priorities. */
void family_deny_realtime(void);

/*
 * For run_setup.prepare: becomes a user without privileges and without real-time priority. Exits
 * with PROCESS_SKIPPED if not permitted.
 */
void family_become_nobody(void);

/* For run_setup.prepare: leads a process group. */
void family_lead_group(void);

/* For run_setup.prepare: writes no core dump. */
void family_dump_no_core(void);

/* Returns whether we may become another user. In a user namespace with one user, root may not. */
bool family_can_become_nobody(void);

/* Skips the test if no unprivileged user can run the program. */
void family_need_nobody(void);

#endif
