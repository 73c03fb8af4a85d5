/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_REPORT_H
#define SSPLATFORM_REPORT_H

#include <stdio.h>

#include <showstopper/error.h>

/*
 * Describes the machine, or the one of which `root` holds /proc and /sys, as one JSON object: the
 * same keys everywhere, null for what is not known. `root` is NULL for the machine itself. Fails
 * where the root cannot be read, before anything is written.
 */
int ssplatform_report(FILE *stream, const char *root, struct ss_error *error);

/* How two workloads lie beside each other. */
enum ssplatform_placement {
    SSPLATFORM_PER_CHIP,   /* each has chips of its own */
    SSPLATFORM_PER_CORE,   /* each has cores of its own on every chip */
    SSPLATFORM_PER_THREAD, /* each has threads of its own on every core */
};

/*
 * Writes two disjoint sets of equally many CPUs, of those that we may use, as A/B; or one line that
 * says why there are none, and returns 1.
 */
int ssplatform_sets(
    FILE *stream, const char *root, enum ssplatform_placement placement, struct ss_error *error);

/* ---- the parts; each writes its own keys ---- */

#include "base/cpus.h"
#include "base/json.h"
#include "tree.h"

/* Those that run; an empty set where they are not known. */
struct ss_cpus ssplatform_online(const struct ssplatform_tree *tree);

/* The CPUs on which the process itself may run, and so what it starts; NULL: not known. free() it.
 */
char *ssplatform_affinity(const struct ssplatform_tree *tree);

/* Writes what one file says. */
void ssplatform_put_line(
    struct ss_json *json, const char *name, const struct ssplatform_tree *tree, const char *path);

/* "on" for 1, "off" for 0. */
void ssplatform_put_switch(struct ss_json *json, const char *name, double number);

/* A file's words as a list. */
void ssplatform_put_words(
    struct ss_json *json, const char *name, const struct ssplatform_tree *tree, const char *path);

/* The number behind "MemTotal:" in a file, in bytes. */
double ssplatform_memory(const struct ssplatform_tree *tree, const char *path);

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

/* NULL: no such line, or nothing behind its colon. */
const char *ssplatform_processor_value(
    const struct ssplatform_processor *processor, const char *key);

/* ---- what the kernel was built with ---- */

/* The kernel's configuration; free() it. NULL: not known. */
char *ssplatform_configuration(const struct ssplatform_tree *tree);

#endif
