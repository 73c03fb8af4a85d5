/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of groups found by name, on recorded trees. tests/system/test_env.sh tests them with the
 * kernel.
 */
#include <errno.h>

#include "limit_group.h"
#include "named_group.h"

#include "tree.h"

#define NAME "showstopper-x.bg"

static const struct ss_platform_roots *roots(void) {
    static struct ss_platform_roots roots;
    roots = (struct ss_platform_roots){.proc = tree_path("proc"), .cgroup = tree_path("cgroup")};
    return &roots;
}

TEST(process_joins_the_group_in_each_hierarchy) {
    tree_new();
    tree_write("cgroup/cpu/" NAME "/cgroup.procs", "");
    tree_write("cgroup/cpuset/" NAME "/cgroup.procs", "");
    tree_write("cgroup/cpuset/" NAME "/sub/cgroup.procs", "");
    tree_write("cgroup/cpuset/showstopper-y/cgroup.procs", "");
    assert_int_equal(named_group_join(NAME, 0, 71, roots()), 2);
    tree_assert_file("cgroup/cpu/" NAME "/cgroup.procs", "71");
    tree_assert_file("cgroup/cpuset/" NAME "/cgroup.procs", "71");
    tree_assert_file("cgroup/cpuset/" NAME "/sub/cgroup.procs", "");
    tree_assert_file("cgroup/cpuset/showstopper-y/cgroup.procs", "");
    assert_int_equal(named_group_join("showstopper-z", 0, 71, roots()), 0);
    tree_write("cgroup/cpu/showstopper-z/other", "");
    assert_int_equal(named_group_join("showstopper-z", 0, 71, roots()), -ENOENT);
}

TEST(process_joins_the_subgroups_of_a_given_process) {
    tree_new();
    tree_write("cgroup/cpu/" NAME "/payload/cgroup.procs", "70\n170\n");
    tree_write("cgroup/cpu/" NAME "/monitor/cgroup.procs", "69\n");
    tree_write("cgroup/pids/" NAME "/payload/cgroup.procs", "170\n");
    assert_int_equal(named_group_join(NAME, 70, 71, roots()), 1);
    /* The kernel would add 71 to the file instead of overwriting 70. */
    tree_assert_file("cgroup/cpu/" NAME "/payload/cgroup.procs", "71\n170\n");
    tree_assert_file("cgroup/cpu/" NAME "/monitor/cgroup.procs", "69\n");
    tree_assert_file("cgroup/pids/" NAME "/payload/cgroup.procs", "170\n");
}

TEST(v2_group_below_another_group_is_not_found) {
    tree_new();
    tree_write("cgroup/cgroup.controllers", "cpu\n");
    tree_write("cgroup/user/" NAME "/cgroup.procs", "");
    assert_false(named_group_exists(NAME, roots()));
    tree_write("cgroup/" NAME "/cgroup.procs", "");
    assert_true(named_group_exists(NAME, roots()));
}

TEST(init_process_of_a_container_group_is_found) {
    tree_new();
    tree_write("proc/69/status", "Name:\tlxc\nNSpid:\t69\n");
    tree_write("proc/70/status", "Name:\tsh\nNSpid:\t70\t1\n");
    tree_write("proc/71/status", "Name:\tsh\nNSpid:\t71\t21\nNSpgid:\t71\t1\n");
    tree_write("proc/1/status", "Name:\tinit\nNSpid:\t1\n");
    tree_write("cgroup/cpu/" NAME "/cgroup.procs", "1\n");
    tree_write("cgroup/cpu/" NAME "/monitor/cgroup.procs", "69\n");
    assert_int_equal(named_group_init_pid(NAME, roots()), 0);
    tree_write("cgroup/cpu/" NAME "/payload/cgroup.procs", "71\n72\n70\n");
    assert_int_equal(named_group_init_pid(NAME, roots()), 70);
}

TEST(group_with_the_cpu_time_counter_is_found) {
    char path[256];
    tree_new();
    assert_int_equal(named_group_accounting_path(70, path, sizeof path, roots()), -1);
    tree_write("proc/70/cgroup", "4:cpuset:/a\n0::/here\n");
    assert_int_equal(named_group_accounting_path(70, path, sizeof path, roots()), 0);
    assert_string_equal(path, "/here");
    tree_write("proc/70/cgroup", "4:cpu,cpuacct:/there\n0::/here\n");
    assert_int_equal(named_group_accounting_path(70, path, sizeof path, roots()), 0);
    assert_string_equal(path, "/there");
}

/*
 * A trailing number in the name is not a pid, unlike in groups of limit_group_find().
 */
TEST(named_groups_do_not_remove_each_other) {
    struct limit_group group;
    struct ss_error error = {0};
    tree_new();
    tree_write("proc/self/cgroup", "1:cpu:/\n");
    tree_write("cgroup/cpu/showstopper-8/cpu.cfs_quota_us", "");
    assert_int_equal(mkdir(tree_path("cgroup/cpu/showstopper-2147483647"), 0755), 0);
    assert_int_equal(
        limit_group_make_named(&group, 1U << LIMIT_QUOTA, "showstopper-8", roots(), &error), 0);
    assert_int_equal(access(tree_path("cgroup/cpu/showstopper-2147483647"), F_OK), 0);
}

TEST(failure_keeps_a_named_group_that_existed) {
    struct limit_group group;
    struct ss_error error = {0};
    tree_new();
    tree_write("proc/self/cgroup", "1:cpu:/\n2:cpuset:/\n3:cpuacct:/\n");
    tree_write("cgroup/cpu/used/cpu.cfs_quota_us", "");
    tree_write("cgroup/cpuset/cpuset.cpus", "0\n");
    tree_write("cgroup/cpuacct/cgroup.procs", "");
    assert_int_equal(mkdir(tree_path("cgroup/cpuset/used"), 0755), 0);

    assert_int_equal(limit_group_make_named(
                         &group, 1U << LIMIT_QUOTA | 1U << LIMIT_CPUS, "used", roots(), &error),
        -1);
    assert_int_equal(access(tree_path("cgroup/cpuset/used"), F_OK), 0);
    assert_int_equal(access(tree_path("cgroup/cpuacct/used"), F_OK), -1);

    assert_int_equal(limit_group_make_named(&group, 1U << LIMIT_CPUS, "new", roots(), &error), -1);
    assert_int_equal(access(tree_path("cgroup/cpuset/new"), F_OK), -1);
}

UNIT_RUN
