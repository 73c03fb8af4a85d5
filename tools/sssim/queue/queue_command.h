/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_COMMAND_H
#define SSSIM_QUEUE_COMMAND_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* Runs `sssim queue` and prints its result; argv[0] is "queue". */
SS_MUST_USE SS_NONNULL(1) int queue_command(char **argv, struct ss_error *error);

#endif
