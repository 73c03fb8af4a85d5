/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/descendants.h"

#include <signal.h>
#include <stdlib.h>

#include "base/grow.h"
#include "platform/platform.h"

void ss_descendants_add(struct ss_descendants *list, pid_t pid, uint64_t started) {
    if (pid <= 1 || started == 0)
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].pid == pid && list->items[i].started == started)
            return;
    }
    if (SS_GROW(list->items, list->count + 1, list->room))
        list->items[list->count++] = (struct ss_descendant){pid, started};
}

void ss_descendants_add_branches(
    struct ss_descendants *list, const struct ss_holds *holds, uint32_t row) {
    for (uint32_t i = 0; i < holds->count; i++) {
        if (holds->list[i].row == row)
            ss_descendants_add(list, holds->list[i].pid, holds->list[i].started);
    }
}

struct parent {
    struct ss_descendants *list;
    struct ss_descendant is;
};

/* The parent must still live after its child has named it: its pid might have been reused. */
static void add_child(void *context, pid_t pid) {
    struct parent *parent = context;
    struct ss_process child;
    if (ss_platform_process_look(pid, &child) && child.parent == parent->is.pid &&
        ss_platform_process_started(parent->is.pid) == parent->is.started)
        ss_descendants_add(parent->list, pid, child.started);
}

void ss_descendants_add_children(struct ss_descendants *list, pid_t pid, uint64_t started) {
    struct parent parent = {list, {pid, started}};
    ss_platform_process_children(pid, add_child, &parent);
}

void ss_descendants_find(struct ss_descendants *list, bool stop) {
    uint32_t before;
    do {
        before = list->count;
        for (uint32_t i = 0; i < list->count; i++) {
            struct ss_descendant item = list->items[i]; /* the array may move */
            if (stop)
                ss_platform_process_signal_once(item.pid, item.started, SIGSTOP);
            ss_descendants_add_children(list, item.pid, item.started);
        }
        /* A process may have been in fork() when it got the signal. */
    } while (stop && list->count > before);
}

void ss_descendants_signal(const struct ss_descendants *list, int signal) {
    for (uint32_t i = list->count; i-- > 0;)
        ss_platform_process_signal_once(list->items[i].pid, list->items[i].started, signal);
}

void ss_descendants_close(struct ss_descendants *list) {
    free(list->items);
    *list = (struct ss_descendants){0};
}
