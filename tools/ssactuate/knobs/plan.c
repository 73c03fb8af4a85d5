/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "actuator.h"
#include "base/grow.h"
#include "base/words.h"

void ssactuate_plan_remove(struct ssactuate_plan *plan, const char *beginning) {
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (strncmp(plan->settings[i].path, beginning, strlen(beginning)) != 0)
            plan->settings[kept++] = plan->settings[i];
    }
    plan->count = kept;
}

/*
 * Keeps one setting per file, because the journal compares a file with one value. The new setting
 * comes last: actuators choose the order of files by the values that these have before the run.
 */
int ssactuate_plan_add(
    struct ssactuate_plan *plan, const struct ssactuate_setting *setting, struct ss_error *error) {
    size_t kept = 0;

    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->settings[i].path, setting->path) != 0)
            plan->settings[kept++] = plan->settings[i];
    }
    plan->count = kept;

    if (!SS_GROW(plan->settings, plan->count + 1, plan->room))
        return ss_error_memory(error);
    plan->settings[plan->count++] = *setting;
    return 0;
}

void ssactuate_plan_free(struct ssactuate_plan *plan) {
    free(plan->settings);
    *plan = (struct ssactuate_plan){0};
}

/* The knobs planned so far. Each may be given once. */
struct planner {
    struct ssactuate_plan *plan;
    const struct ssactuate_machine *machine;
    char seen[32][100];
    size_t count;
};

static int note_knob(
    struct planner *planner, const struct ssactuate_knob *knob, struct ss_error *error) {
    char name[100];
    snprintf(name, sizeof name, "%s@%s", knob->actuator->name, knob->target);

    for (size_t i = 0; i < planner->count; i++) {
        if (strcmp(planner->seen[i], name) == 0)
            return ss_error_fail(error, "%s is given twice", knob->actuator->name);
    }

    if (planner->count == sizeof planner->seen / sizeof *planner->seen)
        return ss_error_fail(error, "too many knobs (at most %zu)", planner->count);

    snprintf(planner->seen[planner->count++], sizeof *planner->seen, "%s", name);
    return 0;
}

static int plan_word(struct planner *planner, const char *word, struct ss_error *error) {
    struct ssactuate_knob knob;
    if (ssactuate_knob_parse(&knob, word, error) < 0)
        return -1;
    if (!*knob.level)
        return ss_error_fail(error, "'%s' has no level: use %s=%s", ss_words_show(word).text,
            knob.actuator->name, knob.actuator->syntax);

    if (note_knob(planner, &knob, error) < 0)
        return -1;
    knob.machine = planner->machine;
    if (ssactuate_knob_probe(&knob, error) < 0)
        return ss_error_wrap(error, "%s is absent", knob.actuator->name);

    return knob.actuator->set(&knob, planner->plan, error);
}

/* Plans one part of a size, such as quota=50%,period=10ms. */
static int plan_part(struct planner *planner, const char *word, struct ss_error *error) {
    if (strncmp(word, "cpus=", 5) != 0 && strncmp(word, "quota=", 6) != 0 &&
        strncmp(word, "memory=", 7) != 0)
        return ss_error_fail(error, "'%s' is not cpus, quota or memory", ss_words_show(word).text);
    return plan_word(planner, word, error);
}

/* Plans size=NAME:cpus=N,quota=P,period=T,memory=M. */
static int plan_size(struct planner *planner, const char *text, struct ss_error *error) {
    const char *colon = strchr(text, ':');
    struct ss_words_part part;
    char word[300] = "";

    if (!colon || colon == text || (size_t)(colon - text) >= sizeof planner->plan->size)
        return ss_error_fail(error,
            "size=%s: use size=NAME:cpus=N,quota=P,memory=M, with at least one of the three",
            ss_words_show(text).text);

    snprintf(planner->plan->size, sizeof planner->plan->size, "%.*s", (int)(colon - text), text);

    for (const char *at = colon + 1; ss_words_next(&at, ',', &part);) {
        size_t length = strlen(word);
        bool option = strncmp(part.text, "period=", 7) == 0;

        if (length + part.length + 2 > sizeof word)
            return ss_error_fail(error, "size=%s: too long", ss_words_show(text).text);

        if (*word && !option && plan_part(planner, word, error) < 0)
            return ss_error_wrap(error, "size");
        snprintf(word + (option ? length : 0), sizeof word - (option ? length : 0), "%s%.*s",
            option && *word ? "," : "", (int)part.length, part.text);
    }

    return plan_part(planner, word, error) < 0 ? ss_error_wrap(error, "size") : 0;
}

int ssactuate_plan_make(struct ssactuate_plan *plan, const struct ssactuate_machine *machine,
    const char *const *words, struct ss_error *error) {
    struct planner planner = {.plan = plan, .machine = machine};
    *plan = (struct ssactuate_plan){.period = SSACTUATE_PERIOD};

    for (const char *const *word = words; *word; word++) {
        int status = strncmp(*word, "size=", 5) == 0 ? plan_size(&planner, *word + 5, error)
                                                     : plan_word(&planner, *word, error);
        if (status < 0)
            return -1;
    }

    if (plan->pinned && plan->cpu_count > plan->cpus.count)
        return ss_error_fail(error, "cpus=%llu exceeds the %u CPUs of pin",
            (unsigned long long)plan->cpu_count, (unsigned)plan->cpus.count);
    return 0;
}
