/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_JUDGE_LOOK_H
#define SHOWSTOPPER_JUDGE_LOOK_H

#include <stdbool.h>

enum { LOOK_RUNTIME, LOOK_IDLE, LOOK_TICKS, LOOK_MEASURES };

/* Counters at the moment of a look: seconds of CPU time, or ticks. */
struct reading {
    double busy;
    double all;
};

/*
 * Run time is that of a control group, whose folder is named, or of the machine if that is NULL.
 * Idle time is that of /proc/stat, or with `residencies` that of cpuidle where there is one. Ends
 * the program where they cannot be read.
 */
void look_open(const char *group, bool residencies);
bool look_has(int measure);
int look_cpus(void);

/* Reads all three counters as close together as possible. */
void look_now(struct reading readings[LOOK_MEASURES]);

#endif
