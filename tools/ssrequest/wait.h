/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_WAIT_H
#define SSREQUEST_WAIT_H

/* Waits before a run: for the service to start, and for the time of --start-at. */

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "targets.h"

static inline ss_time ssrequest_earlier(ss_time a, ss_time b) {
    return a < b ? a : b;
}

/*
 * Waits until every target has accepted a connection; fails if one has not after `patience`. Skips
 * targets without an address. The caller must have blocked the signals that end a run; one that
 * arrives in the meantime ends the process.
 */
SS_MUST_USE SS_NONNULL(1) int ssrequest_wait_for_targets(
    const struct ssrequest_targets *targets, ss_time patience, struct ss_error *error);

/*
 * Sleeps for `time`, less than a second. If a signal that ends runs arrives, returns its number at
 * once, otherwise 0. The caller must have blocked these signals.
 */
SS_MUST_USE int ssrequest_pause(ss_time time);

/*
 * Waits until the wall clock reaches this time, in nanoseconds since 1970. Returns 0, or the number
 * of a signal that ends runs, as ssrequest_pause() does.
 */
SS_MUST_USE int ssrequest_wait_until(int64_t time);

#endif
