/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into tests and all that they start, delays calls at random, as if the machine were
 * overloaded: SS_TEST_DELAY=ODDS:MS, one in ODDS by 1 to MS milliseconds, before the call or after
 * it. See tests/late.sh.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* A process is late this many times as often when it starts. */
#define STARTS 8

static unsigned odds, longest; /* 0: nothing is delayed */

/* The clock is random enough, and needs no state that a new process would share with its parent. */
static uint64_t draw(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    uint64_t number = (uint64_t)now.tv_nsec ^ (uint64_t)syscall(SYS_gettid) << 32;
    return number * 0x9e3779b97f4a7c15u >> 32;
}

static void delay(unsigned one_in) {
    int why = errno;
    if (longest > 0 && draw() % (one_in > 0 ? one_in : 1) == 0) {
        uint64_t ms = 1 + draw() % longest;
        struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
        syscall(SYS_nanosleep, &pause, NULL);
    }
    errno = why;
}

/* Type, name, parameters and arguments of the functions that are delayed. */
/* clang-format off */
#define DELAYED(wrap)                                                                              \
    wrap(int, kill, (pid_t pid, int signal), (pid, signal))                                        \
    wrap(int, rename, (const char *from, const char *to), (from, to))                              \
    wrap(int, unlink, (const char *path), (path))                                                  \
    wrap(int, mkdir, (const char *path, mode_t mode), (path, mode))                                \
    wrap(int, rmdir, (const char *path), (path))                                                   \
    wrap(int, close, (int file), (file))                                                           \
    wrap(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))          \
    wrap(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))            \
    wrap(FILE *, fopen, (const char *path, const char *mode), (path, mode))                        \
    wrap(FILE *, fopen64, (const char *path, const char *mode), (path, mode))                      \
    wrap(int, fclose, (FILE *file), (file))
/* clang-format on */

#define DECLARE(type, name, parameters, arguments) static type(*next_##name) parameters;
#define LOOK_UP(type, name, parameters, arguments)                                                 \
    next_##name = (type(*) parameters)dlsym(RTLD_NEXT, #name);

DELAYED(DECLARE)
static int (*next_open)(const char *path, int flags, ...);
static int (*next_open64)(const char *path, int flags, ...);
static pid_t (*next_fork)(void);

/* Runs before main(), because dlsym() may not be called by signal handlers. */
__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("SS_TEST_DELAY");
    if (next_fork)
        return;
    DELAYED(LOOK_UP)
    next_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    next_open64 = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    next_fork = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    if (!text || sscanf(text, "%u:%u", &odds, &longest) != 2)
        longest = 0;
    delay(odds / STARTS);
}

/* Constructors of other libraries may call the functions before ours has run. */
static void enter(void) {
    begin();
    delay(odds);
}

#define WRAP(type, name, parameters, arguments)                                                    \
    PUBLIC type name parameters {                                                                  \
        enter();                                                                                   \
        type result = next_##name arguments;                                                       \
        delay(odds);                                                                               \
        return result;                                                                             \
    }

DELAYED(WRAP)

#define WRAP_OPEN(name)                                                                            \
    PUBLIC int name(const char *path, int flags, ...) {                                            \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        unsigned mode = va_arg(rest, unsigned);                                                    \
        va_end(rest);                                                                              \
        enter();                                                                                   \
        return next_##name(path, flags, mode);                                                     \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

PUBLIC pid_t fork(void) {
    enter();
    pid_t child = next_fork();
    delay(odds / STARTS);
    return child;
}
