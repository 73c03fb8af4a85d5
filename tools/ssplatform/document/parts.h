/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_PARTS_H
#define SSPLATFORM_PARTS_H

/* Functions that each write a part of the report, and data that several parts share. */

#include "base/cpus.h"
#include "base/json.h"
#include "sys_tree.h"

void ssplatform_write_kernel(struct ss_json *json, const struct sys_tree *tree);
void ssplatform_write_scheduler(struct ss_json *json, const struct sys_tree *tree);
void ssplatform_write_mitigations(struct ss_json *json, const struct sys_tree *tree);
void ssplatform_write_models(struct ss_json *json, const struct sys_tree *tree);
void ssplatform_write_frequency(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online);
void ssplatform_write_idle(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online);
void ssplatform_write_machine(struct ss_json *json, const struct sys_tree *tree);
void ssplatform_write_allowance(struct ss_json *json, const struct sys_tree *tree);

/* A block of lines that describes a CPU. ssplatform_each_processor() calls `take` for each. */
struct ssplatform_processor {
    uint32_t cpu;
    char **keys, **values;
    size_t count;
};

void ssplatform_each_processor(const struct sys_tree *tree,
    void (*take)(void *context, const struct ssplatform_processor *processor), void *context);

/* Returns the value of a key; NULL if the line is absent or has no text after its colon. */
const char *ssplatform_processor_value(
    const struct ssplatform_processor *processor, const char *key);

/* Returns the kernel's configuration, which the caller frees; NULL if unknown. */
char *ssplatform_configuration(const struct sys_tree *tree);

#endif
