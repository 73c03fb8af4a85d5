/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2) /* from Linux 6.9 */
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446 /* from Linux 6.9 */
#endif

static int send_signal(int pidfd, int signal, unsigned flags) {
    if (pidfd < 0)
        return -ESRCH;
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, flags) == 0 ? 0 : -errno;
}

/* Opens a pidfd, which the kernel makes close-on-exec. */
static int open_pidfd(pid_t pid) {
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd >= 0)
        return pidfd;
    /* EPERM: the seccomp rules of a container are older than the call. */
    return errno == EPERM ? -ENOSYS : -errno;
}

/*
 * Returns whether pidfds can signal processes. The seccomp rules of a container may allow only
 * opening them; then every signal would be lost. The first call tries it on this process.
 */
static bool signals_work(void) {
    static atomic_int known; /* 1: they work; -1: they do not */
    if (!known) {
        SS_OWNED(close) int self = open_pidfd(getpid());
        if (self < 0)
            return true; /* unknown: maybe no descriptor is free */
        known = send_signal(self, 0, 0) == 0 ? 1 : -1;
    }
    return known > 0;
}

int ss_linux_pidfd_open(pid_t pid) {
    return signals_work() ? open_pidfd(pid) : -ENOSYS;
}

uint64_t ss_linux_pidfd_identity(int pidfd) {
    struct statfs system;
    struct stat status;
    if (pidfd < 0 || fstatfs(pidfd, &system) < 0 || system.f_type != PID_FS_MAGIC ||
        fstat(pidfd, &status) < 0)
        return 0;
    return status.st_ino;
}

int ss_platform_process_signal(int pidfd, int signal) {
    return send_signal(pidfd, signal, 0);
}

int ss_platform_process_signal_group(int pidfd, int signal) {
    int status = send_signal(pidfd, signal, PIDFD_SIGNAL_PROCESS_GROUP);
    return status == -EINVAL ? -ENOSYS : status; /* EINVAL: an older kernel without flags */
}

bool ss_platform_pidfd_signals_groups(void) {
    SS_OWNED(close) int self = ss_linux_pidfd_open(getpid());
    /* An error means that signals to groups are unsupported or forbidden. */
    return self >= 0 && send_signal(self, 0, PIDFD_SIGNAL_PROCESS_GROUP) == 0;
}
