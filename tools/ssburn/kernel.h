/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_KERNEL_H
#define SSBURN_KERNEL_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * `ssburn kernel`: gets "kernel" as argv[0] and the words after it. -1: the command line is
 * wrong; -2: the kernel failed; the error says why.
 */
SS_MUST_USE SS_NONNULL(1) int kernel_command(char **argv, struct ss_error *error);

#endif
