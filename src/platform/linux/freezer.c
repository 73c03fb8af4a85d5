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

/* Finds the folder of a freezer below our own group, if this process may write there. */
static bool find_folder(const char *name, struct ss_linux_path *folder) {
    struct ss_hierarchy unified;
    if (!ss_platform_find_hierarchy(&unified, NULL, "") ||
        access(ss_linux_path("%s%s/cgroup.procs", unified.root, unified.own).text, W_OK) < 0)
        return false;
    *folder = ss_linux_path("%s%s/%s", unified.root, unified.own, name);
    return true;
}

static int open_file(const char *name, const char *file) {
    struct ss_linux_path folder;
    return find_folder(name, &folder)
               ? open(ss_linux_path("%s/%s", folder.text, file).text, O_WRONLY | O_CLOEXEC)
               : -1;
}

static bool write_number(int file, int number) {
    char text[32];
    int length = snprintf(text, sizeof text, "%d", number);
    return write(file, text, (size_t)length) == length;
}

bool ss_platform_freezer_put(const char *name, pid_t pid, uint64_t started) {
    struct ss_linux_path folder;
    if (!find_folder(name, &folder))
        return false;
    mkdir(folder.text, 0700);

    /*
     * Groups can be frozen from Linux 5.2 on, and killed from 5.14. Requires both: a frozen process
     * that cannot be killed would stay forever.
     */
    SS_OWNED(close) int freeze = open_file(name, "cgroup.freeze");
    SS_OWNED(close) int end = open_file(name, "cgroup.kill");
    if (freeze < 0 || end < 0) {
        rmdir(folder.text);
        return false;
    }

    SS_OWNED(close) int file = open_file(name, "cgroup.procs");
    if (file < 0 || !write_number(file, pid))
        return false;

    /*
     * If the process is still alive, the pid was its own when the group received it. Otherwise the
     * pid may have been reused.
     */
    if (ss_platform_process_started(pid) == started)
        return true;

    /* Its previous group is unknown, so move it to our own. */
    SS_OWNED(close) int own = open_file(".", "cgroup.procs");
    if (own >= 0)
        write_number(own, pid);
    return false;
}

int ss_platform_freezer_open(const char *name) {
    return open_file(name, "cgroup.freeze");
}

void ss_platform_freezer_freeze(int freezer, bool frozen) {
    /* This fails if the kernel has removed the group because it was empty. */
    if (freezer >= 0)
        write_number(freezer, frozen);
}

void ss_platform_freezer_kill(const char *name) {
    SS_OWNED(close) int file = open_file(name, "cgroup.kill");
    if (file >= 0)
        write_number(file, 1);
}

bool ss_platform_freezer_remove(const char *name) {
    struct ss_linux_path folder;
    return !find_folder(name, &folder) || rmdir(folder.text) == 0 || errno == ENOENT;
}
