/* SPDX-License-Identifier: Apache-2.0 */

/* What the system tells about processes that need not be ours. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/linux/linux.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446 /* from Linux 6.9 */
#endif

/* What follows the name in /proc/PID/stat: " S 1 ...", from field 3 on. NULL: no such process. */
static const char *read_stat(pid_t pid, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (ss_linux_read_text(path, text, size) < 0)
        return NULL;
    /* The name in brackets may contain anything, including brackets. */
    const char *end = strrchr(text, ')');
    return end ? end + 1 : NULL;
}

/* /proc shows a thread like a process if it is looked up by its ID. */
static bool is_thread(pid_t pid) {
    return syscall(SYS_tgkill, pid, pid, 0) < 0 && errno == ESRCH;
}

uint64_t ss_linux_process_identity(int pidfd) {
    struct statfs system;
    struct stat status;
    if (pidfd < 0 || fstatfs(pidfd, &system) < 0 || system.f_type != PID_FS_MAGIC ||
        fstat(pidfd, &status) < 0)
        return 0;
    return status.st_ino;
}

/*
 * The start time is in clock ticks, and within one tick a pid can be given to two processes. So the
 * identity replaces it if it is available.
 */
static void identify(int pidfd, struct ss_process *found) {
    uint64_t identity = ss_linux_process_identity(pidfd);
    if (identity)
        found->started = identity;
}

bool ss_platform_process_times(pid_t pid, struct ss_process_times *times) {
    char text[1024];
    uint64_t fields[18] = {0};
    const char *at = pid > 0 ? read_stat(pid, text, sizeof text) : NULL;
    if (!at)
        return false;
    at += 2; /* skips the state, which is field 3 */
    for (int field = 4; field <= 17; field++) {
        at += strspn(at, " ");
        at += *at == '-'; /* fields that may be negative are not used */
        at = ss_linux_read_number(at, &fields[field]);
    }
    uint64_t tick = SS_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    *times = (struct ss_process_times){
        .pid = pid,
        .parent = (pid_t)fields[4],
        .used = (fields[14] + fields[15]) * tick,
        .waited = (fields[16] + fields[17]) * tick,
    };
    return true;
}

static bool read_process(pid_t pid, struct ss_process *process) {
    char text[1024];
    const char *at = read_stat(pid, text, sizeof text);
    if (!at)
        return false;
    *process = (struct ss_process){.state = at[1]};
    at += 2;
    for (int field = 4; field <= 22 && at; field++) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        if (field == 4)
            process->parent = (pid_t)value;
        else if (field == 5)
            process->group = (pid_t)value;
        else if (field == 20 && process->state == 'Z' && value > 1)
            process->state = 'S'; /* only the first thread has ended */
        else if (field == 22)
            process->started = value;
        at = end;
    }
    return process->started != 0;
}

bool ss_platform_process_look(pid_t pid, struct ss_process *found) {
    if (pid <= 0 || is_thread(pid))
        return false;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool there = read_process(pid, found);
    if (pidfd >= 0) {
        identify(pidfd, found);
        /* As long as the process has not been reaped, the pid was its own all the time. */
        there &= ss_platform_process_signal(pidfd, 0) != ESRCH;
        close(pidfd);
    }
    return there;
}

uint64_t ss_platform_process_started(pid_t pid) {
    struct ss_process process;
    return ss_platform_process_look(pid, &process) ? process.started : 0;
}

bool ss_platform_process_lives(pid_t pid, uint64_t started) {
    struct ss_process process;
    return ss_platform_process_look(pid, &process) && process.state != 'Z' &&
           process.state != 'X' && process.started == started;
}

pid_t ss_platform_process_group(pid_t pid) {
    return getpgid(pid);
}

bool ss_platform_process_may_signal(pid_t pid) {
    return kill(pid, 0) == 0 || errno != EPERM;
}

/* The last field of /proc/loadavg; pids are assigned in ascending order. */
pid_t ss_platform_process_latest(void) {
    char text[128];
    if (ss_linux_read_text("/proc/loadavg", text, sizeof text) < 0)
        return -1;
    const char *last = strrchr(text, ' ');
    return last ? (pid_t)strtol(last + 1, NULL, 10) : -1;
}

pid_t ss_platform_process_limit(void) {
    char text[64];
    if (ss_linux_read_text("/proc/sys/kernel/pid_max", text, sizeof text) < 0)
        return 1 << 22; /* the kernel's maximum */
    return (pid_t)strtol(text, NULL, 10);
}

void ss_platform_process_each(void (*see)(void *context, pid_t pid), void *context) {
    DIR *directory = opendir("/proc");
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            see(context, (pid_t)strtol(entry->d_name, NULL, 10));
    }
    closedir(directory);
}

/* Finds `variable` in NAME=VALUE strings that end with a zero byte, and reads the text after it. */
static bool read_variable(int file, const char *variable, char *rest, size_t size) {
    size_t length = strlen(variable);
    size_t matched = 0; /* SIZE_MAX: this string does not match */
    size_t kept = 0;
    char block[4096];
    ssize_t count;
    while ((count = read(file, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < count; i++) {
            if (matched == length && kept < size)
                rest[kept++] = block[i];
            if (matched == length && (block[i] == '\0' || kept == size))
                return block[i] == '\0';
            if (block[i] == '\0')
                matched = 0;
            else if (matched < length)
                matched = block[i] == variable[matched] ? matched + 1 : SIZE_MAX;
        }
    }
    return false;
}

bool ss_platform_process_variable(pid_t pid, const char *name, char *value, size_t size) {
    char path[64];
    char wanted[128];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    snprintf(wanted, sizeof wanted, "%s=", name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool found = read_variable(file, wanted, value, size);
    close(file);
    return found;
}
