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
    assert_succeeds(open_group(group, list, &error), error);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
}

static void refuse_group(const char *group, const char *words) {
    struct ss_error error = {0};
    assert_fails(open_group(group, "0-3", &error), error, words);
    assert_int_equal(reader.file, -1);
}

#define USAGE "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\nnr_periods 0\n"
#define OWN   "../proc/self/cgroup"

static void write_group_files(const char *const files[][2], size_t count) {
    char path[128];
    for (size_t i = 0; i < count && files[i][0]; i++) {
        snprintf(path, sizeof path, "cgroup/%s", files[i][0]);
        tree_write(path, files[i][1]);
    }
}

TEST(cpu_time_is_read_from_either_version) {
    tree_new();
    tree_write("cgroup/web/cpu.stat", USAGE);
    ss_time before = ss_platform_now();
    read_group("web", "0-3");
    assert_int_equal(counters.used, 1234567000);
    assert_in_range(counters.time, before, ss_platform_now());
    assert_string_equal(reader.path, tree_path("cgroup/web/cpu.stat"));
    tree_write("cgroup/web/cpu.stat", "user_usec 5\nusage_usec 1234568\n");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    assert_int_equal(counters.used, 1234568000);

    tree_write("cgroup/cpuacct/docker/x/cpuacct.usage", "1234567890123\n");
    read_group("docker/x", "0-1");
    assert_that(counters.used, ==, UINT64_C(1234567890123));
    assert_that(counters.capacity, ==, 2);
    assert_string_equal(reader.path, tree_path("cgroup/cpuacct/docker/x/cpuacct.usage"));
    tree_write("cgroup/cpuacct/cpuacct.usage", "5\n");
    read_group("/", "0-1");
    assert_string_equal(reader.path, tree_path("cgroup/cpuacct/cpuacct.usage"));
}

/* A group on a machine with 4 CPUs, which always has `web`, too, a group of version 2. */
struct limited {
    const char *group; /* NULL for our own */
    double capacity;
    uint64_t used;           /* 0 if not checked */
    const char *files[5][2]; /* below the root of the control groups */
};

static void assert_capacities(const struct limited *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tree_new();
        tree_write("cgroup/web/cpu.stat", USAGE);
        write_group_files(rows[i].files, 5);
        read_group(rows[i].group, "0-3");
        if (counters.capacity != rows[i].capacity)
            fail_msg("row %zu: %g CPUs, not %g", i, counters.capacity, rows[i].capacity);
        if (rows[i].used)
            assert_int_equal(counters.used, rows[i].used);
    }
}

TEST(v2_limits_are_the_capacity) {
    static const struct limited rows[] = {
        {"web", 4, 0, {{0}}},
        {"web", 1.5, 0, {{"web/cpu.max", "150000 100000\n"}}},
        {"web", 0.5, 0, {{"web/cpu.max", "25000 50000\n"}}},
        {"web", 4, 0, {{"web/cpu.max", "max 100000\n"}}},
        {"web", 4, 0, {{"web/cpu.max", "800000 100000\n"}}},
        {"web", 4, 0, {{"web/cpu.max", "150000\n"}}},
        {"web", 4, 0, {{"web/cpu.max", ""}}},
        {"web", 4, 0, {{"web/cpu.max", "150000 0\n"}}},
        /* The tightest quota of all parents counts, up to the root. */
        {"web/b", 2, 0,
            {{"web/b/cpu.stat", USAGE}, {"web/b/cpu.max", "300000 100000\n"},
                {"web/cpu.max", "200000 100000\n"}}},
        {"/web/b", 0.5, 0,
            {{"web/b/cpu.stat", USAGE}, {"web/b/cpu.max", "50000 100000\n"},
                {"web/cpu.max", "200000 100000\n"}}},
        {"web/b", 2, 0,
            {{"web/b/cpu.stat", USAGE}, {"web/b/cpu.max", "max 100000\n"},
                {"web/cpu.max", "200000 100000\n"}}},
        /* In a container, the visible root is a group with its own limit. */
        {"/", 1.5, 0,
            {{"cpu.stat", USAGE}, {"cpu.max", "150000 100000\n"}, {"../cpu.max", "1 100000\n"}}},
        {NULL, 1.5, 0, {{"cpu.stat", USAGE}, {"cpu.max", "150000 100000\n"}, {OWN, "0::/\n"}}},
        {NULL, 1.5, 0, {{"cpu.max", "150000 100000\n"}, {OWN, "0::/web\n"}}},
        /* Only measured CPUs count. */
        {"web", 2, 0, {{"web/cpuset.cpus.effective", "0,2\n"}}},
        {"web", 2, 0, {{"web/cpuset.cpus.effective", "2-7\n"}}},
        {"web", 4, 0, {{"web/cpuset.cpus.effective", "0-63\n"}}},
        {"web", 4, 0, {{"web/cpuset.cpus.effective", "\n"}}},
        {"web", 4, 0, {{"web/cpuset.cpus.effective", "nonsense\n"}}},
        {"web", 2, 0, {{"web/cpuset.cpus.effective", "0-1\n"}, {"web/cpu.max", "300000 100000\n"}}},
        {"web", 1, 0, {{"web/cpuset.cpus.effective", "0-1\n"}, {"web/cpu.max", "100000 100000\n"}}},
        /* Mixed systems have version 2 below `unified`. */
        {"x", 1, 1234567000,
            {{"unified/x/cpu.stat", USAGE}, {"unified/x/cpu.max", "100000 100000\n"}}},
        {NULL, 4, 5000,
            {{"user.slice/me/cpu.stat", "usage_usec 5\n"}, {OWN, "0::/user.slice/me\n"}}},
    };
    assert_capacities(rows, sizeof rows / sizeof *rows);
}

