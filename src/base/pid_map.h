/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_PID_MAP_H
#define SHOWSTOPPER_BASE_PID_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>

/* Maps pids to numbers. The size is fixed: nothing is allocated after open. */
struct ss_pid_map {
    uint32_t mask;
    uint32_t count;
    struct ss_pid_slot *slots;
};

struct ss_pid_slot {
    pid_t pid; /* 0: free */
    uint32_t value;
};

#define SS_PID_MAP_NONE UINT32_MAX

/* Allocates room for `max` processes. Returns -1 if memory is exhausted. */
SS_NONNULL() int ss_pid_map_open(struct ss_pid_map *map, uint32_t max);
void ss_pid_map_close(struct ss_pid_map *map);

SS_NONNULL() uint32_t ss_pid_map_get(const struct ss_pid_map *map, pid_t pid);

/* Returns -1 if the map is full. */
SS_NONNULL() int ss_pid_map_set(struct ss_pid_map *map, pid_t pid, uint32_t value);

void ss_pid_map_clear(struct ss_pid_map *map);

void ss_pid_map_remove(struct ss_pid_map *map, pid_t pid);

#endif
