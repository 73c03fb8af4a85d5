/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

/*
 * The first process keeps several families running. A family is a child that works, then forks a
 * child and waits for it, and so on for several generations. One process of a family works at a
 * time.
 */
#define GENERATIONS 4
#define PIECE_UNITS UINT64_C(330000) /* about 0.8 ms: with the fork itself, 1000 a second */
#define PIECE_STEPS UINT64_C(20000)  /* with a working set, in which a unit takes longer */

struct nursery {
    struct burn *burn;
    uint64_t piece;    /* units of one child */
    uint64_t children; /* children of one iteration */
    uint64_t founded;  /* number of families started so far */
    pid_t *firstborn;  /* first process of each living family */
    uint64_t families; /* number of living families */
};

/*
 * Converts the exit status of a child to 0 or an errno, which passes a failure deep in the tree on
 * to the first process. EINTR means that a child was killed.
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

/* Waits for a family to end. Ignores children that this process had before it executed ssburn. */
static int reap_family(struct nursery *nursery) {
    for (;;) {
        int status;
        pid_t reaped = waitpid(-1, &status, 0);
        if (reaped < 0 && errno != EINTR)
            return errno;
        for (uint64_t i = 0; i < nursery->families; i++) {
            if (nursery->firstborn[i] != reaped)
                continue;
            nursery->firstborn[i] = nursery->firstborn[--nursery->families];
            return status_errno(status);
        }
    }
}

/*
 * Runs a child; its own child continues the loop. Exits without flushing or freeing resources of
 * the first process.
 */
static _Noreturn void live(struct work_hand *hand, uint64_t piece, uint64_t generations) {
    for (;; generations--) {
        work_do(hand, piece);
        if (generations <= 1)
            _exit(0);
        pid_t child = fork();
        if (child != 0)
            _exit(child < 0 ? errno : reap(child));
    }
}

static int found_family(struct nursery *nursery, uint64_t generations) {
    struct work_hand hand;
    work_begin(&hand, &nursery->burn->memory, nursery->founded++);
    pid_t child = fork();
    if (child == 0)
        live(&hand, nursery->piece, generations);
    if (child < 0)
        return errno;
    nursery->firstborn[nursery->families++] = child;
    return 0;
}

/* Runs one iteration. Returns 0 or an errno. Waits for all children, even after a failure. */
static int bring_up(struct nursery *nursery) {
    uint64_t unborn = nursery->children;
    int failure = 0;
    while (nursery->families > 0 || (unborn > 0 && !failure)) {
        int now;
        if (unborn > 0 && nursery->families < nursery->burn->threads && !failure) {
            uint64_t generations = unborn < GENERATIONS ? unborn : GENERATIONS;
            unborn -= generations;
            now = found_family(nursery, generations);
        } else {
            now = reap_family(nursery);
        }
        if (now == ECHILD)
            return now;
        failure = failure ? failure : now;
    }
    return failure;
}

static int bring_up_all(struct nursery *nursery, struct ss_error *error) {
    int more;
    do {
        int failure = bring_up(nursery);
        if (failure == EINTR)
            return ss_error_fail(error, "a child was killed");
        if (failure)
            return ss_error_fail(error, "cannot fork: %s", strerror(failure));
        more = tally_count(&nursery->burn->tally, error);
    } while (more > 0);
    return more;
}

int burn_forking(struct burn *burn, struct ss_error *error) {
    struct nursery nursery = {.burn = burn};
    nursery.children = burn->work / (burn->memory.count > 0 ? PIECE_STEPS : PIECE_UNITS) + 1;
    nursery.piece = burn->work / nursery.children;
    nursery.firstborn = calloc(burn->threads, sizeof *nursery.firstborn);
    if (!nursery.firstborn)
        return ss_error_memory(error);
    int result = bring_up_all(&nursery, error);
    free(nursery.firstborn);
    return result;
}
