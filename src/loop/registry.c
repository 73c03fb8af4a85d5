/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/registry.h"

#include <stdlib.h>

#include "base/suggest.h"
#include "base/units.h"
#include "options/values.h"
#include "platform/platform.h"

const char *const ss_kind_names[SS_KINDS] = {
    [SS_KIND_TRACE] = "trace",
    [SS_KIND_FEEDBACK] = "feedback",
    [SS_KIND_CONTROL] = "control",
    [SS_KIND_SPACE] = "space",
    [SS_KIND_DITHERING] = "dithering",
};

static const size_t table_sizes[SS_KINDS] = {
    [SS_KIND_TRACE] = sizeof(struct ss_trace_module),
    [SS_KIND_FEEDBACK] = sizeof(struct ss_feedback_module),
    [SS_KIND_CONTROL] = sizeof(struct ss_control_module),
    [SS_KIND_SPACE] = sizeof(struct ss_space_module),
    [SS_KIND_DITHERING] = sizeof(struct ss_dithering_module),
};

static int fail_unknown(enum ss_kind kind, const char *name, struct ss_error *error) {
    char *names[SS_MODULE_NAMES_MAX + 1];

    size_t count = ss_module_source_list(ss_kind_names[kind], names);
    if (count == 0 && ss_platform_check_proc(error) < 0)
        return -1;

    char what[32];
    snprintf(what, sizeof what, "%s module", ss_kind_names[kind]);
    struct ss_units_warning doubt;
    ss_time time;
    struct ss_suggest_names known = {
        .what = what,
        .rows = names,
        .count = count,
        .size = sizeof *names,
    };
    if (count == 0)
        known.hint = "no such module was found: is the installation of Showstopper complete?";
    else if (ss_units_time_sensible(name, SS_SECOND, &time, &doubt, NULL) == 0)
        known.hint = "this is a time; --duration sets the length of a run";

    ss_suggest_refuse(&known, name, error);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return -1;
}

static int check_head(
    const struct ss_module *head, enum ss_kind kind, const char *path, struct ss_error *error) {
    if (head->version != SS_MODULE_VERSION)
        return ss_error_fail(error,
            "%s was built for version %u of the module interface, but this program has version %d: "
            "rebuild it",
            path, head->version, SS_MODULE_VERSION);
    if (head->kind >= SS_KINDS)
        return ss_error_fail(
            error, "%s is a module of an unknown kind, not a %s module", path, ss_kind_names[kind]);
    if (head->kind != kind)
        return ss_error_fail(error, "%s is a %s module, not a %s module", path,
            ss_kind_names[head->kind], ss_kind_names[kind]);
    if (head->size != table_sizes[kind])
        return ss_error_fail(error, "%s has a table of %u bytes, but %zu are expected: rebuild it",
            path, head->size, table_sizes[kind]);
    if (!head->name || !head->summary)
        return ss_error_fail(error, "%s has no name or no summary", path);

    return 0;
}

static const char *always_available(void) {
    return NULL;
}

static int prepare_nothing(struct ss_self *self, struct ss_error *error) {
    (void)self;
    (void)error;
    return 0;
}

static void describe_nothing(
    const struct ss_self *self, const struct ss_rhythm *rhythm, char *buffer, size_t size) {
    (void)self;
    (void)rhythm;
    (void)buffer;
    (void)size;
}

static void release_nothing(struct ss_self *self) {
    (void)self;
}

static ss_time endless(const struct ss_self *self) {
    (void)self;
    return SS_TIME_NEVER;
}

static uint32_t no_peers(const struct ss_self *self) {
    (void)self;
    return 0;
}

static ss_time no_time(const struct ss_self *self) {
    (void)self;
    return 0;
}

static bool never_planned(const struct ss_self *self, const struct ss_dithering_input *input) {
    (void)self;
    (void)input;
    return false;
}

/*
 * Copies the table of the module, checks that the functions that the kind requires are present, and
 * fills in defaults for the others.
 */
