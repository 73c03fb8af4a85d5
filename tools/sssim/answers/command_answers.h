/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_COMMAND_ANSWERS_H
#define SSSIM_COMMAND_ANSWERS_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

#include "options/option.h"

/*
 * Prints warnings about a command line to standard error. Then prints the help unless `print_help`
 * is NULL, or else the version if `version` is true. Returns whether it printed either, which
 * leaves nothing else to do.
 */
SS_MUST_USE SS_NONNULL(1, 2) bool sssim_command_answers(FILE *stream,
    const struct ss_option_store *store, void (*print_help)(FILE *stream), bool version);

#endif
