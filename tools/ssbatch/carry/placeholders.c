/* SPDX-License-Identifier: Apache-2.0 */
#include "placeholders.h"

#include <stdlib.h>

#include "base/units.h"
#include "base/wallclock.h"
#include "command/cli.h"
#include "replace.h"

struct finding {
    struct ssbatch_stage *stage;
    const struct ssbatch_act *act;
    bool fixed; /* replace only what is known before the run */
};

static char *print_record(const struct finding *finding) {
    char *text;
    if (asprintf(&text, "%s/%s", finding->stage->out, finding->act->base) < 0)
        return NULL;
    return text;
}

/* Returns the text for {at} or {at+25s}. */
static char *find_moment(
    const struct finding *finding, const char *offset, struct ss_error *error) {
    char text[64];
    ss_time later = 0;
    if (*offset && (*offset != '+' || ss_units_time(offset + 1, &later, error) < 0)) {
        ss_error_wrap(error, "{at%s}", offset);
        return NULL;
    }
    if (finding->stage->moment == 0) {
        ss_error_fail(error,
            "{at%s} is known only once the first `main` starts: use it in a `main` or a later line",
            offset);
        return NULL;
    }
    ss_wallclock_print(text, sizeof text, finding->stage->moment + (int64_t)later);
    return strdup(text);
}

static const struct ssbatch_act *find_role(const struct ssbatch_stage *stage, const char *role) {
    for (size_t i = 0; stage->acts && i < stage->lines->count; i++) {
        const char *own = stage->lines->items[i].role;
        if (own && strcmp(own, role) == 0 && stage->lines->items[i].kind != SSBATCH_ONCE)
            return &stage->acts[i];
    }
    return stage->outer ? find_role(stage->outer, role) : NULL;
}

/* Returns the text for {ROLE.pid} or {ROLE.1}. */
static char *find_of_role(
    const struct finding *finding, const char *placeholder, struct ss_error *error) {
    char role[128];
    const char *dot = strrchr(placeholder, '.');
    char *text = NULL;
    snprintf(role, sizeof role, "%.*s", (int)(dot - placeholder), placeholder);
    const struct ssbatch_act *act = find_role(finding->stage, role);
    if (!act)
        return NULL;
    if (strcmp(dot, ".pid") == 0) {
        if (act->started && asprintf(&text, "%d", (int)act->pid) < 0)
            text = NULL;
    } else if (strcmp(dot, ".1") == 0) {
        if (!act->line->regex || act->line->regex->re_nsub == 0) {
            ss_error_fail(error,
                "{%s} is the group of ready= of %s, which has none: put parentheses around the "
                "part that is the value",
                placeholder, role);
            return NULL;
        }
        text = act->found ? strdup(act->found) : NULL;
    } else {
        return NULL;
    }
    if (!text)
        ss_error_fail(error, "{%s} is not known yet: use it only in later lines", placeholder);
    return text;
}

static bool is_once(const struct ssbatch_stage *stage, const char *name) {
    for (size_t i = 0; i < stage->lines->count; i++) {
        const struct ssbatch_line *line = &stage->lines->items[i];
        if (line->kind == SSBATCH_ONCE && strcmp(line->role, name) == 0)
            return true;
    }
    return false;
}

/* Returns the value of a `once` line, or NULL: with the error set if it must not be used here. */
static char *find_value(
    const struct finding *finding, const char *placeholder, struct ss_error *error) {
    const char *value = ssbatch_values_get(finding->stage->values, placeholder);
    bool is_own = is_once(finding->stage, placeholder);
    if (is_own && finding->fixed && !value)
        ss_error_fail(error,
            "{%s} is unknown in an `after` above the first run, which may have to run before the "
            "value is found: write the `after` below the runs that use it",
            placeholder);
    else if (is_own && !value)
        ss_error_fail(error, "{%s} is not known yet: use it only in later lines", placeholder);
    else if (value)
        return strdup(value);
    return NULL;
}

static char *find(void *context, const char *placeholder, struct ss_error *error) {
    const struct finding *finding = context;
    const struct ssbatch_stage *stage = finding->stage;
    char *value = find_value(finding, placeholder, error);
    if (value || error->status)
        return value;
    if (strcmp(placeholder, "record") == 0)
        return print_record(finding);
    if (strcmp(placeholder, "out") == 0)
        return strdup(stage->out);
    if (strcmp(placeholder, "scratch") == 0)
        return strdup(stage->scratch);
    if (strcmp(placeholder, "run") == 0)
        return strdup(stage->name);
    bool moment = strcmp(placeholder, "at") == 0 || strncmp(placeholder, "at+", 3) == 0;
    bool of_role = !moment && strchr(placeholder, '.');
    if (finding->fixed && (moment || of_role)) {
        ss_error_fail(error,
            "{%s} is unknown in an `after`, which may have to run when nothing else ran: use {run} "
            "to name what it undoes",
            placeholder);
        return NULL;
    }
    if (moment)
        return find_moment(finding, placeholder + 2, error);
    return of_role ? find_of_role(finding, placeholder, error) : NULL;
}

/*
 * Whether showstopper records the run itself. Its options end where its own command begins. It
 * refuses words that cannot be parsed, with or without --record.
 */
static bool has_record(char **words) {
    struct ss_cli cli;
    struct ss_error refusal = {0};
    bool has = ss_cli_parse(&cli, words, &refusal) == 0 && cli.record;
    ss_cli_free(&cli);
    return has;
}

/* Adds --record to a command that begins with `showstopper` and lacks it. */
static int add_record(const struct finding *finding, char ***words, struct ss_error *error) {
    size_t count = 0;
    if (strcmp(**words, "showstopper") != 0 || has_record(*words))
        return 0;
    while ((*words)[count])
        count++;
    char **longer = reallocarray(*words, count + 2, sizeof *longer);
    char *option = NULL;
    if (longer)
        *words = longer;
    if (!longer || asprintf(&option, "--record=%s/%s", finding->stage->out, finding->act->base) < 0)
        return ss_error_memory(error);
    memmove(longer + 2, longer + 1, count * sizeof *longer);
    longer[1] = option;
    return 0;
}

int ssbatch_act_replace(
    struct ssbatch_stage *stage, struct ssbatch_act *act, bool fixed, struct ss_error *error) {
    struct finding finding = {stage, act, fixed};
    act->words = ssbatch_replace_words(act->line->words, find, &finding, error);
    return act->words ? add_record(&finding, &act->words, error) : -1;
}

char *ssbatch_act_replace_text(struct ssbatch_stage *stage, const struct ssbatch_act *act,
    const char *text, struct ss_error *error) {
    struct finding finding = {.stage = stage, .act = act};
    return ssbatch_replace(text, find, &finding, error);
}
