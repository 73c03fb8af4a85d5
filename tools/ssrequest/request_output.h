/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_OUTPUT_H
#define SSREQUEST_REQUEST_OUTPUT_H

/* All output of a run, and its commands through --control. */

#include <showstopper/contract.h>

#include "request_run.h"

/*
 * Opens output and generator; close both even on failure. Creates the record's folder last, so that
 * a failure leaves no folder.
 */
SS_MUST_USE SS_NONNULL(1) int ssrequest_output_open(
    struct ssrequest_run *run, struct ss_error *error);
void ssrequest_output_close(struct ssrequest_output *output);

SS_NONNULL() struct ssrequest_hooks ssrequest_output_hooks(struct ssrequest_output *output);

/*
 * Completes the files and prints the summary. Sets `success` if all requests succeeded and, with a
 * load, it was held until the planned end.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_output_finish(
    struct ssrequest_run *run, bool *success, struct ss_error *error);

/*
 * Writes the results of a capacity search, whose folder has already been created, and prints the
 * summary.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_output_write_capacity(const struct ssrequest_run *run,
    const struct request_capacity *capacity, struct ss_error *error);

#endif
