/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_KERNEL_H
#define SSBURN_KERNEL_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Runs `ssburn kernel`; argv[0] is "kernel". Returns -1 if the command line is invalid and -2 if
 * the kernel failed; the error says why.
 */
SS_MUST_USE SS_NONNULL(1) int kernel_command(char **argv, struct ss_error *error);

#endif
