/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_WORK_H
#define SERVICE_SERVICE_WORK_H

/*
 * Finds the processes that work for the requests of a service, from the CPU time of all processes
 * at up to three moments. Some may not belong to the service, such as servers behind a proxy, and
 * one process may do most of the work of the service.
 */

#include <stddef.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "service_processes.h"

struct service_worker {
    pid_t pid;
    ss_time used[3]; /* CPU time at each sample; SS_TIME_NEVER if it did not exist */
};

/* Zeroed: service_work_sample() has not been called yet. */
struct service_work {
    struct service_worker *items;
    size_t count, room;
    ss_time sample_times[3];
    unsigned sample_count;
};

/*
 * Records the CPU time of all processes, up to three times. service_work_describe_others() needs
 * all three: before a time without requests, when requests begin, and when they have ended.
 */
SS_NONNULL() void service_work_sample(struct service_work *work, ss_time now);

/*
 * Writes which processes other than this one and those of the service used CPU time for requests,
 * if it was more than half of `used`, the seconds that the service used for them: "postgres (812)".
 * Returns false otherwise.
 */
SS_NONNULL(1, 2, 4)
SS_WRITES(4, 5)
bool service_work_describe_others(const struct service_work *work, const struct service *service,
    double used, char *text, size_t size);

/*
 * Writes which process of the service used most of the CPU time between the first two samples, if
 * that is more than twice as much as the mean of those with its name: "nginx (812) did 92 % of the
 * work of 4 processes". Returns false otherwise.
 */
SS_NONNULL()
SS_WRITES(3, 4)
bool service_work_describe_uneven(
    const struct service_work *work, const struct service *service, char *text, size_t size);

SS_NONNULL() void service_work_free(struct service_work *work);

#endif
