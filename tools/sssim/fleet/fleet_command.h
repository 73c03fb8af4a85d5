/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_FLEET_COMMAND_H
#define SSSIM_FLEET_COMMAND_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* Runs `sssim fleet` and prints the figures of the whole fleet; argv[0] is "fleet". */
SS_MUST_USE SS_NONNULL(1) int fleet_command(char **argv, struct ss_error *error);

#endif
