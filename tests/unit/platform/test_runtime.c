/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run time as counted by control groups of version 1. */

#include <errno.h>
#include <math.h>
#include <sys/sysinfo.h>

#include "counter_reader.h"
#include "measure/load.h"

#define NO_GROUPS "no control group counts CPU time"
#define CONTAINER "the machine's control groups are not visible in a container"

/* Makes a machine with /proc/stat and a v1 hierarchy whose root has the files. */
static void make_machine(void) {
    char text[4096];
    tree_new();
    tree_write("proc/stat", "cpu0 1 2 3 4\n");
    snprintf(text, sizeof text,
        "31 23 0:28 / %s/groups rw,relatime - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / %s/groups/cpu rw,relatime - cgroup cgroup rw,cpu\n"
        "33 31 0:30 / %s/groups/cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpuacct\n"
        "34 31 0:31 / %s/groups/memory rw,relatime - cgroup cgroup rw,memory\n"
        "41 31 0:38 / %s/groups/unified rw,relatime - cgroup2 cgroup2 rw\n",
        tree_root, tree_root, tree_root, tree_root, tree_root);
    tree_write("proc/self/mountinfo", text);
    tree_write("groups/cpuacct/cpuacct.usage", "123456789012\n");
    tree_write("groups/cpuacct/cpuacct.usage_percpu", "100000000000 23456789012 \n");
}

/* Writes the only mount: its root, its folder in the tree, and the fields after the dash. */
static void mount(const char *root, const char *folder, const char *rest) {
    char text[4096];
    snprintf(
        text, sizeof text, "33 31 0:30 %s %s/%s rw,relatime - %s\n", root, tree_root, folder, rest);
    tree_write("proc/self/mountinfo", text);
}

static int open_with(const char *list, struct ss_error *error) {
    return try_to_open(SS_SOURCE_RUNTIME, tree_path("proc"), list, error);
}

static void open_reader(const char *list) {
    struct ss_error error = {0};
    assert_succeeds(open_with(list, &error), error);
}

static void assert_found(const char *file) {
    open_reader(all_cpus());
    assert_int_equal(reader.source, SS_SOURCE_RUNTIME);
    assert_string_equal(reader.path, tree_path(file));
    assert_string_equal(reader.reason, "");
}

/* Expects a fallback to /proc/stat with this reason. */
static void assert_fallback(const char *reason) {
    open_reader("0");
    assert_int_equal(reader.source, SS_SOURCE_SYSTEM);
    assert_string_equal(reader.path, tree_path("proc/stat"));
    assert_string_equal(reader.reason, reason);
    read_reader();
    assert_false(counters.ran);
    assert_int_equal(counters.idle, 4 * 10 * SS_MILLISECOND);
    assert_int_equal(counters.used, 0);
}

TEST(root_of_the_v1_hierarchy_is_found) {
    make_machine();
    assert_found("groups/cpuacct/cpuacct.usage");
    ss_time before = ss_platform_now();
    read_reader();
    assert_true(counters.ran);
    assert_int_equal(counters.used, UINT64_C(123456789012));
    assert_that(counters.capacity, ==, count_all_cpus());
    assert_in_range(counters.time, before, ss_platform_now());
    uint64_t set = counters.set;
    tree_write("groups/cpuacct/cpuacct.usage", "123456999999\n");
    read_reader();
    assert_int_equal(counters.used, UINT64_C(123456999999));
    assert_int_equal(counters.set, set);
    /* The first mount shows a group, not the root of all groups. */
    char text[4096];
    snprintf(text, sizeof text,
        "33 31 0:30 /box %s/box rw - cgroup cgroup rw,cpuacct\n"
        "34 31 0:30 / %s/groups/cpuacct rw - cgroup cgroup rw,cpuacct\n",
        tree_root, tree_root);
    tree_write("proc/self/mountinfo", text);
    assert_found("groups/cpuacct/cpuacct.usage");
    /* Controllers may be mounted together. */
    tree_write("both/cpuacct.usage", "5\n");
    mount("/", "both", "cgroup cgroup rw,cpu,cpuacct");
    assert_found("both/cpuacct.usage");
    mount("/", "both", "cgroup none rw,cpuacct,cpu");
    assert_found("both/cpuacct.usage");
}

TEST(missing_run_time_falls_back_to_proc_stat) {
    static const char *const mounts[][2] = {
        {"/box/7", "cgroup cgroup rw,cpuacct"},
        {"/..", "cgroup cgroup rw,cpuacct"},
        {"/", "cgroup cgroup rw,cpu"},
        {"/", "tmpfs cpuacct rw"},
    };
    make_machine();
    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
        mount(mounts[i][0], "groups/cpuacct", mounts[i][1]);
        assert_fallback(NO_GROUPS);
    }
    tree_write("proc/self/mountinfo", "");
    assert_fallback(NO_GROUPS);
    tree_write("proc/self/mountinfo", "33 - cgroup cpuacct\n - cgroup cpuacct");
    assert_fallback(NO_GROUPS);
    assert_int_equal(remove(tree_path("proc/self/mountinfo")), 0);
    assert_fallback(NO_GROUPS);

    make_machine();
    assert_int_equal(remove(tree_path("groups/cpuacct/cpuacct.usage")), 0);
    assert_int_equal(remove(tree_path("groups/cpuacct/cpuacct.usage_percpu")), 0);
    assert_fallback(strerror(ENOENT));

    /* The inode of the fake file differs from the inode of the first namespace. */
    make_machine();
    tree_write("proc/self/ns/cgroup", "");
    assert_fallback(CONTAINER);
}

