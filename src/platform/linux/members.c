/* SPDX-License-Identifier: Apache-2.0 */

/* Control groups of version 2, and the processes in them. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

static bool has_file(const char *folder, const char *name) {
    return access(ss_linux_path("%s/%s", folder, name).text, F_OK) == 0;
}

/* Tries the path unchanged first: a container may have the host's groups anywhere. */
int ss_platform_group_find(const struct ss_platform_roots *roots, const char *path,
    char folder[PATH_MAX], struct ss_error *error) {
    static const char *const places[] = {
        "", "/unified", "/cpu", "/cpu,cpuacct", "/memory", "/systemd"};
    const char *root = ss_linux_cgroup_root(roots);
    bool is_old = false;
    for (size_t i = *path != '/'; i <= sizeof places / sizeof *places; i++) {
        struct ss_linux_path at = ss_linux_path("%s", path);
        if (i > 0)
            at = ss_linux_path("%s%s/%s", root, places[i - 1], path);
        if (has_file(at.text, "cgroup.controllers") && realpath(at.text, folder))
            return 0;
        is_old |= has_file(at.text, "tasks");
    }

    if (is_old)
        return ss_error_fail(error,
            "control group '%s' exists only in version 1: use one of version 2, or --attach with "
            "its processes",
            path);
    return ss_error_fail(error,
        "no control group '%s' of version 2: use its folder, its path below %s, or the path in "
        "/proc/PID/cgroup",
        path, root);
}

/* Ignores errors if the group is being removed, or is threaded and cannot list processes. */
static int ignore_expected(int err) {
    return err == -ENODEV || err == -EOPNOTSUPP ? 0 : err;
}

static int list_processes(int folder, void (*visit)(void *context, pid_t pid), void *context) {
    SS_OWNED(close) int descriptor = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    SS_OWNED(fclose) FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    int pid;
    if (!file)
        return -errno;
    ss_owned_take(&descriptor);
    while (fscanf(file, "%d", &pid) == 1)
        visit(context, pid);
    return ferror(file) ? -errno : 0;
}

static int visit_group(
    int parent, const char *name, void (*visit)(void *context, pid_t pid), void *context) {
    int descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    SS_OWNED(closedir) DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
    struct dirent *entry;
    if (!folder) {
        int why = -errno;
        ss_owned_close(&descriptor);
        return why;
    }

    int result = ignore_expected(list_processes(descriptor, visit, context));
    while ((entry = readdir(folder))) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        int why = visit_group(descriptor, entry->d_name, visit, context);
        if (why && why != -ENOENT && !result)
            result = why;
    }
    return result;
}

int ss_platform_group_each(
    const char *folder, void (*visit)(void *context, pid_t pid), void *context) {
    return visit_group(AT_FDCWD, folder, visit, context);
}
