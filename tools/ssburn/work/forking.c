/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

/*
 * The first process keeps several chains running. A chain is a child that works, then forks a child
 * and waits for it, and so on, up to a fixed length. One process of a chain works at a time.
 */
#define CHAIN_LENGTH 4
#define PIECE_UNITS  UINT64_C(330000) /* about 0.8 ms: with the fork itself, 1000 a second */
#define PIECE_STEPS  UINT64_C(20000)  /* with a working set, where a unit takes longer */

struct forking {
    struct burn *burn;
    uint64_t piece;    /* units of one child */
    uint64_t children; /* children of one iteration */
    uint64_t started;  /* number of chains started so far */
    pid_t *heads;      /* first process of each running chain */
    uint64_t running;  /* number of running chains */
};

/*
 * Converts the exit status of a child to 0 or an errno. Children exit with their errno, so a
 * failure deep in the tree reaches the first process. EINTR means that a child was killed.
 */
static int status_errno(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int reap(pid_t child) {
    int status;
    pid_t reaped;
    do {
        reaped = waitpid(child, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    return reaped < 0 ? errno : status_errno(status);
}

/* Waits for a chain to end. Ignores children that this process had before it executed ssburn. */
static int reap_chain(struct forking *forking) {
    for (;;) {
        int status;
        pid_t reaped = waitpid(-1, &status, 0);
        if (reaped < 0 && errno != EINTR)
            return errno;
        for (uint64_t i = 0; i < forking->running; i++) {
            if (forking->heads[i] != reaped)
                continue;
            forking->heads[i] = forking->heads[--forking->running];
            return status_errno(status);
        }
    }
}

/*
 * Runs a child; its own child continues the loop. Exits without flushing or freeing resources of
 * the first process.
 */
static _Noreturn void run_child(struct worker *worker, uint64_t piece, uint64_t length) {
    for (;; length--) {
        work_do(worker, piece);
        if (length <= 1)
            _exit(0);
        pid_t child = fork();
        if (child != 0)
            _exit(child < 0 ? errno : reap(child));
    }
}

static int start_chain(struct forking *forking, uint64_t length) {
    struct worker worker;
    work_begin(&worker, &forking->burn->memory, forking->started++);

    pid_t child = fork();
    if (child == 0)
        run_child(&worker, forking->piece, length);

    if (child < 0)
        return errno;
    forking->heads[forking->running++] = child;
    return 0;
}

/* Runs one iteration. Returns 0 or an errno. Waits for all children, even after a failure. */
static int run_iteration(struct forking *forking) {
    uint64_t left = forking->children;
    int failure = 0;

    while (forking->running > 0 || (left > 0 && !failure)) {
        int now;
        if (left > 0 && forking->running < forking->burn->threads && !failure) {
            uint64_t length = left < CHAIN_LENGTH ? left : CHAIN_LENGTH;
            left -= length;
            now = start_chain(forking, length);
        } else {
            now = reap_chain(forking);
        }

        if (now == ECHILD)
            return now;
        failure = failure ? failure : now;
    }

    return failure;
}

static int run_all(struct forking *forking, struct ss_error *error) {
    int more;
    do {
        int failure = run_iteration(forking);
        if (failure == EINTR)
            return ss_error_fail(error, "a child was killed");
        if (failure)
            return ss_error_fail(error, "cannot fork: %s", strerror(failure));
        more = tally_count(&forking->burn->tally, error);
    } while (more > 0);
    return more;
}

int burn_forking(struct burn *burn, struct ss_error *error) {
    struct forking forking = {.burn = burn};

    forking.children = burn->work / (burn->memory.count > 0 ? PIECE_STEPS : PIECE_UNITS) + 1;
    forking.piece = burn->work / forking.children;

    forking.heads = calloc(burn->threads, sizeof *forking.heads);
    if (!forking.heads)
        return ss_error_memory(error);

    int result = run_all(&forking, error);
    free(forking.heads);
    return result;
}