static void need_two_cpus(void) {
    SKIP_UNLESS(get_nprocs() > 1, "cpus: only one CPU");
}

TEST(run_time_of_selected_cpus_is_summed) {
    need_two_cpus();
    make_machine();
    const struct {
        const char *list;
        uint64_t used;
    } cases[] = {{"0", 1000}, {"1", 20}};
    for (size_t i = 0; i < 2; i++) {
        tree_write("groups/cpuacct/cpuacct.usage_percpu", "1000 20 3 \n");
        open_reader(cases[i].list);
        assert_int_equal(reader.source, SS_SOURCE_RUNTIME);
        assert_string_equal(reader.path, tree_path("groups/cpuacct/cpuacct.usage_percpu"));
        read_reader();
        assert_true(counters.ran);
        assert_that(counters.capacity, ==, 1);
        assert_int_equal(counters.used, cases[i].used);
        uint64_t set = counters.set;
        tree_write("groups/cpuacct/cpuacct.usage_percpu", "1007 27 10 \n");
        read_reader();
        assert_int_equal(counters.used, cases[i].used + 7);
        assert_int_equal(counters.set, set);
    }
}

/* CPU numbers may have gaps; the files have one value for each possible CPU. */
TEST(run_time_of_high_cpu_numbers_is_read) {
    need_two_cpus();
    make_machine();
    static char text[(SS_CPUS_MAX + 16) * 20];
    char list[16];
    int far = get_nprocs_conf() + 12;
    for (int cpu = 0; cpu < far; cpu++)
        strcat(text, "1844674407370955161 ");
    strcat(text, "1234567890123456789 7 \n");
    tree_write("groups/cpuacct/cpuacct.usage_percpu", text);
    snprintf(list, sizeof list, "%d", far);
    open_reader(list);
    read_reader();
    assert_int_equal(counters.used, UINT64_C(1234567890123456789));
}

static void assert_garbled(const char *list, const char *file, const char *text) {
    struct ss_error error = {0};
    make_machine();
    open_reader(list);
    assert_string_equal(reader.path, tree_path(file));
    tree_write(file, text);
    int why = ss_platform_counters_read(&reader, &counters);
    if (why != -EBADMSG)
        fail_msg("'%s': error %d (%s)", text, why, strerror(-why));
    assert_fails(open_with(list, &error), error, file);
    assert_says(error.message, ": contains no CPU time");
    assert_int_equal(reader.file, -1);
    assert_null(reader.buffer);
}

/* A CPU time must not be negative or followed by letters. */
TEST(garbled_run_times_are_refused) {
    static const char *const texts[] = {"", "\n", "hello\n", "x1\n", "- 1\n", "-5\n", "12x34\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_garbled(all_cpus(), "groups/cpuacct/cpuacct.usage", texts[i]);

    static const char *const lists[] = {"", "\n", "hello\n", "100\n", "100 x 200\n", "100x 200\n"};
    need_two_cpus();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_garbled("1", "groups/cpuacct/cpuacct.usage_percpu", lists[i]);
}

/* This machine must provide run times or a reason for the fallback to /proc/stat. */
TEST(run_time_of_this_machine_is_read) {
    struct ss_cpus cpus;
    struct ss_error error = {0};
    struct ss_counters later = {0};
    ss_platform_affinity(&cpus);
    ss_platform_counters_close(&reader);
    if (ss_platform_counters_open(&reader, &(struct ss_source_request){.source = SS_SOURCE_RUNTIME},
            &cpus, NULL, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(*reader.reason != '\0', reader.source != SS_SOURCE_RUNTIME);
    /* Control groups may come and go between two readings. */
    for (int i = 0; i < 100 && (i == 0 || later.set != counters.set); i++) {
        assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
        assert_int_equal(ss_platform_counters_read(&reader, &later), 0);
    }
    assert_int_equal(later.ran, reader.source == SS_SOURCE_RUNTIME);
    assert_int_equal(later.set, counters.set);
    assert_that(later.used, >=, counters.used);
    assert_that(later.time, >, counters.time);
    assert_that(later.capacity, ==, ss_cpus_count(&cpus));
    ss_platform_counters_close(&reader);
}

TEST(load_parts_and_pressure_come_from_proc) {
    struct ss_error error = {0};
    struct ss_cpus cpus = cpus_of(all_cpus());
    static struct ss_cpu_times items[SS_CPUS_MAX];
    const struct ss_source_request request = {.source = SS_SOURCE_RUNTIME};
    struct ss_cpu_reading reading = {.items = items};
    struct ss_cpu_reader both;
    make_machine();
    tree_write("proc/pressure/cpu", "some avg10=12.50 avg60=1.00\n");
    struct ss_platform_roots roots = {.proc = tree_path("proc")};
    assert_succeeds(ss_platform_cpu_times_open(&both, &request, &cpus, &roots, &error), error);
    for (int parts = 0; parts < 2; parts++) {
        if (parts)
            ss_platform_cpu_times_add_parts(&both, &roots);
        assert_int_equal(ss_platform_cpu_times_read(&both, &reading), 0);
        assert_int_equal(reading.counters.used, 123456789012);
        assert_int_equal(reading.count, parts);
        assert_int_equal(isnan(reading.pressure), !parts);
    }
    assert_int_equal(items[0].system, 30 * SS_MILLISECOND);
    assert_near(reading.pressure, 0.125, 1e-9);
    ss_platform_cpu_times_close(&both);
}

UNIT_RUN
