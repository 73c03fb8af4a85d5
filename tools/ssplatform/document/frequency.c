/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "json_fields.h"
#include "parts.h"

#define CPUS "sys/devices/system/cpu/"

/* Files in the folder cpufreq of each CPU. Frequencies are in kHz. */
static const struct field {
    const char *name;
    const char *file;
    bool number;
} fields[] = {
    {"driver", "scaling_driver", false},
    {"governor", "scaling_governor", false},
    {"min_hz", "scaling_min_freq", true},
    {"max_hz", "scaling_max_freq", true},
    {"hardware_min_hz", "cpuinfo_min_freq", true},
    {"hardware_max_hz", "cpuinfo_max_freq", true},
    {"base_hz", "base_frequency", true},
    {"energy_preference", "energy_performance_preference", false},
    {"boost", "boost", true},
};

#define FIELD_COUNT (sizeof fields / sizeof *fields)
_Static_assert(FIELD_COUNT <= SSPLATFORM_FIELDS_MAX, "a group must hold all of them");

static void write_field(struct ss_json *json, const struct ssplatform_group *group) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        double number = sys_tree_parse_number(group->values[i]);
        if (strcmp(fields[i].name, "boost") == 0)
            ssplatform_put_switch(json, fields[i].name, number);
        else if (fields[i].number)
            ss_json_number(json, fields[i].name, number >= 0 ? 1000 * number : NAN);
        else
            ss_json_text(json, fields[i].name, group->values[i]);
    }
}

static void read_fields(
    const struct sys_tree *tree, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        values[i] = sys_tree_line(tree, CPUS "cpu%u/cpufreq/%s", cpu, fields[i].file);
        /* An invalid number counts as unknown, or its CPU would form a group of its own. */
        if (fields[i].number && isnan(sys_tree_parse_number(values[i]))) {
            free(values[i]);
            values[i] = NULL;
        }
    }
}

/*
 * Returns 1 if the hardware may exceed its nominal frequency, 0 if not, or NaN if unknown. The file
 * of intel_pstate has the opposite meaning.
 */
static double boost(const struct sys_tree *tree) {
    double allowed = sys_tree_number(tree, CPUS "cpufreq/boost");
    double forbidden = sys_tree_number(tree, CPUS "intel_pstate/no_turbo");
    if (forbidden == 0 || forbidden == 1)
        return 1 - forbidden;
    return allowed;
}

void ssplatform_write_frequency(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online) {
    ssplatform_groups_report(json, "frequency", tree, online, read_fields, write_field);
    ssplatform_put_switch(json, "boost", boost(tree));
    ss_json_open(json, "pstate", '{');
    ssplatform_put_line(json, "intel_status", tree, CPUS "intel_pstate/status");
    ss_json_number(
        json, "intel_min_percent", sys_tree_number(tree, CPUS "intel_pstate/min_perf_pct"));
    ss_json_number(
        json, "intel_max_percent", sys_tree_number(tree, CPUS "intel_pstate/max_perf_pct"));
    ssplatform_put_switch(
        json, "intel_dynamic_boost", sys_tree_number(tree, CPUS "intel_pstate/hwp_dynamic_boost"));
    ssplatform_put_line(json, "amd_status", tree, CPUS "amd_pstate/status");
    ssplatform_put_line(json, "amd_preferred_cores", tree, CPUS "amd_pstate/prefcore");
    ss_json_close(json, '}');
}
