/* SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"

#define EVERY_DEFAULT (1 * SS_SECOND)
#define STAY_DEFAULT  (10 * SS_SECOND)

static const struct {
    const char *name;
    size_t min, max; /* number of words of the line */
    const char *takes;
} sources[] = {
    [SSACTUATE_MACHINE] = {"machine", 2, 2, "no argument"},
    [SSACTUATE_GROUP] = {"group", 3, 3, "one argument"},
    [SSACTUATE_TRACE] = {"trace", 3, 3, "one argument"},
    [SSACTUATE_RECORD] = {"record", 3, 3, "one argument"},
    [SSACTUATE_SIDE] = {"side", 2, 3, "at most one argument"},
};

static int read_source(
    struct ssactuate_policy *policy, char **words, size_t count, struct ss_error *error) {
    static const struct ss_suggest_names known = {
        "source of the load", SS_SUGGEST_ROWS(sources), NULL};

    int i = ss_suggest_find(&known, count < 2 ? "" : words[1], error);
    if (i < 0)
        return -1;

    if (count < sources[i].min || count > sources[i].max)
        return ss_error_fail(error, "`load %s` takes %s", sources[i].name, sources[i].takes);

    free(policy->argument);
    policy->argument = count == 3 ? strdup(words[2]) : NULL;
    policy->source = (enum ssactuate_source)i;
    return count == 3 && !policy->argument ? ss_error_memory(error) : 0;
}

static int read_time(char **words, size_t count, ss_time *value, struct ss_error *error) {
    if (count != 2)
        return ss_error_fail(error, "`%s` takes one time", words[0]);

    if (ss_units_time(words[1], value, error) < 0)
        return -1;
    return *value > 0 ? 0 : ss_error_fail(error, "`%s` must be above 0", words[0]);
}

/* Reads a rule. Takes ownership of the words if it succeeds. */
static int read_rule(struct ssactuate_policy *policy, char **words, size_t count, size_t line,
    struct ss_error *error) {
    bool between = strcmp(words[0], "between") == 0, below = strcmp(words[0], "below") == 0;
    size_t first = between ? 3 : 2;
    struct ssactuate_rule rule = {.line = line, .from = 0, .to = INFINITY, .words = words};

    if (count <= first)
        return ss_error_fail(error, "incomplete rule: use %s PERCENT %sKNOB...", words[0],
            between ? "PERCENT " : "");

    double *limit = below ? &rule.to : &rule.from;
    if (ss_units_load(words[1], 0, limit, error) < 0 ||
        (between && ss_units_load(words[2], 0, &rule.to, error) < 0))
        return -1;

    if (between && rule.from > rule.to)
        return ss_error_fail(error, "%s is above %s", words[1], words[2]);

    rule.open_to = below;
    rule.open_from = !below && !between;
    rule.knobs = (const char *const *)words + first;

    if (!SS_GROW(policy->rules, policy->count + 1, policy->room))
        return ss_error_memory(error);
    policy->rules[policy->count++] = rule;
    return 1;
}

/* Reads a line. Returns 1 if the policy keeps the words. */
static int read_words(struct ssactuate_policy *policy, char **words, size_t count, size_t line,
    struct ss_error *error) {
    enum word { LOAD, EVERY, STAY, BELOW, ABOVE, BETWEEN };
    static const char *const names[] = {"load", "every", "stay", "below", "above", "between"};
    static const struct ss_suggest_names known = {"word", SS_SUGGEST_ROWS(names), NULL};

    if (count == 0)
        return 0;

    int word = ss_suggest_find(&known, words[0], error);
    if (word < 0)
        return -1;

    if (word == LOAD)
        return read_source(policy, words, count, error);
    if (word < BELOW)
        return read_time(words, count, word == EVERY ? &policy->every : &policy->stay, error);
    return read_rule(policy, words, count, line, error);
}

static int check_overlap(const struct ssactuate_policy *policy, struct ss_error *error) {
    for (size_t i = 0; i < policy->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct ssactuate_rule *a = &policy->rules[i], *b = &policy->rules[j];
            if (a->from < b->to && b->from < a->to)
                return ss_error_fail(error,
                    "the rules in lines %zu and %zu overlap: let one end where the other begins",
                    b->line, a->line);
        }
    }
    return 0;
}

