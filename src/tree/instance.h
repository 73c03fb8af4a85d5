/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_INSTANCE_H
#define SHOWSTOPPER_TREE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"
#include "platform/platform.h"
#include "tree/branches.h"
#include "tree/signals.h"

/* What an instance is started with. */
struct ss_launch {
    char *const *command;  /* ended by NULL; the first word is looked up in PATH */
    const char *number;    /* SHOWSTOPPER_INSTANCE */
    const char *instances; /* SHOWSTOPPER_INSTANCES */
    const char *mark;      /* see SS_SWEEP_MARK */
    int input;             /* becomes standard input */
    int output;            /* becomes standard output; -1: the caller's */
    int errors;            /* likewise standard error */
    bool keep;             /* it may outlive its executor */
    bool terminal;         /* there is one, and it must not stop the instance */
    const struct ss_signals *signals;
    const struct ss_scheduling *scheduling;
    const struct ss_cpus *pin; /* NULL: as the caller had it */
};

/*
 * One instance: a process group led by the process that we started, and the branches that its
 * descendants have made beside it. The leader is not reaped before all of it is done with, so its
 * number can mean nothing else as long as it stands here.
 */
struct ss_instance {
    pid_t leader;           /* 0: there is none */
    struct ss_board *board; /* where its branches stand */
    uint32_t row;
    int freezer; /* holds who may not be signalled; -1 or 0: nobody */
    struct ss_holds holds;
    pid_t listener; /* the leader's thread that takes notice of a stop at once; 0: its first */
    unsigned stops; /* since the start, so that a listener is looked for now and then */
};

/*
 * Starts the command in a group of its own and waits until it has been executed: no signal can
 * reach it before. Returns 0, or the errno of fork or exec; `exec_failed` tells which.
 */
int ss_instance_start(
    struct ss_instance *instance, const struct ss_launch *launch, bool *exec_failed);

/* Parents are stopped before their children and continued after them: none sees one stopped. */
void ss_instance_stop(struct ss_instance *instance);
void ss_instance_continue(struct ss_instance *instance);
void ss_instance_signal(struct ss_instance *instance, int signal);

/* Takes note of branches that have come and gone; new ones are sent the signal, if it is not 0. */
void ss_instance_follow(struct ss_instance *instance, int signal);

/* Continues the leader if somebody else has stopped it. */
void ss_instance_unstop(struct ss_instance *instance);

/* Whether the leader has ended. It stays unreaped. */
bool ss_instance_has_ended(const struct ss_instance *instance);

/* Whether the leader has ended and nobody else is left either. For the parent of all orphans. */
bool ss_instance_is_empty(const struct ss_instance *instance);

/* Reaps descendants that lost their parent and have ended; never the leader. */
void ss_instance_reap_orphans(const struct ss_instance *instance);

/*
 * Ends what is left, wherever it has got to, and waits for it, not beyond `deadline`. `word` is
 * what the caller sleeps on.
 */
void ss_instance_clear(struct ss_instance *instance, _Atomic uint32_t *word, ss_time deadline);

/* Reaps the leader and returns how it ended. Its number means nothing from here on. */
int ss_instance_reap(struct ss_instance *instance);

#endif
