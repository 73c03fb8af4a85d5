/* SPDX-License-Identifier: Apache-2.0 */

/* Runs with --isolate look to their caller like other runs. */

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "family.h"
#include "isolated.h"
#include "json_text.h"
#include "sandbox.h"

#define QUIET "--isolate", "-q", "-n", "1", "-c", "fixed", "-l", "1/2"

#define EXPECT_STATUS(status, ...) run_expect(RUN(QUIET, __VA_ARGS__), status)

TEST_CASE(isolated_run_returns_the_exit_status) {
    SKIP_UNLESS_ISOLATED();
    EXPECT_STATUS(0, PAYLOAD, "exit", "0");
    EXPECT_STATUS(0, "--duration", "200ms", PAYLOAD, "spin");
    EXPECT_STATUS(7, PAYLOAD, "exit", "7");
    EXPECT_STATUS(128 + SIGTERM, PAYLOAD, "signal", "15");
    EXPECT_STATUS(128 + SIGKILL, PAYLOAD, "signal", "9");
    EXPECT_STATUS(127, "/there/is/none");
    EXPECT_STATUS(126, "/etc/passwd");
    EXPECT_STATUS(125, "-c", "banana", PAYLOAD, "exit", "0");
    EXPECT_STATUS(125, "-f", "command", "-F", PAYLOAD " exit 1", PAYLOAD, "spin");
    if (geteuid() == 0) /* only root can nest namespaces */
        EXPECT_STATUS(5, SHOWSTOPPER, QUIET, PAYLOAD, "exit", "5");
    EXPECT_STATUS(3, "-f", "command", "-F", PAYLOAD " sensor 0.9", "--duration", "3s",
        "--tolerance", "1", PAYLOAD, "spin");
}

TEST_CASE(isolated_run_writes_one_summary) {
    SKIP_UNLESS_ISOLATED();
    struct run *run = SUCCEED("--isolate", "-n", "1", "-c", "fixed", "-l", "50%", "--duration",
        "1s", "--json", "-", PAYLOAD, "spin");
    ck_assert_uint_eq(run_count_text(&run->err, "ended by duration"), 1);
    ck_assert_msg(json_is(run->out.bytes, "ended_by", "\"duration\""), "%s", run->out.bytes);
    ck_assert_double_eq(json_number(run->out.bytes, "instances"), 1);
    /* A killed run may leave such a file. The master inside has the same pid, 2, each time. */
    const char *folder = run_make_folder();
    const char *summary = run_path(folder, "summary");
    run_write_file(run_path(folder, ".summary.2"), "{");
    run = SUCCEED(QUIET, "--duration", "200ms", "--json", summary, PAYLOAD, "spin");
    ck_assert_uint_eq(run->out.length + run->err.length, 0);
    const char *text = run_read_file(summary).bytes;
    ck_assert_msg(json_is(text, "ended_by", "\"duration\""), "%s", text);
}

TEST_CASE(output_of_isolated_instances_is_forwarded) {
    SKIP_UNLESS_ISOLATED();
    const char *folder = run_make_folder();
    const char *output = run_path(folder, "output");
    const char *record = run_path(folder, "record");
    const char *script =
        run_format("until grep -q '\"event\":\"counting\"' %s/events.jsonl; do sleep 0.05; done\n"
                   "exec " PAYLOAD " lines 3 500",
            record);
    struct run *run = SUCCEED(QUIET, "--iteration", "done ([0-9.]+) ms", "--output", output,
        "--record", record, "--json", "-", "sh", "-c", script);
    ck_assert_double_eq(json_number(run->out.bytes, "iterations"), 3);
    struct run_text kept = run_read_file(run_path(output, "0.out"));
    ck_assert_uint_eq(run_count_text(&kept, "done 12.5 ms\n"), 3);
    run = SUCCEED(QUIET, PAYLOAD, "lines", "3", "10");
    ck_assert_uint_eq(run_count_text(&run->out, "done 12.5 ms\n"), 3);
}

TEST_CASE(target_of_an_isolated_run_can_be_set) {
    SKIP_UNLESS_ISOLATED();
    struct run *run = START(QUIET, "-v", "-l", "0%", "--warmup", "500m", PAYLOAD, "spin");
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    const char *number = run_pid_text(run->pid);
    SUCCEED("--set", number, "100%");
    run_wait_text(run, "the target was set to 100 %");
    run_expect_text(&RUN("--status", number)->out, "target 100.00% (--set), ");
    RUN_UNTIL(run, run_state(instance) != 'T');
    run_end(run, SIGTERM);
}

