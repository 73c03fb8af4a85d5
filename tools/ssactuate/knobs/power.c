/* SPDX-License-Identifier: Apache-2.0 */

/* The power limit of packages (RAPL), and idle injection. */

#include <stdlib.h>
#include <string.h>

#include "actuator.h"
#include "quantity.h"

#define POWERCAP "sys/class/powercap"
#define LIMIT    "constraint_0_power_limit_uw" /* the long-term limit */

/* Returns whether the zone is a whole package: intel-rapl:0, but not its part intel-rapl:0:1. */
static bool is_package(const char *name) {
    const char *colon = strchr(name, ':');
    return strncmp(name, "intel-rapl", 10) == 0 && colon && !strchr(colon + 1, ':');
}

/* Returns whether the knob includes the zone. Without a target, it excludes the whole platform. */
static bool is_named(const struct ssactuate_knob *knob, const char *zone) {
    if (*knob->target)
        return strcmp(knob->target, zone) == 0;
    char *name = sys_tree_line(&knob->machine->tree, POWERCAP "/%s/name", zone);
    bool is_platform = name && strcmp(name, "psys") == 0;
    free(name);
    return !is_platform;
}

static void name_limit(char path[SSACTUATE_PATH_SIZE], const char *zone) {
    snprintf(path, SSACTUATE_PATH_SIZE, POWERCAP "/%s/" LIMIT, zone);
}

/* Returns the packages that the knob includes. */
static struct sys_tree_names find_zones(const struct ssactuate_knob *knob) {
    const struct sys_tree *tree = &knob->machine->tree;
    struct sys_tree_names names = sys_tree_list(tree, POWERCAP);
    size_t count = names.count;
    names.count = 0;

    for (size_t i = 0; i < count; i++) {
        char path[SSACTUATE_PATH_SIZE];
        char *name = names.list[i];

        name_limit(path, name);
        if (is_package(name) && is_named(knob, name) && sys_tree_has(tree, "%s", path))
            names.list[names.count++] = name;
        else
            free(name);
    }

    return names;
}

static int probe(const struct ssactuate_knob *knob, struct ss_error *reason) {
    struct sys_tree_names zones = find_zones(knob);
    char path[SSACTUATE_PATH_SIZE];
    int status = 0;

    if (zones.count == 0)
        status = ss_error_fail(reason, "the kernel has no %s with a power limit in /" POWERCAP,
            *knob->target ? knob->target : "package");

    for (size_t i = 0; i < zones.count; i++) {
        name_limit(path, zones.list[i]);
        if (!ssactuate_file_is_writable(knob->machine->tree.folder, path))
            status = ss_error_fail(reason, "cannot write /%s", path);
    }

    sys_tree_names_free(&zones);
    return status;
}

static int get(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error) {
    struct sys_tree_names zones = find_zones(knob);
    (void)error;

    for (size_t i = 0; i < zones.count; i++) {
        char path[SSACTUATE_PATH_SIZE], text[40] = "unknown";
        name_limit(path, zones.list[i]);

        double limit = sys_tree_number(&knob->machine->tree, "%s", path);
        if (limit > 0)
            quantity_print(&quantity_power, text, sizeof text, (uint64_t)limit);
        fprintf(stream, "power@%s=%s\n", zones.list[i], text);
    }

    sys_tree_names_free(&zones);
    return 0;
}

static int set(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    uint64_t microwatts;
    int status = 0;

    if (quantity_parse(&quantity_power, knob->level, &microwatts, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);

    struct sys_tree_names zones = find_zones(knob);
    for (size_t i = 0; status == 0 && i < zones.count; i++) {
        struct ssactuate_setting setting = {.tolerance = SSACTUATE_ROUNDED};
        snprintf(setting.knob, sizeof setting.knob, "power-%s", zones.list[i]);
        name_limit(setting.path, zones.list[i]);
        snprintf(setting.value, sizeof setting.value, "%llu", (unsigned long long)microwatts);
        status = ssactuate_plan_add(plan, &setting, error);
    }
    sys_tree_names_free(&zones);
    return status;
}

const struct ssactuate_actuator ssactuate_power = {
    .name = "power",
    .syntax = "80W",
    .mechanism = "powercap: the long-term limit of each package",
    .probe = probe,
    .get = get,
    .set = set,
    .has_targets = true,
};

static int probe_idle(const struct ssactuate_knob *knob, struct ss_error *reason) {
    struct sys_tree_names names = sys_tree_list(&knob->machine->tree, "sys/class/thermal");
    bool found = false;

    for (size_t i = 0; i < names.count; i++) {
        char *type =
            sys_tree_line(&knob->machine->tree, "sys/class/thermal/%s/type", names.list[i]);
        found |= type && strcmp(type, "intel_powerclamp") == 0;
        free(type);
    }

    sys_tree_names_free(&names);

    return ss_error_fail(reason, "%s",
        found ? "intel_powerclamp does not report the value that was set, so it cannot be verified "
                "or restored"
              : "the kernel has no idle injection: intel_powerclamp is not loaded");
}

const struct ssactuate_actuator ssactuate_idle = {
    .name = "idle",
    .syntax = "25%",
    .mechanism = "idle injection",
    .probe = probe_idle,
};
