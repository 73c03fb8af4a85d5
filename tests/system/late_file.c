/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into a shell: opening the file SS_TEST_LATE for writing is delayed by 300 ms, as on a
 * machine where another process runs first.
 */

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static void come_late(const char *path, int flags) {
    const char *late = getenv("SS_TEST_LATE");
    const char *name = strrchr(path, '/');
    if (late && name && strcmp(name + 1, late) == 0 && (flags & O_ACCMODE) != O_RDONLY)
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

static int open_file(const char *path, int flags, va_list rest) {
    unsigned mode = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0;
    come_late(path, flags);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

PUBLIC int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = open_file(path, flags, rest);
    va_end(rest);
    return file;
}

PUBLIC int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = open_file(path, flags, rest);
    va_end(rest);
    return file;
}
