/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_SERVICE_LOOP_H
#define SSREQUEST_SERVICE_LOOP_H

/* Runs whose rate is controlled to hold the load of the service at a target. */

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "request_run.h"
#include "run_result.h"

struct ssrequest_service;

/* Finds the service whose load is held, and sets `run->service`. */
SS_MUST_USE SS_NONNULL() int ssrequest_service_find(
    struct ssrequest_run *run, const struct ssrequest_targets *targets, struct ss_error *error);

/* Opens the source of the load, and loads the control modules. Close it even on failure. */
SS_MUST_USE SS_NONNULL() int ssrequest_service_open(
    struct ssrequest_service **service, struct ssrequest_run *run, struct ss_error *error);

/* Starts control. It first measures the load without requests. */
SS_NONNULL() void ssrequest_service_begin(struct ssrequest_service *service);

void ssrequest_service_close(struct ssrequest_service *service);

/* Returns the control, for its figures and for service_control_observe(). */
SS_NONNULL() struct service_control *ssrequest_service_control(struct ssrequest_service *service);

/*
 * Takes a step of control if one is due, and sends single requests before control begins. Returns
 * when to call this next. Sets `stepped` if it took a step; ssrequest_service_control() then has
 * the new rate and the interval that ended. Ends sending after --duration of control, or if control
 * fails.
 */
SS_NONNULL()
ss_time ssrequest_service_step(struct ssrequest_service *service, ss_time now, bool *stepped);

/* Returns whether requests count: control is active, and --settle of its episode is over. */
SS_NONNULL() bool ssrequest_service_is_counting(const struct ssrequest_service *service);

/* Describes the service after the run. Returns when counting began, or 0. Call this once. */
SS_NONNULL()
ss_time ssrequest_service_describe(
    struct ssrequest_service *service, struct request_held_load *held);

/* Returns whether counting began, and the target was never out of reach for long. */
SS_NONNULL()
bool ssrequest_service_was_held(const struct ssrequest_service *service);

/* Returns when control ended sending, since the start of the run; SS_TIME_NEVER if it has not. */
SS_NONNULL() ss_time ssrequest_service_end_time(const struct ssrequest_service *service);

/* Returns why control ended early, or NULL if it did not. */
SS_NONNULL() const char *ssrequest_service_failure(const struct ssrequest_service *service);

#endif
