/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_DEMAND_SOURCES_H
#define SSSIM_DEMAND_SOURCES_H

#include <showstopper/contract.h>

#include "trial.h"

/*
 * The sources of demand on the machine of a trial, other than the executors: the instances, whose
 * demand changes as they run, and the quota. Each is a sleeper of the trial.
 */

static inline uint32_t tenants_demand_sleeper(const struct trial *trial, uint32_t number) {
    return trial->options.instances + 1 + number;
}

static inline uint32_t tenants_quota_sleeper(const struct trial *trial) {
    return 2 * trial->options.instances + 1;
}

/*
 * Stops or continues an instance. While the instance is stopped, its sleeper waits for the threads
 * that the stop has not reached yet.
 */
SS_NONNULL()
void tenants_set_running(struct trial *trial, uint32_t number, bool running);

/*
 * Changes the demand of a running instance, or stops the remaining threads of a stopped one. Call
 * this when its sleeper is due.
 */
SS_NONNULL()
void tenants_change_demand(struct trial *trial, uint32_t number);

/* Throttles or releases the instances. Call this when the sleeper of the quota is due. */
SS_NONNULL()
void tenants_enforce_quota(struct trial *trial);

#endif