/* Returns the word of a rule that sets the actuator of a knob, or NULL. */
static const char *find_word(const struct ssactuate_rule *rule, const char *knob) {
    size_t length = strcspn(knob, "=");
    for (const char *const *word = rule->knobs; *word; word++) {
        if (strcspn(*word, "=") == length && strncmp(*word, knob, length) == 0)
            return *word;
    }
    return NULL;
}

/* Checks that a rule sets a knob that another rule sets, including turbo. */
static int check_knob(const struct ssactuate_rule *rule, const struct ssactuate_rule *other,
    const char *knob, struct ss_error *error) {
    static const char turbo[] = ",turbo=";
    const char *word = find_word(rule, knob);
    bool lacks_turbo = word && strstr(knob, turbo) && !strstr(word, turbo);

    if (word && !lacks_turbo)
        return 0;

    return ss_error_fail(error,
        "the rule in line %zu does not set %.*s, but the one in line %zu does: all rules must set "
        "the same actuators",
        rule->line, lacks_turbo ? 5 : (int)strcspn(knob, "="), lacks_turbo ? "turbo" : knob,
        other->line);
}

/* All rules must set the same actuators, or a level would depend on the previous rule. */
static int check_actuators(const struct ssactuate_policy *policy, struct ss_error *error) {
    for (size_t i = 0; i < policy->count; i++) {
        for (size_t j = 0; j < policy->count; j++) {
            const struct ssactuate_rule *other = &policy->rules[j];
            for (const char *const *word = other->knobs; *word; word++) {
                if (check_knob(&policy->rules[i], other, *word, error) < 0)
                    return -1;
            }
        }
    }
    return 0;
}

int ssactuate_policy_read(
    struct ssactuate_policy *policy, FILE *stream, const char *name, struct ss_error *error) {
    SS_OWNED(free) char *line = NULL;
    size_t room = 0, number = 0;
    *policy = (struct ssactuate_policy){.every = EVERY_DEFAULT, .stay = STAY_DEFAULT};

    while (getline(&line, &room, stream) > 0) {
        size_t count;
        char **words = ss_words_split(line, &count, error);
        number++;

        int status = words ? read_words(policy, words, count, number, error) : -1;
        if (status != 1)
            free(words);
        if (status < 0)
            return ss_error_wrap(error, "%s:%zu", name, number);
    }

    if (ferror(stream))
        return ss_error_fail(error, "cannot read %s: %s", name, strerror(errno));
    if (policy->count == 0)
        return ss_error_fail(
            error, "%s: the policy has no rule: add one such as `below 40%% pin=per-thread`", name);

    return check_overlap(policy, error) < 0 || check_actuators(policy, error) < 0
               ? ss_error_wrap(error, "%s", name)
               : 0;
}

void ssactuate_policy_free(struct ssactuate_policy *policy) {
    for (size_t i = 0; i < policy->count; i++)
        free(policy->rules[i].words);
    free(policy->rules);
    free(policy->argument);
    *policy = (struct ssactuate_policy){0};
}

static bool covers(const struct ssactuate_rule *rule, double load) {
    return (rule->open_from ? load > rule->from : load >= rule->from) &&
           (rule->open_to ? load < rule->to : load <= rule->to);
}

size_t ssactuate_decide(const struct ssactuate_decision *decision, ss_time now, double load) {
    const struct ssactuate_policy *policy = decision->policy;

    if (isnan(load) || covers(&policy->rules[decision->rule], load) ||
        (decision->has_switched && ss_time_since(now, decision->latest) < policy->stay))
        return decision->rule;

    for (size_t i = 0; i < policy->count; i++) {
        if (covers(&policy->rules[i], load))
            return i;
    }

    return decision->rule;
}

void ssactuate_decision_update(struct ssactuate_decision *decision, ss_time now, size_t rule) {
    decision->rule = rule;
    decision->has_switched = true;
    decision->latest = now;
}
