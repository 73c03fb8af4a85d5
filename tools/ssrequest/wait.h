/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_WAIT_H
#define SSREQUEST_WAIT_H

/* Waits, before a run, until the service has started. */

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "targets.h"

/*
 * Waits until every target has accepted a connection; fails if one has not after `patience`. Skips
 * targets without an address. The caller must have blocked the signals that end a run; one that
 * arrives meanwhile ends the process.
 */
SS_MUST_USE SS_NONNULL(1) int ssrequest_wait_for(
    const struct ssrequest_aim *aim, ss_time patience, struct ss_error *error);

#endif
