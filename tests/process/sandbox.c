/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

static bool write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return written;
}

static bool map_to_root(const char *path, unsigned own) {
    const char *map = run_format("0 %u 1", own);
    return write_text(path, map);
}

bool sandbox_unshare(int flags) {
    unsigned user = geteuid();
    unsigned group = getegid();
    if (user == 0)
        return unshare(flags) == 0;
    return unshare(flags | CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
           map_to_root("/proc/self/uid_map", user) && map_to_root("/proc/self/gid_map", group);
}

static bool leave_mounts(void) {
    return sandbox_unshare(CLONE_NEWNS) && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void sandbox_deny_if(long call, int argument, unsigned mask, unsigned error) {
    size_t half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;
    size_t offset = offsetof(struct seccomp_data, args) + 8 * (size_t)argument + half;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, mask ? 1 : 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(SANDBOX_MISSING);
}

void sandbox_deny(long call, unsigned error) {
    sandbox_deny_if(call, 0, 0, error);
}

void sandbox_stay_on_one_cpu(void) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    size_t first = 0;
    while (!CPU_ISSET(first, &set))
        first++;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        _exit(SANDBOX_MISSING);
}

void sandbox_leave_mounts(void) {
    if (!leave_mounts())
        _exit(SANDBOX_MISSING);
}

bool sandbox_have_mounts(void) {
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(leave_mounts() && mount("none", "/tmp", "tmpfs", 0, NULL) == 0 ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Only root needs no user namespace. */
const char *sandbox_new_namespaces(void) {
    return geteuid() == 0 ? "-mpf" : "-rmpf";
}

bool sandbox_have_namespaces(void) {
    struct run *run = run_wait(
        run_start(NULL, WORDS("unshare", sandbox_new_namespaces(), "--mount-proc", "true")));
    bool work = run->status == 0;
    run_free(run);
    return work;
}

bool sandbox_can_mount_small(const char *folder, const char *size) {
    const char *options = run_format("size=%s,mode=1777", size);
    return mount("none", folder, "tmpfs", 0, options) == 0;
}

void sandbox_mount_small(const char *folder, const char *size) {
    if (!sandbox_can_mount_small(folder, size))
        _exit(SANDBOX_MISSING);
}

void sandbox_fill(const char *folder) {
    static const char block[4096];
    const char *path = run_format("%s/filler", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        _exit(SANDBOX_MISSING);
    for (size_t size = sizeof block; size > 0; size /= 2) {
        while (write(file, block, size) > 0) {
        }
    }
    close(file);
}

bool sandbox_permit_setuid(const char *folder) {
    struct statvfs status;
    return statvfs(folder, &status) == 0 && !(status.f_flag & ST_NOSUID) &&
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

void sandbox_compile(const char *folder, const char *name, const char *source, const char *flag) {
    struct run_setup setup = {.folder = folder};
    SKIP_UNLESS(CALL("sh", "-c", "command -v cc")->status == 0, "cc: not installed");
    const char *from = run_format("%s.c", name);
    const char *to = run_format("%s.so", name);
    run_write_file(run_path(folder, from), source);
    run_expect(
        run_wait(run_start(&setup, WORDS("cc", "-shared", "-fPIC", "-Wall", "-Werror",
                                       "-I" PROJECT_SOURCE_DIR "/include", flag, "-o", to, from))),
        0);
    ck_assert_int_eq(chmod(run_path(folder, to), 0755), 0);
}

/* Finds the path of our own group for this controller in /proc/self/cgroup. */
static bool find_own_group(const char *controller, char *path, size_t size) {
    char line[1024];
    bool found = false;
    const char *wanted = run_format(",%s,", controller);
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':');
        char *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *names = *group = ',';
        group[1 + strcspn(group + 1, "\n")] = '\0';
        found = memmem(names, (size_t)(group - names) + 1, wanted, strlen(wanted)) != NULL;
        if (found)
            snprintf(path, size, "%s", group + 1);
    }
    if (file)
        fclose(file);
    return found;
}

static double read_number(const char *folder, const char *name) {
    double number = -1;
    sscanf(run_read_file(run_path(folder, name)).bytes, "%lf", &number);
    return number;
}

/* Returns the quota of a group in CPUs; infinity without a quota. */
static double quota_of(const char *group) {
    double quota, period;
    const char *text = run_read_file(run_path(group, "cpu.max")).bytes;
    if (sscanf(text, "%lf %lf", &quota, &period) == 2)
        return quota / period;
    quota = read_number(group, "cpu.cfs_quota_us");
    return quota >= 0 ? quota / read_number(group, "cpu.cfs_period_us") : INFINITY;
}

/*
 * In a container, the path may name groups of the host, which are not visible. The root of the
 * mount is then the container's group.
 */
static bool is_limited(const char *root, const char *controller, int cpus) {
    char group[256];
    char *end = find_own_group(controller, group, sizeof group) ? group : NULL;
    while (end) {
        if (quota_of(run_path(root, group)) < cpus)
            return true;
        end = strrchr(group, '/');
        if (end)
            *end = '\0';
    }
    return false;
}

bool sandbox_have_quota(void) {
    cpu_set_t cpus;
    ck_assert_int_eq(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    return is_limited("/sys/fs/cgroup", "", CPU_COUNT(&cpus)) ||
           is_limited("/sys/fs/cgroup/cpu", "cpu", CPU_COUNT(&cpus));
}

static struct {
    char path[512];
    bool unified; /* version 2 */
} group;

static pid_t maker;
static char made[8][sizeof group.path];
static size_t made_count;

/* Removes groups that a failed test has left; their processes have been killed. */
static void remove_made(void) {
    for (size_t i = made_count; maker == getpid() && i-- > 0;) {
        for (int patience = 500; rmdir(made[i]) < 0 && errno == EBUSY && patience > 0; patience--)
            usleep(1000);
    }
}

static void note_made(const char *path) {
    if (made_count == 0 && atexit(remove_made) == 0)
        maker = getpid();
    if (made_count < sizeof made / sizeof *made)
        snprintf(made[made_count++], sizeof *made, "%s", path);
}

static bool make_below(const char *root, const char *own) {
    static int number;
    int length = snprintf(group.path, sizeof group.path, "%s%s/showstopper-test.%d.%d", root,
        strcmp(own, "/") == 0 ? "" : own, (int)getpid(), number++);
    if (length >= (int)sizeof group.path || mkdir(group.path, 0755) < 0)
        return false;
    note_made(group.path);
    return true;
}

static bool has_file(const char *name) {
    const char *path = run_format("%s/%s", group.path, name);
    return access(path, W_OK) == 0;
}

bool control_group_make(const char *controller) {
    char own[256];
    group.unified = false;
    const char *root = run_format("/sys/fs/cgroup/%s", controller);
    if (find_own_group(controller, own, sizeof own) && make_below(root, own))
        return true;
    group.unified = true;
    const char *name = run_format("%s.max", controller);
    if (!find_own_group("", own, sizeof own) || !make_below("/sys/fs/cgroup", own))
        return false;
    if (has_file(name))
        return true;
    control_group_remove();
    return false;
}

bool control_group_make_unified(void) {
    static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    char own[256];
    group.unified = true;
    for (size_t i = 0; i < 2 && find_own_group("", own, sizeof own); i++) {
        if (run_exists(run_path(roots[i], "cgroup.controllers")) && make_below(roots[i], own))
            return true;
    }
    return false;
}

const char *control_group_path(void) {
    return group.path;
}

bool control_group_is_unified(void) {
    return group.unified;
}

bool control_group_limit(const char *name, const char *unified, const char *value) {
    const char *path = run_format("%s/%s", group.path, group.unified ? unified : name);
    return write_text(path, value);
}

bool control_group_has(const char *name, const char *value) {
    char path[PATH_MAX], text[64] = "";
    snprintf(path, sizeof path, "%s/%s", group.path, name);
    FILE *file = fopen(path, "re");
    bool has = file && fscanf(file, "%63s", text) == 1 && strcmp(text, value) == 0;
    if (file)
        fclose(file);
    return has;
}

void control_group_enter(void) {
    const char *path = run_format("%s/cgroup.procs", group.path);
    if (!write_text(path, "0"))
        _exit(SANDBOX_MISSING);
}

bool control_group_holds(pid_t pid) {
    char line[32];
    bool found = false;
    const char *path = run_format("%s/cgroup.procs", group.path);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = atoi(line) == pid;
    if (file)
        fclose(file);
    return found;
}

/* Retries, because a reaped process may still be in the group for a moment. */
void control_group_remove(void) {
    RUN_UNTIL(NULL, rmdir(group.path) == 0 || access(group.path, F_OK) < 0);
}
