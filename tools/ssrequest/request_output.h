/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_OUTPUT_H
#define SSREQUEST_REQUEST_OUTPUT_H

/* All output of a run, and its commands through --control. */

#include <showstopper/contract.h>

#include "http.h"
#include "request_loop.h"
#include "request_options.h"

/* The parts of the run. They must outlive the output. */
struct ssrequest_parts {
    const struct ssrequest_options *options;
    const struct request_rules *rules;
    const struct request_profile *profile;
    const struct request_tally *tally;
    struct ssrequest_loop *loop;
    struct ssrequest_http *http;
    struct request_generator *generator; /* set by ssrequest_output_attach() */
};

struct ssrequest_output;

/*
 * Opens the output; close it even on failure. Creates the record's folder last, so that a failure
 * leaves no folder.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_output_open(
    struct ssrequest_output **output, const struct ssrequest_parts *parts, struct ss_error *error);
void ssrequest_output_close(struct ssrequest_output *output);

/* Returns a transport for the generator, which also records each request that it sends. */
SS_NONNULL()
struct request_transport ssrequest_output_transport(struct ssrequest_output *output);

/* Connects the output to the generator. Call this before the run. */
SS_NONNULL()
void ssrequest_output_attach(struct ssrequest_output *output, struct request_generator *generator);

SS_NONNULL()
struct ssrequest_beside ssrequest_output_beside(struct ssrequest_output *output);

/* Completes the files and prints the summary. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_output_finish(
    struct ssrequest_output *output, const struct ssrequest_course *course, struct ss_error *error);

/*
 * Writes the results of a capacity search, whose folder has already been created, and prints the
 * summary.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssrequest_output_capacity(
    const struct ssrequest_options *options, const struct request_capacity *capacity,
    const struct ssrequest_course *course, struct ss_error *error);

#endif
