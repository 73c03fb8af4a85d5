/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdio.h>

#include "platform_report.h"
#include "unit.h"

struct expected {
    const char *path, *value;
};

static void expect_all(const char *name, const struct expected *expected, size_t count) {
    struct report report = report_take(machine_unpack(name, NULL));
    for (size_t i = 0; i < count; i++)
        report_expect(&report, expected[i].path, expected[i].value);
    report_free(&report);
}

#define EXPECT(name, ...)                                                                          \
    do {                                                                                           \
        static const struct expected expected[] = {__VA_ARGS__};                                   \
        expect_all(name, expected, sizeof expected / sizeof *expected);                            \
    } while (0)

// clang-format off
static void recorded_xeon_is_described(void **state) {
    (void)state;
    EXPECT("xeon",
        {"kernel.release", "\"6.1.0-18-amd64\""},
        {"kernel.architecture", "\"x86_64\""},
        {"kernel.tick_hz", "250"},
        {"kernel.tick", "\"stopped_when_idle_or_alone\""},
        {"kernel.time_accounting", "\"generic\""},
        {"kernel.preemption", "\"voluntary\""},
        {"kernel.parameters[0]", "\"isolcpus=6-7\""},
        {"kernel.parameters[1]", "\"mitigations=auto\""},
        {"kernel.parameters[2]", "\"intel_idle.max_cstate=6\""},
        {"kernel.parameters[3]", NULL}, /* words after -- are not for the kernel */
        {"cpus.count", "8"},
        {"cpus.online", "\"0-7\""},
        {"cpus.isolated", "\"6-7\""},
        {"cpus.nohz_full", "null"},
        {"smt.active", "\"on\""},
        {"smt.control", "\"on\""},
        {"models[0].cpus", "\"0-7\""},
        {"models[0].vendor", "\"GenuineIntel\""},
        {"models[0].model", "\"Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\""},
        {"models[0].family", "6"},
        {"models[0].model_number", "85"},
        {"models[0].stepping", "4"},
        {"models[0].microcode", "\"0x2007006\""},
        {"models[0].implementer", "null"},
        {"models[1].cpus", NULL},
        {"topology.sockets", "2"},
        {"topology.cores", "4"},
        {"topology.threads_per_core[0].cpus", "\"0-7\""},
        {"topology.threads_per_core[0].cores", "4"},
        {"topology.threads_per_core[0].threads", "2"},
        {"topology.threads_per_core[1].threads", NULL},
        {"topology.numa_nodes", "2"},
        {"topology.socket_list[0].cpus", "\"0,2,4,6\""},
        {"topology.socket_list[1].number", "1"},
        {"topology.socket_list[1].cpus", "\"1,3,5,7\""},
        {"topology.numa_node_list[1].cpus", "\"1,3,5,7\""},
        {"topology.numa_node_list[1].memory_bytes", "67527884800"},
        {"caches[0].level", "1"},
        {"caches[0].type", "\"instruction\""},
        {"caches[1].type", "\"data\""},
        {"caches[1].size_bytes", "32768"},
        {"caches[1].line_bytes", "64"},
        {"caches[1].ways", "8"},
        {"caches[1].count", "4"},
        {"caches[1].cpus[0]", "\"0,4\""},
        {"caches[1].cpus[3]", "\"3,7\""},
        {"caches[3].level", "3"},
        {"caches[3].type", "\"unified\""},
        {"caches[3].size_bytes", "23068672"},
        {"caches[3].count", "2"},
        {"caches[3].cpus[1]", "\"1,3,5,7\""},
        {"caches[4].level", NULL},
        {"frequency[0].cpus", "\"0-7\""},
        {"frequency[0].driver", "\"intel_pstate\""},
        {"frequency[0].governor", "\"powersave\""},
        {"frequency[0].min_hz", "1000000000"},
        {"frequency[0].max_hz", "3700000000"},
        {"frequency[0].hardware_max_hz", "3700000000"},
        {"frequency[0].base_hz", "2100000000"},
        {"frequency[0].energy_preference", "\"balance_performance\""},
        {"frequency[1].cpus", NULL},
        {"boost", "\"on\""},
        {"pstate.intel_status", "\"active\""},
        {"pstate.intel_min_percent", "27"},
        {"pstate.intel_max_percent", "100"},
        {"pstate.intel_dynamic_boost", "\"off\""},
        {"pstate.amd_status", "null"},
        {"idle.driver", "\"intel_idle\""},
        {"idle.governor", "\"menu\""},
        {"idle.states[0].cpus", "\"0-7\""},
        {"idle.states[0].states[2].name", "\"C1E\""},
        {"idle.states[0].states[2].latency_us", "10"},
        {"idle.states[0].states[2].residency_us", "20"},
        {"idle.states[0].states[2].use", "\"on\""},
        {"idle.states[0].states[3].use", "\"off\""},
        {"idle.states[0].states[4].name", NULL},
        {"mitigations[0].name", "\"mds\""},
        {"mitigations[0].state", "\"Mitigation: Clear CPU buffers; SMT vulnerable\""},
        {"mitigations[2].name", NULL},
        {"scheduler.latency_ns", "null"},
        {"scheduler.autogroup", "\"on\""},
        {"scheduler.statistics", "\"off\""},
        {"scheduler.numa_balancing", "1"},
        {"memory.bytes", "134756683776"},
        {"memory.transparent_hugepage", "\"madvise\""},
        {"clock_source.current", "\"tsc\""},
        {"clock_source.available[2]", "\"acpi_pm\""},
        {"clock_source.available[3]", NULL},
        {"machine.vendor", "\"Dell Inc.\""},
        {"machine.product", "\"PowerEdge R640\""},
        {"hypervisor.present", "\"no\""},
        {"hypervisor.type", "null"},
        {"container.kind", "\"none\""},
        {"allowance.affinity", "\"0-7\""},
        {"allowance.cpuset", "\"0-7\""},
        {"allowance.cgroup_version", "2"},
        {"allowance.cgroup", "\"/user.slice/user-1000.slice/session-4.scope\""},
        {"allowance.limited", "\"no\""},
        {"allowance.quota_cpus", "null"});
}

