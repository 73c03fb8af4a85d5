/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>

#include "platform_report.h"

static const char *const machines[] = {"xeon", "epyc", "arm", "container", "hybrid"};

#define MACHINES (sizeof machines / sizeof *machines)

/* Compares the report with NAME.expected, whose lines are a path, a tab and a value. */
static void expect_recorded(const char *name) {
    char line[512], path[512];
    struct report report = report_take(machine_unpack(name, NULL));
    snprintf(path, sizeof path, "%s/data/platform/%s.expected", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '\t');
        if (*line == '#')
            continue;
        assert_non_null(value);
        *value++ = '\0';
        report_expect(&report, line, strcmp(value, "missing") == 0 ? NULL : value);
    }
    fclose(file);
    report_free(&report);
}

TEST(recorded_machines_are_described) {
    for (size_t i = 0; i < MACHINES; i++)
        expect_recorded(machines[i]);
}

/* Returns the keys outside of lists, one per line. */
static char *keys_of(const char *root) {
    struct report report = report_take(root);
    char last[128] = "";
    FILE *stream = text_begin();
    for (size_t i = 0; i < report.count; i++) {
        char *path = report.values[i].path;
        path[strcspn(path, "[")] = '\0';
        if (strcmp(path, last) != 0)
            fprintf(stream, "%s\n", path);
        strcpy(last, path);
    }
    report_free(&report);
    return strdup(text_end());
}

TEST(reports_on_all_machines_have_the_same_keys) {
    char *expected = keys_of(NULL);
    for (size_t i = 0; i < MACHINES; i++) {
        char *keys = keys_of(machine_unpack(machines[i], NULL));
        assert_string_equal(keys, expected);
        free(keys);
    }
    char *keys = keys_of(tree_new());
    assert_string_equal(keys, expected);
    free(keys);
    free(expected);
}

TEST(report_on_an_empty_folder_has_only_unknown_values) {
    struct report report = report_take(tree_new());
    for (size_t i = 0; i < report.count; i++) {
        const char *path = report.values[i].path;
        if (strcmp(path, "version") != 0 && strcmp(path, "schema") != 0)
            report_expect(&report, path, "null");
    }
    report_free(&report);
}

TEST(report_on_this_machine_agrees_with_the_system) {
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
TEST(environment_variables_do_not_affect_the_report) {
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

UNIT_RUN
