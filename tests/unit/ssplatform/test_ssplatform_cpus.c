/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs that are offline or unlike each other, and their caches. */

#include <stdio.h>

#include "unit.h"

#ifdef SSPLATFORM_PRESENT

#include "platform_report.h"

/* After SMT was switched off: the kernel takes away what describes a CPU. */
static void leaves_out_cpus_that_are_offline(void **state) {
    (void)state;
    struct machine machine = {0};
    const char *root = machine_unpack("xeon", &machine);
    for (size_t i = 0; i < machine.count; i++) {
        const char *path = machine.paths[i];
        const char *at = strstr(path, "system/cpu/cpu");
        if (at && at[14] >= '4' && at[14] <= '7')
            assert_int_equal(remove(tree_path(path)), 0);
        /* The masks of those that stay hold only themselves. */
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
    struct report report = report_take(root);
    report_expect(&report, "cpus.count", "4");
    report_expect(&report, "cpus.possible", "\"0-7\"");
    report_expect(&report, "smt.active", "\"off\"");
    report_expect(&report, "topology.sockets", "2");
    report_expect(&report, "topology.cores", "4");
    report_expect(&report, "topology.threads_per_core[0].threads", "1");
    report_expect(&report, "frequency[0].cpus", "\"0-3\"");
    report_expect(&report, "frequency[1].cpus", NULL);
    report_free(&report);
    machine_free(&machine);
}

static void groups_cpus_of_which_the_same_is_known(void **state) {
    (void)state;
    const char *root = machine_unpack("xeon", NULL);
    tree_write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
    tree_write("sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "performance\n");
    remove(tree_path("sys/devices/system/cpu/cpu7/cpufreq/scaling_governor"));
    tree_write("sys/devices/system/cpu/cpu3/cpuidle/state3/disable", "0\n");
    struct report report = report_take(root);
    report_expect(&report, "frequency[0].cpus", "\"0-1,3-4,6\"");
    report_expect(&report, "frequency[1].cpus", "\"2,5\"");
    report_expect(&report, "frequency[1].governor", "\"performance\"");
    report_expect(&report, "frequency[2].cpus", "\"7\"");
    report_expect(&report, "frequency[2].governor", "null");
    report_expect(&report, "frequency[2].driver", "\"intel_pstate\"");
    report_expect(&report, "idle.states[1].cpus", "\"3\"");
    report_expect(&report, "idle.states[1].states[3].use", "\"on\"");
    report_free(&report);
}

static void tells_all_caches_or_none(void **state) {
    (void)state;
    const char *root = machine_unpack("xeon", NULL);
    tree_write("sys/devices/system/cpu/cpu0/cache/index2/size", "512K\n");
    tree_write("sys/devices/system/cpu/cpu4/cache/index2/size", "512K\n");
    tree_write("sys/devices/system/cpu/cpu0/cache/index2/number_of_sets", "512\n");
    tree_write("sys/devices/system/cpu/cpu4/cache/index2/number_of_sets", "512\n");
    struct report report = report_take(root);
    report_expect(&report, "caches[2].size_bytes", "524288");
    report_expect(&report, "caches[2].count", "1");
    report_expect(&report, "caches[3].size_bytes", "1048576");
    report_expect(&report, "caches[3].count", "3");
    report_free(&report);
    /* Only these two describe the cache that they share. */
    remove(tree_path("sys/devices/system/cpu/cpu1/cache/index2/shared_cpu_map"));
    remove(tree_path("sys/devices/system/cpu/cpu5/cache/index2/shared_cpu_map"));
    report = report_take(root);
    report_expect(&report, "caches", "null");
    report_expect(&report, "topology.cores", "4");
    report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(leaves_out_cpus_that_are_offline),
    cmocka_unit_test(groups_cpus_of_which_the_same_is_known),
    cmocka_unit_test(tells_all_caches_or_none))
// clang-format on

#else

UNIT_MAIN_SKIPPED("left-out: built without hwloc, so there is no showstopper-platform")

#endif
