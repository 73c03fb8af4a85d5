/* SPDX-License-Identifier: Apache-2.0 */
#include "per_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define BITS 7

static size_t find(const struct ssrequest_per_target *per_target, const char *url) {
    size_t i = 0;
    while (i < per_target->count && strcmp(per_target->targets[i].url, url) != 0)
        i++;
    return i;
}

int ssrequest_per_target_add(
    struct ssrequest_per_target *per_target, const char *url, struct ss_error *error) {
    size_t target = find(per_target, url);
    if (!SS_GROW(per_target->targets, per_target->count + 1, per_target->room) ||
        !SS_GROW(per_target->of_labels, per_target->label_count + 1, per_target->label_room))
        return ss_error_memory(error);
    if (target == per_target->count) {
        struct ssrequest_at_target *added = &per_target->targets[target];
        *added = (struct ssrequest_at_target){.url = url};
        if (ss_histogram_open(&added->successes, BITS) < 0)
            return ss_error_memory(error);
        per_target->count++;
    }
    per_target->of_labels[per_target->label_count++] = target;
    return 0;
}

void ssrequest_per_target_close(struct ssrequest_per_target *per_target) {
    for (size_t i = 0; i < per_target->count; i++)
        ss_histogram_close(&per_target->targets[i].successes);
    free(per_target->targets);
    free(per_target->of_labels);
    *per_target = (struct ssrequest_per_target){0};
}

void ssrequest_per_target_count(struct ssrequest_per_target *per_target,
    const struct ssrequest_one *one, enum ssrequest_fate fate,
    const struct ssrequest_ended *ended) {
    if (one->sent == SS_TIME_NEVER || one->label >= per_target->label_count)
        return;
    struct ssrequest_at_target *target = &per_target->targets[per_target->of_labels[one->label]];
    if (fate == SSREQUEST_UNFINISHED) {
        target->unfinished++;
    } else if (ended->outcome != SSREQUEST_SUCCESS) {
        target->failed++;
    } else {
        target->succeeded++;
        ss_histogram_add(&target->successes, ss_time_since(ended->finished, ended->sent));
    }
}
