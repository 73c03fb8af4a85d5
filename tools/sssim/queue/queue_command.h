/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_COMMAND_H
#define SSSIM_QUEUE_COMMAND_H

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* `sssim queue`: argv[0] is the word queue. Prints what is asked for. */
SS_MUST_USE SS_NONNULL(1, 2) int queue_command(FILE *stream, char **argv, struct ss_error *error);

#endif
