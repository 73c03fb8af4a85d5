/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAMILY_H
#define SHOWSTOPPER_TESTS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "run.h"

/* Questions about several processes of a run at once. */

struct family {
    pid_t pids[RUN_PIDS_MAX];
    size_t count;
};

/* Those with our mark and with a name that begins like this. */
struct family family_find(const char *name);

/* How many are in this state. */
size_t family_count(const struct family *family, char state);

size_t family_count_living(const struct family *family);

bool family_has(const struct family *family, pid_t pid);

/* Whether there are exactly so many of that name and all are stopped. */
bool family_is_stopped(const char *name, size_t count);

/* The same of however many there are, but of some. */
bool family_all_stopped(const char *name);

/*
 * Waits until each of them has used so much more CPU time than now, which a process that stays
 * stopped never has.
 */
void family_expect_to_run(struct run *run, const struct family *family, double seconds);

/* Seconds of CPU time that a process has used. */
double family_cpu_time(pid_t pid);

void family_signal(const struct family *family, int number);

/* Signals all processes so named, of which there must be some. */
void family_signal_named(const char *name, int number);

/*
 * Kills them all before any of them can do anything about it: where it is allowed, at a priority
 * above theirs. `last`: one more, after the others; 0 without one.
 */
void family_kill_together(const struct family *family, pid_t last);

/* Ends them, and whatever else has been left, by their numbers. */
void family_end_all(void);

/* ---- other circumstances ---- */

/* For run_setup.prepare: as on a kernel that has no such call. */
void family_deny_pidfds(void);

/* The same: as a user of no privilege, real-time priority not being one of them either. */
void family_become_nobody(void);

/* Skips the test where that is impossible. */
void family_need_nobody(void);

#endif
