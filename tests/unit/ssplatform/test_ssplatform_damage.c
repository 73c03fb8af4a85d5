/* SPDX-License-Identifier: Apache-2.0 */

#include <stdbool.h>

#include "platform_report.h"

/*
 * Reports are made in forked children. AddressSanitizer would retain the freed texts of all huge
 * files, and each fork copies their page tables.
 */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "quarantine_size_mb=16";
}

enum damage { MISSING, EMPTY, GARBAGE, FOLDER, HUGE, DAMAGES };

static void damage(const char *path, enum damage how) {
    static char huge[1 << 20];
    memset(huge, '7', how == HUGE ? sizeof huge : 0);
    if (how == FOLDER)
        assert_int_equal(mkdir(tree_path(path), 0777), 0);
    else if (how == HUGE)
        tree_write_bytes(path, huge, sizeof huge);
    else if (how != MISSING)
        tree_write(path, how == GARBAGE ? "\x01\xff\x80,:[ zz" : "");
}

/* The values that depend on a file; the first row whose `file` occurs in its path counts. */
static const struct say {
    const char *file, *parts[3];
} says[] = {
    {"proc/cpuinfo", {"models", "hypervisor."}},
    {"osrelease", {"kernel."}},
    {"boot/", {"kernel."}},
    {"proc/version", {"kernel.build"}},
    {"proc/cmdline", {"kernel.parameters"}},
    {"kernel/arch", {"kernel.architecture"}},
    {"proc/sys/kernel/", {"scheduler."}},
    {"proc/meminfo", {"memory.bytes"}},
    {"transparent_hugepage", {"memory."}},
    {"cpu/online", {"cpus.online", "topology.", "caches"}},
    {"cpu/possible", {"cpus.possible"}},
    {"cpu/isolated", {"cpus.isolated"}},
    {"cpu/smt/", {"smt."}},
    {"/topology/", {"topology."}},
    {"/cache/", {"caches"}},
    {"/cpufreq/", {"frequency", "boost"}},
    {"intel_pstate/", {"pstate.", "boost"}},
    {"/cpuidle/", {"idle."}},
    {"node/online", {"topology.", "caches"}},
    {"system/node/", {"topology.numa"}},
    {"vulnerabilities/", {"mitigations"}},
    {"clocksource", {"clock_source."}},
    {"dmi/", {"machine."}},
    {"proc/1/", {"container."}},
    {"ns/pid", {"container."}},
    {"dockerenv", {"container."}},
    {"proc/self/", {"allowance."}},
    {"proc/mounts", {NULL}},
    {"cgroup", {"allowance."}},
    {"", {NULL}},
};

static bool begins(const char *path, const char *with) {
    return with && strncmp(path, with, strlen(with)) == 0;
}

static bool has_a_say(const struct say *say, const char *path) {
    return begins(path, say->parts[0]) || begins(path, say->parts[1]) ||
           begins(path, say->parts[2]);
}

/* Only values that depend on the file may change, and only to unknown. */
static void check_damage(
    const struct report *before, const struct report *after, const char *file, enum damage how) {
    const struct say *say = says;
    while (!strstr(file, say->file))
        say++;
    for (size_t i = 0; i < before->count; i++) {
        const char *path = before->values[i].path;
        const char *value = report_find(after, path);
        if (value && strcmp(value, before->values[i].value) == 0)
            continue;
        if (!has_a_say(say, path))
            fail_msg("%s, damage %d: %s was %s and is %s", file, how, path, before->values[i].value,
                value ? value : "missing");
        /*
         * Without a limit of its own, a group has its parent's; lists are split at the damaged CPU.
         */
        if (!strchr(path, '[') && !begins(path, "allowance.") && value &&
            strcmp(value, "null") != 0)
            fail_msg("%s, damage %d: %s became %s", file, how, path, value);
    }
}

/* Returns false for files of other CPUs than CPU 1. */
static bool is_tried(const char *path) {
    const char *cpu = strstr(path, "cpu/cpu");
    return !cpu || cpu[7] < '0' || cpu[7] > '9' || (cpu[7] == '1' && cpu[8] == '/');
}

static void damage_file(const struct report *before, const char *path, enum damage how) {
    assert_int_equal(rename(tree_path(path), tree_path("kept")), 0);
    damage(path, how);
    struct report after = report_take(tree_root);
    check_damage(before, &after, path, how);
    report_free(&after);
    assert_true(remove(tree_path(path)) == 0 || how == MISSING);
    assert_int_equal(rename(tree_path("kept"), tree_path(path)), 0);
}

/* There are many files of CPUs, so each of them is damaged in only one way. */
static void damage_all(const char *name, bool thoroughly) {
    struct machine machine = {0};
    struct report before = report_take(machine_unpack(name, &machine));
    for (size_t i = 0; i < machine.count; i++) {
        const char *path = machine.paths[i];
        bool once = !thoroughly || strstr(path, "cpu/cpu1/");
        for (enum damage how = 0; how < DAMAGES && is_tried(path); how++) {
            if (!once || how == (enum damage)(i % DAMAGES))
                damage_file(&before, path, how);
        }
    }
    report_free(&before);
    machine_free(&machine);
}

TEST(damaged_container_files_affect_only_their_values) {
    damage_all("container", true);
}

TEST(damaged_xeon_files_affect_only_their_values) {
    damage_all("xeon", false);
}

/* Values with invalid numbers become unknown, and no other value changes. */
TEST(cpu_with_a_damaged_file_is_grouped_with_equal_cpus) {
    const char *root = machine_unpack("xeon", NULL);
    tree_write("sys/devices/system/cpu/cpu4/cpufreq/base_frequency", "fast\n");
    remove(tree_path("sys/devices/system/cpu/cpu6/cpufreq/base_frequency"));
    REPORT_EXPECT(root, {"frequency[1].cpus", "\"4,6\""}, {"frequency[1].base_hz", "null"},
        {"frequency[2].cpus", NULL});
}

TEST(missing_root_folder_is_refused) {
    struct ss_error error = {0};
    tree_new();
    assert_int_equal(
        ssplatform_report(stderr, tree_path("none"), ssplatform_write_topology, &error), -1);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    assert_says(error.message, "/none: No such file");
}

TEST(pipe_in_place_of_a_file_does_not_block) {
    const char *root = machine_unpack("container", NULL);
    static const char *const files[] = {"proc/cmdline", "proc/config.gz"};
    for (size_t i = 0; i < 2; i++) {
        remove(tree_path(files[i]));
        assert_int_equal(mkfifo(tree_path(files[i]), 0600), 0);
    }
    REPORT_EXPECT(
        root, {"kernel.parameters", "null"}, {"kernel.tick_hz", "null"}, {"cpus.count", "4"});
}

UNIT_RUN
