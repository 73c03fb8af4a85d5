/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/module_set.h"

#include <stdlib.h>

#include "base/owned.h"
#include "base/units.h"
#include "options/arguments.h"
#include "trace/file.h"

static int parse_load(
    const struct ss_host *host, const char *text, double *value, struct ss_error *error) {
    return ss_units_load(text, host->cpus, value, error);
}

static int parse_loads(const struct ss_host *host, const char *text, char separator, double *values,
    size_t count, struct ss_error *error) {
    return ss_units_loads(text, separator, host->cpus, values, count, error);
}

const struct ss_host ss_host = {
    .parse_time = ss_units_time,
    .parse_load = parse_load,
    .parse_number = ss_units_number,
    .parse_loads = parse_loads,
    .read_trace = ss_trace_load,
    .free_trace = ss_trace_records_free,
};

static size_t round_up(size_t size) {
    return (size + 63) / 64 * 64;
}

static bool keeps_account(const struct ss_module_set *set) {
    return set->modules[SS_KIND_FEEDBACK].table.feedback.account;
}

static const char *default_control(const struct ss_module_set *set) {
    if (set->output == SS_OUTPUT_RATE)
        return SS_CONTROL_FOR_RATE;
    return keeps_account(set) ? SS_CONTROL_DEFAULT : SS_CONTROL_WITHOUT_ACCOUNT;
}

static int check_output(
    const struct ss_module_set *set, enum ss_kind kind, const char *name, struct ss_error *error) {
    if (kind != SS_KIND_CONTROL || set->modules[kind].table.control.output == set->output)
        return 0;
    if (set->output == SS_OUTPUT_RATE)
        return ss_error_fail(error,
            "control/%s decides how much instances run, not a rate of requests: use control/%s",
            name, SS_CONTROL_FOR_RATE);
    return ss_error_fail(error,
        "control/%s decides a rate of requests, not how much instances run: use it with ssrequest",
        name);
}

int ss_module_set_load(struct ss_module_set *set, enum ss_kind kind, const char *name,
    const char *options, struct ss_error *error) {
    if (!name)
        name = default_control(set);
    struct ss_loaded_module *module = &set->modules[kind];
    if (ss_registry_load(kind, name, module, error) < 0 || check_output(set, kind, name, error) < 0)
        return -1;

    const char *reason = module->head->unavailable();
    if (reason)
        return ss_error_fail(
            error, "the %s module '%s' cannot work here: %s", ss_kind_names[kind], name, reason);

    /*
     * Allocate at least one byte, so that the pointer is valid even for a module without options.
     */
    set->configs[kind] = calloc(1, module->head->config_size + 1);
    if (!set->configs[kind])
        return ss_error_memory(error);

    size_t before = set->store.warning_count;
    set->store.scale = (double)set->window / (double)SS_WINDOW_DEFAULT;
    set->store.cpus = kind == SS_KIND_TRACE ? set->load_cpus : 0;
    SS_OWNED(free) char *label = NULL;
    if (asprintf(&label, "%s/%s", ss_kind_names[kind], name) < 0)
        return ss_error_memory(error);
    if (ss_option_parse_string(
            module->head->options, options, set->configs[kind], &set->store, error) < 0)
        return ss_error_wrap(error, "%s", label);

    ss_option_store_label(&set->store, before, label);
    return 0;
}

static int check_account(const struct ss_module_set *set, struct ss_error *error) {
    const struct ss_control_module *control = &set->modules[SS_KIND_CONTROL].table.control;
    if (!control->keeps_account || control->output == SS_OUTPUT_RATE || keeps_account(set))
        return 0;
    return ss_error_fail(error,
        "control/%s needs an account of CPU time, which feedback/%s does not keep: use another "
        "feedback, or another control, such as " SS_CONTROL_WITHOUT_ACCOUNT,
        control->head.name, set->modules[SS_KIND_FEEDBACK].head->name);
}

static int prepare(struct ss_module_set *set, enum ss_kind kind, struct ss_error *error) {
    const struct ss_module *head = set->modules[kind].head;
    struct ss_self selves[SS_KINDS];
    if (set->is_prepared[kind])
        return 0;
    set->host = ss_host;
    set->host.cpus = set->load_cpus;
    ss_module_set_selves(set, NULL, set->instances, selves);
    int status = head->prepare(&selves[kind], error);
    set->prepared[kind] = selves[kind].prepared;
    set->is_prepared[kind] = status == 0;
    return status < 0 ? ss_error_wrap(error, "%s/%s", ss_kind_names[kind], head->name) : 0;
}

int ss_module_set_prepare_feedback(
    struct ss_module_set *set, struct ss_source_request *request, struct ss_error *error) {
    struct ss_self selves[SS_KINDS];
    if (prepare(set, SS_KIND_FEEDBACK, error) < 0)
        return -1;
    ss_module_set_selves(set, NULL, set->instances, selves);
    *request = (struct ss_source_request){0};
    set->modules[SS_KIND_FEEDBACK].table.feedback.source(&selves[SS_KIND_FEEDBACK], request);
    if (request->source == SS_SOURCE_NONE)
        request->source = SS_SOURCE_SYSTEM;
    return 0;
}

int ss_module_set_prepare(struct ss_module_set *set, struct ss_error *error) {
    if (check_account(set, error) < 0)
        return -1;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        if (prepare(set, kind, error) < 0)
            return -1;
    }
    return 0;
}

void ss_module_set_describe(
    const struct ss_module_set *set, enum ss_kind kind, char *buffer, size_t size) {
    const struct ss_dithering_module *dithering = &set->modules[SS_KIND_DITHERING].table.dithering;
    struct ss_self selves[SS_KINDS];
    ss_module_set_selves(set, NULL, set->instances, selves);
    const struct ss_rhythm rhythm = {.round = dithering->round_length(&selves[SS_KIND_DITHERING]),
        .settling = dithering->settling};
    buffer[0] = '\0';
    set->modules[kind].head->describe(&selves[kind], &rhythm, buffer, size);
}

void ss_module_set_release(struct ss_module_set *set) {
    struct ss_self selves[SS_KINDS];
    ss_module_set_selves(set, NULL, set->instances, selves);
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        if (set->is_prepared[kind])
            set->modules[kind].head->release(&selves[kind]);
        ss_registry_unload(&set->modules[kind]);
        free(set->configs[kind]);
    }
    ss_option_store_free(&set->store);
    *set = (struct ss_module_set){0};
}

static size_t module_memory(const struct ss_module *head, uint32_t instances) {
    return round_up(head->run_memory) + round_up(head->executor_memory) * ((size_t)instances + 1);
}

size_t ss_module_set_memory(const struct ss_module_set *set) {
    size_t size = 0;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++)
        size += module_memory(set->modules[kind].head, set->instances);
    return size;
}

void ss_module_set_selves(const struct ss_module_set *set, struct ss_board *board,
    uint32_t executor, struct ss_self selves[SS_KINDS]) {
    char *at = board ? ss_board_modules(board) : NULL;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        const struct ss_module *head = set->modules[kind].head;
        struct ss_self *self = &selves[kind];

        *self = (struct ss_self){
            .host = &set->host,
            .config = set->configs[kind],
            .prepared = set->prepared[kind],
            .executor = executor,
            .instances = set->instances,
            .cpus = set->cpus,
            .window = set->window,
        };
        if (!at || !head)
            continue;

        self->stride = round_up(head->executor_memory);
        self->run = at;
        self->executors = at + round_up(head->run_memory);
        self->own = (char *)self->executors + executor * self->stride;
        at += module_memory(head, set->instances);
    }
}