/* Controllers may be mounted separately, and a process may be in a different group of each. */
TEST(v1_limits_are_the_capacity) {
    static const struct limited rows[] = {
        {"x", 1, 0,
            {{"cpuacct/x/cpuacct.usage", "1\n"}, {"cpuset/x/cpuset.effective_cpus", "1\n"}}},
        {"x", 3, 0,
            {{"cpuacct/x/cpuacct.usage", "1\n"}, {"cpuset/x/cpuset.effective_cpus", "0,2-3\n"}}},
        {NULL, 4, 0,
            {{"cpuacct/x/cpuacct.usage", "1\n"}, {"cpuset/x/cpuset.effective_cpus", "1\n"},
                {OWN, "4:cpuset:/set\n3:cpuacct:/x\n"}}},
        {NULL, 2, 0,
            {{"cpuacct/x/cpuacct.usage", "1\n"}, {"cpuset/set/cpuset.effective_cpus", "0-1\n"},
                {OWN, "4:cpuset:/set\n3:cpuacct:/x\n"}}},
        {"a/x", 1.5, 0,
            {{"cpuacct/a/x/cpuacct.usage", "1\n"}, {"cpu/a/x/cpu.cfs_quota_us", "150000\n"},
                {"cpu/a/x/cpu.cfs_period_us", "100000\n"}}},
        {"a/x", 4, 0,
            {{"cpuacct/a/x/cpuacct.usage", "1\n"}, {"cpu/a/x/cpu.cfs_quota_us", "-1\n"},
                {"cpu/a/x/cpu.cfs_period_us", "100000\n"}}},
        {"a/x", 0.25, 0,
            {{"cpuacct/a/x/cpuacct.usage", "1\n"}, {"cpu/a/cpu.cfs_quota_us", "25000\n"},
                {"cpu/a/cpu.cfs_period_us", "100000\n"}}},
        {"a/x", 4, 0,
            {{"cpuacct/a/x/cpuacct.usage", "1\n"}, {"cpu/a/cpu.cfs_quota_us", "25000\n"}}},
        {NULL, 0.5, 1,
            {{OWN, "3:cpuacct:/\n2:cpu:/jobs/x\n0::/\n"}, {"cpuacct/cpuacct.usage", "1\n"},
                {"cpu/jobs/x/cpu.cfs_quota_us", "50000\n"},
                {"cpu/jobs/x/cpu.cfs_period_us", "100000\n"}}},
        {"/", 4, 1,
            {{OWN, "3:cpuacct:/\n2:cpu:/jobs/x\n0::/\n"}, {"cpuacct/cpuacct.usage", "1\n"},
                {"cpu/jobs/x/cpu.cfs_quota_us", "50000\n"},
                {"cpu/jobs/x/cpu.cfs_period_us", "100000\n"}}},
        /* The CPU time may be available only in version 2. */
        {NULL, 0.25, 1234567000,
            {{OWN, "3:cpuacct:/\n2:cpu:/jobs/x\n0::/\n"}, {"unified/cpu.stat", USAGE},
                {"cpu/jobs/cpu.cfs_quota_us", "5000\n"},
                {"cpu/jobs/cpu.cfs_period_us", "20000\n"}}},
        {"x", 0.5, 77,
            {{"cpu,cpuacct/x/cpuacct.usage", "77\n"}, {"cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n"},
                {"cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"}}},
        {NULL, 4, 6,
            {{OWN, "12:pids:/p\n3:cpu,cpuacct:/docker/x\n1:name=systemd:/s\n0::/me\n"},
                {"me/cpu.stat", "usage_usec 5\n"}, {"cpuacct/docker/x/cpuacct.usage", "6\n"}}},
    };
    assert_capacities(rows, sizeof rows / sizeof *rows);
}

