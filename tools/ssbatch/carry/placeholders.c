/* SPDX-License-Identifier: Apache-2.0 */
#include "placeholders.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/units.h"
#include "base/wallclock.h"
#include "base/words.h"
#include "command/cli.h"
#include "text_stream.h"

/* Size limit of a placeholder. The longest is a role with a suffix. */
#define PLACEHOLDER_ROOM 128

const char *ssbatch_values_get(const struct ssbatch_values *values, const char *name) {
    for (size_t i = 0; i < values->count; i++) {
        if (strcmp(values->items[i].name, name) == 0)
            return values->items[i].value;
    }
    return NULL;
}

int ssbatch_values_set(
    struct ssbatch_values *values, const char *name, const char *value, struct ss_error *error) {
    struct ssbatch_value item = {strdup(name), strdup(value)};
    if (item.name && item.value && SS_GROW(values->items, values->count + 1, values->room)) {
        values->items[values->count++] = item;
        return 0;
    }
    free(item.name);
    free(item.value);
    return ss_error_memory(error);
}

void ssbatch_values_free(struct ssbatch_values *values) {
    for (size_t i = 0; i < values->count; i++) {
        free(values->items[i].name);
        free(values->items[i].value);
    }
    free(values->items);
    *values = (struct ssbatch_values){0};
}

struct replacement {
    struct ssbatch_stage *stage;
    const struct ssbatch_act *act;
    bool fixed; /* refuse placeholders that are unknown before the run */
};

/* Writes the text for {at} or {at+25s}. */
static int put_moment(
    FILE *stream, const struct ssbatch_stage *stage, const char *offset, struct ss_error *error) {
    char text[64];
    ss_time later = 0;
    if (*offset && ss_units_time(offset + 1, &later, error) < 0)
        return ss_error_wrap(error, "{at%s}", offset);
    if (stage->moment == 0)
        return ss_error_fail(error,
            "{at%s} is known only once the first `main` starts: use it in a `main` or a later line",
            offset);
    ss_wallclock_print(text, sizeof text, stage->moment + (int64_t)later);
    fputs(text, stream);
    return 1;
}

static const struct ssbatch_act *find_role(const struct ssbatch_stage *stage, const char *role) {
    for (size_t i = 0; stage->acts && i < stage->lines->count; i++) {
        const char *own = stage->lines->items[i].role;
        if (own && strcmp(own, role) == 0 && stage->lines->items[i].kind != SSBATCH_ONCE)
            return &stage->acts[i];
    }
    return stage->outer ? find_role(stage->outer, role) : NULL;
}

/* Writes the text for {ROLE.pid} or {ROLE.1}. Returns 0 if there is no such role. */
static int put_role_value(FILE *stream, const struct ssbatch_stage *stage, const char *placeholder,
    struct ss_error *error) {
    char role[PLACEHOLDER_ROOM];
    const char *dot = strrchr(placeholder, '.');
    snprintf(role, sizeof role, "%.*s", (int)(dot - placeholder), placeholder);
    const struct ssbatch_act *act = find_role(stage, role);
    bool is_pid = strcmp(dot, ".pid") == 0, is_group = strcmp(dot, ".1") == 0;
    if (!act || (!is_pid && !is_group))
        return 0;

    if (is_group && (!act->line->regex || act->line->regex->re_nsub == 0))
        return ss_error_fail(error,
            "{%s} is the group of ready= of %s, which has no group: use ready=REGEX with "
            "parentheses around the value",
            placeholder, role);
    if (is_pid ? !act->started : !act->found)
        return ss_error_fail(
            error, "{%s} is not known yet: use it only in later lines", placeholder);
    if (is_pid)
        fprintf(stream, "%d", (int)act->pid);
    else
        fputs(act->found, stream);
    return 1;
}