static void recorded_epyc_is_described(void **state) {
    (void)state;
    EXPECT("epyc",
        {"kernel.architecture", "null"}, /* no such file before Linux 6.1 */
        {"kernel.tick_hz", "1000"},
        {"kernel.parameters[2]", "\"mitigations=off\""},
        {"cpus.count", "16"},
        {"cpus.isolated", "\"\""},
        {"cpus.nohz_full", "\"1-7,9-15\""},
        {"models[0].microcode", "\"0xa0011d1\""},
        {"topology.sockets", "2"},
        {"topology.cores", "8"},
        {"topology.threads_per_core[0].threads", "2"},
        {"topology.numa_nodes", "8"},
        {"topology.socket_list[0].cpus", "\"0-3,8-11\""},
        {"topology.numa_node_list[7].number", "7"},
        {"topology.numa_node_list[7].cpus", "\"7,15\""},
        {"topology.numa_node_list[7].memory_bytes", "66560007168"},
        {"topology.numa_node_list[8].cpus", NULL},
        {"caches[3].level", "3"},
        {"caches[3].size_bytes", "33554432"},
        {"caches[3].count", "8"},
        {"caches[3].cpus[4]", "\"4,12\""},
        {"frequency[0].cpus", "\"0-7\""},
        {"frequency[0].driver", "\"acpi-cpufreq\""},
        {"frequency[0].governor", "\"performance\""},
        {"frequency[0].max_hz", "2450000000"},
        {"frequency[0].hardware_max_hz", "3529052000"},
        {"frequency[0].energy_preference", "null"},
        {"frequency[1].cpus", "\"8-15\""},
        {"frequency[1].governor", "\"ondemand\""},
        {"frequency[2].cpus", NULL},
        {"boost", "\"on\""},
        {"pstate.intel_status", "null"},
        {"idle.driver", "\"acpi_idle\""},
        {"idle.governor", "\"menu\""}, /* only the read-only file exists */
        {"idle.states[0].states[2].latency_us", "800"},
        {"scheduler.latency_ns", "24000000"},
        {"scheduler.migration_cost_ns", "500000"},
        {"scheduler.real_time_runtime_us", "-1"},
        {"memory.transparent_hugepage", "\"always\""},
        {"allowance.affinity", "\"0-3,8-11\""},
        {"allowance.cpuset", "\"0-3,8-11\""},
        {"allowance.cgroup_version", "1"},
        {"allowance.cgroup", "\"/slurm/uid_1000/job_7\""},
        {"allowance.limited", "\"yes\""},
        {"allowance.quota_cpus", "4"},
        {"allowance.quota_us", "400000"},
        {"allowance.period_us", "100000"},
        {"allowance.quota_cgroup", "\"/slurm/uid_1000\""});
}

