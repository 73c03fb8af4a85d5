/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_H
#define SSBURN_SERVE_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Runs `ssburn serve`; argv[0] is "serve". Returns -1 if the command line is invalid and -2 if
 * serving failed; the error says why.
 */
SS_MUST_USE SS_NONNULL(1) int serve_command(char **argv, struct ss_error *error);

#endif
