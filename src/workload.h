/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_WORKLOAD_H
#define SHOWSTOPPER_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cpus.h"
#include "platform/platform.h"
#include "signals.h"

/* What an instance is started with. */
struct ss_launch {
    char *const *command;  /* ended by NULL; the first word is looked up in PATH */
    const char *number;    /* SHOWSTOPPER_INSTANCE */
    const char *instances; /* SHOWSTOPPER_INSTANCES */
    int input;             /* becomes standard input */
    int output;            /* becomes standard output; -1: the caller's */
    int errors;            /* likewise standard error */
    bool keep;             /* it may outlive its executor */
    const struct ss_signals *signals;
    const struct ss_scheduling *scheduling;
    const struct ss_cpus *pin; /* NULL: as the caller had it */
};

/*
 * One instance: a process group led by the process that we started. The leader is not reaped
 * before the group is done with, so its number can mean nothing else as long as it stands here.
 */
struct ss_workload {
    pid_t leader; /* 0: there is none */
};

/*
 * Starts the command in a group of its own and waits until it has been executed: no signal can
 * reach it before. Returns 0, or the errno of fork or exec; `exec_failed` tells which.
 */
int ss_workload_start(
    struct ss_workload *workload, const struct ss_launch *launch, bool *exec_failed);

void ss_workload_stop(struct ss_workload *workload);
void ss_workload_continue(struct ss_workload *workload);
void ss_workload_signal(struct ss_workload *workload, int signal);

/* Whether the leader has ended. It stays unreaped. */
bool ss_workload_has_ended(const struct ss_workload *workload);

/* Reaps descendants that lost their parent and have ended; never the leader. */
void ss_workload_reap_orphans(const struct ss_workload *workload);

/* Ends what is left of the group. */
void ss_workload_kill(struct ss_workload *workload);

/* Reaps the leader and returns how it ended. Its number means nothing from here on. */
int ss_workload_reap(struct ss_workload *workload);

#endif
