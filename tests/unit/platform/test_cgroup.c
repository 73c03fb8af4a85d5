/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "platform/linux/linux.h"
#include "platform/platform.h"
#include "tree.h"

static struct ss_counter_reader reader = {.file = -1};
static struct ss_counters counters;

static int open_group(const char *group, const char *list, struct ss_error *error) {
    struct ss_cpus cpus;
    struct ss_platform_roots roots = {.proc = tree_path("proc"), .cgroup = tree_path("cgroup")};
    assert_int_equal(ss_cpus_parse(list, &cpus, NULL), 0);
    ss_platform_counters_close(&reader);
    struct ss_source_request request = {.source = SS_SOURCE_CGROUP, .argument = group};
    return ss_platform_counters_open(&reader, &request, &cpus, &roots, error);
}

static void read_group(const char *group, const char *list) {
    struct ss_error error = {0};
    if (open_group(group, list, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
}

static void refuse_group(const char *group, const char *words) {
    struct ss_error error = {0};
    assert_int_equal(open_group(group, "0-3", &error), -1);
    if (!strstr(error.message, words))
        fail_msg("message without '%s': %s", words, error.message);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    assert_int_equal(reader.file, -1);
}

static void assert_allowance(const char *group, double capacity) {
    read_group(group, "0-3");
    if (counters.capacity != capacity)
        fail_msg(
            "'%s' may use %g CPUs, not %g", group ? group : "our own", counters.capacity, capacity);
}

#define USAGE "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\nnr_periods 0\n"

static void v2_cpu_time_is_read_in_microseconds(void **state) {
    tree_new();
    tree_write("cgroup/web/cpu.stat", USAGE);
    ss_time before = ss_platform_now();
    read_group("web", "0-3");
    assert_int_equal(counters.used, 1234567000);
    assert_that(counters.capacity, ==, 4);
    assert_in_range(counters.time, before, ss_platform_now());
    assert_string_equal(reader.path, tree_path("cgroup/web/cpu.stat"));
    tree_write("cgroup/web/cpu.stat", "user_usec 5\nusage_usec 1234568\n");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    assert_int_equal(counters.used, 1234568000);
}

static void v2_quota_is_the_allowance(void **state) {
    tree_new();
    tree_write("cgroup/web/cpu.stat", USAGE);
    tree_write("cgroup/web/cpu.max", "150000 100000\n");
    assert_allowance("web", 1.5);
    tree_write("cgroup/web/cpu.max", "max 100000\n");
    assert_allowance("web", 4);
    tree_write("cgroup/web/cpu.max", "800000 100000\n"); /* more than the machine has */
    assert_allowance("web", 4);
    tree_write("cgroup/web/cpu.max", "25000 50000\n");
    assert_allowance("web", 0.5);
    tree_write("cgroup/web/cpu.max", "150000\n");
    assert_allowance("web", 4);
    tree_write("cgroup/web/cpu.max", "");
    assert_allowance("web", 4);
    tree_write("cgroup/web/cpu.max", "150000 0\n");
    assert_allowance("web", 4);
}

static void v2_tightest_quota_of_all_parents_counts(void **state) {
    tree_new();
    tree_write("cgroup/a/b/c/cpu.stat", USAGE);
    tree_write("cgroup/a/b/c/cpu.max", "300000 100000\n");
    tree_write("cgroup/a/b/cpu.max", "max 100000\n");
    tree_write("cgroup/a/cpu.max", "200000 100000\n");
    assert_allowance("a/b/c", 2);
    tree_write("cgroup/a/b/cpu.max", "50000 100000\n");
    assert_allowance("/a/b/c", 0.5);
    tree_write("cgroup/a/b/c/cpu.max", "10000 100000\n");
    assert_allowance("a/b/c", 0.1);
}

/* In a container, the visible root is a group with its own limit. */
static void v2_quota_of_a_container_root_counts(void **state) {
    tree_new();
    tree_write("cgroup/cpu.stat", USAGE);
    tree_write("cgroup/cpu.max", "150000 100000\n");
    tree_write("cgroup/init.scope/cpu.stat", USAGE);
    tree_write("cpu.max", "1000 100000\n"); /* above the root, so ignored */
    tree_write("proc/self/cgroup", "0::/\n");
    assert_allowance("/", 1.5);
    assert_allowance(NULL, 1.5);
    tree_write("proc/self/cgroup", "0::/init.scope\n");
    assert_allowance("init.scope", 1.5);
    assert_allowance(NULL, 1.5);
}

static void allowance_is_limited_by_the_cpus_of_the_group(void **state) {
    tree_new();
    tree_write("cgroup/web/cpu.stat", USAGE);
    tree_write("cgroup/web/cpuset.cpus.effective", "0,2\n");
    assert_allowance("web", 2);
    /* Only measured CPUs count. */
    tree_write("cgroup/web/cpuset.cpus.effective", "2-7\n");
    assert_allowance("web", 2);
    tree_write("cgroup/web/cpuset.cpus.effective", "0-63\n");
    assert_allowance("web", 4);
    tree_write("cgroup/web/cpuset.cpus.effective", "\n");
    assert_allowance("web", 4);
    tree_write("cgroup/web/cpuset.cpus.effective", "nonsense\n");
    assert_allowance("web", 4);
    /* The quota is below the number of CPUs, or above it. */
    tree_write("cgroup/web/cpuset.cpus.effective", "0-1\n");
    tree_write("cgroup/web/cpu.max", "300000 100000\n");
    assert_allowance("web", 2);
    tree_write("cgroup/web/cpu.max", "100000 100000\n");
    assert_allowance("web", 1);
}

static void v1_cpu_time_is_read_in_nanoseconds(void **state) {
    tree_new();
    tree_write("cgroup/cpuacct/docker/x/cpuacct.usage", "1234567890123\n");
    read_group("docker/x", "0-1");
    assert_that(counters.used, ==, UINT64_C(1234567890123));
    assert_that(counters.capacity, ==, 2);
    assert_string_equal(reader.path, tree_path("cgroup/cpuacct/docker/x/cpuacct.usage"));
    tree_write("cgroup/cpuacct/cpuacct.usage", "5\n");
    read_group("/", "0-1");
    assert_string_equal(reader.path, tree_path("cgroup/cpuacct/cpuacct.usage"));
}

static void v1_cpus_are_in_the_cpuset_hierarchy(void **state) {
    tree_new();
    tree_write("cgroup/cpuacct/docker/x/cpuacct.usage", "1\n");
    tree_write("cgroup/cpuset/docker/x/cpuset.effective_cpus", "1\n");
    assert_allowance("docker/x", 1);
    tree_write("cgroup/cpuset/docker/x/cpuset.effective_cpus", "0,2-3\n");
    assert_allowance("docker/x", 3);
    /* Our own group may have another path in this hierarchy. */
    tree_write("proc/self/cgroup", "4:cpuset:/set\n3:cpuacct:/docker/x\n");
    assert_allowance(NULL, 4);
    tree_write("cgroup/cpuset/set/cpuset.effective_cpus", "0-1\n");
    assert_allowance(NULL, 2);
}

static void v1_quota_is_in_the_cpu_hierarchy(void **state) {
    tree_new();
    tree_write("cgroup/cpuacct/docker/x/cpuacct.usage", "1\n");
    tree_write("cgroup/cpu/docker/x/cpu.cfs_quota_us", "150000\n");
    tree_write("cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
    assert_allowance("docker/x", 1.5);
    tree_write("cgroup/cpu/docker/x/cpu.cfs_quota_us", "-1\n");
    assert_allowance("docker/x", 4);
    tree_write("cgroup/cpu/docker/cpu.cfs_quota_us", "25000\n");
    tree_write("cgroup/cpu/docker/cpu.cfs_period_us", "100000\n");
    assert_allowance("docker/x", 0.25);
    assert_int_equal(remove(tree_path("cgroup/cpu/docker/cpu.cfs_period_us")), 0);
    assert_allowance("docker/x", 4);
}

/* The controllers may be mounted separately, and a process may be in a different group of each. */
static void v1_quota_of_our_own_group_is_found_at_a_different_path(void **state) {
    tree_new();
    tree_write("proc/self/cgroup", "3:cpuacct:/\n2:cpu:/jobs/x\n0::/\n");
    tree_write("cgroup/cpuacct/cpuacct.usage", "1\n");
    tree_write("cgroup/cpu/jobs/x/cpu.cfs_quota_us", "50000\n");
    tree_write("cgroup/cpu/jobs/x/cpu.cfs_period_us", "100000\n");
    assert_allowance(NULL, 0.5);
    assert_int_equal(counters.used, 1);
    assert_allowance("/", 4);
    /* The CPU time may be available only in v2. */
    assert_int_equal(remove(tree_path("cgroup/cpuacct/cpuacct.usage")), 0);
    tree_write("cgroup/unified/cpu.stat", USAGE);
    assert_allowance(NULL, 0.5);
    assert_int_equal(counters.used, 1234567000);
    tree_write("cgroup/cpu/jobs/cpu.cfs_quota_us", "5000\n");
    tree_write("cgroup/cpu/jobs/cpu.cfs_period_us", "20000\n");
    assert_allowance(NULL, 0.25);
}

static void assert_throttling(double cpus, ss_time period, uint64_t throttled) {
    assert_that(counters.cpus, ==, cpus);
    assert_int_equal(counters.period, period);
    assert_int_equal(counters.throttled, throttled);
}

/* Throttling affects the group with the tightest quota. */
static void quota_is_read_with_its_period(void **state) {
    tree_new();
    tree_write("cgroup/a/b/cpu.stat", USAGE "throttled_usec 5\n");
    tree_write("cgroup/a/cpu.stat", USAGE "nr_throttled 3\nthrottled_usec 70\n");
    assert_allowance("a/b", 4);
    assert_throttling(4, 0, 0);
    tree_write("cgroup/a/b/cpu.max", "100000 100000\n");
    assert_allowance("a/b", 1);
    assert_throttling(4, 100 * SS_MILLISECOND, 5000);
    tree_write("cgroup/a/cpu.max", "10000 20000\n");
    assert_allowance("a/b", 0.5);
    assert_throttling(4, 20 * SS_MILLISECOND, 70000);
    tree_write("cgroup/a/cpu.stat", "throttled_usec 71\n");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    assert_throttling(4, 20 * SS_MILLISECOND, 71000);
    /* A quota that exceeds the machine has no effect. */
    tree_write("cgroup/a/cpu.max", "max 20000\n");
    tree_write("cgroup/a/b/cpu.max", "400000 100000\n");
    assert_allowance("a/b", 4);
    assert_throttling(4, 0, 0);
}

static void v1_throttled_time_is_read_in_nanoseconds(void **state) {
    tree_new();
    tree_write("cgroup/cpuacct/x/cpuacct.usage", "1\n");
    tree_write("cgroup/cpu/x/cpu.cfs_quota_us", "150000\n");
    tree_write("cgroup/cpu/x/cpu.cfs_period_us", "50000\n");
    tree_write("cgroup/cpu/x/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 12345\n");
    assert_allowance("x", 3);
    assert_throttling(4, 50 * SS_MILLISECOND, 12345);
    assert_int_equal(remove(tree_path("cgroup/cpu/x/cpu.stat")), 0);
    assert_allowance("x", 3);
    assert_throttling(4, 50 * SS_MILLISECOND, 0);
}

static void v1_controllers_may_share_one_hierarchy(void **state) {
    tree_new();
    tree_write("cgroup/cpu,cpuacct/x/cpuacct.usage", "77\n");
    tree_write("cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n");
    tree_write("cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    assert_allowance("x", 0.5);
    assert_int_equal(counters.used, 77);
}

static void v2_hierarchy_is_found_below_unified_on_mixed_systems(void **state) {
    tree_new();
    tree_write("cgroup/unified/x/cpu.stat", USAGE);
    tree_write("cgroup/unified/x/cpu.max", "100000 100000\n");
    assert_allowance("x", 1);
    assert_int_equal(counters.used, 1234567000);
    /* The cpu.stat of v1 has no CPU time. */
    tree_write("cgroup/unified/x/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    refuse_group("x", "control group 'x': no cpu.stat or cpuacct.usage below");
}

static void our_own_group_is_the_default(void **state) {
    tree_new();
    tree_write("proc/self/cgroup", "0::/user.slice/me\n");
    tree_write("cgroup/user.slice/me/cpu.stat", "usage_usec 5\n");
    read_group(NULL, "0-3");
    assert_int_equal(counters.used, 5000);
    tree_write("proc/self/cgroup", "12:pids:/p\n4:cpuset:/set\n3:cpu,cpuacct:/docker/x\n"
                                   "1:name=systemd:/s\n0::/user.slice/me\n");
    tree_write("cgroup/cpuacct/docker/x/cpuacct.usage", "6\n");
    read_group(NULL, "0-3");
    assert_int_equal(counters.used, 6);
}

static void assert_own(const char *controller, const char *expected) {
    char path[64] = "";
    struct ss_platform_roots roots = {.proc = tree_path("proc")};
    int status = ss_linux_own_cgroup(&roots, controller, path, sizeof path);
    assert_int_equal(status, expected ? 0 : -1);
    assert_string_equal(path, expected ? expected : "");
}

static void our_own_group_is_found_by_controller(void **state) {
    tree_new();
    assert_own(NULL, NULL);
    tree_write("proc/self/cgroup", "nonsense\n9:cpuset:/set\n3:cpu,cpuacct:/a:b\n2:mycpu:/my\n");
    assert_own("cpu", "/a:b");
    assert_own("cpuacct", "/a:b");
    assert_own("cpuset", "/set");
    assert_own("set", NULL);
    assert_own("acct", NULL);
    assert_own(NULL, NULL);
    tree_write("proc/self/cgroup", "0::/v2");
    assert_own(NULL, "/v2");
    assert_own("cpu", NULL);
}

static void assert_quota(double cpus, uint64_t periods, uint64_t throttled) {
    struct ss_platform_roots roots = {.proc = tree_path("proc"), .cgroup = tree_path("cgroup")};
    struct ss_quota quota = {.cpus = -1};
    ss_platform_quota_read(&roots, &quota);
    if (quota.cpus != cpus)
        fail_msg("a quota of %g CPUs, not %g", quota.cpus, cpus);
    assert_int_equal(quota.periods, periods);
    assert_int_equal(quota.throttled, throttled);
}

static void our_own_tightest_quota_is_found(void **state) {
    tree_new();
    assert_quota(0, 0, 0);
    tree_write("proc/self/cgroup", "0::/a/b\n");
    tree_write("cgroup/cgroup.controllers", "cpu\n");
    tree_write("cgroup/a/b/cpu.max", "max 100000\n");
    tree_write("cgroup/a/b/cpu.stat", "usage_usec 1\nnr_periods 7\nnr_throttled 6\n");
    assert_quota(0, 0, 0);
    tree_write("cgroup/a/cpu.max", "50000 100000\n");
    tree_write("cgroup/a/cpu.stat", "usage_usec 1\nnr_periods 20\nnr_throttled 19\n");
    assert_quota(0.5, 20, 19);
    tree_write("cgroup/a/b/cpu.max", "200000 100000\n");
    assert_quota(0.5, 20, 19);
    tree_write("cgroup/a/b/cpu.max", "20000 100000\n");
    assert_quota(0.2, 7, 6);
    /* In version 1, a container may see the host's path while its limit is at the root. */
    tree_new();
    tree_write("proc/self/cgroup", "3:cpu,cpuacct:/docker/x\n0::/\n");
    tree_write("cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    tree_write("cgroup/cpu/cpu.cfs_period_us", "100000\n");
    tree_write("cgroup/cpu/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 9\n");
    assert_quota(1.5, 3, 2);
    assert_int_equal(remove(tree_path("cgroup/cpu/cpu.stat")), 0);
    assert_quota(1.5, 0, 0);
}

static void full_paths_of_groups_are_accepted(void **state) {
    tree_new();
    char path[4096];
    tree_write("cgroup/a/b/cpu.stat", "usage_usec 7\n");
    tree_write("cgroup/a/cpu.max", "100000 100000\n");
    snprintf(path, sizeof path, "%s", tree_path("cgroup/a/b"));
    assert_allowance(path, 1);
    assert_int_equal(counters.used, 7000);
    /* A group outside the tree is invalid. */
    tree_write("other/cpu.stat", USAGE);
    snprintf(path, sizeof path, "%s", tree_path("other"));
    refuse_group(path, "name an existing group");
}

static void unknown_groups_are_reported_by_name(void **state) {
    tree_new();
    char expected[4200];
    snprintf(expected, sizeof expected,
        "control group 'none': no cpu.stat or cpuacct.usage below %s", tree_path("cgroup"));
    refuse_group("none", expected);
    refuse_group(NULL, "control group '(showstopper's own)'");
    tree_write("proc/self/cgroup", "0::/gone\n");
    refuse_group(NULL, "control group '(showstopper's own)'");
}

static void garbled_group_counters_are_refused(void **state) {
    tree_new();
    tree_write("cgroup/web/cpu.stat", USAGE);
    read_group("web", "0-3");
    tree_write("cgroup/web/cpu.stat", "");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), -EBADMSG);
    tree_write("cgroup/web/cpu.stat", "usage_usec x\n");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), -EBADMSG);
    tree_write("cgroup/web/cpu.stat", "nothing\n");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), -EBADMSG);
    tree_new();
    tree_write("cgroup/cpuacct/x/cpuacct.usage", "\n");
    refuse_group("x", "/cpuacct.usage: ");
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(v2_cpu_time_is_read_in_microseconds),
    cmocka_unit_test(v2_quota_is_the_allowance),
    cmocka_unit_test(v2_tightest_quota_of_all_parents_counts),
    cmocka_unit_test(v2_quota_of_a_container_root_counts),
    cmocka_unit_test(allowance_is_limited_by_the_cpus_of_the_group),
    cmocka_unit_test(v1_cpu_time_is_read_in_nanoseconds),
    cmocka_unit_test(v1_cpus_are_in_the_cpuset_hierarchy),
    cmocka_unit_test(v1_quota_is_in_the_cpu_hierarchy),
    cmocka_unit_test(v1_quota_of_our_own_group_is_found_at_a_different_path),
    cmocka_unit_test(quota_is_read_with_its_period),
    cmocka_unit_test(v1_throttled_time_is_read_in_nanoseconds),
    cmocka_unit_test(v1_controllers_may_share_one_hierarchy),
    cmocka_unit_test(v2_hierarchy_is_found_below_unified_on_mixed_systems),
    cmocka_unit_test(our_own_group_is_the_default),
    cmocka_unit_test(our_own_group_is_found_by_controller),
    cmocka_unit_test(our_own_tightest_quota_is_found),
    cmocka_unit_test(full_paths_of_groups_are_accepted),
    cmocka_unit_test(unknown_groups_are_reported_by_name),
    cmocka_unit_test(garbled_group_counters_are_refused))