static void recorded_arm_machine_is_described(void **state) {
    (void)state;
    EXPECT("arm",
        {"kernel.architecture", "\"aarch64\""},
        {"kernel.tick_hz", "null"},
        {"kernel.preemption", "null"},
        {"kernel.parameters", "[]"}, /* none of those listed matters */
        {"smt.active", "\"off\""},
        {"smt.control", "\"notimplemented\""},
        {"models[0].cpus", "\"0-3\""},
        {"models[0].vendor", "null"},
        {"models[0].model", "null"},
        {"models[0].microcode", "null"},
        {"models[0].implementer", "\"0x41\""},
        {"models[0].part", "\"0xd0c\""},
        {"models[0].variant", "\"0x3\""},
        {"models[0].revision", "\"1\""},
        {"topology.sockets", "1"},
        {"topology.cores", "4"},
        {"topology.threads_per_core[0].threads", "1"},
        {"topology.socket_list[0].number", "36"},
        {"topology.numa_nodes", "1"},
        {"caches[2].level", "2"},
        {"caches[2].count", "4"},
        {"caches[3].level", NULL},
        {"frequency[0].driver", "\"cppc_cpufreq\""},
        {"frequency[0].governor", "\"ondemand\""},
        {"boost", "null"},
        {"idle.states[0].states[0].name", "\"LPI-0\""},
        {"idle.states[0].states[0].residency_us", "null"},
        {"idle.states[0].states[1].residency_us", "2000"},
        {"clock_source.current", "\"arch_sys_counter\""},
        {"hypervisor.present", "null"}, /* the CPU lists no flags */
        {"allowance.cpuset", "\"1-3\""},
        {"allowance.limited", "\"yes\""},
        {"allowance.quota_cpus", "2.5"}, /* from the parent group */
        {"allowance.quota_cgroup", "\"/system.slice\""});
}

static void recorded_container_is_described(void **state) {
    (void)state;
    EXPECT("container",
        {"cpus.count", "4"},
        {"topology.sockets", "1"},
        {"topology.cores", "2"},
        {"topology.threads_per_core[0].threads", "2"},
        {"caches[1].cpus[0]", "\"0,2\""},
        {"frequency[0].cpus", "\"0-3\""},
        {"frequency[0].driver", "null"},
        {"frequency[0].governor", "null"},
        {"frequency[0].max_hz", "null"},
        {"boost", "null"},
        {"idle.driver", "\"none\""},
        {"idle.states[0].cpus", "\"0-3\""},
        {"idle.states[0].states", "null"},
        {"clock_source.current", "\"kvm-clock\""},
        {"machine.vendor", "\"Amazon EC2\""},
        {"hypervisor.present", "\"yes\""},
        {"hypervisor.type", "null"},
        {"container.kind", "\"docker\""},
        {"container.sign", "\".dockerenv\""},
        {"allowance.affinity", "\"0-2\""},
        {"allowance.cpuset", "\"0-2\""},
        {"allowance.cgroup", "\"/\""},
        {"allowance.limited", "\"yes\""},
        {"allowance.quota_cpus", "1.5"},
        {"allowance.quota_us", "150000"},
        {"allowance.period_us", "100000"},
        {"allowance.quota_cgroup", "\"/\""});
}

static void recorded_hybrid_machine_is_described(void **state) {
    (void)state;
    EXPECT("hybrid",
        {"kernel.parameters[0]", "\"preempt=full\""},
        {"topology.cores", "6"},
        {"topology.threads_per_core[0].cpus", "\"0-3\""},
        {"topology.threads_per_core[0].cores", "2"},
        {"topology.threads_per_core[0].threads", "2"},
        {"topology.threads_per_core[1].cpus", "\"4-7\""},
        {"topology.threads_per_core[1].cores", "4"},
        {"topology.threads_per_core[1].threads", "1"},
        {"caches[3].type", "\"data\""},
        {"caches[3].size_bytes", "32768"},
        {"caches[3].count", "4"},
        {"caches[4].size_bytes", "1310720"},
        {"caches[4].count", "2"},
        {"caches[5].size_bytes", "2097152"},
        {"caches[5].cpus[0]", "\"4-7\""},
        {"caches[6].level", "3"},
        {"frequency[0].cpus", "\"0-3\""},
        {"frequency[0].max_hz", "4400000000"},
        {"frequency[0].base_hz", "2100000000"},
        {"frequency[1].cpus", "\"4-7\""},
        {"frequency[1].max_hz", "3300000000"},
        {"frequency[1].base_hz", "1500000000"},
        {"boost", "\"off\""},
        {"pstate.intel_dynamic_boost", "\"on\""},
        {"allowance.limited", "\"no\""});
}
// clang-format on

