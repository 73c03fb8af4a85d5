/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_KEEPER_KEEPER_H
#define SHOWSTOPPER_KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/*
 * A keeper is a child that outlives its parent, however the parent ends, and then cleans up for it.
 * It has a process group of its own and ignores the signals that a terminal or a caller may send.
 * If the parent or the keeper is stopped, the other's death continues it. The parent replaces a
 * keeper that was killed.
 */

/* The work of a keeper. All functions are called in the keeper; only `orphaned` is required. */
struct ss_keeper_job {
    const char *name; /* shown by ps */

    /*
     * Sets up the job. `parent` is a pidfd, which is readable once the parent is dead, or negative
     * if pidfds are not supported. If the result is negative, the keeper exits with
     * SS_ERROR_FAILED.
     */
    int (*open)(void *context, int parent);

    /*
     * Called in a loop while the parent lives. Must return when the parent dies (without a pidfd:
     * every SS_KEEPER_POLL_MS milliseconds). Returns false if the keeper may exit. If absent, the
     * keeper sleeps until the parent dies or dismisses it.
     */
    bool (*turn)(void *context);

    /* Cleans up after the parent, which died without dismissing the keeper. */
    void (*orphaned)(void *context);

    /* Called last, whether or not the parent has died. */
    void (*close)(void *context);

    void *context;
};

/* Polling interval for processes without a pidfd, in milliseconds. */
#define SS_KEEPER_POLL_MS 50

/* The parent's view of a keeper. */
struct ss_keeper {
    const struct ss_keeper_job *job;
    pid_t pid;           /* 0 if not started, or reaped */
    int lifeline;        /* lifeline of the keeper, see ss_platform_lifeline_open() */
    int parent_lifeline; /* lifeline of the parent, held by its keepers */
    int dismissal[2];    /* readable once the keeper is dismissed */
};

/* Prepares a keeper of the calling process. Returns 0 or a negative errno. */
SS_MUST_USE SS_NONNULL() int ss_keeper_open(
    struct ss_keeper *keeper, const struct ss_keeper_job *job);

/* Starts the keeper, or replaces a killed one. Returns its pid or a negative errno. */
SS_MUST_USE SS_NONNULL() pid_t ss_keeper_start(struct ss_keeper *keeper);

/*
 * Lets the keeper exit and waits for it. Replaces a keeper that was killed, because it may have
 * left work. Returns false if no keeper could finish.
 */
SS_NONNULL() bool ss_keeper_dismiss(struct ss_keeper *keeper);

/* Closes the parent's side. The keeper must be gone. */
SS_NONNULL() void ss_keeper_close(struct ss_keeper *keeper);

/*
 * Continues the keeper and waits until it has ended, for at most `patience`. For a process that is
 * not the parent and outlives it. `started` is the keeper's start time.
 */
void ss_keeper_await(pid_t pid, uint64_t started, ss_time patience);

#endif
