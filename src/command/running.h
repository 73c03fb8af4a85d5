/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_RUNNING_H
#define SHOWSTOPPER_COMMAND_RUNNING_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "command/cli.h"

struct ss_board;

/*
 * Refuses options of a run, which have no effect on a running Showstopper. `request` is --set or
 * --status.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ss_running_check_options(
    const struct ss_cli *cli, const char *request, struct ss_error *error);

/*
 * Maps the board of the running master that `pid` names on the command line. On failure, the
 * message begins with `option` and lists the running masters.
 */
SS_MUST_USE SS_NONNULL() struct ss_board *ss_running_attach(
    const char *option, const char *pid, struct ss_error *error);

#endif
