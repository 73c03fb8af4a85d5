/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_WAIT_H
#define SSREQUEST_WAIT_H

/* Before a run: waits until the service has started. */

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "targets.h"

/*
 * Returns once every target has accepted a connection, and fails if one of them has not after
 * `patience`. A target without an address is skipped. The end signals are blocked by the caller;
 * one that comes meanwhile ends the process.
 */
SS_MUST_USE SS_NONNULL(1) int ssrequest_wait_for(
    const struct ssrequest_aim *aim, ss_time patience, struct ss_error *error);

#endif
