/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CHAOS_BYSTANDER_H
#define SHOWSTOPPER_TESTS_CHAOS_BYSTANDER_H

#include <stddef.h>

/*
 * Processes of the same program and user as the instances that no run has started, each nearer to
 * it in another way: a child of the run's parent, an orphan in the run's session, and a child that
 * the run's own process had before it became showstopper. They live as long as we do, and write
 * whenever they are continued, so that not even a short stop is missed.
 */

#define BYSTANDERS 3

struct bystander {
    const char *what;
    int output[2]; /* it writes into the second */
    int pid;
};

struct bystanders {
    const char *payload; /* the program that they are */
    int life[2];         /* the first is their standard input */
    struct bystander each[BYSTANDERS];
};

/* Starts the one outside of the session. To be called before the fork of the run. */
void bystanders_open(struct bystanders *bystanders, const char *payload);

/* Starts the others: by the process that will be the run, which leads its session already. */
void bystanders_start_near(struct bystanders *bystanders);

/* Waits until all of them are there. To be called by the parent after the fork of the run. */
void bystanders_await(struct bystanders *bystanders);

/* How many have been touched; says on standard error which and how. */
size_t bystanders_touched(struct bystanders *bystanders);

/* Ends them. */
void bystanders_close(struct bystanders *bystanders);

#endif
