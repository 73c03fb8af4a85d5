/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* The kernel shows what stands in the block of memory that the argument strings came in. */
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

int ss_platform_die_with(pid_t parent, int signal) {
    prctl(PR_SET_PDEATHSIG, signal);
    return getppid() == parent ? 0 : -1;
}

/* What follows the name in /proc/PID/stat: " S 1 ...", from field 3 on. NULL: no such process. */
static const char *read_stat(pid_t pid, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (ss_linux_read_text(path, text, size) < 0)
        return NULL;
    /* The name in brackets may hold anything, brackets too. */
    const char *end = strrchr(text, ')');
    return end ? end + 1 : NULL;
}

/* Field `number`, counted from 1 as in proc(5); 0 when there is none. */
static uint64_t find_stat_field(const char *at, int number) {
    for (int field = 3; at && field < number; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t ss_platform_process_started(pid_t pid) {
    char text[1024];
    return find_stat_field(read_stat(pid, text, sizeof text), 22);
}

bool ss_platform_process_lives(pid_t pid, uint64_t started) {
    char text[1024];
    const char *at = read_stat(pid, text, sizeof text);
    return at && at[1] != 'Z' && at[1] != 'X' && find_stat_field(at, 22) == started;
}

int ss_platform_process_open(pid_t pid, uint64_t started) {
    if (pid <= 1)
        return -1;
    int process = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
    if (process < 0)
        return -1;
    /* If it still lives after the look at its start, then that look was at this very process. */
    struct pollfd ended = {.fd = process, .events = POLLIN};
    if (ss_platform_process_started(pid) == started && poll(&ended, 1, 0) == 0)
        return process;
    close(process);
    return -1;
}

static int send_signal(int process, int signal, unsigned flags) {
    if (process < 0)
        return ESRCH;
    return syscall(SYS_pidfd_send_signal, process, signal, NULL, flags) == 0 ? 0 : errno;
}

int ss_platform_process_signal(int process, int signal) {
    return send_signal(process, signal, 0);
}

int ss_platform_process_signal_group(int process, int signal) {
    int status = send_signal(process, signal, PIDFD_SIGNAL_PROCESS_GROUP);
    return status == EINVAL ? ENOSYS : status; /* EINVAL: an older kernel that knows no flags */
}

ss_time ss_platform_process_cpu_time(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (ss_time)used.tv_sec * SS_SECOND + (ss_time)used.tv_nsec;
}

int ss_platform_shared_of(pid_t pid, const char *prefix, struct ss_error *error) {
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(folder);
    if (!directory)
        return ss_error_set(error, SS_ERROR_FAILED, "process %d: %s", (int)pid,
            errno == EACCES ? "it belongs to somebody else" : strerror(errno));
    char wanted[128];
    snprintf(wanted, sizeof wanted, "/dev/shm/%s", prefix);
    int found = -1;
    struct dirent *entry;
    while (found < 0 && (entry = readdir(directory))) {
        char path[400];
        char target[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t length = isdigit((unsigned char)entry->d_name[0])
                             ? readlink(path, target, sizeof target - 1)
                             : -1;
        if (length > 0 && strncmp(target, wanted, strlen(wanted)) == 0)
            found = open(path, O_RDWR | O_CLOEXEC);
    }
    closedir(directory);
    if (found < 0)
        return ss_error_set(
            error, SS_ERROR_FAILED, "process %d is not a running Showstopper", (int)pid);
    return found;
}