TEST_CASE(proc_shows_the_pids_of_the_namespace) {
    SKIP_UNLESS_ISOLATED();
    struct run *run = SUCCEED(QUIET, "-l", "100%", "sh", "-c",
        "cat /proc/1/comm; echo number=$$; exec readlink /proc/self");
    const char *number = strstr(run->out.bytes, "number=");
    ck_assert_msg(number != NULL, "%s", run->out.bytes);
    int own = atoi(number + strlen("number="));
    ck_assert_int_gt(own, 1);
    ck_assert_int_lt(own, 100); /* pids are small in a new namespace */
    const char *expected = run_format("ss-init\nnumber=%d\n%d\n", own, own);
    ck_assert_str_eq(run->out.bytes, expected);
}

TEST_CASE(mounts_are_invisible_outside_the_namespace) {
    SKIP_UNLESS_ISOLATED();
    SKIP_UNLESS(geteuid() == 0, "root: only root can mount");
    char self[32];
    const char *folder = run_make_folder();
    struct run_text before = run_read_file("/proc/self/mountinfo");
    const char *command = run_format(
        "mount -t tmpfs none %s && touch %s/inside && echo ready && exec " PAYLOAD " spin", folder,
        folder);
    struct run *run = START(QUIET, "-v", "sh", "-c", command);
    run_wait_text(run, "ready");
    ck_assert(!run_exists(run_path(folder, "inside")));
    struct run_text during = run_read_file("/proc/self/mountinfo");
    ck_assert_uint_eq(run_count_text(&during, folder), 0);
    ck_assert_uint_eq(run_count_text(&during, " /proc "), run_count_text(&before, " /proc "));
    ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    ck_assert_int_gt(length, 0);
    self[length] = '\0';
    ck_assert_int_eq(atoi(self), getpid());
    run_end(run, SIGTERM);
}

TEST_CASE(isolation_works_without_privilege) {
    family_need_nobody();
    SKIP_UNLESS(isolated_is_possible(family_become_nobody), "user-namespaces: not permitted");
    struct run_setup setup = {.prepare = family_become_nobody, .folder = "/"};
    struct run *run = RUN_IN(&setup, QUIET, "sh", "-c", "id -u; id -g; cat /proc/1/comm; exit 7");
    run_expect(run, 7);
    ck_assert_str_eq(run->out.bytes, "65534\n65534\nss-init\n");
    run = START_IN(&setup, ISOLATE, "--grace", "30s", PAYLOAD, "catch");
    struct isolated_run isolated = isolated_find(run);
    run_wait_ready(run, 2);
    run_end(run, SIGTERM);
    ck_assert_uint_eq(run_count(run, "caught 15\n"), 2);
    isolated_free_clean(&isolated);
}

static void deny_namespaces(void) {
    sandbox_deny_if(SYS_clone, 0, CLONE_NEWPID, EPERM);
}

static void deny_mounts(void) {
    sandbox_deny(SYS_mount, EPERM);
}

static void put_or_leave(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        _exit(SANDBOX_MISSING);
}

static void write_or_leave(const char *path, unsigned number, const char *format) {
    const char *text = run_format(format, number, number);
    put_or_leave(path, text);
}

/* As if an administrator had set the limit to 0. */
static void deny_user_namespaces(void) {
    if (geteuid() == 0)
        family_become_nobody();
    unsigned user = geteuid();
    unsigned group = getegid();
    prctl(PR_SET_DUMPABLE, 1); /* otherwise root owns the maps */
    if (unshare(CLONE_NEWUSER) < 0)
        _exit(SANDBOX_MISSING);
    write_or_leave("/proc/self/setgroups", 0, "deny");
    write_or_leave("/proc/self/uid_map", user, "%u %u 1");
    write_or_leave("/proc/self/gid_map", group, "%u %u 1");
    write_or_leave("/proc/sys/user/max_user_namespaces", 0, "0");
}

