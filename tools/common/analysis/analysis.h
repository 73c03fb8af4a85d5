/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Replaces this process by the Python package, which evaluates records after a measurement.
 * `words` are a command of the package and its arguments, after one word that this function sets.
 * Returns only on failure: the error says what to install if the package is missing.
 */
SS_MUST_USE SS_NONNULL() int analysis_execute(char **words, struct ss_error *error);

#endif
