/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_ANSWER_H
#define SSANTAGONIST_ANSWER_H

/* Reports which suspects hurt the victim, as sentences, JSON, or a page with tables. */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "antagonist_stages.h"

/* The layout of the JSON document. */
#define ANSWER_SCHEMA 1

/*
 * If the next run is the first one with throttles, prints which costs this run can find, and how
 * much CPU time it takes from suspects.
 */
SS_NONNULL() void answer_print_forecast(const struct stages *stages, FILE *stream);

/* Returns whether all runs are done, but there is no estimate for any suspect. */
SS_NONNULL() bool answer_is_missing(const struct stages *stages);

/* Prints a line for each suspect, the most harmful first, and warnings. */
SS_NONNULL() void answer_print(const struct stages *stages, FILE *stream);

/* Prints the lines of answer_print() and all values as a JSON document. */
SS_NONNULL() void answer_print_json(const struct stages *stages, FILE *stream);

/* Writes report.html, suspects.csv and crossed.csv to this folder. */
SS_MUST_USE SS_NONNULL() int answer_write_page(
    const struct stages *stages, const char *folder, struct ss_error *error);

#endif
