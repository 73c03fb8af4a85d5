/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_GROUPS_H
#define SSPLATFORM_GROUPS_H

/* Groups of CPUs that have the same values in all fields of a topic. */

#include "base/cpus.h"
#include "base/json.h"
#include "sys_tree.h"

#define SSPLATFORM_FIELDS_MAX 10

struct ssplatform_group {
    struct ss_cpus cpus;
    char *values[SSPLATFORM_FIELDS_MAX]; /* owned; NULL if unknown */
};

struct ssplatform_groups {
    struct ssplatform_group *list;
    size_t count, room;
    bool failed; /* memory was exhausted */
};

/* Adds a CPU. Takes ownership of the values, from malloc(), and sets them to NULL. */
void ssplatform_groups_add(
    struct ssplatform_groups *groups, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]);

/*
 * Groups CPUs by the values that `read` sets, from malloc(), and writes the groups; see
 * ssplatform_groups_write().
 */
void ssplatform_groups_report(struct ss_json *json, const char *name, const struct sys_tree *tree,
    const struct ss_cpus *cpus,
    void (*read)(const struct sys_tree *tree, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]),
    void (*write)(struct ss_json *json, const struct ssplatform_group *group));

/*
 * Writes the groups as a list of objects, each with the key `cpus` and the keys that `write` adds,
 * and frees the groups. Writes null if there are no groups.
 */
void ssplatform_groups_write(struct ssplatform_groups *groups, struct ss_json *json,
    const char *name, void (*write)(struct ss_json *json, const struct ssplatform_group *group));

/* Writes CPUs in the kernel's list format; an empty set becomes an empty string. */
void ssplatform_write_cpus(struct ss_json *json, const char *name, const struct ss_cpus *cpus);

#endif
