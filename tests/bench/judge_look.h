/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_JUDGE_LOOK_H
#define SHOWSTOPPER_TESTS_JUDGE_LOOK_H

#include <stdbool.h>

enum { LOOK_RUNTIME, LOOK_IDLE, LOOK_TICKS, LOOK_MEASURES };

/* Counters at the time of a reading: seconds of CPU time, or ticks. */
struct reading {
    double busy;
    double all;
};

/*
 * Opens the counters. Run time is that of the control group with this folder; NULL: of the machine.
 * Idle time comes from /proc/stat, or with `residencies` from cpuidle if available. Exits if a
 * counter cannot be read.
 */
void look_open(const char *group, bool residencies);
bool look_has(int measure);
int look_cpus(void);

/* Reads all three counters as close together in time as possible. */
void look_now(struct reading readings[LOOK_MEASURES]);

#endif
