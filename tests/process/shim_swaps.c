/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, exchanges PATH and PATH.other before one of its system
 * calls that open, examine or change files, as another user may who owns their folder.
 * SS_TEST_SWAPS=FIRST:SECOND:REPORT:PATH: at call number FIRST, and back at call SECOND. REPORT
 * gets a byte for each call. SS_TEST_SWAPS_NAME=PART counts only calls whose name has this part;
 * SS_TEST_SWAPS_OTHER=OTHER replaces PATH.other.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

#define EXCHANGE 2 /* RENAME_EXCHANGE */

static int first, second, calls, report = -1;
static char path[2000], other[2020];

__attribute__((constructor)) static void read_names(void) {
    char file[2000];
    const char *text = getenv("SS_TEST_SWAPS");
    if (!text || sscanf(text, "%d:%d:%1999[^:]:%1999s", &first, &second, file, path) != 4)
        return;
    const char *name = getenv("SS_TEST_SWAPS_OTHER");
    snprintf(other, sizeof other, name ? "%s" : "%s.other", name ? name : path);
    report =
        (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

static void swap(const char *name) {
    int why = errno;
    const char *part = getenv("SS_TEST_SWAPS_NAME");
    if (report < 0 || (part && !strstr(name, part)))
        return;
    if (syscall(SYS_write, report, ".", 1) != 1)
        abort();
    calls++;
    if (calls == first || calls == second)
        syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, EXCHANGE);
    errno = why;
}

static unsigned mode_of(int flags, va_list rest) {
    return flags & O_CREAT ? va_arg(rest, unsigned) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
    PUBLIC int name(const char *file, int flags, ...) {                                            \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        unsigned mode = mode_of(flags, rest);                                                      \
        va_end(rest);                                                                              \
        swap(file);                                                                                \
        return (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode);                              \
    }

#define DEFINE_OPENAT(name)                                                                        \
    PUBLIC int name(int folder, const char *file, int flags, ...) {                                \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        unsigned mode = mode_of(flags, rest);                                                      \
        va_end(rest);                                                                              \
        swap(file);                                                                                \
        return (int)syscall(SYS_openat, folder, file, flags, mode);                                \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

PUBLIC ssize_t readlink(const char *file, char *target, size_t size) {
    swap(file);
    return syscall(SYS_readlinkat, AT_FDCWD, file, target, size);
}

PUBLIC ssize_t readlinkat(int folder, const char *file, char *target, size_t size) {
    swap(file);
    return syscall(SYS_readlinkat, folder, file, target, size);
}

PUBLIC int mkdirat(int folder, const char *file, mode_t mode) {
    swap(file);
    return (int)syscall(SYS_mkdirat, folder, file, mode);
}

PUBLIC int mkdir(const char *file, mode_t mode) {
    return mkdirat(AT_FDCWD, file, mode);
}

PUBLIC int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    swap(from);
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

PUBLIC int rename(const char *from, const char *to) {
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

PUBLIC int unlinkat(int folder, const char *file, int flags) {
    swap(file);
    return (int)syscall(SYS_unlinkat, folder, file, flags);
}

PUBLIC int unlink(const char *file) {
    return unlinkat(AT_FDCWD, file, 0);
}

PUBLIC int faccessat(int folder, const char *file, int mode, int flags) {
    (void)flags;
    swap(file);
    return (int)syscall(SYS_faccessat, folder, file, mode);
}

PUBLIC int access(const char *file, int mode) {
    return faccessat(AT_FDCWD, file, mode, 0);
}

PUBLIC int ftruncate(int file, off_t length) {
    swap("");
    return (int)syscall(SYS_ftruncate, file, length);
}

PUBLIC int ftruncate64(int file, off64_t length) {
    swap("");
    return (int)syscall(SYS_ftruncate, file, length);
}

#define DEFINE_STAT(name, type)                                                                    \
    PUBLIC int name(const char *file, struct type *status) {                                       \
        int (*function)(const char *, struct type *) = dlsym(RTLD_NEXT, #name);                    \
        swap(file);                                                                                \
        return function(file, status);                                                             \
    }

DEFINE_STAT(stat, stat)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat64, stat64)

#define DEFINE_FSTAT(name, type)                                                                   \
    PUBLIC int name(int file, struct type *status) {                                               \
        int (*function)(int, struct type *) = dlsym(RTLD_NEXT, #name);                             \
        swap("");                                                                                  \
        return function(file, status);                                                             \
    }

DEFINE_FSTAT(fstat, stat)
DEFINE_FSTAT(fstat64, stat64)

#define DEFINE_FSTATAT(name, type)                                                                 \
    PUBLIC int name(int folder, const char *file, struct type *status, int flags) {                \
        int (*function)(int, const char *, struct type *, int) = dlsym(RTLD_NEXT, #name);          \
        swap(file);                                                                                \
        return function(folder, file, status, flags);                                              \
    }

DEFINE_FSTATAT(fstatat, stat)
DEFINE_FSTATAT(fstatat64, stat64)
