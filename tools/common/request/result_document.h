/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_RESULT_DOCUMENT_H
#define REQUEST_RESULT_DOCUMENT_H

/* The document that --json writes, also kept as requests.json. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "run_result.h"

SS_NONNULL() void request_document_print(FILE *stream, const struct request_result *result);

/* Writes a new file at `path` as a whole or not at all; "-" is standard output. */
SS_MUST_USE SS_NONNULL(1, 2) int request_document_write(
    const char *path, const struct request_result *result, struct ss_error *error);

#endif
