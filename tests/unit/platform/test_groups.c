/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run time summed over the child groups of the root in version 2. */

#include <errno.h>
#include <fcntl.h>
#include <sys/sysinfo.h>

#include "counter_reader.h"

#define OUTSIDE "not all processes are in child groups of the root control group"

#define KERNEL_THREAD "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n"
#define EXITING       "7 (gone) Z 1 7 7 0 -1 4228108 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n"
#define PROCESS       "9 (a b) S 1 9 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n"

/*
 * A reader detects new and removed groups by the time of their folder and the number of its links.
 * Some file systems do not count links and have coarse times, so each change sets another time.
 */
static void mark_change(void) {
    static time_t changes;
    const struct timespec now = {.tv_sec = ++changes};
    const struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, tree_path("groups"), times, 0), 0);
}

static void write_usage(const char *group, const char *microseconds) {
    char name[256];
    char text[256];
    snprintf(name, sizeof name, "groups/%s/cpu.stat", group);
    snprintf(text, sizeof text, "usage_usec %s\nuser_usec 1\nsystem_usec 2\n", microseconds);
    tree_write(name, text);
    mark_change();
}

static void remove_group(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "groups/%s/cpu.stat", name);
    assert_int_equal(remove(tree_path(path)), 0);
    snprintf(path, sizeof path, "groups/%s", name);
    assert_int_equal(remove(tree_path(path)), 0);
    mark_change();
}

/* As under systemd, the root has only kernel threads and exiting processes. */
static void make_machine(void) {
    char text[4096];
    tree_new();
    tree_write("proc/stat", "cpu0 1 2 3 4\n");
    tree_write("proc/2/stat", KERNEL_THREAD);
    tree_write("proc/7/stat", EXITING);
    snprintf(text, sizeof text,
        "31 23 0:28 / %s/elsewhere rw,relatime - tmpfs tmpfs rw,mode=755\n"
        "33 31 0:30 /a %s/part rw - cgroup2 cgroup2 rw\n"
        "34 31 0:30 / %s/groups rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
        tree_root, tree_root, tree_root);
    tree_write("proc/self/mountinfo", text);
    tree_write("groups/cgroup.procs", "2\n7\n8\n");
    tree_write("groups/cpu.stat", "usage_usec 99\n");
    write_usage("init.scope", "1000");
    write_usage("system.slice", "20000");
    write_usage("system.slice/a.service", "700");
    write_usage("user.slice", "300000");
}

static void open_with(const char *list) {
    struct ss_error error = {0};
    assert_succeeds(try_to_open(SS_SOURCE_RUNTIME, tree_path("proc"), list, &error), error);
}

static void open_reader(void) {
    open_with(all_cpus());
}

static void assert_fallback(const char *reason) {
    open_reader();
    assert_int_not_equal(reader.source, SS_SOURCE_RUNTIME);
    assert_string_equal(reader.reason, reason);
    read_reader();
    assert_false(counters.ran);
    assert_int_equal(counters.idle / SS_MILLISECOND, 40);
}

static void assert_used(uint64_t microseconds) {
    read_reader();
    assert_int_equal(counters.used, microseconds * SS_MICROSECOND);
}

/* Makes too many groups, together with those of make_machine(). */
static void make_many_groups(void) {
    for (int i = 0; i < SS_GROUP_SUM_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "g%d", i);
        write_usage(name, "1");
    }
}

TEST(run_times_of_child_groups_are_summed) {
    make_machine();
    open_reader();
    assert_int_equal(reader.source, SS_SOURCE_RUNTIME);
    assert_string_equal(reader.path, tree_path("groups"));
    assert_string_equal(reader.reason, "");
    ss_time before = ss_platform_now();
    assert_used(321000);
    assert_true(counters.ran);
    assert_that(counters.capacity, ==, count_all_cpus());
    assert_in_range(counters.time, before, ss_platform_now());
    uint64_t set = counters.set;
    write_usage("user.slice", "18446744073709551");
    assert_used(18446744073709551 + 21000);
    assert_int_equal(counters.set, set);
}

TEST(created_and_removed_child_groups_change_the_set) {
    make_machine();
    open_reader();
    assert_used(321000);
    uint64_t set = counters.set;
    write_usage("machine.slice", "4000000");
    assert_used(4321000);
    assert_int_not_equal(counters.set, set);
    set = counters.set;
    remove_group("init.scope");
    assert_used(4320000);
    assert_int_not_equal(counters.set, set);
}

