/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_H
#define SSBURN_SERVE_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * `ssburn serve`: gets "serve" as argv[0] and the words after it. -1: the command line is wrong;
 * -2: it failed; the error says why.
 */
SS_MUST_USE SS_NONNULL(1) int serve_command(char **argv, struct ss_error *error);

#endif
