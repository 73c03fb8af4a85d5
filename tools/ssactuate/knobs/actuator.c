/* SPDX-License-Identifier: Apache-2.0 */
#include "actuator.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/words.h"
#include "text_stream.h"

static const struct ssactuate_actuator *const table[] = {&ssactuate_frequency, &ssactuate_pin,
    &ssactuate_cpus, &ssactuate_quota, &ssactuate_memory, &ssactuate_instances, &ssactuate_duty,
    &ssactuate_power, &ssactuate_idle};

#define COUNT (sizeof table / sizeof *table)

int ssactuate_machine_open(
    struct ssactuate_machine *machine, const char *root, struct ss_error *error) {
    const char *above = root ? root : "";
    *machine = (struct ssactuate_machine){.root = root};

    if (sys_tree_open(&machine->tree, root, error) < 0)
        return -1;

    machine->proc = ss_words_format(error, "%s/proc", above);
    machine->sys = ss_words_format(error, "%s/sys", above);
    machine->cgroup = ss_words_format(error, "%s/sys/fs/cgroup", above);
    machine->roots = (struct ss_platform_roots){
        .proc = machine->proc, .sys = machine->sys, .cgroup = machine->cgroup};
    return machine->proc && machine->sys && machine->cgroup ? 0 : -1;
}

void ssactuate_machine_close(struct ssactuate_machine *machine) {
    sys_tree_close(&machine->tree);
    free(machine->proc);
    free(machine->sys);
    free(machine->cgroup);
}

static const struct ssactuate_actuator *find(
    const char *text, size_t length, struct ss_error *error) {
    const char *names[COUNT];
    char name[64];
    const struct ss_suggest_names known = {"actuator", SS_SUGGEST_ROWS(names), NULL};

    for (size_t i = 0; i < COUNT; i++)
        names[i] = table[i]->name;
    snprintf(name, sizeof name, "%.*s", (int)length, text);

    if (strcmp(name, "size") == 0)
        ss_error_fail(error, "size is short for cpus, quota and memory: use one of these instead");

    int found = ss_suggest_find(&known, name, error);
    return found < 0 ? NULL : table[found];
}

int ssactuate_knob_parse(struct ssactuate_knob *knob, const char *text, struct ss_error *error) {
    size_t length = strcspn(text, "@=");
    const char *target = text[length] == '@' ? text + length + 1 : "";
    size_t target_length = strcspn(target, "=");
    const char *equals = *target ? target + target_length : text + length;

    *knob = (struct ssactuate_knob){.actuator = find(text, length, error), .text = text};
    if (!knob->actuator)
        return -1;

    if (text[length] == '@' && !knob->actuator->has_targets)
        return ss_error_fail(
            error, "'%s': %s has no targets", ss_words_show(text).text, knob->actuator->name);

    if ((text[length] == '@' && target_length == 0) || target_length >= sizeof knob->target)
        return ss_error_fail(error, "'%s': use a target of 1 to %zu bytes after @",
            ss_words_show(text).text, sizeof knob->target - 1);
    snprintf(knob->target, sizeof knob->target, "%.*s", (int)target_length, target);

    if (*equals && !equals[1])
        return ss_error_fail(error, "'%s': invalid level: use %s=%s", ss_words_show(text).text,
            knob->actuator->name, knob->actuator->syntax);

    knob->level = *equals ? equals + 1 : "";
    return 0;
}

int ssactuate_knob_probe(const struct ssactuate_knob *knob, struct ss_error *reason) {
    return knob->actuator->probe ? knob->actuator->probe(knob, reason) : 0;
}

/* Returns the levels as text; NULL if memory is exhausted. free() the result. */
static char *write_levels(
    const struct ssactuate_machine *machine, const struct ssactuate_actuator *actuator) {
    struct ss_text text;
    if (ss_text_open(&text, NULL) < 0)
        return NULL;
    if (actuator->levels)
        actuator->levels(machine, text.stream);
    else
        fputs(actuator->syntax, text.stream);
    return ss_text_close(&text, NULL);
}

static const char guest_note[] =
    "Unpinned virtual CPUs of a guest replace neither cpus nor quota: their number limits\n"
    "how many threads of the guest run at a time, but reserves neither CPUs nor CPU time.\n";

void ssactuate_list_print(const struct ssactuate_machine *machine, FILE *stream) {
    for (size_t i = 0; i < COUNT; i++) {
        const struct ssactuate_knob knob = {
            .machine = machine, .actuator = table[i], .text = table[i]->name, .level = ""};
        struct ss_error reason = {0};

        if (ssactuate_knob_probe(&knob, &reason) < 0) {
            fprintf(stream, "%-10s absent: %s\n", table[i]->name, reason.message);
            continue;
        }

        char *levels = write_levels(machine, table[i]);
        fprintf(stream, "%-10s %s\n%-10s by %s\n", table[i]->name, levels ? levels : "", "",
            table[i]->mechanism);
        free(levels);
    }

    fprintf(stream, "\n%s", guest_note);
}
