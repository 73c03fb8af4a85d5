/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_PARTS_H
#define SSPLATFORM_PARTS_H

/* The parts of a report, each of which writes its own keys, and what several of them read. */

#include "base/cpus.h"
#include "base/json.h"
#include "sys_tree.h"

/* The CPUs that are online; empty if unknown. */
struct ss_cpus ssplatform_online(const struct ssplatform_tree *tree);

/* The CPUs on which the process itself may run, and so what it starts; NULL: not known. free() it.
 */
char *ssplatform_affinity(const struct ssplatform_tree *tree);

void ssplatform_write_kernel(struct ss_json *json, const struct ssplatform_tree *tree);
void ssplatform_write_scheduler(struct ss_json *json, const struct ssplatform_tree *tree);
void ssplatform_write_mitigations(struct ss_json *json, const struct ssplatform_tree *tree);
void ssplatform_write_models(struct ss_json *json, const struct ssplatform_tree *tree);
void ssplatform_write_topology(
    struct ss_json *json, const struct ssplatform_tree *tree, const struct ss_cpus *online);
void ssplatform_write_frequency(
    struct ss_json *json, const struct ssplatform_tree *tree, const struct ss_cpus *online);
void ssplatform_write_idle(
    struct ss_json *json, const struct ssplatform_tree *tree, const struct ss_cpus *online);
void ssplatform_write_surroundings(struct ss_json *json, const struct ssplatform_tree *tree);
void ssplatform_write_allowance(struct ss_json *json, const struct ssplatform_tree *tree);

/* ---- what they share about /proc/cpuinfo ---- */

/*
 * Hands every block that describes a CPU on, with its lines; `value` looks one up by its key.
 */
struct ssplatform_processor {
    uint32_t cpu;
    char **keys, **values;
    size_t count;
};

void ssplatform_processors(const struct ssplatform_tree *tree,
    void (*take)(void *context, const struct ssplatform_processor *processor), void *context);

/* NULL without such a line, or without text after its colon. */
const char *ssplatform_processor_value(
    const struct ssplatform_processor *processor, const char *key);

/* ---- what the kernel was built with ---- */

/* The kernel's configuration; free() it. NULL: not known. */
char *ssplatform_configuration(const struct ssplatform_tree *tree);

#endif