TEST(reopened_group_reader_shares_no_descriptors) {
    make_machine();
    open_reader();
    assert_used(321000);
    uint64_t set = counters.set;
    int first = reader.sum.groups[0];
    assert_int_equal(ss_platform_counters_reopen(&reader), 0);
    assert_int_not_equal(reader.sum.groups[0], first);
    assert_used(321000);
    assert_int_equal(counters.set, set);
    first = reader.sum.groups[0];
    ss_platform_counters_close(&reader);
    assert_int_equal(fcntl(first, F_GETFD), -1);
}

/* Processes in the root itself would be missing from the sum. */
TEST(process_in_the_root_group_disables_summing_of_groups) {
    char text[4096];
    make_machine();
    tree_write("groups/cgroup.procs", "2\n9\n");
    tree_write("proc/9/stat", PROCESS);
    assert_fallback(OUTSIDE);
    tree_write("groups/cgroup.procs", "2\n0\n");
    assert_fallback(OUTSIDE);
    assert_int_equal(remove(tree_path("groups/cgroup.procs")), 0);
    assert_fallback(OUTSIDE);
    /* A root without children disables it, too, and one with too many. */
    snprintf(text, sizeof text, "34 31 0:30 / %s/bare rw - cgroup2 cgroup2 rw\n", tree_root);
    tree_write("proc/self/mountinfo", text);
    tree_write("bare/cgroup.procs", "2\n");
    assert_fallback(strerror(ENOENT));
    make_machine();
    make_many_groups();
    assert_fallback(strerror(E2BIG));
}

TEST(measuring_only_some_cpus_disables_summing_of_groups) {
    SKIP_UNLESS(get_nprocs() > 1, "cpus: only one CPU");
    make_machine();
    open_with("0");
    assert_int_not_equal(reader.source, SS_SOURCE_RUNTIME);
    assert_string_equal(
        reader.reason, "control groups of version 2 do not account for single CPUs");
}

/* Version 1 is exact for every CPU. */
TEST(version_1_groups_take_precedence) {
    make_machine();
    char text[4096];
    snprintf(text, sizeof text,
        "34 31 0:30 / %s/groups rw - cgroup2 cgroup2 rw\n"
        "35 31 0:31 / %s/old rw - cgroup cgroup rw,cpuacct\n",
        tree_root, tree_root);
    tree_write("proc/self/mountinfo", text);
    tree_write("old/cpuacct.usage", "5\n");
    open_reader();
    assert_string_equal(reader.path, tree_path("old/cpuacct.usage"));
    read_reader();
    assert_int_equal(counters.used, 5);
}

TEST(garbled_group_files_are_refused) {
    static const char *const texts[] = {"", "usage_usec ", "usage_usec 12", "nr_periods 5\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        make_machine();
        open_reader();
        tree_write("groups/system.slice/cpu.stat", texts[i]);
        assert_int_equal(ss_platform_counters_read(&reader, &counters), -EBADMSG);
    }
}

/* A sum over only some groups would understate the load. */
TEST(too_many_child_groups_created_later_are_summed) {
    make_machine();
    open_reader();
    assert_used(321000);
    uint64_t set = counters.set;
    make_many_groups();
    assert_used(321000 + SS_GROUP_SUM_MAX);
    assert_int_not_equal(counters.set, set);
    set = counters.set;
    assert_int_equal(ss_platform_counters_reopen(&reader), 0);
    assert_used(321000 + SS_GROUP_SUM_MAX);
    write_usage("g5", "1001");
    assert_used(322000 + SS_GROUP_SUM_MAX);
    assert_int_equal(counters.set, set);
    remove_group("g5");
    assert_used(321000 + SS_GROUP_SUM_MAX - 1);
    assert_int_not_equal(counters.set, set);
    remove_group("init.scope");
    remove_group("g6");
    remove_group("g7");
    assert_used(320000 + SS_GROUP_SUM_MAX - 3);
    set = counters.set;
    assert_used(320000 + SS_GROUP_SUM_MAX - 3);
    assert_int_equal(counters.set, set);
    assert_int_equal(reader.sum.count, SS_GROUP_SUM_MAX - 1);
}

/* The second reading must not assume that the first one has listed all groups. */
TEST(failed_listing_is_repeated) {
    make_machine();
    open_reader();
    write_usage("loop", "1");
    assert_int_equal(remove(tree_path("groups/loop/cpu.stat")), 0);
    assert_int_equal(symlink("cpu.stat", tree_path("groups/loop/cpu.stat")), 0);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), -ELOOP);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), -ELOOP);
    write_usage("late", "1");
    remove_group("loop");
    assert_used(321001);
}

UNIT_RUN
