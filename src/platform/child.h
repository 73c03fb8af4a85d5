/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PLATFORM_CHILD_H
#define SHOWSTOPPER_PLATFORM_CHILD_H

/*
 * Starts programs. The child blocks signals until just before it executes the program, and its
 * parent learns whether it did.
 */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

struct ss_child_setup {
    char *const *words; /* ends with NULL; the first word is looked up in PATH */
    int streams[3];   /* become standard input, output and error; -1 keeps those of this process */
    int death_signal; /* sent to the child when this process dies; 0 for none */
    bool has_group;   /* the child leads a new process group */
    const sigset_t *mask; /* signal mask of the program; NULL for that of this process */

    /*
     * Called in the child, with all signals blocked, before it executes the program. Returns 0, or
     * the number of the step that failed, above 0, with errno set. May be NULL.
     */
    int (*prepare)(const void *context);
    const void *context;
};

struct ss_child {
    pid_t pid;   /* 0: not started */
    int gate[2]; /* pipe: a byte lets the child continue */
    int report;  /* pipe: end of file means that the program was executed, or the child killed */
};

/* Why a program was not executed. */
struct ss_child_failure {
    int step; /* 0: not a step of prepare() */
    int err;  /* errno */
};

/*
 * Forks. The child waits for ss_child_execute(), and exits if this process dies first. Returns 0 or
 * a negative errno.
 */
SS_MUST_USE SS_NONNULL() int ss_child_fork(
    struct ss_child *child, const struct ss_child_setup *setup);

/*
 * Lets the child execute the program, and waits until it has. On failure, reaps the child and
 * returns -1.
 */
SS_MUST_USE SS_NONNULL() int ss_child_execute(
    struct ss_child *child, struct ss_child_failure *failure);

/* Sets the error of a program that was not executed, with status 127 or 126. Returns -1. */
SS_NONNULL()
int ss_child_fail(
    const struct ss_child_failure *failure, const char *program, struct ss_error *error);

/* Converts a wait status to an exit status as shells do: 128 plus the number of a signal. */
static inline int ss_child_exit_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Forks with all signals blocked in the child: a keyboard signal to the whole group must not reach
 * the parent's handlers a second time in the child.
 */
SS_MUST_USE pid_t ss_child_fork_blocked(void);

#endif
