/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "json_fields.h"
#include "parts.h"

/* Returns the rest of the line that begins with "NAME="; NULL if absent. */
static const char *configured(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

static bool is_chosen(const char *text, const char *name) {
    const char *value = configured(text, name);
    return value && *value == 'y';
}

/* Exactly one option of each choice is selected when the kernel is built. */
static const struct choice {
    const char *key;
    const char *names[5];
    const char *words[5];
} choices[] = {
    {"tick", {"CONFIG_HZ_PERIODIC", "CONFIG_NO_HZ_FULL", "CONFIG_NO_HZ_IDLE"},
        {"periodic", "stopped_when_idle_or_alone", "stopped_when_idle"}},
    {"time_accounting",
        {"CONFIG_VIRT_CPU_ACCOUNTING_GEN", "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE",
            "CONFIG_TICK_CPU_ACCOUNTING"},
        {"generic", "native", "tick"}},
    {"preemption",
        {"CONFIG_PREEMPT_RT", "CONFIG_PREEMPT_LAZY", "CONFIG_PREEMPT", "CONFIG_PREEMPT_VOLUNTARY",
            "CONFIG_PREEMPT_NONE"},
        {"real_time", "lazy", "full", "voluntary", "none"}},
};

static void write_configuration(struct ss_json *json, const struct sys_tree *tree) {
    char *text = ssplatform_configuration(tree);

    const char *hertz = configured(text, "CONFIG_HZ");
    char number[16] = "";
    if (hertz)
        snprintf(number, sizeof number, "%.*s", (int)strcspn(hertz, "\n"), hertz);
    ss_json_number(json, "tick_hz", sys_tree_parse_number(number));

    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *word = NULL;
        for (size_t name = 0; !word && name < 5 && choices[i].names[name]; name++)
            word = is_chosen(text, choices[i].names[name]) ? choices[i].words[name] : NULL;
        ss_json_text(json, choices[i].key, word);
    }

    free(text);
}

/* Kernel parameters that decide where tasks run, how fast CPUs are and how deeply they sleep. */
static const char *const parameters[] = {
    "amd_pstate",
    "clocksource",
    "cpufreq.default_governor",
    "cpufreq.off",
    "cpuidle.governor",
    "cpuidle.off",
    "idle",
    "intel_idle.max_cstate",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "maxcpus",
    "mitigations",
    "nohz",
    "nohz_full",
    "nosmt",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "preempt",
    "processor.max_cstate",
    "rcu_nocbs",
    "skew_tick",
    "spec_store_bypass_disable",
    "spectre_v2",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
};

static bool is_known_parameter(const char *word) {
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        if (strlen(parameters[i]) == length && strncmp(word, parameters[i], length) == 0)
            return true;
    }
    return false;
}

static void write_parameters(struct ss_json *json, const struct sys_tree *tree) {
    char *text = sys_tree_line(tree, "proc/cmdline");
    if (!ssplatform_open_list(json, "parameters", text))
        return;

    char *rest = NULL;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (strcmp(word, "--") == 0)
            break; /* the remaining words are for the init process */
        if (is_known_parameter(word))
            ss_json_text(json, NULL, word);
    }

    ss_json_close(json, ']');
    free(text);
}

static void write_architecture(struct ss_json *json, const struct sys_tree *tree) {
    struct utsname names;
    char *line = sys_tree_line(tree, "proc/sys/kernel/arch"); /* exists since Linux 6.1 */
    bool ask = !line && !tree->root && uname(&names) == 0;
    ss_json_text(json, "architecture", ask ? names.machine : line);
    free(line);
}

void ssplatform_write_kernel(struct ss_json *json, const struct sys_tree *tree) {
    ss_json_open(json, "kernel", '{');
    ssplatform_put_line(json, "release", tree, "proc/sys/kernel/osrelease");
    ssplatform_put_line(json, "build", tree, "proc/version");
    write_architecture(json, tree);
    write_configuration(json, tree);
    write_parameters(json, tree);
    ss_json_close(json, '}');
}

static const struct setting {
    const char *name;
    const char *file; /* name of the file in proc/sys/kernel */
} settings[] = {
    /* Since Linux 5.13 the first four are in debugfs instead, which only root can read. */
    {"latency_ns", "sched_latency_ns"},
    {"min_granularity_ns", "sched_min_granularity_ns"},
    {"wakeup_granularity_ns", "sched_wakeup_granularity_ns"},
    {"migration_cost_ns", "sched_migration_cost_ns"},
    {"bandwidth_slice_us", "sched_cfs_bandwidth_slice_us"},
    {"round_robin_timeslice_ms", "sched_rr_timeslice_ms"},
    {"real_time_period_us", "sched_rt_period_us"},
    {"real_time_runtime_us", "sched_rt_runtime_us"},
};

static const struct setting switches[] = {
    {"autogroup", "sched_autogroup_enabled"},
    {"energy_aware", "sched_energy_aware"},
    {"statistics", "sched_schedstats"},
    {"timer_migration", "timer_migration"},
};

void ssplatform_write_scheduler(struct ss_json *json, const struct sys_tree *tree) {
    ss_json_open(json, "scheduler", '{');

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ss_json_number(
            json, settings[i].name, sys_tree_number(tree, "proc/sys/kernel/%s", settings[i].file));
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        ssplatform_put_switch(
            json, switches[i].name, sys_tree_number(tree, "proc/sys/kernel/%s", switches[i].file));

    /* Not a switch: 2 means memory tiering. */
    ss_json_number(json, "numa_balancing", sys_tree_number(tree, "proc/sys/kernel/numa_balancing"));

    ss_json_close(json, '}');
}

void ssplatform_write_mitigations(struct ss_json *json, const struct sys_tree *tree) {
    static const char folder[] = "sys/devices/system/cpu/vulnerabilities";
    struct sys_tree_names names = sys_tree_list(tree, folder);
    if (!ssplatform_open_list(json, "mitigations", names.list))
        return;

    for (size_t i = 0; i < names.count; i++) {
        char *state = sys_tree_line(tree, "%s/%s", folder, names.list[i]);
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "name", names.list[i]);
        ss_json_text(json, "state", state);
        ss_json_close(json, '}');
        free(state);
    }

    ss_json_close(json, ']');
    sys_tree_names_free(&names);
}
