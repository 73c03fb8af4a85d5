/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

bool ss_platform_process_info(pid_t pid, struct ss_process *found) {
    /* /proc/ID exists for every thread, too, so require a process. */
    if (pid <= 0 || (syscall(SYS_tgkill, pid, pid, 0) < 0 && errno == ESRCH))
        return false;

    SS_OWNED(close) int pidfd = ss_linux_pidfd_open(pid);
    bool there = ss_linux_process_read(pid, found);
    if (pidfd < 0)
        return there;

    /*
     * The start time is in clock ticks, and within one tick the kernel can give a pid to two
     * processes: prefer the identity.
     */
    uint64_t identity = ss_linux_pidfd_identity(pidfd);
    found->started = identity ? identity : found->started;

    /* If the process has not been reaped yet, the pid has been its own since the first look. */
    return there && ss_platform_process_signal(pidfd, 0) != -ESRCH;
}

uint64_t ss_platform_process_started(pid_t pid) {
    struct ss_process process;
    return ss_platform_process_info(pid, &process) ? process.started : 0;
}

uint64_t ss_platform_thread_started(pid_t thread) {
    struct ss_process found;
    return thread > 0 && ss_linux_process_read(thread, &found) ? found.started : 0;
}

char ss_platform_process_state(pid_t pid, uint64_t started) {
    struct ss_process process;
    if (!ss_platform_process_info(pid, &process) || process.started != started ||
        process.state == 'Z' || process.state == 'X')
        return 0;
    return process.state;
}

bool ss_platform_process_is_alive(pid_t pid, uint64_t started) {
    return ss_platform_process_state(pid, started) != 0;
}

bool ss_platform_process_may_signal(pid_t pid) {
    return kill(pid, 0) == 0 || errno != EPERM;
}

/*
 * Looking at a process takes a descriptor for a moment. Without a free one, a living process would
 * be mistaken for a dead one, so pidfds leave some descriptors free.
 */
#define SPARE 8

bool ss_linux_has_spare_descriptors(int descriptor, unsigned spare) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)descriptor + spare < limit.rlim_cur;
}

int ss_platform_process_open(pid_t pid, uint64_t started) {
    if (pid <= 1)
        return -ESRCH;
    SS_OWNED(close) int pidfd = ss_linux_pidfd_open(pid);
    if (pidfd < 0)
        return pidfd; /* ENOSYS: pidfds are not supported */
    if (!ss_linux_has_spare_descriptors(pidfd, SPARE))
        return -EMFILE;
    /* If the process is still alive after its start time was read, that start time is its own. */
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    if (ss_platform_process_started(pid) == started && poll(&ended, 1, 0) == 0)
        return ss_owned_take(&pidfd);
    return -ESRCH;
}

int ss_platform_process_signal_by_pid(pid_t pid, uint64_t started, int signal) {
    SS_OWNED(close) int pidfd = ss_platform_process_open(pid, started);
    if (pidfd < 0 && pidfd != -ESRCH && ss_platform_process_is_alive(pid, started))
        return kill(pid, signal) == 0 ? 0 : -errno;
    return ss_platform_process_signal(pidfd, signal);
}

/* The kernel's ID of a process clock. clock_getcpuclockid() would take another system call. */
#define PROCESS_CLOCK(pid) (clockid_t)(~(unsigned)(pid) << 3 | 2)

ss_time ss_platform_process_cpu_time(pid_t pid) {
    struct timespec used;
    if (pid <= 0 || clock_gettime(PROCESS_CLOCK(pid), &used) != 0)
        return 0;
    return (ss_time)used.tv_sec * SS_SECOND + (ss_time)used.tv_nsec;
}