/* Writes the text for a placeholder. Returns 0 if it is not a placeholder. */
static int put_placeholder(FILE *stream, const struct replacement *replacement,
    const char *placeholder, struct ss_error *error) {
    const struct ssbatch_stage *stage = replacement->stage;
    const struct ssbatch_line *line = ssbatch_lines_find(stage->lines, placeholder);
    const char *value = ssbatch_values_get(stage->values, placeholder);
    const char *const texts[][2] = {
        {"out", stage->out}, {"scratch", stage->scratch}, {"run", stage->name}};
    bool is_moment = strcmp(placeholder, "at") == 0 || strncmp(placeholder, "at+", 3) == 0;
    bool is_of_role = !is_moment && strchr(placeholder, '.');

    if (value) {
        fputs(value, stream);
        return 1;
    }
    if (line && line->kind == SSBATCH_ONCE && replacement->fixed)
        return ss_error_fail(error,
            "{%s} is unknown in an `after` above the first run, which may have to run before the "
            "value is found: put the `after` below the runs that use it",
            placeholder);
    if (line && line->kind == SSBATCH_ONCE)
        return ss_error_fail(
            error, "{%s} is not known yet: use it only in later lines", placeholder);

    if (strcmp(placeholder, "record") == 0) {
        fprintf(stream, "%s/%s", stage->out, replacement->act->base);
        return 1;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(placeholder, texts[i][0]) == 0) {
            fputs(texts[i][1], stream);
            return 1;
        }
    }

    if (replacement->fixed && (is_moment || is_of_role))
        return ss_error_fail(error,
            "{%s} is unknown in an `after`, which may have to run when nothing else ran: use {run} "
            "to name what it undoes",
            placeholder);
    if (is_moment)
        return put_moment(stream, stage, placeholder + 2, error);
    return is_of_role ? put_role_value(stream, stage, placeholder, error) : 0;
}

/* Copies the placeholder in the braces at `text`. Returns false if they hold anything else. */
static bool read_placeholder(const char *text, char placeholder[PLACEHOLDER_ROOM]) {
    size_t length = strcspn(text + 1, "{}");
    if (*text != '{' || length == 0 || length >= PLACEHOLDER_ROOM || text[1 + length] != '}')
        return false;
    memcpy(placeholder, text + 1, length);
    placeholder[length] = '\0';
    return true;
}

static char *replace(
    const struct replacement *replacement, const char *from, struct ss_error *error) {
    char placeholder[PLACEHOLDER_ROOM];
    struct ss_text text;
    int put = 0;
    if (ss_text_open(&text, error) < 0)
        return NULL;

    for (const char *at = from; *at && put >= 0;) {
        put = 0;
        if (read_placeholder(at, placeholder))
            put = put_placeholder(text.stream, replacement, placeholder, error);
        if (put > 0) {
            at += strlen(placeholder) + 2;
        } else {
            fputc(*at, text.stream);
            at += *at == '{' && at[1] == '{' ? 2 : 1;
        }
    }
    char *replaced = ss_text_close(&text, error);
    if (put >= 0)
        return replaced;
    free(replaced);
    return NULL;
}

/*
 * Returns whether the command has --record already. If the options of showstopper cannot be parsed,
 * the answer does not matter: showstopper refuses them.
 */
static bool has_record(char **words) {
    struct ss_cli cli;
    struct ss_error refusal = {0};
    bool has = ss_cli_parse(&cli, words, &refusal) == 0 && cli.record;
    ss_cli_free(&cli);
    return has;
}

int ssbatch_act_replace(
    struct ssbatch_stage *stage, struct ssbatch_act *act, bool fixed, struct ss_error *error) {
    const struct replacement replacement = {stage, act, fixed};
    char **from = act->line->words;
    size_t count = ss_words_count(from);
    act->words = calloc(count + 2, sizeof *act->words); /* one more for --record */
    if (!act->words)
        return ss_error_memory(error);
    for (size_t i = 0; i < count; i++) {
        act->words[i] = replace(&replacement, from[i], error);
        if (!act->words[i])
            return -1;
    }

    if (strcmp(act->words[0], "showstopper") != 0 || has_record(act->words))
        return 0;
    char *option = replace(&replacement, "--record={record}", error);
    if (!option)
        return -1;
    memmove(act->words + 2, act->words + 1, (count - 1) * sizeof *act->words);
    act->words[1] = option;
    return 0;
}

char *ssbatch_act_replace_text(struct ssbatch_stage *stage, const struct ssbatch_act *act,
    const char *text, struct ss_error *error) {
    const struct replacement replacement = {.stage = stage, .act = act};
    return replace(&replacement, text, error);
}
