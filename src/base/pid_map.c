/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pid_map.h"

#include <stdlib.h>
#include <string.h>

/*
 * The map uses open addressing. The table is at most half full, so a search is short and always
 * ends at a free slot.
 */
int ss_pid_map_open(struct ss_pid_map *map, uint32_t max) {
    uint32_t size = 16;
    while (size < 2 * max)
        size *= 2;
    *map = (struct ss_pid_map){.mask = size - 1, .slots = calloc(size, sizeof *map->slots)};
    return map->slots ? 0 : -1;
}

void ss_pid_map_close(struct ss_pid_map *map) {
    free(map->slots);
    *map = (struct ss_pid_map){0};
}

void ss_pid_map_clear(struct ss_pid_map *map) {
    memset(map->slots, 0, (map->mask + 1) * sizeof *map->slots);
    map->count = 0;
}

static uint32_t home(const struct ss_pid_map *map, pid_t pid) {
    return (uint32_t)pid * UINT32_C(2654435769) >> 7 & map->mask;
}

static uint32_t find(const struct ss_pid_map *map, pid_t pid) {
    uint32_t at = home(map, pid);
    while (map->slots[at].pid && map->slots[at].pid != pid)
        at = (at + 1) & map->mask;
    return at;
}

uint32_t ss_pid_map_get(const struct ss_pid_map *map, pid_t pid) {
    const struct ss_pid_slot *slot = &map->slots[find(map, pid)];
    return pid > 0 && slot->pid == pid ? slot->value : SS_PID_MAP_NONE;
}

int ss_pid_map_set(struct ss_pid_map *map, pid_t pid, uint32_t value) {
    struct ss_pid_slot *slot = &map->slots[find(map, pid)];
    if (slot->pid != pid && map->count >= (map->mask + 1) / 2)
        return -1;
    map->count += slot->pid != pid;
    *slot = (struct ss_pid_slot){pid, value};
    return 0;
}

/* Moves later entries into the gap: a search for them would stop at it. */
void ss_pid_map_remove(struct ss_pid_map *map, pid_t pid) {
    uint32_t gap = find(map, pid);
    if (pid <= 0 || map->slots[gap].pid != pid)
        return;
    for (uint32_t at = (gap + 1) & map->mask; map->slots[at].pid; at = (at + 1) & map->mask) {
        uint32_t home_slot = home(map, map->slots[at].pid);
        if (((at - home_slot) & map->mask) >= ((at - gap) & map->mask)) {
            map->slots[gap] = map->slots[at];
            gap = at;
        }
    }
    map->slots[gap].pid = 0;
    map->count--;
}
