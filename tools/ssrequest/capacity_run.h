/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_CAPACITY_RUN_H
#define SSREQUEST_CAPACITY_RUN_H

/* Searches for the capacity over the network: each trial is a run at one rate. */

#include <showstopper/contract.h>

#include "capacity.h"
#include "http.h"
#include "request_loop.h"
#include "request_options.h"

/*
 * Runs trials until the search is over or a signal ends it; `course`, which spans all trials, says
 * which. Prints a line for each trial unless `lines` is NULL.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3, 4, 6) int ssrequest_capacity_run(struct request_capacity *capacity,
    const struct ssrequest_options *options, struct ssrequest_loop *loop,
    struct ssrequest_http *http, FILE *lines, struct ssrequest_course *course,
    struct ss_error *error);

#endif
