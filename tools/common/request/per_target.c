/* SPDX-License-Identifier: Apache-2.0 */
#include "per_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define HISTOGRAM_BITS 7

int request_per_target_add(
    struct request_per_target *per_target, const char *url, struct ss_error *error) {
    size_t target = 0;
    while (target < per_target->count && strcmp(per_target->targets[target].url, url) != 0)
        target++;

    if (!SS_GROW(per_target->targets, per_target->count + 1, per_target->room) ||
        !SS_GROW(per_target->label_targets, per_target->label_count + 1, per_target->label_room))
        return ss_error_memory(error);

    if (target == per_target->count) {
        struct request_target_counts *added = &per_target->targets[target];
        *added = (struct request_target_counts){.url = url};
        if (ss_histogram_open(&added->successes, HISTOGRAM_BITS) < 0)
            return ss_error_memory(error);
        per_target->count++;
    }

    per_target->label_targets[per_target->label_count++] = target;
    return 0;
}

void request_per_target_close(struct request_per_target *per_target) {
    for (size_t i = 0; i < per_target->count; i++)
        ss_histogram_close(&per_target->targets[i].successes);
    free(per_target->targets);
    free(per_target->label_targets);
    *per_target = (struct request_per_target){0};
}

void request_per_target_clear(struct request_per_target *per_target) {
    for (size_t i = 0; i < per_target->count; i++) {
        struct request_target_counts *target = &per_target->targets[i];
        target->succeeded = target->failed = target->unfinished = 0;
        ss_histogram_clear(&target->successes);
    }
}

void request_per_target_count(struct request_per_target *per_target,
    const struct request_in_flight *one, enum request_fate fate,
    const struct request_ended *ended) {
    if (one->sent == SS_TIME_NEVER || one->label >= per_target->label_count)
        return;

    struct request_target_counts *target =
        &per_target->targets[per_target->label_targets[one->label]];
    if (fate == REQUEST_UNFINISHED) {
        target->unfinished++;
    } else if (ended->outcome != REQUEST_SUCCESS) {
        target->failed++;
    } else {
        target->succeeded++;
        ss_histogram_add(&target->successes, ss_time_since(ended->finished, ended->sent));
    }
}
