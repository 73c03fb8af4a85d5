/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_CAPACITY_RUN_H
#define SSREQUEST_CAPACITY_RUN_H

/* Searches for the capacity over the network: each trial is a run at one rate. */

#include <showstopper/contract.h>

#include "capacity.h"
#include "request_output.h"

/*
 * Runs trials until the search is over or a signal ends it. The times in `run->stats` span all
 * trials; its `stopped` is SS_TIME_NEVER unless a signal ended the search. Prints a line for each
 * trial unless `lines` is NULL.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_capacity_run(struct request_capacity *capacity,
    struct ssrequest_run *run, FILE *lines, struct ss_error *error);

#endif
