/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_INSTANCE_H
#define SHOWSTOPPER_TREE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"
#include "keeper/signals.h"
#include "platform/platform.h"
#include "tree/branches.h"

/* How an instance is started. */
struct ss_launch {
    char *const *command;  /* ends with NULL; the first word is looked up in PATH */
    const char *index;     /* SHOWSTOPPER_INSTANCE */
    const char *instances; /* SHOWSTOPPER_INSTANCES */
    const char *mark;      /* see SS_SWEEP_MARK */
    int input;             /* becomes standard input */
    int output;            /* becomes standard output; -1 keeps the caller's */
    int errors;            /* becomes standard error; -1 keeps the caller's */
    bool keep;             /* the instance may outlive its executor */
    bool terminal;         /* there is a terminal, which must not stop the instance */
    const struct ss_signals *signals;
    const struct ss_scheduling *scheduling;
    const struct ss_cpus *pin; /* NULL: the caller's affinity */
    /* Called before the leader executes the command; may be NULL. */
    void (*on_fork)(void *context, pid_t leader);
    void *context;
};

/*
 * One instance: a process group whose leader we started, and the branches of its descendants. The
 * leader is reaped last, so its pid cannot be reused while it is set here.
 *
 * An attached instance is a process that was running before, which is signaled through its pidfd,
 * and its descendants, each a branch. None of these is our child. An attached control group is an
 * instance, too, without a first process: all of its processes are branches.
 */
struct ss_instance {
    pid_t leader; /* 0: not started */
    bool attached;
    struct ss_hold root;    /* the first process of an attached instance */
    struct ss_board *board; /* the board that has its branches */
    uint32_t row;
    int freezer; /* descriptor of the freezer for processes that we may not signal; -1 or 0 if
                    absent */
    struct ss_holds holds;
    pid_t listener; /* thread of the leader that reacts to a stop soonest; 0: the first one */
    unsigned stops; /* number of stops since the start; every few stops a new `listener` is searched
                       for */
    ss_time recontinue_at; /* when to continue once more, see ss_instance_recontinue(); 0: done or
                              never stopped; SS_TIME_NEVER: stopped, or just continued */
};

/*
 * Starts the command in its own group and waits until it has been executed, so that no signal
 * reaches it before. Returns 0, an errno if the command cannot be executed, or a negative errno if
 * no process can be created for it.
 */
SS_MUST_USE SS_NONNULL() int ss_instance_start(
    struct ss_instance *instance, const struct ss_launch *launch);

/*
 * Makes a running process the instance. If the process has ended, so has the instance. With pid 0,
 * the branches alone are the instance, until the guardian reports that none is left.
 */
void ss_instance_attach(struct ss_instance *instance, pid_t pid, uint64_t started);

/*
 * Stop and continue the instance. Parents are stopped before their children and continued after
 * them, so that no parent sees a stopped child.
 */
void ss_instance_stop(struct ss_instance *instance);
void ss_instance_continue(struct ss_instance *instance);
void ss_instance_signal(struct ss_instance *instance, int signal);

/*
 * Continues a running instance once more after it has run for a second since its last stop: a
 * process that was being forked at the stop may have stopped after the continuation. Call this
 * whenever the instance runs; the first call after a stop starts that second. Returns when to call
 * it again, or SS_TIME_NEVER.
 */
SS_MUST_USE SS_NONNULL() ss_time ss_instance_recontinue(struct ss_instance *instance, ss_time now);

/*
 * Updates the branches. Sends `signal`, unless it is 0, to new ones, and continues them unless it
 * is SIGSTOP.
 */
void ss_instance_refresh_branches(struct ss_instance *instance, int signal);

/*
 * Continues all processes of an instance that outlives us, including those that are not branches
 * yet. Returns false if memory was exhausted, so that some may remain stopped.
 */
SS_MUST_USE bool ss_instance_release(struct ss_instance *instance);

/* Continues the instance if another process has stopped its leader. */
void ss_instance_unstop(struct ss_instance *instance);

/* Returns whether the leader has ended; for a control group, whether it is empty. Does not reap. */
bool ss_instance_has_ended(const struct ss_instance *instance);

/*
 * Returns whether the leader has ended and no other process is left. The caller must be the parent
 * of all orphans, unless the instance is attached.
 */
bool ss_instance_is_empty(const struct ss_instance *instance);

/* Returns how many known processes of an attached instance have not ended. */
uint32_t ss_instance_count_left(const struct ss_instance *instance);

/* Returns whether any known process of an attached instance is runnable. */
bool ss_instance_is_runnable(const struct ss_instance *instance);

/* Reaps descendants that lost their parent and have exited, but not the leader. */
void ss_instance_reap_orphans(const struct ss_instance *instance);

/*
 * Kills all processes that are left, wherever they are, until none is left or `deadline` has
 * passed. A wake-up of `word` starts the next round early.
 */
void ss_instance_kill_all(struct ss_instance *instance, _Atomic uint32_t *word, ss_time deadline);

/*
 * Reaps the leader and returns how it ended, or 0 if it was attached. Its pid is invalid
 * afterwards.
 */
int ss_instance_reap(struct ss_instance *instance);

#endif