/* `missing`: the reason to skip the test if `prepare` cannot forbid this. */
static void expect_refusal(void (*prepare)(void), const char *why, const char *missing) {
    const char *folder = run_make_folder();
    const char *witness = run_path(folder, "witness");
    struct run_setup setup = {.prepare = prepare, .folder = "/"};
    chmod(folder, 0777);
    struct run *run = RUN_IN(&setup, QUIET, PAYLOAD, "touch", witness);
    bool touched = run_exists(witness);
    run_expect_nothing_left();
    SKIP_UNLESS(run->status != SANDBOX_MISSING, missing);
    run_expect_refusal(run, "showstopper: --isolate: cannot create a PID namespace");
    run_expect_text(&run->err, why);
    ck_assert_uint_eq(run_count_text(&run->err, "\n"), 1);
    ck_assert_uint_eq(run->out.length, 0);
    ck_assert(!touched);
}

static const char *chroot_folder;

/* Enters the same file system at another path, which is not a mount point. */
static void enter_chroot(void) {
    sandbox_leave_mounts();
    DIR *root = opendir("/");
    for (struct dirent *entry; root && (entry = readdir(root));) {
        char from[512], to[1024], link[512] = "";
        struct stat status;
        snprintf(from, sizeof from, "/%.255s", entry->d_name);
        snprintf(to, sizeof to, "%s/%.255s", chroot_folder, entry->d_name);
        if (entry->d_name[0] == '.' || lstat(from, &status) < 0)
            continue;
        bool done = true;
        if (S_ISLNK(status.st_mode))
            done = readlink(from, link, sizeof link - 1) > 0 && symlink(link, to) == 0;
        else if (S_ISDIR(status.st_mode))
            done = mkdir(to, 0755) == 0 && mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0;
        if (!done)
            _exit(SANDBOX_MISSING);
    }
    if (chroot(chroot_folder) < 0 || chdir("/") < 0)
        _exit(SANDBOX_MISSING);
}

/* Removes only what the test made, whatever is mounted. */
static void remove_chroot(void) {
    DIR *folder = opendir(chroot_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (rmdir(run_path(chroot_folder, entry->d_name)) < 0)
            unlink(run_path(chroot_folder, entry->d_name));
    }
    closedir(folder);
    rmdir(chroot_folder);
}

TEST_CASE(isolation_works_in_a_chroot) {
    SKIP_UNLESS_ISOLATED();
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    chroot_folder = run_make_folder();
    struct run_setup setup = {.prepare = enter_chroot, .folder = "/"};
    struct run *run = RUN_IN(&setup, QUIET, "true");
    run_expect_nothing_left();
    remove_chroot();
    SKIP_UNLESS(run->status != SANDBOX_MISSING, "root: chroot is not permitted");
    run_expect(run, 0);
}

TEST_CASE(isolation_without_permission_is_refused) {
    SKIP_UNLESS_ISOLATED();
    expect_refusal(deny_namespaces, "Operation not permitted", "seccomp: no filter is allowed");
    expect_refusal(deny_mounts, "Operation not permitted", "seccomp: no filter is allowed");
    if (geteuid() == 0)
        family_need_nobody();
    expect_refusal(deny_user_namespaces, "No space left", "user-namespaces: none to forbid more");
}

/*
 * Mounts a fake hierarchy of version 2 whose only group uses no CPU time, and whose root lists one
 * process, number 2: a kernel thread here, but not in another PID namespace.
 */
static void enter_version_2(void) {
    if (!sandbox_unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        _exit(SANDBOX_MISSING);
    while (umount2("/sys/fs/cgroup", MNT_DETACH) == 0)
        continue;
    if (mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL) < 0 ||
        mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL) < 0 ||
        mkdir("/sys/fs/cgroup/group", 0755) < 0)
        _exit(SANDBOX_MISSING);
    put_or_leave("/sys/fs/cgroup/cgroup.procs", "2\n");
    put_or_leave("/sys/fs/cgroup/group/cpu.stat", "usage_usec 0\n");
}

TEST_CASE(an_isolated_run_keeps_the_source_of_the_load) {
    SKIP_UNLESS_ISOLATED();
    for (int isolated = 0; isolated < 2; isolated++) {
        struct run_setup setup = {.prepare = enter_version_2};
        struct run *run = RUN_IN(&setup, "-q", "--json", "-", "-n", "1", "-c", "fixed", "-l",
            "100%", "--duration", "1s", isolated ? "--isolate" : "--quiet", PAYLOAD, "spin");
        SKIP_UNLESS(run->status != SANDBOX_MISSING, "cgroup-v2: cannot be mounted");
        run_expect(run, 0);
        ck_assert_double_eq(json_number(run->out.bytes, "load_mean"), 0);
    }
}
