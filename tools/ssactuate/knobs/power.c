/* SPDX-License-Identifier: Apache-2.0 */

/* The power limit of packages (RAPL), and idle injection. */

#include <stdlib.h>
#include <string.h>

#include "actuator.h"
#include "base/units.h"

#define POWERCAP "sys/class/powercap"
#define LIMIT    "constraint_0_power_limit_uw" /* the long-term limit */

/* Returns whether the zone is a whole package: intel-rapl:0, but not its part intel-rapl:0:1. */
static bool is_package(const char *name) {
    const char *colon = strchr(name, ':');
    return strncmp(name, "intel-rapl", 10) == 0 && colon && !strchr(colon + 1, ':');
}

/* Returns whether the knob names the zone. Without a target it does not name the whole platform. */
static bool is_named(
    const struct ssactuate_machine *machine, const struct ssactuate_knob *knob, const char *zone) {
    if (*knob->target)
        return strcmp(knob->target, zone) == 0;
    char *name = sys_tree_line(&machine->tree, POWERCAP "/%.100s/name", zone);
    bool is_platform = name && strcmp(name, "psys") == 0;
    free(name);
    return !is_platform;
}

/*
 * Calls `see` for each package that the knob names, until `see` fails. Returns the number of
 * packages.
 */
static size_t each_zone(const struct ssactuate_machine *machine, const struct ssactuate_knob *knob,
    int (*see)(void *context, const char *zone), void *context) {
    struct sys_tree_names names = sys_tree_list(&machine->tree, POWERCAP);
    size_t count = 0;
    for (size_t i = 0; i < names.count; i++) {
        char path[SSACTUATE_PATH];
        const char *name = names.list[i];
        snprintf(path, sizeof path, POWERCAP "/%.100s/" LIMIT, name);
        if (!is_package(name) || !is_named(machine, knob, name) ||
            !sys_tree_has(&machine->tree, "%s", path))
            continue;
        count++;
        if (see(context, name) < 0)
            break;
    }
    sys_tree_names_free(&names);
    return count;
}

struct writable {
    const struct ssactuate_machine *machine;
    char refused[100];
};

static int check_writable(void *context, const char *zone) {
    struct writable *writable = context;
    char path[SSACTUATE_PATH];
    snprintf(path, sizeof path, POWERCAP "/%.100s/" LIMIT, zone);
    if (!ssactuate_file_is_writable(writable->machine->tree.folder, path))
        snprintf(writable->refused, sizeof writable->refused, "%s", zone);
    return 0;
}

static bool probe(const struct ssactuate_machine *machine, const struct ssactuate_knob *knob,
    char reason[SSACTUATE_REASON]) {
    struct writable writable = {.machine = machine};
    if (each_zone(machine, knob, check_writable, &writable) == 0) {
        snprintf(reason, SSACTUATE_REASON, "the kernel has no %s with a power limit in /" POWERCAP,
            *knob->target ? knob->target : "package");
        return false;
    }
    if (*writable.refused)
        snprintf(reason, SSACTUATE_REASON, "/" POWERCAP "/%s/" LIMIT " cannot be written",
            writable.refused);
    return !*writable.refused;
}

struct query {
    const struct ssactuate_machine *machine;
    const struct ssactuate_output *output;
};

static int write_zone(void *context, const char *zone) {
    const struct query *query = context;
    double limit = sys_tree_number(&query->machine->tree, POWERCAP "/%s/" LIMIT, zone);
    char text[40] = "unknown";
    if (limit > 0)
        ss_units_print_power(text, sizeof text, (uint64_t)limit);
    if (query->output->json) {
        ss_json_open(query->output->json, NULL, '{');
        ss_json_text(query->output->json, "target", zone);
        ss_json_text(query->output->json, "level", text);
        ss_json_close(query->output->json, '}');
    } else {
        fprintf(query->output->stream, "power@%s=%s\n", zone, text);
    }
    return 0;
}

static int get(const struct ssactuate_machine *machine, const struct ssactuate_knob *knob,
    const struct ssactuate_output *output, struct ss_error *error) {
    struct query query = {machine, output};
    (void)error;
    if (output->json)
        ss_json_open(output->json, "packages", '[');
    each_zone(machine, knob, write_zone, &query);
    if (output->json)
        ss_json_close(output->json, ']');
    return 0;
}

struct task {
    struct ssactuate_plan *plan;
    uint64_t microwatts;
    struct ss_error *error;
    int status;
};

static int plan_zone(void *context, const char *zone) {
    struct task *task = context;
    struct ssactuate_setting setting = {.kept = SSACTUATE_ROUNDED};
    snprintf(setting.knob, sizeof setting.knob, "power-%.50s", zone);
    snprintf(setting.path, sizeof setting.path, POWERCAP "/%.100s/" LIMIT, zone);
    snprintf(setting.value, sizeof setting.value, "%llu", (unsigned long long)task->microwatts);
    task->status = ssactuate_plan_add(task->plan, &setting, task->error);
    return task->status;
}

static int set(const struct ssactuate_machine *machine, const struct ssactuate_knob *knob,
    struct ssactuate_plan *plan, struct ss_error *error) {
    struct task task = {.plan = plan, .error = error};
    if (ss_units_power(knob->level, &task.microwatts, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);
    each_zone(machine, knob, plan_zone, &task);
    return task.status;
}

const struct ssactuate_actuator ssactuate_power = {
    .name = "power",
    .form = "80W",
    .by = "powercap: the long-term limit of each package",
    .probe = probe,
    .get = get,
    .set = set,
    .has_targets = true,
};

static bool probe_idle(const struct ssactuate_machine *machine, const struct ssactuate_knob *knob,
    char reason[SSACTUATE_REASON]) {
    struct sys_tree_names names = sys_tree_list(&machine->tree, "sys/class/thermal");
    bool found = false;
    (void)knob;
    for (size_t i = 0; i < names.count; i++) {
        char *type = sys_tree_line(&machine->tree, "sys/class/thermal/%s/type", names.list[i]);
        found |= type && strcmp(type, "intel_powerclamp") == 0;
        free(type);
    }
    sys_tree_names_free(&names);
    snprintf(reason, SSACTUATE_REASON, "%s",
        found ? "intel_powerclamp does not report the share that it was set to, so it could not be "
                "verified or restored"
              : "the kernel has no idle injection: intel_powerclamp is not loaded");
    return false;
}

const struct ssactuate_actuator ssactuate_idle = {
    .name = "idle",
    .form = "25%",
    .by = "idle injection",
    .probe = probe_idle,
};
