/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "json_fields.h"
#include "parts.h"

/* More than CPUIDLE_STATE_MAX of the kernel, which is 10. */
#define STATES_MAX 16
#define FOLDER     "sys/devices/system/cpu/cpu%u/cpuidle/state%d"

/* The members of a state, in this order. The file `disable` contains 1 for a disabled state. */
static const struct field {
    const char *name;
    const char *file;
} fields[] = {
    {"name", "name"},
    {"latency_us", "latency"},
    {"residency_us", "residency"},
    {"use", "disable"},
};

#define FIELD_COUNT (sizeof fields / sizeof *fields)

/*
 * Reads all states of a CPU as one value: a line per state, with a tab after each field. Sets it to
 * NULL if unknown.
 */
static void read_states(
    const struct sys_tree *tree, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return;

    int state = 0;
    for (; state < STATES_MAX && sys_tree_has(tree, FOLDER, cpu, state); state++) {
        for (size_t i = 0; i < FIELD_COUNT; i++) {
            char *value = sys_tree_line(tree, FOLDER "/%s", cpu, state, fields[i].file);
            if (value && (i == 0 ? !strchr(value, '\t') : sys_tree_parse_number(value) >= 0))
                fputs(value, stream);
            fputc('\t', stream);
            free(value);
        }
        fputc('\n', stream);
    }

    if (fclose(stream) == 0 && state > 0)
        values[0] = text;
    else
        free(text);
}

static void write_state(struct ss_json *json, char *line) {
    char *values[FIELD_COUNT];
    for (size_t i = 0; i < FIELD_COUNT; i++)
        values[i] = strsep(&line, "\t");
    ss_json_open(json, NULL, '{');
    ss_json_text(json, fields[0].name, *values[0] ? values[0] : NULL);
    ss_json_number(json, fields[1].name, sys_tree_parse_number(values[1]));
    ss_json_number(json, fields[2].name, sys_tree_parse_number(values[2]));
    ssplatform_put_switch(json, fields[3].name, 1 - sys_tree_parse_number(values[3]));
    ss_json_close(json, '}');
}

static void write_states(struct ss_json *json, const struct ssplatform_group *group) {
    char *copy = group->values[0] ? strdup(group->values[0]) : NULL;
    if (!ssplatform_open_list(json, "states", copy))
        return;
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) && *line;)
        write_state(json, line);
    ss_json_close(json, ']');
    free(copy);
}

static void write_governor(struct ss_json *json, const struct sys_tree *tree) {
    static const char folder[] = "sys/devices/system/cpu/cpuidle";
    char *line = sys_tree_line(tree, "%s/current_governor", folder);
    /* Before Linux 5.9, the file has this name unless cpuidle_sysfs_switch is given at boot. */
    if (!line)
        line = sys_tree_line(tree, "%s/current_governor_ro", folder);
    ss_json_text(json, "governor", line);
    free(line);
}

void ssplatform_write_idle(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online) {
    ss_json_open(json, "idle", '{');
    ssplatform_put_line(json, "driver", tree, "sys/devices/system/cpu/cpuidle/current_driver");
    write_governor(json, tree);
    ssplatform_groups_report(json, "states", tree, online, read_states, write_states);
    ss_json_close(json, '}');
}
