/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_COPIES_H
#define SSACTUATE_COPIES_H

#include "child.h"

enum ssactuate_copy_state {
    SSACTUATE_ABSENT,
    SSACTUATE_STARTING, /* accepts no connections yet */
    SSACTUATE_SERVING,
    SSACTUATE_LEAVING, /* gets no new requests, but may have unfinished ones */
    SSACTUATE_ENDING,  /* was asked to exit */
};

struct ssactuate_copy {
    enum ssactuate_copy_state state;
    ss_time since; /* start of this state */
    unsigned port;
    char url[SSACTUATE_URL_SIZE];
    char **words; /* the command with placeholders replaced; owned */
    struct ssactuate_child child;
};

/* Identifies a copy for the keeper, in shared memory. */
struct ssactuate_kept_copy {
    uint64_t started;
    pid_t pid; /* 0: absent */
};

/*
 * Copies of a service, each on its own port. Their URLs are passed to a generator of requests, an
 * ssrequest with --control.
 */
struct ssactuate_copies {
    char *const *command;                     /* words with {port} and {instance} */
    const char *url;                          /* with {port} */
    const char *control;                      /* socket of the generator; NULL without one */
    struct ssactuate_child template;          /* template for the child of each copy */
    void (*forked)(void *context, pid_t pid); /* called before a copy is executed; may be NULL */
    void *context;
    const pid_t *spared;   /* pid of the keeper, a child that is not a copy */
    const pid_t *side_pid; /* pid of the side command, spared as well; NULL if absent */

    size_t requested; /* number of copies; ssactuate_copies_advance() adjusts to it */
    struct ssactuate_copy copies[SSACTUATE_INSTANCES_MAX];
    struct ssactuate_kept_copy *kept; /* indexed like `copies`; shared with the keeper */
    bool has_new_copy;                /* a copy was started; the caller resets this */
    bool ending;                      /* all copies have been asked to exit */
    int status; /* exit status of the first copy to exit that was not surplus */
    bool has_status;

    char *urls;         /* URLs of the serving copies, separated by blanks; NULL until all serve */
    bool has_generator; /* a generator listened at the last attempt */
    bool are_urls_sent; /* the generator has accepted these URLs */
    bool has_failed;    /* the generator refused the latest URLs */
    uint64_t generator_id[3]; /* identity of the socket of the last generator */
};

/* Prepares copies, but starts none. Fails if the command lacks {port}. */
SS_MUST_USE SS_NONNULL() int ssactuate_copies_open(
    struct ssactuate_copies *copies, struct ss_error *error);

/*
 * Starts missing copies, passes the URLs to the generator once all copies accept connections, and
 * ends surplus copies once the generator has no unfinished requests to them. Does not wait for
 * copies: call it again after ssactuate_copies_timeout(). May wait a few seconds for an answer of
 * the generator. Fails if a copy cannot be started.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_copies_advance(
    struct ssactuate_copies *copies, struct ss_error *error);

/* Returns the milliseconds until advance() is due again; -1 if only a signal makes it due. */
SS_NONNULL() int ssactuate_copies_timeout(const struct ssactuate_copies *copies);

/* Notes that a child was reaped. If a copy has exited by itself, ends the others. */
SS_NONNULL() void ssactuate_copies_reaped(struct ssactuate_copies *copies, pid_t pid, int status);

/*
 * Sends this signal to all copies to end them. 0 sends none: the terminal has already sent it.
 * advance() kills copies that do not exit in time.
 */
SS_NONNULL() void ssactuate_copies_end(struct ssactuate_copies *copies, int signal);

/*
 * Kills all descendants of this process, except the keeper and the side command with its
 * descendants. Also kills orphans of the side, which have become children of this process.
 */
SS_NONNULL() void ssactuate_copies_kill(struct ssactuate_copies *copies);

/* Returns whether all copies have exited after ssactuate_copies_end(). */
SS_NONNULL() bool ssactuate_copies_are_over(const struct ssactuate_copies *copies);

/*
 * Waits for all copies to exit, then kills the rest. Called in a keeper whose parent has died;
 * `context` is the copies.
 */
SS_NONNULL() void ssactuate_copies_end_orphaned(void *context);

SS_NONNULL() void ssactuate_copies_close(struct ssactuate_copies *copies);

#endif