static int complete(struct ss_loaded_module *module, enum ss_kind kind, struct ss_error *error) {
    struct ss_module *head = &module->table.head;

    memcpy(&module->table, module->object.head, table_sizes[kind]);
    if (!head->unavailable)
        head->unavailable = always_available;
    if (!head->prepare)
        head->prepare = prepare_nothing;
    if (!head->describe)
        head->describe = describe_nothing;
    if (!head->release)
        head->release = release_nothing;
    bool whole = true;
    switch (kind) {
    case SS_KIND_TRACE:
        whole = module->table.trace.target;
        if (!module->table.trace.length)
            module->table.trace.length = endless;
        break;
    case SS_KIND_FEEDBACK:
        whole = module->table.feedback.source && module->table.feedback.wants_sample &&
                module->table.feedback.sample && module->table.feedback.estimate;
        break;
    case SS_KIND_CONTROL:
        whole = module->table.control.update;
        if (!module->table.control.peers)
            module->table.control.peers = no_peers;
        break;
    case SS_KIND_SPACE:
        whole = module->table.space.local_duty;
        break;
    default:
        whole = module->table.dithering.next;
        if (!module->table.dithering.round_length)
            module->table.dithering.round_length = no_time;
        if (!module->table.dithering.phase)
            module->table.dithering.phase = no_time;
        if (!module->table.dithering.is_planned)
            module->table.dithering.is_planned = never_planned;
        if (!(module->table.dithering.settling > 0))
            module->table.dithering.settling = SS_SETTLING;
    }

    if (!whole)
        return ss_error_fail(error, "%s lacks a function that a %s module must have",
            module->object.path, ss_kind_names[kind]);

    module->head = head;
    return 0;
}

int ss_registry_load(
    enum ss_kind kind, const char *name, struct ss_loaded_module *module, struct ss_error *error) {
    const struct ss_module_object *object = &module->object;

    module->head = NULL;
    if (ss_module_source_open(ss_kind_names[kind], name, &module->object, error) < 0)
        return -1;
    if (!object->head)
        return fail_unknown(kind, name, error);

    if (check_head(object->head, kind, object->path, error) == 0 &&
        complete(module, kind, error) == 0)
        return 0;
    ss_registry_unload(module);
    return -1;
}

void ss_registry_unload(struct ss_loaded_module *module) {
    ss_module_source_close(&module->object);
    module->head = NULL;
}

int ss_registry_list(FILE *stream, struct ss_error *error) {
    static struct ss_loaded_module module;

    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        char *names[SS_MODULE_NAMES_MAX + 1];
        size_t count = ss_module_source_list(ss_kind_names[kind], names);
        for (size_t i = 0; i < count; i++) {
            struct ss_error why = {0};
            char label[64];
            snprintf(label, sizeof label, "%s/%s", ss_kind_names[kind], names[i]);
            if (ss_registry_load(kind, names[i], &module, &why) == 0) {
                fprintf(stream, "%-20s %s\n", label, module.head->summary);
                ss_registry_unload(&module);
            } else {
                fprintf(stream, "%-20s cannot be used: %s\n", label, why.message);
            }
            free(names[i]);
        }
        if (count == 0 && ss_platform_check_proc(error) == 0)
            ss_error_fail(error,
                "no %s module was found: is the installation of Showstopper complete?",
                ss_kind_names[kind]);
        if (count == 0)
            return -1;
    }

    return 0;
}

static int split_which(
    const char *which, enum ss_kind *kind, const char **name, struct ss_error *error) {
    const char *slash = strchr(which, '/');

    for (enum ss_kind i = 0; slash && i < SS_KINDS; i++) {
        if (strlen(ss_kind_names[i]) == (size_t)(slash - which) &&
            strncmp(ss_kind_names[i], which, (size_t)(slash - which)) == 0) {
            *kind = i;
            *name = slash + 1;
            return 0;
        }
    }

    return ss_error_fail(error,
        "'%s' does not name a module: use KIND/NAME, where KIND is trace, feedback, control, "
        "space or dithering",
        which);
}

int ss_registry_help(FILE *stream, const char *which, struct ss_error *error) {
    static struct ss_loaded_module module;
    enum ss_kind kind = SS_KIND_TRACE;
    const char *name = NULL;

    if (split_which(which, &kind, &name, error) < 0 ||
        ss_registry_load(kind, name, &module, error) < 0)
        return -1;

    fprintf(stream, "%s/%s: %s\n", ss_kind_names[kind], module.head->name, module.head->summary);
    ss_option_print_help(stream, module.head->options);
    const char *reason = module.head->unavailable();
    if (reason)
        fprintf(stream, "  It cannot work on this machine: %s\n", reason);
    ss_registry_unload(&module);

    return 0;
}
