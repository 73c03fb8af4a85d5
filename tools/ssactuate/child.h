/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_CHILD_H
#define SSACTUATE_CHILD_H

#include <sys/stat.h>

#include "actuator.h"
#include "binding.h"
#include "keeper/signals.h"
#include "platform/child.h"

struct ssactuate_child {
    char *const *words;
    const struct limit_group *group; /* NULL: the group of this process */
    const struct ss_cpus *mask;      /* NULL: the mask of this process */
    const struct ss_signals *signals;
    const struct ss_scheduling *scheduling;

    struct ss_child process;
    bool ended;
    int status; /* valid if `ended`: exit status, or 128 + N after signal N */
};

/*
 * Starts a child that waits for ssactuate_child_execute(), so that counters can be opened for it.
 * The kernel sends it SIGTERM if this process dies.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_child_fork(
    struct ssactuate_child *child, struct ss_error *error);

/*
 * Lets the child execute the command. Fails with status 126 or 127 if the command cannot be
 * executed, and with 125 if the kernel refuses the control group or the affinity.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_child_execute(
    struct ssactuate_child *child, struct ss_error *error);

/* Records the wait status of the child after it was reaped. */
SS_NONNULL() void ssactuate_child_reaped(struct ssactuate_child *child, int status);

/*
 * Sets the affinity of all threads of a process and its descendants. Skips this process itself, and
 * the children in `spared` (0 if unused) with their descendants.
 */
SS_NONNULL() void ssactuate_child_move(pid_t root, const pid_t spared[2], struct ss_cpus mask);

/*
 * Fails if a signal that ends the run has arrived, so that no command is started. The status is 128
 * plus its number. Suspends this process on SIGTSTP.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_child_handle_signals(
    struct ss_signals *signals, struct ss_error *error);

/* A signal that ends the run. */
struct ssactuate_end_signal {
    int number; /* 0: no signal yet */
    bool typed; /* sent by a terminal */
    ss_time time;
};

/*
 * Returns whether this signal is a second copy of the last one, and remembers it otherwise:
 * `timeout --foreground`, for example, forwards a signal that the terminal has sent to the whole
 * group.
 */
SS_MUST_USE SS_NONNULL() bool ssactuate_is_repeated(
    struct ssactuate_end_signal *last, int number, bool typed, ss_time now);

void ssactuate_child_bind_thread(void *context, pid_t thread, uint32_t cpu);

/*
 * Binds new threads of this process's descendants, which include orphans of the command. Skips the
 * children in `spared` (0 if unused) with their descendants, and processes that execute `program`
 * (may be NULL), but not the descendants of those.
 */
SS_NONNULL(1, 2)
void ssactuate_child_bind(
    struct ssactuate_binding *binding, const pid_t spared[2], const struct stat *program);

#endif
