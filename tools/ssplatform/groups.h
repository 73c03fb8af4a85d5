/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_GROUPS_H
#define SSPLATFORM_GROUPS_H

/* Properties that may differ between CPUs: equal CPUs are listed together. */

#include "base/cpus.h"
#include "base/json.h"

#define SSPLATFORM_FIELDS_MAX 10

struct ssplatform_group {
    struct ss_cpus cpus;
    char *values[SSPLATFORM_FIELDS_MAX]; /* NULL: not known */
};

struct ssplatform_groups {
    struct ssplatform_group *list;
    size_t count, room;
    bool failed; /* memory was short */
};

/* Takes the values, which free() must take, and clears them. */
void ssplatform_groups_add(
    struct ssplatform_groups *groups, uint32_t cpu, char *values[SSPLATFORM_FIELDS_MAX]);

/*
 * Writes them as a list of objects with the key `cpus` and what `write` adds for each, and frees
 * them; null if absent.
 */
void ssplatform_groups_write(struct ssplatform_groups *groups, struct ss_json *json,
    const char *name, void (*write)(struct ss_json *json, const struct ssplatform_group *group));

/* CPUs as the kernel lists them; the empty set is the empty text. */
void ssplatform_write_cpus(struct ss_json *json, const char *name, const struct ss_cpus *cpus);

#endif
