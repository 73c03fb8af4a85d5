/* SPDX-License-Identifier: Apache-2.0 */

#include "platform_report.h"

/* SMT was turned off, so the kernel removes the files that describe a CPU. */
TEST(offline_cpus_are_not_reported) {
    struct machine machine = {0};
    const char *root = machine_unpack("xeon", &machine);
    for (size_t i = 0; i < machine.count; i++) {
        const char *path = machine.paths[i];
        const char *at = strstr(path, "system/cpu/cpu");
        if (at && at[14] >= '4' && at[14] <= '7')
            assert_int_equal(remove(tree_path(path)), 0);
        /* The masks of the remaining CPUs include only themselves. */
        if (at && at[14] >= '0' && at[14] <= '3' && strstr(path, "/core_cpus"))
            tree_write(path, (const char *[]){"1\n", "2\n", "4\n", "8\n"}[at[14] - '0']);
        if (at && at[14] >= '0' && at[14] <= '3' && strstr(path, "/package_cpus"))
            tree_write(path, (at[14] - '0') % 2 ? "a\n" : "5\n");
        if (at && at[14] >= '4' && at[14] <= '7' && strstr(path, "/topology/")) {
            char folder[256];
            snprintf(
                folder, sizeof folder, "%.*s", (int)(strstr(path, "/topology") - path + 9), path);
            remove(tree_path(folder));
        }
    }
    for (int cpu = 4; cpu < 8; cpu++) {
        char path[64];
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/online", cpu);
        tree_write(path, "0\n");
    }
    tree_write("sys/devices/system/cpu/online", "0-3\n");
    tree_write("sys/devices/system/cpu/smt/active", "0\n");
    tree_write("sys/devices/system/cpu/smt/control", "off\n");
    REPORT_EXPECT(root, {"cpus.count", "4"}, {"cpus.possible", "\"0-7\""},
        {"smt.active", "\"off\""}, {"topology.sockets", "2"}, {"topology.cores", "4"},
        {"topology.threads_per_core[0].threads", "1"}, {"frequency[0].cpus", "\"0-3\""},
        {"frequency[1].cpus", NULL});
    machine_free(&machine);
}

TEST(equal_cpus_are_grouped) {
    const char *root = machine_unpack("xeon", NULL);
    tree_write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
    tree_write("sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "performance\n");
    remove(tree_path("sys/devices/system/cpu/cpu7/cpufreq/scaling_governor"));
    tree_write("sys/devices/system/cpu/cpu3/cpuidle/state3/disable", "0\n");
    REPORT_EXPECT(root, {"frequency[0].cpus", "\"0-1,3-4,6\""}, {"frequency[1].cpus", "\"2,5\""},
        {"frequency[1].governor", "\"performance\""}, {"frequency[2].cpus", "\"7\""},
        {"frequency[2].governor", "null"}, {"frequency[2].driver", "\"intel_pstate\""},
        {"idle.states[1].cpus", "\"3\""}, {"idle.states[1].states[3].use", "\"on\""});
}

TEST(incompletely_described_caches_are_not_reported) {
    const char *root = machine_unpack("xeon", NULL);
    tree_write("sys/devices/system/cpu/cpu0/cache/index2/size", "512K\n");
    tree_write("sys/devices/system/cpu/cpu4/cache/index2/size", "512K\n");
    tree_write("sys/devices/system/cpu/cpu0/cache/index2/number_of_sets", "512\n");
    tree_write("sys/devices/system/cpu/cpu4/cache/index2/number_of_sets", "512\n");
    REPORT_EXPECT(root, {"caches[2].size_bytes", "524288"}, {"caches[2].count", "1"},
        {"caches[3].size_bytes", "1048576"}, {"caches[3].count", "3"});
    /* Only these two CPUs describe the cache that they share. */
    remove(tree_path("sys/devices/system/cpu/cpu1/cache/index2/shared_cpu_map"));
    remove(tree_path("sys/devices/system/cpu/cpu5/cache/index2/shared_cpu_map"));
    REPORT_EXPECT(root, {"caches", "null"}, {"topology.cores", "4"});
}

UNIT_RUN
