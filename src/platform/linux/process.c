/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int ss_platform_program_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0)
        return -1;
    path[length] = '\0';
    return 0;
}

static char *arguments;
static size_t arguments_size;

/* The kernel shows the contents of the memory block that held the argument strings. */
void ss_platform_keep_arguments(int argc, char **argv) {
    arguments = argv[0];
    const char *end = argv[0];
    for (int i = 0; i < argc && argv[i] == end; i++)
        end = argv[i] + strlen(argv[i]) + 1;
    arguments_size = (size_t)(end - arguments);
}

void ss_platform_set_name(const char *name) {
    prctl(PR_SET_NAME, name);
    if (arguments_size == 0)
        return;
    memset(arguments, 0, arguments_size);
    snprintf(arguments, arguments_size, "%s", name);
}

void ss_platform_adopt_orphans(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/*
 * waitid() for stopped children only neither reports zombies nor waits for them, so "no child"
 * means that no child is alive.
 */
bool ss_platform_has_living_children(void) {
    siginfo_t info = {0};
    return waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) == 0;
}

int ss_platform_die_with(pid_t parent, int signal) {
    prctl(PR_SET_PDEATHSIG, signal);
    return getppid() == parent ? 0 : -1;
}

/*
 * Looking at a process needs a descriptor for a moment; without one, a living process would be
 * taken for dead. So pidfds leave some descriptors free.
 */
static bool leaves_room(int descriptor) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)descriptor + 8 < limit.rlim_cur;
}

int ss_platform_process_open(pid_t pid, uint64_t started) {
    if (pid <= 1) {
        errno = ESRCH;
        return -1;
    }
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
    if (pidfd < 0)
        return -1; /* ENOSYS: pidfds are not supported */
    if (!leaves_room(pidfd)) {
        close(pidfd);
        errno = EMFILE;
        return -1;
    }
    /*
     * If the process is still alive after its start time was read, then that was its own start
     * time.
     */
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    if (ss_platform_process_started(pid) == started && poll(&ended, 1, 0) == 0)
        return pidfd;
    close(pidfd);
    errno = ESRCH;
    return -1;
}

static int send_signal(int pidfd, int signal, unsigned flags) {
    if (pidfd < 0)
        return ESRCH;
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, flags) == 0 ? 0 : errno;
}

int ss_platform_process_signal(int pidfd, int signal) {
    return send_signal(pidfd, signal, 0);
}

int ss_platform_process_signal_once(pid_t pid, uint64_t started, int signal) {
    int pidfd = ss_platform_process_open(pid, started);
    if (pidfd < 0 && errno != ESRCH && ss_platform_process_lives(pid, started))
        return kill(pid, signal) == 0 ? 0 : errno;
    int status = send_signal(pidfd, signal, 0);
    if (pidfd >= 0)
        close(pidfd);
    return status;
}

bool ss_platform_process_holds_groups(void) {
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (self < 0)
        return false;
    int status = send_signal(self, 0, PIDFD_SIGNAL_PROCESS_GROUP);
    close(self);
    return status == 0; /* otherwise it is unsupported or forbidden */
}

int ss_platform_process_signal_group(int pidfd, int signal) {
    int status = send_signal(pidfd, signal, PIDFD_SIGNAL_PROCESS_GROUP);
    return status == EINVAL ? ENOSYS : status; /* EINVAL: an older kernel without flags */
}

ss_time ss_platform_process_cpu_time(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (ss_time)used.tv_sec * SS_SECOND + (ss_time)used.tv_nsec;
}
