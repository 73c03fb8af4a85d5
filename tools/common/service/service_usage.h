/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_USAGE_H
#define SERVICE_SERVICE_USAGE_H

/* The CPU time of a service. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/feedback.h>

#include "platform/platform.h"
#include "service_processes.h"

struct service_usage;

/*
 * Opens the CPU time of a service other than the machine. `cpus` and `capacity` are those of the
 * readings, see struct ss_counters. Reads the control group of the service if all of its processes
 * are in one that contains neither this process nor its ancestors. Otherwise adds up the clocks of
 * its processes and the times of children that they have reaped. If a group given by --of contains
 * this process, subtracts the CPU time of this process. `service` may be freed afterwards. Returns
 * NULL with the error set on failure.
 */
SS_MUST_USE SS_NONNULL(1) struct service_usage *service_usage_open(const struct service *service,
    double capacity, double cpus, const struct ss_platform_roots *roots, struct ss_error *error);

/* NULL is allowed. */
void service_usage_close(struct service_usage *usage);

/*
 * Takes a reading; `context` is the usage. For struct ss_counters_source. Returns 0 or a negative
 * errno; -ESRCH: the service has ended. Sets `used`, which never decreases, and `ran`.
 */
SS_MUST_USE SS_NONNULL() int service_usage_read(void *context, struct ss_counters *counters);

/* Describes the source: "control group /sys/fs/cgroup/web", "clocks of 5 processes". */
SS_NONNULL()
SS_WRITES(2, 3)
void service_usage_describe(const struct service_usage *usage, char *text, size_t size);

#endif
