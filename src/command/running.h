/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_RUNNING_H
#define SHOWSTOPPER_COMMAND_RUNNING_H

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

struct ss_board;
struct ss_cli;

/* The states of a run, ended by NULL. */
extern const char *const ss_running_states[];

/* Returns one of ss_running_states; `now` is on the monotonic clock. */
SS_NONNULL() const char *ss_running_state(const struct ss_board *board, ss_time now);

/* Returns the time under control up to `now`, without pauses. */
SS_NONNULL() ss_time ss_running_controlled(const struct ss_board *board, ss_time now);

/*
 * Maps the board of the running master that `pid` names on the command line. On failure, the
 * message begins with `option` and lists the running masters.
 */
SS_MUST_USE SS_NONNULL() struct ss_board *ss_running_attach(
    const char *option, const char *pid, struct ss_error *error);

/* Carries out --set: changes the target of a running master. */
SS_MUST_USE int ss_running_set_target(const struct ss_cli *cli, struct ss_error *error);

#endif
