/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A process that has changed its user cannot be signaled, but any process that may write to a
 * common control group (v2) can freeze it.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

static int find_folder(const char *name, char *folder, size_t size) {
    static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    char own[2048];
    char path[4200];
    if (ss_linux_own_cgroup(NULL, NULL, own, sizeof own) < 0)
        return -1;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        snprintf(path, sizeof path, "%s%s/cgroup.procs", roots[i], own);
        if (access(path, W_OK) != 0)
            continue;
        snprintf(folder, size, "%s%s/%s", roots[i], own, name);
        return 0;
    }
    return -1;
}

static int open_file(const char *name, const char *file) {
    char folder[4300];
    char path[4400];
    if (find_folder(name, folder, sizeof folder) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return open(path, O_WRONLY | O_CLOEXEC);
}

static bool write_number(int file, int number) {
    char text[32];
    int length = snprintf(text, sizeof text, "%d", number);
    return write(file, text, (size_t)length) == length;
}

/*
 * Returns whether the group can be frozen (from Linux 5.2) and killed (5.14). A process that cannot
 * be ended must not be in it.
 */
static bool works(const char *name) {
    SS_OWNED(close) int freeze = open_file(name, "cgroup.freeze");
    SS_OWNED(close) int end = open_file(name, "cgroup.kill");
    return freeze >= 0 && end >= 0;
}

/* Moves a process from the freezer to our own group. Its previous group is not known. */
static void take_out(pid_t pid) {
    SS_OWNED(close) int file = open_file(".", "cgroup.procs");
    if (file >= 0)
        write_number(file, pid);
}

bool ss_platform_freezer_put(const char *name, pid_t pid, uint64_t started) {
    char folder[4300];
    if (find_folder(name, folder, sizeof folder) < 0)
        return false;
    mkdir(folder, 0700);
    if (!works(name)) {
        rmdir(folder);
        return false;
    }
    SS_OWNED(close) int file = open_file(name, "cgroup.procs");
    if (file < 0 || !write_number(file, pid))
        return false;
    /*
     * If the process is still alive, the pid was its own when the group received it. Otherwise
     * another process may have got the pid.
     */
    if (ss_platform_process_started(pid) == started)
        return true;
    take_out(pid);
    return false;
}

int ss_platform_freezer_open(const char *name) {
    return open_file(name, "cgroup.freeze");
}

void ss_platform_freezer_freeze(int freezer, bool frozen) {
    if (freezer >= 0 && !write_number(freezer, frozen))
        return; /* the kernel has removed the group because it was empty */
}

void ss_platform_freezer_kill(const char *name) {
    SS_OWNED(close) int file = open_file(name, "cgroup.kill");
    if (file >= 0)
        write_number(file, 1);
}

bool ss_platform_freezer_remove(const char *name) {
    char folder[4300];
    if (find_folder(name, folder, sizeof folder) < 0)
        return true;
    return rmdir(folder) == 0 || errno == ENOENT;
}
