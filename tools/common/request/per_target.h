/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_PER_TARGET_H
#define REQUEST_PER_TARGET_H

/*
 * Counts and response times for each URL, which show an overloaded target. A URL that is given
 * again keeps its counts.
 */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "base/histogram.h"
#include "generator.h"

/* Requests that were sent to a URL. */
struct request_target_counts {
    const char *url; /* not owned */
    uint64_t succeeded, failed, unfinished;
    struct ss_histogram successes; /* response times since sending; buckets are at most 0.8 % of
                                      their values wide */
};

/* Zeroed: no targets. */
struct request_per_target {
    struct request_target_counts *targets;
    size_t count, room;
    size_t *label_targets; /* index of the target of each label; see struct request_in_flight */
    size_t label_count, label_room;
};

/* Adds the target of the next label. `url` must remain valid. */
SS_MUST_USE SS_NONNULL(1, 2) int request_per_target_add(
    struct request_per_target *per_target, const char *url, struct ss_error *error);

SS_NONNULL() void request_per_target_close(struct request_per_target *per_target);

/* Forgets the requests that ended so far. */
SS_NONNULL() void request_per_target_clear(struct request_per_target *per_target);

/* Counts a request that ended; ignores one that was never sent. */
SS_NONNULL()
void request_per_target_count(struct request_per_target *per_target,
    const struct request_in_flight *one, enum request_fate fate, const struct request_ended *ended);

#endif
