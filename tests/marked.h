/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_MARKED_H
#define SHOWSTOPPER_TESTS_MARKED_H

/* Tests find processes by a mark, a variable in their environment. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads up to `size` - 1 bytes of /proc/PID/NAME. Returns the length; 0 if the process is gone. */
static inline size_t read_proc(pid_t pid, const char *name, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    size_t used = 0;
    ssize_t length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    while (
        file >= 0 && used < size - 1 && (length = read(file, buffer + used, size - 1 - used)) > 0)
        used += (size_t)length;
    if (file >= 0)
        close(file);
    buffer[used] = '\0';
    return used;
}

static inline bool has_mark(pid_t pid, const char *mark) {
    static char text[8 << 20]; /* the kernel limits arguments and environment to 6 MiB */
    size_t length = read_proc(pid, "environ", text, sizeof text);
    for (const char *at = text; at < text + length; at += strlen(at) + 1) {
        if (strcmp(at, mark) == 0)
            return true;
    }
    return false;
}

#endif
