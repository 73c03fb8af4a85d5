/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_STATUS_METRICS_H
#define SHOWSTOPPER_COMMAND_STATUS_METRICS_H

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

struct ss_board;

/* Prints a running master's metrics as OpenMetrics text; `now` is on the monotonic clock. */
SS_NONNULL()
void ss_status_print_metrics(FILE *stream, const struct ss_board *board, ss_time now);

#endif
