/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LINUX_H
#define SHOWSTOPPER_LINUX_H

/* What the files of this folder share with one another. */

#include "platform/platform.h"

int ss_linux_cgroup_open(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, struct ss_error *error);
void ss_linux_cgroup_open_throttling(struct ss_counter_reader *reader);
int ss_linux_cgroup_parse(struct ss_counter_reader *reader, struct ss_counters *counters);

/* -1, with the reader's `reason` set: the machine does not keep it, or we do not see it. */
int ss_linux_runtime_open(struct ss_counter_reader *reader, const struct ss_platform_roots *roots);
int ss_linux_runtime_parse(struct ss_counter_reader *reader, struct ss_counters *counters);

/* The path of our own group in the hierarchy of a v1 controller, or of v2 (NULL). */
int ss_linux_own_cgroup(
    const struct ss_platform_roots *roots, const char *controller, char *path, size_t size);

/* The whole of a small file as text without its last line end; -1 when it cannot be read. */
int ss_linux_read_text(const char *path, char *buffer, size_t size);

/*
 * The number behind spaces, and where it ends. Executors read one in every round, and after a sleep
 * nothing of the C library is in the caches.
 */
static inline const char *ss_linux_read_number(const char *at, uint64_t *number) {
    while (*at == ' ')
        at++;
    *number = 0;
    while (*at >= '0' && *at <= '9')
        *number = *number * 10 + (uint64_t)(*at++ - '0');
    return at;
}

/*
 * The number that the kernel gives to one process and never to another one, read from a hold on it;
 * 0: it gives none.
 */
uint64_t ss_linux_process_identity(int process);

#endif
