/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LOOKUP_H
#define SSREQUEST_LOOKUP_H

/*
 * Looks up names during the run, in a thread, because a name server may take many seconds to
 * answer.
 */

#include <showstopper/contract.h>

#include "targets.h"

struct ssrequest_lookup;

/*
 * Opens a lookup. If `socket` is not NULL, all requests go to this Unix socket. Its path must live
 * as long as the process.
 */
SS_MUST_USE SS_NONNULL(1) int ssrequest_lookup_open(
    struct ssrequest_lookup **lookup, const char *socket, struct ss_error *error);

/*
 * Closes the lookup without blocking. A lookup in progress continues, and its thread discards the
 * result.
 */
void ssrequest_lookup_close(struct ssrequest_lookup *lookup);

/* Starts a lookup. Fails if one is in progress, or if its result has not been taken yet. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_lookup_begin(struct ssrequest_lookup *lookup,
    const char *const *urls, uint32_t count, struct ss_error *error);

/* Returns a descriptor that is readable when a result is available. */
SS_NONNULL() int ssrequest_lookup_descriptor(const struct ssrequest_lookup *lookup);

/*
 * Takes the result. Fails like ssrequest_targets_make(), but also if a host has no address, because
 * the user can still correct the command.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_lookup_take(
    struct ssrequest_lookup *lookup, struct ssrequest_targets *targets, struct ss_error *error);

/* Returns the URLs of the last lookup; valid until the next one begins. */
SS_NONNULL() char *const *ssrequest_lookup_urls(const struct ssrequest_lookup *lookup);

#endif
