/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"
#include "platform/platform.h"

/*
 * Limit of threads with a clock. Reading a clock takes a few microseconds, or some tens while its
 * thread runs.
 */
#define ENTRIES_MAX 256

static bool knows(const struct ss_clocks *clocks, pid_t thread) {
    for (uint32_t i = 0; i < clocks->count; i++) {
        if (clocks->entries[i].thread == thread)
            return true;
    }
    return false;
}

struct adding {
    struct ss_clocks *clocks;
    int added; /* -1: failed */
};

static void add_thread(void *context, pid_t thread) {
    struct adding *adding = context;
    struct ss_clocks *clocks = adding->clocks;
    if (adding->added < 0 || knows(clocks, thread))
        return;
    int clock = ss_platform_task_clock_open(thread, true);
    if ((clock < 0 && clock != -ESRCH) || clocks->count == ENTRIES_MAX ||
        !SS_GROW(clocks->entries, clocks->count + 1, clocks->room)) {
        if (clock >= 0)
            close(clock);
        adding->added = -1;
        return;
    }
    clocks->entries[clocks->count++] = (struct ss_clocks_entry){thread, clock < 0 ? -1 : clock};
    adding->added++;
}

int ss_clocks_add(struct ss_clocks *clocks, pid_t process) {
    struct adding adding = {.clocks = clocks};
    ss_platform_process_threads(process, add_thread, &adding);
    return adding.added;
}

uint64_t ss_clocks_read(const struct ss_clocks *clocks) {
    uint64_t used = 0;
    for (uint32_t i = 0; i < clocks->count; i++) {
        if (clocks->entries[i].clock >= 0)
            used += ss_platform_task_clock_read(clocks->entries[i].clock);
    }
    return used;
}

void ss_clocks_close(struct ss_clocks *clocks) {
    for (uint32_t i = 0; i < clocks->count; i++) {
        if (clocks->entries[i].clock >= 0)
            close(clocks->entries[i].clock);
    }
    free(clocks->entries);
    *clocks = (struct ss_clocks){0};
}
