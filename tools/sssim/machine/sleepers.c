/* SPDX-License-Identifier: Apache-2.0 */
#include "sleepers.h"

#include <stdbool.h>
#include <stdlib.h>

static bool goes_before(const struct sleepers *sleepers, uint32_t a, uint32_t b) {
    return sleepers->due[a] != sleepers->due[b] ? sleepers->due[a] < sleepers->due[b] : a < b;
}

static void put(struct sleepers *sleepers, uint32_t place, uint32_t sleeper) {
    sleepers->order[place] = sleeper;
    sleepers->place[sleeper] = place;
}

static void sift_up(struct sleepers *sleepers, uint32_t sleeper) {
    uint32_t place = sleepers->place[sleeper];
    while (place > 0 && goes_before(sleepers, sleeper, sleepers->order[(place - 1) / 2])) {
        put(sleepers, place, sleepers->order[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(sleepers, place, sleeper);
}

static void sift_down(struct sleepers *sleepers, uint32_t sleeper) {
    uint32_t place = sleepers->place[sleeper];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= sleepers->count)
            break;

        if (child + 1 < sleepers->count &&
            goes_before(sleepers, sleepers->order[child + 1], sleepers->order[child]))
            child++;
        if (goes_before(sleepers, sleeper, sleepers->order[child]))
            break;

        put(sleepers, place, sleepers->order[child]);
        place = child;
    }
    put(sleepers, place, sleeper);
}

void sleepers_set(struct sleepers *sleepers, uint32_t sleeper, ss_time due) {
    if (sleepers->due[sleeper] == due)
        return;
    sleepers->due[sleeper] = due;
    uint32_t place = sleepers->place[sleeper];
    sift_up(sleepers, sleeper);
    if (sleepers->place[sleeper] == place)
        sift_down(sleepers, sleeper);
}

int sleepers_open(struct sleepers *sleepers, uint32_t count, struct ss_error *error) {
    *sleepers = (struct sleepers){
        .due = calloc(count, sizeof *sleepers->due),
        .order = calloc(count, sizeof *sleepers->order),
        .place = calloc(count, sizeof *sleepers->place),
        .count = count,
    };

    if (!sleepers->due || !sleepers->order || !sleepers->place)
        return ss_error_memory(error);

    for (uint32_t i = 0; i < count; i++) {
        sleepers->due[i] = SS_TIME_NEVER;
        put(sleepers, i, i);
    }
    return 0;
}

void sleepers_close(struct sleepers *sleepers) {
    free(sleepers->due);
    free(sleepers->order);
    free(sleepers->place);
}
