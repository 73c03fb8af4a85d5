/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A process is claimed by a lock on /proc/PID/fd. The inode of this folder belongs to the process,
 * not to its pid. Only its user and root can open the folder, so no other user can claim the
 * process. The kernel releases the lock with its last holder.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

static int lock(pid_t pid, int how) {
    SS_OWNED(close)
    int folder =
        open(ss_linux_path("/proc/%d/fd", (int)pid).text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    if (flock(folder, how | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    return ss_owned_take(&folder);
}

int ss_platform_process_claim(pid_t pid) {
    return lock(pid, LOCK_EX);
}

bool ss_platform_process_is_claimed(pid_t pid) {
    SS_OWNED(close) int folder = lock(pid, LOCK_SH);
    return folder == -EBUSY;
}
