/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_RUNNING_H
#define SHOWSTOPPER_COMMAND_RUNNING_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "command/cli.h"

struct ss_board;

/*
 * Maps the board of the running master that `pid` names on the command line. On failure, the
 * message begins with `option` and lists the running masters.
 */
SS_MUST_USE SS_NONNULL() struct ss_board *ss_running_attach(
    const char *option, const char *pid, struct ss_error *error);

#endif
