/* SPDX-License-Identifier: Apache-2.0 */
#include "base/owned.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Forks with clone(). Except for s390, architectures differ in the order of the arguments only
 * after the second one, and those are 0.
 */
static pid_t fork_into(int flags) {
#if defined(__s390__)
    return (pid_t)syscall(SYS_clone, 0, flags | SIGCHLD, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
#endif
}

pid_t ss_platform_isolation_fork(struct ss_isolation *isolation) {
    *isolation = (struct ss_isolation){.user = getuid(), .group = getgid()};
    pid_t first = fork_into(CLONE_NEWPID | CLONE_NEWNS);
    if (first >= 0 || errno != EPERM)
        return first;
    isolation->unprivileged = true;
    return fork_into(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUSER);
}

static int write_text(const char *path, const char *text) {
    SS_OWNED(close) int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    size_t length = strlen(text);
    return write(file, text, length) == (ssize_t)length ? 0 : -errno;
}

/* Maps only our own user and group, to themselves; other IDs are unmapped inside. */
static int map_own_ids(const struct ss_isolation *isolation) {
    char text[64];
    int why = write_text("/proc/self/setgroups", "deny");
    if (why)
        return why;

    snprintf(text, sizeof text, "%u %u 1", (unsigned)isolation->user, (unsigned)isolation->user);
    why = write_text("/proc/self/uid_map", text);
    if (why)
        return why;

    snprintf(text, sizeof text, "%u %u 1", (unsigned)isolation->group, (unsigned)isolation->group);
    return write_text("/proc/self/gid_map", text);
}

int ss_platform_isolation_set_up(const struct ss_isolation *isolation) {
    int why = isolation->unprivileged ? map_own_ids(isolation) : 0;
    if (why)
        return why;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /*
     * Our mounts must not be visible outside, and /proc must show the pids of this namespace. In a
     * chroot, / may not be a mount point; then it is enough that the mount over /proc is not
     * visible outside.
     */
    if ((mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 &&
            mount("none", "/proc", NULL, MS_REC | MS_SLAVE, NULL) < 0) ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return -errno;
    return 0;
}
