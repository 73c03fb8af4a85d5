/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_COPIES_H
#define SSACTUATE_COPIES_H

#include "child.h"

/* Where a copy is in its life. */
enum ssactuate_copy_state {
    SSACTUATE_ABSENT,
    SSACTUATE_STARTING, /* does not accept connections yet */
    SSACTUATE_SERVING,
    SSACTUATE_LEAVING, /* gets no more requests, but has unfinished ones */
    SSACTUATE_ENDING,  /* was asked to exit */
};

struct ssactuate_copy {
    enum ssactuate_copy_state state;
    ss_time since; /* when the state began */
    unsigned port;
    char url[SSACTUATE_URL];
    char **words; /* the command with its placeholders replaced; owned */
    struct ssactuate_child child;
};

/* A copy as the keeper knows it, in shared memory. */
struct ssactuate_kept_copy {
    uint64_t started;
    pid_t pid; /* 0: absent */
};

/*
 * Copies of a service, each on a port of its own. A generator of requests, which is an ssrequest
 * with --control, gets their URLs.
 */
struct ssactuate_copies {
    char *const *command;        /* words with {port} and {instance} */
    const char *url;             /* with {port} */
    const char *control;         /* the socket of the generator; NULL: it is not told */
    struct ssactuate_child like; /* how copies are started */
    void (*forked)(void *context, pid_t pid); /* called before a copy is executed; may be NULL */
    void *context;
    const pid_t *spared; /* a child that is not a copy: the keeper */
    const pid_t *side;   /* likewise, the side command; NULL: absent */

    size_t wanted;
    struct ssactuate_copy copies[SSACTUATE_INSTANCES_MAX];
    struct ssactuate_kept_copy *kept; /* by number of the copy */
    bool ending;                      /* all copies were asked to exit */
    ss_time end_begun;
    int status; /* of the first copy that exited, see struct ssactuate_child */
    bool has_status;

    char *urls; /* of the serving copies, separated by blanks; NULL before all of them serve */
    bool has_generator; /* it listened at the latest attempt to tell it */
    bool is_told;       /* the generator knows these URLs */
    bool has_failed;    /* the generator refused the latest URLs */
    uint64_t told[3];   /* identifies the socket of the generator that was told */
};

/* Prepares copies: none is started. Fails if the command has no {port}. */
SS_MUST_USE SS_NONNULL() int ssactuate_copies_open(
    struct ssactuate_copies *copies, struct ss_error *error);

/* Sets how many copies there are to be. ssactuate_copies_advance() starts and ends them. */
SS_NONNULL() void ssactuate_copies_want(struct ssactuate_copies *copies, size_t wanted);

/*
 * Starts missing copies, waits for them to accept connections, tells the generator their URLs, and
 * ends surplus ones when the generator has no unfinished request to them. Never waits for long:
 * call it again after ssactuate_copies_timeout(). Fails if a copy cannot be started.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_copies_advance(
    struct ssactuate_copies *copies, struct ss_error *error);

/* Returns after how many milliseconds to call advance() again; -1: after the next signal. */
SS_NONNULL() int ssactuate_copies_timeout(const struct ssactuate_copies *copies);

/* Notes that a child was reaped. If a copy exits unasked, the others are ended. */
SS_NONNULL() void ssactuate_copies_reaped(struct ssactuate_copies *copies, pid_t pid, int status);

/*
 * Asks all copies to exit by this signal (0: they got it already). After a while, advance() kills
 * those that did not.
 */
SS_NONNULL() void ssactuate_copies_end(struct ssactuate_copies *copies, int signal);

/* Kills all copies and their descendants. */
SS_NONNULL() void ssactuate_copies_kill(struct ssactuate_copies *copies);

/* Returns whether all copies were ended and have exited. */
SS_NONNULL() bool ssactuate_copies_are_over(const struct ssactuate_copies *copies);

/* For a keeper whose parent has died: ends all copies. `context` is the copies. */
SS_NONNULL() void ssactuate_copies_end_orphaned(void *context);

SS_NONNULL() void ssactuate_copies_close(struct ssactuate_copies *copies);

#endif
