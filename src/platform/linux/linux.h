/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LINUX_H
#define SHOWSTOPPER_LINUX_H

/* Shared by the files of this folder. */

#include "platform/platform.h"

int ss_linux_cgroup_open(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, struct ss_error *error);
void ss_linux_cgroup_open_throttling(struct ss_counter_reader *reader);
int ss_linux_cgroup_parse(struct ss_counter_reader *reader, struct ss_counters *counters);

/*
 * Returns -1 with the reader's `reason` set if the machine does not account CPU time or hides it
 * from us.
 */
int ss_linux_runtime_open(struct ss_counter_reader *reader, const struct ss_platform_roots *roots);
int ss_linux_runtime_parse(struct ss_counter_reader *reader, struct ss_counters *counters);

/* The path of our own group in the hierarchy of a v1 controller, or of v2 (NULL). */
int ss_linux_own_cgroup(
    const struct ss_platform_roots *roots, const char *controller, char *path, size_t size);

/* Reads a small file as text, without its last line end. Returns -1 if it cannot be read. */
int ss_linux_read_text(const char *path, char *buffer, size_t size);

/*
 * Reads the number after blanks and returns where it ends. Not strtoull(): executors read a number
 * in every round, and after a sleep nothing of the C library is cached.
 */
static inline const char *ss_linux_read_number(const char *at, uint64_t *number) {
    while (*at == ' ')
        at++;
    *number = 0;
    while (*at >= '0' && *at <= '9')
        *number = *number * 10 + (uint64_t)(*at++ - '0');
    return at;
}

/* A number that the kernel gives to one process only, read from its pidfd; 0: not available. */
uint64_t ss_linux_process_identity(int pidfd);

#endif
