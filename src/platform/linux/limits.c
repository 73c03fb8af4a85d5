/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* Reads the number in a file; UINT64_MAX if it has none ("max") or does not exist. */
static uint64_t read_limit(const char *path) {
    char text[64];
    if (ss_linux_read_text(path, text, sizeof text) < 0 || !isdigit((unsigned char)*text))
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static int check_limit(
    const char *name, uint64_t limit, uint64_t used, uint64_t needed, struct ss_error *error) {
    uint64_t room = limit > used ? limit - used : 0;
    if (room >= needed)
        return 0;
    return ss_error_fail(error,
        "%s leaves room for %" PRIu64 " more, but %" PRIu64
        " are needed: run fewer instances or raise that limit",
        name, room, needed);
}

/* Counts all open descriptors except the standard streams; most are inherited from our caller. */
static uint64_t count_inherited_files(void) {
    uint64_t count = 0;
    SS_OWNED(closedir) DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int file = (int)strtol(entry->d_name, NULL, 10);
        count += file > STDERR_FILENO && file != dirfd(folder);
    }
    return count;
}

struct tasks {
    bool mine; /* count only this user's processes */
    uint64_t count;
};

static void count_tasks_of(void *context, pid_t pid) {
    struct tasks *tasks = context;
    struct stat status;
    if (stat(ss_linux_path("/proc/%d/task", (int)pid).text, &status) == 0 &&
        (!tasks->mine || status.st_uid == getuid()))
        tasks->count += status.st_nlink > 2 ? status.st_nlink - 2 : 1;
}

/*
 * Counts the processes of this user or of all users, including threads, to which the kernel's
 * limits apply as well.
 */
static uint64_t count_tasks(bool mine) {
    struct tasks tasks = {.mine = mine};
    ss_platform_process_each(count_tasks_of, &tasks);
    return tasks.count;
}

/*
 * Checks pids.max of our own group and of all groups above it, up to the root of the mount. In a
 * container, the path may name groups of the host that do not exist there, and the root is the
 * container's own group.
 */
static int check_cgroup_pids(uint64_t needed, struct ss_error *error) {
    struct ss_hierarchy pids;
    bool found = ss_platform_find_hierarchy(&pids, NULL, "pids");
    while (found) {
        uint64_t limit = read_limit(ss_linux_path("%s%s/pids.max", pids.root, pids.own).text);
        uint64_t used = read_limit(ss_linux_path("%s%s/pids.current", pids.root, pids.own).text);
        if (limit != UINT64_MAX && used != UINT64_MAX &&
            check_limit("the control group's pids.max", limit, used, needed, error) < 0)
            return -1;

        char *end = strrchr(pids.own, '/');
        found = end != NULL;
        if (found)
            *end = '\0';
    }
    return 0;
}

int ss_platform_check_proc(struct ss_error *error) {
    char self[32] = ""; /* our pid in the PID namespace of /proc; empty if it does not contain us */
    bool is_ours =
        readlink("/proc/self", self, sizeof self - 1) > 0 && strtol(self, NULL, 10) == getpid();
    if (is_ours && access("/proc/self/stat", R_OK) == 0)
        return 0;
    if (!is_ours && access("/proc/stat", F_OK) == 0)
        return ss_error_fail(error, "/proc belongs to another PID namespace, where pids mean other "
                                    "processes: mount that of this namespace with `mount -t proc "
                                    "proc /proc`, or use `unshare --mount-proc`");
    return ss_error_fail(error, "/proc is not mounted, but processes, CPU times and modules are "
                                "found there: mount it with `mount -t proc proc /proc`");
}

int ss_platform_check_system(struct ss_error *error) {
    if (ss_platform_check_proc(error) < 0)
        return -1;
    struct stat status;
    if (stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode) &&
        access("/dev/null", R_OK | W_OK) == 0)
        return 0;
    return ss_error_fail(error,
        "cannot read and write /dev/null, which instances need: create it with `mknod -m 666 "
        "/dev/null c 1 3`");
}

int ss_platform_check_limits(uint64_t processes, uint64_t files, struct ss_error *error) {
    struct rlimit limit;
    uint64_t all = count_tasks(false);
    if (check_limit(
            "kernel.pid_max", read_limit("/proc/sys/kernel/pid_max"), all, processes, error) < 0 ||
        check_limit("kernel.threads-max", read_limit("/proc/sys/kernel/threads-max"), all,
            processes, error) < 0 ||
        check_cgroup_pids(processes, error) < 0)
        return ss_error_wrap(error, "processes");

    /* This limit does not apply to root. */
    if (getuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        check_limit("the limit on processes (ulimit -u)", limit.rlim_cur, count_tasks(true),
            processes, error) < 0)
        return ss_error_wrap(error, "processes");

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY &&
        check_limit("the hard limit on open files (ulimit -Hn)", limit.rlim_max,
            count_inherited_files(), files, error) < 0)
        return ss_error_wrap(error, "open files");
    return 0;
}
