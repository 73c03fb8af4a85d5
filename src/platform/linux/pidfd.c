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

int ss_linux_pidfd_open(pid_t pid) {
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* the kernel makes it close-on-exec */
    return pidfd < 0 ? -errno : pidfd;
}

uint64_t ss_linux_pidfd_identity(int pidfd) {
    struct statfs system;
    struct stat status;
    if (pidfd < 0 || fstatfs(pidfd, &system) < 0 || system.f_type != PID_FS_MAGIC ||
        fstat(pidfd, &status) < 0)
        return 0;
    return status.st_ino;
}

static int send_signal(int pidfd, int signal, unsigned flags) {
    if (pidfd < 0)
        return -ESRCH;
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, flags) == 0 ? 0 : -errno;
}

int ss_platform_process_signal(int pidfd, int signal) {
    return send_signal(pidfd, signal, 0);
}

int ss_platform_process_signal_group(int pidfd, int signal) {
    int status = send_signal(pidfd, signal, PIDFD_SIGNAL_PROCESS_GROUP);
    return status == -EINVAL ? -ENOSYS : status; /* EINVAL: an older kernel without flags */
}

bool ss_platform_process_holds_groups(void) {
    SS_OWNED(close) int self = ss_linux_pidfd_open(getpid());
    /* An error means that signals to groups are unsupported or forbidden. */
    return self >= 0 && send_signal(self, 0, PIDFD_SIGNAL_PROCESS_GROUP) == 0;
}