TEST(v1_throttled_time_is_read_with_the_quota) {
    for (uint64_t throttled = 0; throttled <= 12345; throttled += 12345) {
        tree_new();
        tree_write("cgroup/cpuacct/x/cpuacct.usage", "1\n");
        tree_write("cgroup/cpu/x/cpu.cfs_quota_us", "150000\n");
        tree_write("cgroup/cpu/x/cpu.cfs_period_us", "50000\n");
        if (throttled)
            tree_write("cgroup/cpu/x/cpu.stat", "nr_throttled 3\nthrottled_time 12345\n");
        read_group("x", "0-3");
        assert_that(counters.cpus, ==, 4);
        assert_int_equal(counters.period, 50 * SS_MILLISECOND);
        assert_int_equal(counters.throttled, throttled);
    }
}

/* Limits are read once a second; a time of 0 in `last_read` makes that due now. */
static void read_later(void) {
    reader.last_read = 0;
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
}

/* Files are replaced in order; each row has the limits afterward. */
TEST(changed_limits_of_the_group_and_its_ancestors_are_noticed) {
    static const struct {
        const char *path, *text;
        double capacity, cpus;
        uint64_t period, throttled; /* milliseconds and nanoseconds */
    } rows[] = {
        {"cgroup/a/b/cpu.max", "160000 100000\n", 1.6, 4, 100, 5000},
        {"cgroup/a/b/cpu.max", "10000 20000\n", 0.5, 4, 20, 5000},
        {"cgroup/a/cpu.max", "25000 100000\n", 0.25, 4, 100, 70000},
        {"cgroup/a/cpu.max", "max 100000\n", 0.5, 4, 20, 5000},
        {"cgroup/a/b/cpu.max", "max 20000\n", 4, 4, 0, 0},
        {"cgroup/a/b/cpuset.cpus.effective", "1-2\n", 2, 2, 0, 0},
        {"cgroup/cpu.max", "150000 100000\n", 1.5, 2, 100, 0},
        /* The previous limits stay if none can be read, or none of the CPUs is measured. */
        {"cgroup/cpu.max", "150000 0\n", 1.5, 2, 100, 0},
        {"cgroup/cpu.max", "150000 100000\n", 1.5, 2, 100, 0},
        {"cgroup/a/b/cpuset.cpus.effective", "9\n", 1.5, 2, 100, 0},
    };
    tree_new();
    tree_write("cgroup/a/b/cpu.stat", USAGE "throttled_usec 5\n");
    tree_write("cgroup/a/cpu.stat", USAGE "nr_throttled 3\nthrottled_usec 70\n");
    tree_write("cgroup/a/b/cpu.max", "100000 100000\n");
    read_group("a/b", "0-3");
    assert_that(counters.capacity, ==, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tree_write(rows[i].path, rows[i].text);
        read_later();
        if (counters.capacity != rows[i].capacity || counters.cpus != rows[i].cpus ||
            counters.period != rows[i].period * SS_MILLISECOND ||
            counters.throttled != rows[i].throttled)
            fail_msg("row %zu: %g of %g CPUs, period %g ms, throttled %g ns", i, counters.capacity,
                counters.cpus, (double)counters.period / 1e6, (double)counters.throttled);
        assert_int_equal(counters.set, 0); /* readings before and after can be compared */
    }
    tree_new(); /* version 1 */
    tree_write("proc/self/cgroup", "3:cpuacct:/x\n2:cpu:/jobs/x\n");
    tree_write("cgroup/cpuacct/x/cpuacct.usage", "1\n");
    tree_write("cgroup/cpu/jobs/x/cpu.cfs_quota_us", "-1\n");
    tree_write("cgroup/cpu/jobs/x/cpu.cfs_period_us", "100000\n");
    read_group(NULL, "0-3");
    assert_that(counters.capacity, ==, 4);
    tree_write("cgroup/cpu/jobs/x/cpu.cfs_quota_us", "50000\n");
    read_later();
    assert_that(counters.capacity, ==, 0.5);
}

/* All readers notice a change in the same second. */
TEST(limits_are_read_once_a_second) {
    static const struct {
        ss_time now;
        bool looks;
    } rows[] = {{5900, true}, {5999, false}, {6000, true}, {6001, false}, {6999, false},
        {9500, true}, {9501, false}};
    struct ss_counter_reader clock = {.last_read = 5 * SS_MILLISECOND};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            ss_linux_limits_are_due(&clock, rows[i].now * SS_MILLISECOND), rows[i].looks);
}

