/* SPDX-License-Identifier: Apache-2.0 */
#include "platform_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "groups.h"
#include "json_fields.h"
#include "parts.h"

/* Writes a list of CPUs. An empty line means an empty list; an empty file means unknown. */
static void put_list(struct ss_json *json, const char *name, const struct sys_tree *tree) {
    char *text = sys_tree_read(tree, "sys/devices/system/cpu/%s", name);
    struct ss_cpus cpus = {0};
    struct ss_error ignored = {0};

    bool empty = text && strcmp(text, "\n") == 0;
    if (empty || (text && ss_cpus_parse(text, &cpus, &ignored) == 0))
        ssplatform_write_cpus(json, name, &cpus);
    else
        ss_json_text(json, name, NULL);

    free(text);
}

static void write_cpus(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online) {
    uint32_t count = ss_cpus_count(online);

    ss_json_open(json, "cpus", '{');
    ss_json_number(json, "count", count > 0 ? count : NAN);
    put_list(json, "online", tree);
    put_list(json, "possible", tree);
    put_list(json, "isolated", tree);
    put_list(json, "nohz_full", tree);
    ss_json_close(json, '}');

    ss_json_open(json, "smt", '{');
    ssplatform_put_switch(
        json, "active", sys_tree_number(tree, "sys/devices/system/cpu/smt/active"));
    ssplatform_put_line(json, "control", tree, "sys/devices/system/cpu/smt/control");
    ss_json_close(json, '}');
}

/* Writes the setting in brackets: the kernel lists all settings and marks the active one. */
static void put_chosen(
    struct ss_json *json, const char *name, const struct sys_tree *tree, const char *path) {
    char *line = sys_tree_line(tree, "%s", path);
    char *chosen = line ? strchr(line, '[') : NULL;
    char *end = chosen ? strchr(chosen, ']') : NULL;
    if (end)
        *end = '\0';
    ss_json_text(json, name, end ? chosen + 1 : NULL);
    free(line);
}

static void write_memory(struct ss_json *json, const struct sys_tree *tree) {
    ss_json_open(json, "memory", '{');
    ss_json_number(json, "bytes", ssplatform_memory(tree, "proc/meminfo"));
    put_chosen(json, "transparent_hugepage", tree, "sys/kernel/mm/transparent_hugepage/enabled");
    ss_json_close(json, '}');
}

static void write_clock(struct ss_json *json, const struct sys_tree *tree) {
    static const char current[] = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    static const char available[] =
        "sys/devices/system/clocksource/clocksource0/available_clocksource";
    ss_json_open(json, "clock_source", '{');
    ssplatform_put_line(json, "current", tree, current);
    ssplatform_put_words(json, "available", tree, available);
    ss_json_close(json, '}');
}

void ssplatform_write_unknown_topology(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online) {
    static const char *const names[] = {"sockets", "cores", "threads_per_core", "numa_nodes",
        "socket_list", "numa_node_list", NULL};
    (void)tree, (void)online;
    ss_json_open(json, "topology", '{');
    for (const char *const *name = names; *name; name++)
        ss_json_text(json, *name, NULL);
    ss_json_close(json, '}');
    ss_json_text(json, "caches", NULL);
}

int ssplatform_report(FILE *stream, const char *root, ssplatform_topology_writer *write_topology,
    struct ss_error *error) {
    struct sys_tree tree;
    if (sys_tree_open(&tree, root, error) < 0)
        return -1;

    struct ss_json json = {.stream = stream};
    struct ss_cpus online = sys_tree_online(&tree);

    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSPLATFORM_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ssplatform_write_kernel(&json, &tree);
    write_cpus(&json, &tree, &online);
    ssplatform_write_models(&json, &tree);
    (write_topology ? write_topology : ssplatform_write_unknown_topology)(&json, &tree, &online);
    ssplatform_write_frequency(&json, &tree, &online);
    ssplatform_write_idle(&json, &tree, &online);
    ssplatform_write_mitigations(&json, &tree);
    ssplatform_write_scheduler(&json, &tree);
    write_memory(&json, &tree);
    write_clock(&json, &tree);
    ssplatform_write_machine(&json, &tree);
    ssplatform_write_allowance(&json, &tree);

    ss_json_close(&json, '}');
    sys_tree_close(&tree);
    return 0;
}
