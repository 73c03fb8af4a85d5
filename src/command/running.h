/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_RUNNING_H
#define SHOWSTOPPER_COMMAND_RUNNING_H

#include <stdint.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "command/cli.h"

/* Commands to a running master. If a pid is wrong, the message lists the masters that run. */

struct ss_board;

/* Carries out --set: changes the target. */
SS_MUST_USE int ss_running_set_target(const struct ss_cli *cli, struct ss_error *error);

/* Carries out --status: prints a line, or writes metrics. */
SS_MUST_USE SS_NONNULL() int ss_running_show_status(
    FILE *stream, const struct ss_cli *cli, struct ss_error *error);

/* Prints the line of --status; `now` is on the monotonic clock. */
SS_NONNULL()
void ss_running_print_status(
    FILE *stream, const struct ss_board *board, ss_time now, int64_t wallclock);

/* Prints the metrics of --openmetrics; `now` is on the monotonic clock. */
SS_NONNULL() void ss_running_print_metrics(FILE *stream, const struct ss_board *board, ss_time now);

#endif
