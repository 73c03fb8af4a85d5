/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "json_fields.h"

static bool has_values(const struct ssplatform_group *group, char *const *values) {
    for (int i = 0; i < SSPLATFORM_FIELDS_MAX; i++) {
        const char *left = group->values[i], *right = values[i];
        if (left != right && (!left || !right || strcmp(left, right) != 0))
            return false;
    }
    return true;
}

static struct ssplatform_group *find(const struct ssplatform_groups *groups, char *const *values) {
    for (size_t i = 0; i < groups->count; i++) {
        if (has_values(&groups->list[i], values))
            return &groups->list[i];
    }
    return NULL;
}

void ssplatform_groups_add(
    struct ssplatform_groups *groups, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]) {
    struct ssplatform_group *group = find(groups, values);

    if (!group && SS_GROW(groups->list, groups->count + 1, groups->room)) {
        group = &groups->list[groups->count++];
        *group = (struct ssplatform_group){0};
        memcpy(group->values, values, sizeof group->values);
        memset(values, 0, sizeof group->values);
    }
    if (group)
        ss_cpus_add(&group->cpus, cpu);
    groups->failed |= !group;

    for (int i = 0; i < SSPLATFORM_FIELDS_MAX; i++) {
        free(values[i]);
        values[i] = NULL;
    }
}

static void free_groups(struct ssplatform_groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        for (int field = 0; field < SSPLATFORM_FIELDS_MAX; field++)
            free(groups->list[i].values[field]);
    }
    free(groups->list);
    *groups = (struct ssplatform_groups){0};
}

void ssplatform_groups_write(struct ssplatform_groups *groups, struct ss_json *json,
    const char *name, void (*write)(struct ss_json *json, const struct ssplatform_group *group)) {
    bool known = ssplatform_open_list(json, name, groups->count > 0 && !groups->failed);

    for (size_t i = 0; known && i < groups->count; i++) {
        ss_json_open(json, NULL, '{');
        ssplatform_write_cpus(json, "cpus", &groups->list[i].cpus);
        write(json, &groups->list[i]);
        ss_json_close(json, '}');
    }

    if (known)
        ss_json_close(json, ']');
    free_groups(groups);
}

void ssplatform_groups_report(struct ss_json *json, const char *name, const struct sys_tree *tree,
    const struct ss_cpus *cpus,
    void (*read)(const struct sys_tree *tree, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]),
    void (*write)(struct ss_json *json, const struct ssplatform_group *group)) {
    struct ssplatform_groups groups = {0};

    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        char *values[SSPLATFORM_FIELDS_MAX] = {NULL};
        if (!ss_cpus_has(cpus, cpu))
            continue;
        read(tree, cpu, values);
        ssplatform_groups_add(&groups, cpu, values);
    }

    ssplatform_groups_write(&groups, json, name, write);
}

void ssplatform_write_cpus(struct ss_json *json, const char *name, const struct ss_cpus *cpus) {
    /* The longest text names every second CPU, with up to five bytes for each. */
    static char text[SS_CPUS_TEXT_SIZE];
    ss_cpus_print(text, sizeof text, cpus);
    ss_json_text(json, name, text);
}
