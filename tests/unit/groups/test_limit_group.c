/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which group becomes the parent of a quota's group, on recorded trees. Files that the kernel
 * would create in a new group are written first, because a group with our pid is reused.
 * tests/system/test_guests.sh uses a real kernel.
 */
#include "limit_group.h"

#include "tree.h"

static struct limit_group group;

/* Returns the path of a file in the group test-PID below `parent`. */
static const char *ours(const char *parent, const char *file) {
    static char names[4][512];
    static unsigned turn;
    char *name = names[turn++ % 4];
    snprintf(name, sizeof names[0], "cgroup%s/test-%d%s%s", parent, (int)getpid(), *file ? "/" : "",
        file);
    return name;
}

static void write_group(const char *name, const char *gives, const char *processes) {
    char path[512];
    snprintf(path, sizeof path, "cgroup%s/cgroup.controllers", name);
    tree_write(path, "cpuset cpu io memory pids\n");
    snprintf(path, sizeof path, "cgroup%s/cgroup.subtree_control", name);
    tree_write(path, gives);
    snprintf(path, sizeof path, "cgroup%s/cgroup.procs", name);
    tree_write(path, processes);
    if (*name) {
        snprintf(path, sizeof path, "cgroup%s/cgroup.type", name);
        tree_write(path, "domain\n");
    }
}

static int make(struct ss_error *error) {
    struct ss_platform_roots roots = {.proc = tree_path("proc"), .cgroup = tree_path("cgroup")};
    if (limit_group_find(&group, 1U << LIMIT_QUOTA, "test", &roots, error) < 0)
        return -1;
    return limit_group_make(&group, error);
}

static void make_in(const char *parent) {
    struct ss_error error = {0};
    if (make(&error) < 0)
        fail_msg("%s", error.message);
    assert_string_equal(group.parts[LIMIT_QUOTA].folder, tree_path(ours(parent, "")));
}

static void refuse(const char *words) {
    struct ss_error error = {0};
    assert_int_equal(make(&error), -1);
    assert_says(error.message, words);
    assert_string_equal(group.parts[LIMIT_QUOTA].folder, "");
}

static void set_quota(double cpus, ss_time period) {
    struct ss_error error = {0};
    assert_succeeds(limit_group_set_quota(&group, cpus, period, &error), error);
}

TEST(v1_limit_group_is_below_our_own_group) {
    tree_new();
    tree_write("proc/self/cgroup", "4:cpu,cpuacct:/a/b\n0::/\n");
    tree_write("cgroup/cpu,cpuacct/a/b/cgroup.procs", "1\n2\n");
    tree_write(ours("/cpu,cpuacct/a/b", "cpu.cfs_quota_us"), "");
    tree_write(ours("/cpu,cpuacct/a/b", "cpu.cfs_period_us"), "");
    make_in("/cpu,cpuacct/a/b");
    assert_false(group.parts[LIMIT_QUOTA].unified);
    set_quota(0.4, 10 * SS_MILLISECOND);
    tree_assert_file(ours("/cpu,cpuacct/a/b", "cpu.cfs_quota_us"), "4000");
    tree_assert_file(ours("/cpu,cpuacct/a/b", "cpu.cfs_period_us"), "10000");
}

TEST(v2_limit_group_may_be_below_a_populated_root) {
    tree_new();
    tree_write("proc/self/cgroup", "0::/\n");
    write_group("", "", "1\n2\n");
    tree_write(ours("", "cpu.max"), "");
    tree_write(ours("", "cgroup.procs"), "");
    make_in("");
    tree_assert_file("cgroup/cgroup.subtree_control", "+cpu");
    set_quota(1.5, 100 * SS_MILLISECOND);
    tree_assert_file(ours("", "cpu.max"), "150000 100000");
    assert_int_equal(limit_group_enter(&group), 0);
    tree_assert_file(ours("", "cgroup.procs"), "0");
}

TEST(v2_mount_of_a_mixed_system_is_found) {
    tree_new();
    tree_write("proc/self/cgroup", "1:memory:/a\n0::/\n");
    write_group("/unified", "cpu", "");
    tree_write(ours("/unified", "cpu.max"), "");
    make_in("/unified");
    tree_assert_file("cgroup/unified/cgroup.subtree_control", "cpu");
}

