/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_REPLAY_H
#define SHOWSTOPPER_COMMAND_REPLAY_H

#include "command/cli.h"

/* Executes the program that reads a record and repeats its run. Returns only on failure, -1. */
int ss_replay(const struct ss_cli *cli, struct ss_error *error);

#endif