static void assert_own(const char *controller, const char *expected) {
    char path[64] = "";
    struct ss_platform_roots roots = {.proc = tree_path("proc")};
    int status = ss_platform_cgroup_of(&roots, "self", controller, path, sizeof path);
    assert_int_equal(status, expected ? 0 : -1);
    assert_string_equal(path, expected ? expected : "");
}

TEST(our_own_group_is_found_by_controller) {
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

TEST(our_own_tightest_quota_is_found) {
    static const struct {
        struct ss_quota quota;
        const char *files[6][2];
    } rows[] = {
        {{0, 0, 0}, {{0}}},
        {{0, 0, 0}, {{"a/b/cpu.max", "max 100000\n"}}},
        {{0.5, 20, 19}, {{"a/cpu.max", "50000 100000\n"}}},
        {{0.5, 20, 19}, {{"a/cpu.max", "50000 100000\n"}, {"a/b/cpu.max", "200000 100000\n"}}},
        {{0.2, 7, 6}, {{"a/cpu.max", "50000 100000\n"}, {"a/b/cpu.max", "20000 100000\n"}}},
        /* In version 1, a container may see the host's path while its limit is at the root. */
        {{1.5, 3, 2},
            {{OWN, "3:cpu,cpuacct:/docker/x\n0::/\n"}, {"cpu/cpu.cfs_quota_us", "150000\n"},
                {"cpu/cpu.cfs_period_us", "100000\n"},
                {"cpu/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 9\n"}}},
        {{1.5, 0, 0},
            {{OWN, "3:cpu,cpuacct:/docker/x\n0::/\n"}, {"cpu/cpu.cfs_quota_us", "150000\n"},
                {"cpu/cpu.cfs_period_us", "100000\n"}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ss_quota *expected = &rows[i].quota;
        struct ss_quota quota = {.cpus = -1};
        tree_new();
        tree_write("proc/self/cgroup", "0::/a/b\n");
        tree_write("cgroup/cgroup.controllers", "cpu\n");
        tree_write("cgroup/a/b/cpu.stat", "usage_usec 1\nnr_periods 7\nnr_throttled 6\n");
        tree_write("cgroup/a/cpu.stat", "usage_usec 1\nnr_periods 20\nnr_throttled 19\n");
        write_group_files(rows[i].files, 6);
        struct ss_platform_roots roots = {.proc = tree_path("proc"), .cgroup = tree_path("cgroup")};
        ss_platform_quota_read(&roots, &quota);
        assert_near(quota.cpus, expected->cpus, 0);
        assert_int_equal(quota.periods, expected->periods);
        assert_int_equal(quota.throttled, expected->throttled);
    }
}

TEST(full_paths_of_groups_are_accepted) {
    tree_new();
    char path[4096];
    tree_write("cgroup/a/b/cpu.stat", "usage_usec 7\n");
    tree_write("cgroup/a/cpu.max", "100000 100000\n");
    snprintf(path, sizeof path, "%s", tree_path("cgroup/a/b"));
    read_group(path, "0-3");
    assert_that(counters.capacity, ==, 1);
    assert_int_equal(counters.used, 7000);
    /* A path outside the tree must be a group of version 2. */
    tree_write("other/x/cpu.stat", USAGE);
    tree_write("other/cpu.max", "200000 100000\n");
    snprintf(path, sizeof path, "%s", tree_path("other/x"));
    refuse_group(path, "use an existing group");
    tree_write("other/x/cgroup.controllers", "cpu\n");
    read_group(path, "0-3");
    assert_that(counters.capacity, ==, 2);
}

TEST(unknown_and_garbled_groups_are_refused) {
    static const char *const texts[] = {"", "usage_usec x\n", "nothing\n"};
    char expected[4200];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_new();
        tree_write("cgroup/web/cpu.stat", USAGE);
        read_group("web", "0-3");
        tree_write("cgroup/web/cpu.stat", texts[i]);
        assert_int_equal(ss_platform_counters_read(&reader, &counters), -EBADMSG);
    }
    /* The cpu.stat of version 1 has no CPU time. */
    tree_write("cgroup/unified/x/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    snprintf(expected, sizeof expected, "control group 'x': no cpu.stat or cpuacct.usage below %s",
        tree_path("cgroup"));
    refuse_group("x", expected);
    refuse_group(NULL, "control group '(showstopper's own)'");
    tree_write("proc/self/cgroup", "0::/gone\n");
    refuse_group(NULL, "control group '(showstopper's own)'");
    tree_write("cgroup/cpuacct/x/cpuacct.usage", "\n");
    refuse_group("x", "/cpuacct.usage: ");
}

UNIT_RUN