/* Returns the keys outside of lists, one per line. */
static char *keys_of(const char *root) {
    struct report report = report_take(root);
    char *text, last[128] = "";
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (size_t i = 0; i < report.count; i++) {
        char *path = report.values[i].path;
        path[strcspn(path, "[")] = '\0';
        if (strcmp(path, last) != 0)
            fprintf(stream, "%s\n", path);
        strcpy(last, path);
    }
    fclose(stream);
    report_free(&report);
    return text;
}

static void reports_on_all_machines_have_the_same_keys(void **state) {
    (void)state;
    static const char *const names[] = {"xeon", "epyc", "arm", "container", "hybrid"};
    char *expected = keys_of(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *keys = keys_of(machine_unpack(names[i], NULL));
        assert_string_equal(keys, expected);
        free(keys);
    }
    char *keys = keys_of(tree_new());
    assert_string_equal(keys, expected);
    free(keys);
    free(expected);
}

static void report_on_an_empty_folder_has_only_unknown_values(void **state) {
    (void)state;
    struct report report = report_take(tree_new());
    for (size_t i = 0; i < report.count; i++) {
        const char *path = report.values[i].path;
        if (strcmp(path, "version") != 0 && strcmp(path, "schema") != 0)
            report_expect(&report, path, "null");
    }
    report_free(&report);
}

static void report_on_this_machine_agrees_with_the_system(void **state) {
    (void)state;
    struct report report = report_take(NULL);
    char number[32];
    snprintf(number, sizeof number, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    report_expect(&report, "cpus.count", number);
    /* If the kernel lists the cores, the report must include all of them. */
    double threads = 0;
    for (int i = 0; i < 64; i++) {
        char cores[64], each[64];
        snprintf(cores, sizeof cores, "topology.threads_per_core[%d].cores", i);
        snprintf(each, sizeof each, "topology.threads_per_core[%d].threads", i);
        if (report_find(&report, cores))
            threads += atof(report_find(&report, cores)) * atof(report_find(&report, each));
    }
    assert_true(
        threads == atof(number) || !report_find(&report, "topology.threads_per_core[0].cpus"));
    cpu_set_t set;
    struct ss_cpus cpus;
    struct ss_error error = {0};
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    char affinity[512];
    snprintf(affinity, sizeof affinity, "%s", report_find(&report, "allowance.affinity") + 1);
    affinity[strcspn(affinity, "\"")] = '\0';
    assert_int_equal(ss_cpus_parse(affinity, &cpus, &error), 0);
    assert_int_equal(ss_cpus_count(&cpus), CPU_COUNT(&set));
    report_free(&report);
}

/* With these variables hwloc would report a fictional machine as the real one. */
static void environment_variables_do_not_affect_the_report(void **state) {
    (void)state;
    struct report report = report_take(NULL);
    setenv("HWLOC_SYNTHETIC", "package:3 core:5 pu:7", 1);
    setenv("HWLOC_XMLFILE", "/nonexistent.xml", 1);
    setenv("HWLOC_COMPONENTS", "-linux", 1);
    setenv("HWLOC_FSROOT", "/nonexistent", 1);
    struct report other = report_take(machine_unpack("epyc", NULL));
    report_expect(&other, "topology.numa_nodes", "8");
    report_free(&other);
    /* The memory of a virtual machine may change at any time, so it is not compared. */
    static const char *const paths[] = {"topology.sockets", "topology.cores", "topology.numa_nodes",
        "topology.threads_per_core[0].cpus", "caches[0].size_bytes"};
    other = report_take(NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        report_expect(&other, paths[i], report_find(&report, paths[i]));
    report_free(&other);
    report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(recorded_xeon_is_described),
    cmocka_unit_test(recorded_epyc_is_described),
    cmocka_unit_test(recorded_arm_machine_is_described),
    cmocka_unit_test(recorded_container_is_described),
    cmocka_unit_test(recorded_hybrid_machine_is_described),
    cmocka_unit_test(reports_on_all_machines_have_the_same_keys),
    cmocka_unit_test(report_on_an_empty_folder_has_only_unknown_values),
    cmocka_unit_test(report_on_this_machine_agrees_with_the_system),
    cmocka_unit_test(environment_variables_do_not_affect_the_report))
// clang-format on
