/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_REPLAY_H
#define SHOWSTOPPER_COMMAND_REPLAY_H

#include <showstopper/contract.h>

#include "command/cli.h"

/*
 * Executes the program that reads a record and repeats its run. Returns only on failure, with -1.
 */
SS_MUST_USE int ss_replay(struct ss_cli *cli, struct ss_error *error);

#endif
