/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANTAGONIST_ANSWER_H
#define ANTAGONIST_ANSWER_H

/* Reports who hurts the victim: sentences, a table, a page. */

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "antagonist_stages.h"

/*
 * Prints which effects the next run can find, and its cost, if it is the first one with throttles.
 */
SS_NONNULL() void answer_print_forecast(const struct stages *stages, FILE *stream);

/* Prints a line for each suspect, the most harmful first, and warnings. */
SS_NONNULL() void answer_print(const struct stages *stages, FILE *stream);

/* Prints the same as a JSON document. */
SS_NONNULL() void answer_print_json(const struct stages *stages, FILE *stream);

/* Writes report.html, suspects.csv and crossed.csv to this folder. */
SS_MUST_USE SS_NONNULL() int answer_write_page(
    const struct stages *stages, const char *folder, struct ss_error *error);

#endif
