/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CHAOS_BYSTANDER_H
#define SHOWSTOPPER_TESTS_CHAOS_BYSTANDER_H

#include <stddef.h>

/*
 * Processes with the program and user of the instances that are not started by a run. Each has
 * another relation to the run: a child of the run's parent, an orphan in the run's session, and a
 * child that the run's process forked before it executed showstopper. They live as long as this
 * process and write a byte whenever they are continued, so that even a short stop is detected.
 */

#define BYSTANDERS 3

struct bystander {
    const char *what;
    int output[2]; /* the bystander writes to the second end */
    int pid;
};

struct bystanders {
    const char *payload; /* the program that they execute */
    int life[2];         /* a pipe; the first end is their standard input */
    struct bystander each[BYSTANDERS];
};

/* Starts the bystander outside the run's session. Must be called before the run is forked. */
void bystanders_open(struct bystanders *bystanders, const char *payload);

/*
 * Starts the other bystanders. Called in the process that will execute showstopper, after it became
 * the leader of its session.
 */
void bystanders_start_near(struct bystanders *bystanders);

/* Waits until all bystanders have started. Called by the parent after the run was forked. */
void bystanders_await(struct bystanders *bystanders);

/* Prints each signaled bystander to standard error. Returns their number. */
size_t bystanders_touched(struct bystanders *bystanders);

void bystanders_close(struct bystanders *bystanders);

#endif
