/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_STATUS_H
#define SHOWSTOPPER_COMMAND_STATUS_H

#include <stdint.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "command/cli.h"

struct ss_board;

/* Carries out --status: prints a line about a running master, or writes its metrics. */
SS_MUST_USE SS_NONNULL() int ss_status_show(
    FILE *stream, const struct ss_cli *cli, struct ss_error *error);

/* Prints the line of --status; `now` is on the monotonic clock. */
SS_NONNULL()
void ss_status_print(FILE *stream, const struct ss_board *board, ss_time now, int64_t wallclock);

#endif
