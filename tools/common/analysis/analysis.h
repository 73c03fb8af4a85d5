/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Replaces this process with the Python package, which evaluates records after a measurement.
 * `arguments` is NULL-terminated: a command of `program` and its options. The package finds the
 * path of this program in the environment variable SHOWSTOPPER_PROGRAM. Returns only on failure:
 * the error says what to install if the package is missing.
 */
SS_MUST_USE SS_NONNULL() int analysis_execute(
    const char *program, char *const *arguments, struct ss_error *error);

#endif
