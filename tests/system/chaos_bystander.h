/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CHAOS_BYSTANDER_H
#define SHOWSTOPPER_TESTS_CHAOS_BYSTANDER_H

#include <stddef.h>

/*
 * Processes of the same program and user as the instances, but not started by a run. Each is
 * related to the run in a different way: a child of the run's parent, an orphan in the run's
 * session, and a child that the run's process had before it executed showstopper. They live as long
 * as this process, and write whenever they are continued, so that even a short stop is detected.
 */

#define BYSTANDERS 3

struct bystander {
    const char *what;
    int output[2]; /* the bystander writes to the second */
    int pid;
};

struct bystanders {
    const char *payload; /* the program that they execute */
    int life[2];         /* a pipe; the first end is their standard input */
    struct bystander each[BYSTANDERS];
};

/* Starts the bystander outside of the session. Call this before the run is forked. */
void bystanders_open(struct bystanders *bystanders, const char *payload);

/*
 * Starts the other bystanders. Called by the process that will execute the run and already leads
 * its session.
 */
void bystanders_start_near(struct bystanders *bystanders);

/* Waits until all bystanders have started. Called by the parent after the run was forked. */
void bystanders_await(struct bystanders *bystanders);

/* Returns how many were signaled, and prints each to standard error. */
size_t bystanders_touched(struct bystanders *bystanders);

/* Ends all bystanders. */
void bystanders_close(struct bystanders *bystanders);

#endif