/* The kernel does not delegate controllers to children of a group that has processes. */
TEST(v2_populated_group_is_skipped) {
    tree_new();
    tree_write("proc/self/cgroup", "0::/user/session\n");
    write_group("", "cpu memory", "1\n");
    write_group("/user", "memory", "");
    write_group("/user/session", "", "70\n71\n");
    tree_write(ours("/user", "cpu.max"), "");
    make_in("/user");
    /* The kernel would add cpu instead of overwriting a part of "memory". */
    tree_assert_file("cgroup/user/cgroup.subtree_control", "+cpury");
    tree_assert_file("cgroup/user/session/cgroup.subtree_control", "");
    /* A group that already delegates the controller is left unchanged. */
    write_group("/user", "cpu memory", "");
    make_in("/user");
    tree_assert_file("cgroup/user/cgroup.subtree_control", "cpu memory");
}

TEST(v2_process_stays_within_its_limited_group) {
    static const char *const limits[][2] = {
        {"cgroup/user/cpu.max", "50000 100000\n"},
        {"cgroup/user/memory.max", "1000000\n"},
        {"cgroup/user/cpuset.cpus", "0-1\n"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        tree_new();
        tree_write("proc/self/cgroup", "0::/user\n");
        write_group("", "cpu", "1\n");
        write_group("/user", "", "70\n71\n");
        tree_write(ours("", "cpu.max"), "");
        tree_write(limits[i][0], "max\n");
        if (i == 2)
            tree_write(limits[i][0], "\n");
        make_in("");
        tree_write(limits[i][0], limits[i][1]);
        refuse("cannot create a control group with a CPU quota");
    }
}

TEST(v2_sole_process_moves_into_a_child_group) {
    char own[32], child[512];
    tree_new();
    snprintf(own, sizeof own, "%d\n", (int)getpid());
    tree_write("proc/self/cgroup", "0::/run\n");
    write_group("", "", "1\n");
    write_group("/run", "", own);
    tree_write(ours("/run", "cpu.max"), "");
    snprintf(child, sizeof child, "cgroup/run/test-%d.caller/cgroup.procs", (int)getpid());
    tree_write(child, "");
    make_in("/run");
    tree_assert_file(child, "0");
    tree_assert_file("cgroup/run/cgroup.subtree_control", "+cpu");
    limit_group_remove(&group);
    tree_assert_file("cgroup/run/cgroup.subtree_control", "-cpu");
}

TEST(group_that_cannot_have_a_quota_is_refused) {
    tree_new();
    tree_write("proc/self/cgroup", "0::/\n");
    write_group("", "cpu", "1\n2\n");
    refuse("cannot create the control group");
    assert_int_not_equal(access(tree_path(ours("", "")), F_OK), 0);
    /* A root with a type is that of a container. */
    write_group("", "", "1\n2\n");
    tree_write("cgroup/cgroup.type", "domain\n");
    refuse("systemd-run --scope -p Delegate=yes");
    tree_new();
    refuse("cannot create a control group with a CPU quota");
}

TEST(groups_of_dead_processes_are_removed) {
    char living[64];
    tree_new();
    tree_write("proc/self/cgroup", "0::/\n");
    write_group("", "cpu", "1\n");
    tree_write(ours("", "cpu.max"), "");
    snprintf(living, sizeof living, "cgroup/test-%d", (int)getppid());
    /* Larger than any pid. */
    assert_int_equal(mkdir(tree_path("cgroup/test-2147483647"), 0755), 0);
    assert_int_equal(mkdir(tree_path(living), 0755), 0);
    assert_int_equal(mkdir(tree_path("cgroup/test-x"), 0755), 0);
    make_in("");
    assert_int_not_equal(access(tree_path("cgroup/test-2147483647"), F_OK), 0);
    assert_int_equal(access(tree_path(living), F_OK), 0);
    assert_int_equal(access(tree_path("cgroup/test-x"), F_OK), 0);
}

UNIT_RUN
