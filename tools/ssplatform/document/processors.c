/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "parts.h"

/* Ignore further lines of a block in /proc/cpuinfo; real blocks have about thirty. */
#define LINES_MAX 128

const char *ssplatform_processor_value(
    const struct ssplatform_processor *processor, const char *key) {
    for (size_t i = 0; i < processor->count; i++) {
        if (strcmp(processor->keys[i], key) == 0)
            return processor->values[i];
    }
    return NULL;
}

/* Splits "key : value" in place. */
static void add_line(struct ssplatform_processor *processor, char *line) {
    char *colon = strchr(line, ':');
    if (!colon || processor->count == LINES_MAX)
        return;

    *colon = '\0';
    char *key = sys_tree_trim(line);
    if (!key)
        return;

    processor->keys[processor->count] = key;
    processor->values[processor->count++] = sys_tree_trim(colon + 1);
}

/* Returns whether a block describes a CPU, and sets its number. On Arm the last one does not. */
static bool has_number(struct ssplatform_processor *processor) {
    double number = sys_tree_parse_number(ssplatform_processor_value(processor, "processor"));
    if (!(number >= 0 && number < SS_CPUS_MAX))
        return false;
    processor->cpu = (uint32_t)number;
    return true;
}

void ssplatform_each_processor(const struct sys_tree *tree,
    void (*take)(void *context, const struct ssplatform_processor *processor), void *context) {
    char *keys[LINES_MAX], *values[LINES_MAX];
    struct ssplatform_processor processor = {.keys = keys, .values = values};

    char *text = sys_tree_read_large(tree, "proc/cpuinfo", NULL);
    char *rest = text;

    for (char *line; (line = strsep(&rest, "\n"));) {
        if (*line)
            add_line(&processor, line);
        if (*line && rest)
            continue;
        if (has_number(&processor))
            take(context, &processor);
        processor.count = 0;
    }

    free(text);
}

/* The keys of each field: architectures use different keys for the same field. */
static const struct field {
    const char *name;
    const char *keys[3];
    bool number; /* written as a number rather than a string if it is decimal */
} fields[] = {
    {"vendor", {"vendor_id"}},
    {"model", {"model name", "cpu", "Processor"}},
    {"family", {"cpu family"}, true},
    {"model_number", {"model"}, true},
    {"stepping", {"stepping"}, true},
    {"microcode", {"microcode"}},
    {"implementer", {"CPU implementer"}},
    {"part", {"CPU part"}},
    {"variant", {"CPU variant"}},
    {"revision", {"CPU revision", "revision"}},
};

#define FIELD_COUNT (sizeof fields / sizeof *fields)
_Static_assert(FIELD_COUNT <= SSPLATFORM_FIELDS_MAX, "a group must hold all of them");

static void take_model(void *context, const struct ssplatform_processor *processor) {
    char *values[SSPLATFORM_FIELDS_MAX] = {NULL};
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const char *value = NULL;
        for (size_t key = 0; !value && key < 3 && fields[i].keys[key]; key++)
            value = ssplatform_processor_value(processor, fields[i].keys[key]);
        values[i] = value ? strdup(value) : NULL;
    }
    ssplatform_groups_add(context, processor->cpu, values);
}

static bool is_decimal(const char *text) {
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && !text[digits] && (*text != '0' || digits == 1);
}

static void write_model(struct ss_json *json, const struct ssplatform_group *group) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const char *value = group->values[i];
        if (fields[i].number && value && is_decimal(value))
            ss_json_digits(json, fields[i].name, value);
        else
            ss_json_text(json, fields[i].name, value);
    }
}

void ssplatform_write_models(struct ss_json *json, const struct sys_tree *tree) {
    struct ssplatform_groups groups = {0};
    ssplatform_each_processor(tree, take_model, &groups);
    ssplatform_groups_write(&groups, json, "models", write_model);
}
