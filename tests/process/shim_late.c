/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, delays its processes: SS_TEST_LATE=MS:NAME[:WHEN],... A
 * process of that name sleeps MS milliseconds at its start; with `birth`, just after it started an
 * instance; with `event`, after each poll(), as if the machine were overloaded; with `list`, before
 * it lists all processes; with `reap`, before it waits for a certain child; with `wait`, when it
 * has waited for any child, at most until a signal arrives. "master" names the process that is
 * never renamed, "outside" the one outside the PID namespace of --isolate, which sleeps before it
 * opens the terminal.
 *
 * With SS_TEST_HELD=FILE, the guardian renames FILE, once it exists, to FILE.held and hangs before
 * it lists all processes.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static char own_name[32];

/* The PID namespace of --isolate has only small pids. */
#define INSIDE_MAX 50

static void hold_up(const char *now) {
    const char *at = getenv("SS_TEST_LATE");
    const char *self = *own_name ? own_name : "master";
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        long late;
        char name[32];
        char when[8] = "";
        if (sscanf(at, "%ld:%31[^:,]:%7[^,]", &late, name, when) >= 2 && strcmp(name, self) == 0 &&
            strcmp(when, now) == 0) {
            struct timespec left = {late / 1000, late % 1000 * 1000000};
            while (nanosleep(&left, &left) < 0 && errno == EINTR && strcmp(now, "wait") != 0)
                continue;
        }
    }
}

static int control(int option, va_list rest) {
    unsigned long words[4];
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(rest, unsigned long);
    if (option == PR_SET_NAME) {
        snprintf(own_name, sizeof own_name, "%s", (const char *)words[0]);
        hold_up("");
    }
    return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}

#define DEFINE_PRCTL(name)                                                                         \
    PUBLIC int name(int option, ...) {                                                             \
        va_list rest;                                                                              \
        va_start(rest, option);                                                                    \
        int result = control(option, rest);                                                        \
        va_end(rest);                                                                              \
        return result;                                                                             \
    }

/* The second is that of 32-bit programs whose time has 64 bits. */
int __prctl_time64(int option, ...);
DEFINE_PRCTL(prctl)
DEFINE_PRCTL(__prctl_time64)

/* A parent's first call after a fork; the child makes the same call with pid 0. */
PUBLIC int setpgid(pid_t pid, pid_t group) {
    if (pid != 0)
        hold_up("birth");
    return (int)syscall(SYS_setpgid, pid, group);
}

PUBLIC int poll(struct pollfd *polls, nfds_t count, int timeout) {
    int ready = (int)syscall(SYS_poll, polls, count, timeout);
    int why = errno;
    hold_up("event");
    errno = why;
    return ready;
}

PUBLIC pid_t waitpid(pid_t pid, int *status, int options) {
    if (pid > 0)
        hold_up("reap");
    pid_t found = wait4(pid, status, options, NULL);
    int why = errno;
    if (pid < 0 && found > 0)
        hold_up("wait");
    errno = why;
    return found;
}

static int open_late(const char *path, int flags, unsigned mode) {
    if (strcmp(path, "/dev/tty") == 0 && !*own_name && getpid() > INSIDE_MAX) {
        strcpy(own_name, "outside");
        hold_up("");
        *own_name = '\0';
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define DEFINE_OPEN(name)                                                                          \
    PUBLIC int name(const char *path, int flags, ...) {                                            \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        unsigned mode = va_arg(rest, unsigned);                                                    \
        va_end(rest);                                                                              \
        return open_late(path, flags, mode);                                                       \
    }

/* Called by a rescuer, which lists all processes between its signals. */
PUBLIC DIR *opendir(const char *path) {
    char held[4096];
    const char *file = getenv("SS_TEST_HELD");
    snprintf(held, sizeof held, "%s.held", file ? file : "");
    if (file && strcmp(path, "/proc") == 0 && strcmp(own_name, "ss-guardian") == 0 &&
        rename(file, held) == 0)
        pause();
    if (strcmp(path, "/proc") == 0)
        hold_up("list");
    int folder = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return folder < 0 ? NULL : fdopendir(folder);
}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
