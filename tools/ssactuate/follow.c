/* SPDX-License-Identifier: Apache-2.0 */

/* Changes the knobs of one or two commands or running process groups as the load changes. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuate_run.h"
#include "base/grow.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/units.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "load_source.h"
#include "run_record.h"
#include "session.h"

/* A switch of rules, for the record. */
struct change {
    ss_time time; /* since the start */
    double load;
    size_t rule;
};

struct follow {
    struct ssactuate_session session; /* its plan is that of the current rule */
    struct ssactuate_policy policy;
    struct ssactuate_decision decision;
    struct ssactuate_load load;
    struct ssactuate_plan all_files; /* the files of all rules */
    unsigned limits;                 /* limits of all rules, as in ssactuate_place_limits() */
    bool moves;         /* some rule chooses CPUs; otherwise affinities are left alone */
    bool has_side;      /* the second party is present */
    ss_time begin, due; /* times of the start and of the next sample */
    struct change *changes;
    size_t change_count, change_room;
    bool is_incomplete; /* a change was not recorded, because memory was exhausted */
    ss_time known_at;   /* the latest time at which the load was known, or the start */
    bool warned_unknown;
    bool failing; /* the latest switch failed; avoids repeated warnings */
};

/* Returns the setting of a file, or NULL. */
static struct ssactuate_setting *find_file(const struct ssactuate_plan *plan, const char *path) {
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->settings[i].path, path) == 0)
            return &plan->settings[i];
    }
    return NULL;
}

/*
 * Adds the files of a rule to those of all rules. Keeps the largest tolerance of each file,
 * because the journal must recognize the values of all rules.
 */
static int add_rule_files(
    struct follow *follow, const struct ssactuate_plan *plan, struct ss_error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct ssactuate_setting *setting = &plan->settings[i];
        struct ssactuate_setting *known = find_file(&follow->all_files, setting->path);
        if (!known && ssactuate_plan_add(&follow->all_files, setting, error) < 0)
            return -1;
        if (known && known->tolerance < setting->tolerance)
            known->tolerance = setting->tolerance;
    }
    return 0;
}

static int check_plan(
    const struct follow *follow, const struct ssactuate_plan *plan, struct ss_error *error) {
    bool has_control = follow->session.options->control != NULL;
    if (plan->duty > 0)
        return ss_error_fail(error, "a policy cannot change duty while the command runs");
    if (plan->instances > 0 && !has_control)
        return ss_error_fail(error,
            "`instances` requires --control, to send the URLs of the instances to ssrequest");
    if (plan->instances == 0 && has_control)
        return ss_error_fail(error, "--control requires `instances`");
    return 0;
}

/* Plans all rules once, so that errors in them are reported before the command starts. */
static int plan_all_rules(struct follow *follow, struct ss_error *error) {
    const struct ssactuate_machine *machine = &follow->session.machine;
    for (size_t i = 0; i < follow->policy.count; i++) {
        const struct ssactuate_rule *rule = &follow->policy.rules[i];
        struct ssactuate_plan plan;
        bool failed = ssactuate_plan_make(&plan, machine, rule->knobs, error) < 0 ||
                      check_plan(follow, &plan, error) < 0 ||
                      add_rule_files(follow, &plan, error) < 0;

        follow->limits |= ssactuate_place_limits(machine, &plan);
        follow->moves |= plan.pinned || plan.cpu_count > 0 || plan.binds_threads;
        ssactuate_plan_free(&plan);
        if (failed)
            return ss_error_wrap(error, "%s:%zu", follow->session.options->policy, rule->line);
    }
    return 0;
}

/* Chooses the CPUs of the side: the other half if `pin` divides them, or else all that it names. */
static int choose_side(
    struct follow *follow, const struct ssactuate_rule *rule, struct ss_error *error) {
    struct ssactuate_plan plan = {0};
    for (const char *const *word = rule->knobs; *word; word++) {
        if (strncmp(*word, "pin=", 4) == 0 &&
            ssactuate_pin_place(&follow->session.machine, *word + 4, 1, &plan, error) < 0)
            return -1;
    }
    return ssactuate_place_choose(
        &follow->session.parties[1].place, &follow->session.machine, &plan, error);
}

/* Plans a rule anew for each switch: the order in which limits are set depends on their values. */
static int plan_rule(
    struct follow *follow, const struct ssactuate_rule *rule, struct ss_error *error) {
    ssactuate_plan_free(&follow->session.plan);
    if (ssactuate_plan_make(&follow->session.plan, &follow->session.machine, rule->knobs, error) <
            0 ||
        ssactuate_place_choose(&follow->session.parties[0].place, &follow->session.machine,
            &follow->session.plan, error) < 0)
        return -1;
    return follow->has_side ? choose_side(follow, rule, error) : 0;
}

static int check_memory(const struct follow *follow, struct ss_error *error) {
    const struct ssactuate_session *session = &follow->session;
    const struct ssactuate_place *place = &session->parties[0].place;
    if (!place->has_group || session->plan.memory == 0 || session->options->force)
        return 0;

    uint64_t used = limit_group_memory(&place->group);
    if (used <= session->plan.memory)
        return 0;

    return ss_error_fail(error, "memory is below the %llu MiB in use: use --force to set it anyway",
        (unsigned long long)(used >> 20));
}

/*
 * Restores the files that only other rules set, such as the governor of a single frequency when the
 * planned rule has a range: a level must not depend on the previous rule.
 */
static int restore_others(struct follow *follow, struct ss_error *error) {
    struct ssactuate_journal *journal = &follow->session.undoing.journal;
    SS_OWNED(free) bool *kept = calloc(journal->count + 1, sizeof *kept);
    if (!kept)
        return ss_error_memory(error);

    for (size_t i = 0; i < journal->count; i++)
        kept[i] = find_file(&follow->session.plan, journal->entries[i].setting.path) != NULL;
    return ssactuate_journal_restore_others(journal, kept, error);
}

static void note_change(struct follow *follow, ss_time now, double load) {
    if (!SS_GROW(follow->changes, follow->change_count + 1, follow->change_room)) {
        follow->is_incomplete = true;
        return;
    }
    follow->changes[follow->change_count++] =
        (struct change){ss_time_since(now, follow->begin), load, follow->decision.rule};
}

/* Plans twice: the plan depends on current values, which restore_others() may change. */
static int set_rule(
    struct follow *follow, const struct ssactuate_rule *rule, struct ss_error *error) {
    if (plan_rule(follow, rule, error) < 0 || check_memory(follow, error) < 0 ||
        restore_others(follow, error) < 0 || plan_rule(follow, rule, error) < 0)
        return -1;
    return ssactuate_session_apply(&follow->session, follow->moves, error);
}

static void warn_of_rule(const struct ssactuate_rule *rule, const struct ss_error *error) {
    fprintf(stderr, "ssactuate: warning: cannot apply the rule in line %zu: %s\n", rule->line,
        error->message);
}

/*
 * Switches to a rule. If that fails, sets the levels of the previous rule again; the next attempt
 * comes after the shortest stay.
 */
static void switch_rule(struct follow *follow, size_t rule, ss_time now, double load) {
    struct ss_error error = {0}, failure = {0};
    size_t before = follow->decision.rule;
    const struct ssactuate_rule *rules = follow->policy.rules;
    bool failed = set_rule(follow, &rules[rule], &error) < 0;

    if (failed && set_rule(follow, &rules[before], &failure) < 0)
        warn_of_rule(&rules[before], &failure);

    ssactuate_decision_update(&follow->decision, now, failed ? before : rule);

    if (!failed)
        note_change(follow, now, load);
    else if (!follow->failing)
        warn_of_rule(&rules[rule], &error);
    follow->failing = failed;
}

static int read_policy(struct follow *follow, struct ss_error *error) {
    const char *name = follow->session.options->policy;
    SS_OWNED(fclose) FILE *stream = fopen(name, "re");
    if (!stream)
        return ss_paths_fail(name, error);
    if (ssactuate_policy_read(&follow->policy, stream, name, error) < 0)
        return -1;
    follow->decision.policy = &follow->policy;
    return 0;
}

static int read_group(struct ssactuate_party *party, const char *text, struct ss_error *error) {
    uint64_t group;
    if (ss_units_count(text, &group, error) < 0)
        return ss_error_wrap(error, "--side");
    if (group == 0 || group > INT32_MAX)
        return ss_error_fail(
            error, "--side: '%s' is not a process group", ss_words_show(text).text);

    party->group = (pid_t)group;
    return party->group == getpgrp()
               ? ss_error_fail(error, "--side: ssactuate itself is in process group %s", text)
               : 0;
}

/* Splits NAME=COMMAND or NAME=@PGID. */
static int read_side(struct ssactuate_party *party, const char *side, struct ss_error *error) {
    const char *equals = strchr(side, '=');
    size_t count = 0;

    if (!equals || equals == side)
        return ss_error_fail(error, "--side: '%s' has no name: use NAME=COMMAND or NAME=@PGID",
            ss_words_show(side).text);
    party->name = side;
    if (equals[1] == '@')
        return read_group(party, equals + 2, error);

    party->words = party->split = ss_words_split(equals + 1, &count, error);
    if (!party->split)
        return ss_error_wrap(error, "--side");
    return count > 0 ? 0 : ss_error_fail(error, "--side: the command is empty");
}

static size_t name_length(const struct ssactuate_party *party) {
    return party->name ? strcspn(party->name, "=") : 0;
}

/* Checks that `load side` refers to the second party, by its name if one is given. */
static int check_load(const struct follow *follow, struct ss_error *error) {
    const char *name = follow->policy.argument, *file = follow->session.options->policy;
    const struct ssactuate_party *side = &follow->session.parties[1];

    if (follow->policy.source != SSACTUATE_SIDE)
        return 0;

    if (!follow->has_side)
        return ss_error_fail(error, "%s: `load side` requires %s", file,
            follow->session.options->side_count > 0 ? "a second --side, or a command" : "--side");
    if (name && (strlen(name) != name_length(side) || strncmp(name, side->name, strlen(name)) != 0))
        return ss_error_fail(error, "%s: `load side %s`: the other side is %.*s", file,
            ss_words_show(name).text, (int)name_length(side), side->name);
    return 0;
}

static int read_parties(struct follow *follow, struct ss_error *error) {
    const struct ssactuate_options *options = follow->session.options;
    struct ssactuate_party *next = follow->session.parties;

    if (options->command)
        next++->words = options->command;
    for (size_t i = 0; i < options->side_count; i++) {
        if (read_side(next++, options->sides[i], error) < 0)
            return -1;
    }

    follow->has_side = next == follow->session.parties + 2;
    if (follow->session.parties[0].group > 0 &&
        follow->session.parties[0].group == follow->session.parties[1].group)
        return ss_error_fail(error, "--side: both sides are process group %d",
            (int)follow->session.parties[0].group);

    return check_load(follow, error);
}

static int prepare(struct follow *follow, struct ss_error *error) {
    struct ssactuate_session *session = &follow->session;
    if (read_policy(follow, error) < 0 || read_parties(follow, error) < 0 ||
        plan_all_rules(follow, error) < 0)
        return -1;

    /* A running process group is not moved to a control group. */
    if (session->parties[0].group > 0 && follow->limits & ~(1U << LIMIT_CPUS))
        return ss_error_fail(error,
            "%s: quota and memory can limit only a command, not a running process group",
            session->options->policy);

    if (plan_rule(follow, &follow->policy.rules[0], error) < 0)
        return -1;

    if (session->plan.instances > 0 && !session->options->command)
        return ss_error_fail(error, "`instances` requires a command: put it after --");

    if (ssactuate_session_find_places(session, follow->limits, error) < 0 ||
        ssactuate_session_keep(session, &follow->all_files, session->options->command, error) < 0)
        return -1;

    return ssactuate_session_apply(session, follow->moves, error);
}

/*
 * Warns once if the load stays unknown, for example because the record does not exist. Never warns
 * for a trace, which may have sections without a load.
 */
static void warn_if_unknown(struct follow *follow, ss_time now, double load) {
    if (!isnan(load) || follow->policy.source == SSACTUATE_TRACE)
        follow->known_at = now;
    if (follow->warned_unknown || ss_time_since(now, follow->known_at) < follow->policy.stay)
        return;
    follow->warned_unknown = true;
    fprintf(stderr, "ssactuate: warning: the load is unknown%s%s: keeping the current levels\n",
        follow->load.samples_path ? ": no load in " : "",
        follow->load.samples_path ? ss_words_show(follow->load.samples_path).text : "");
}

/* Sets the process whose CPU time is the load: 0 once it has exited, as its pid may be reused. */
static void set_load_process(struct follow *follow) {
    const struct ssactuate_session *session = &follow->session;
    const struct ssactuate_party *side = &session->parties[1];
    follow->load.side = side->is_running ? side->child.process.pid : 0;
    if (side->group > 0)
        follow->load.running = &session->undoing.journal.running[side->number];
}

static void sample(struct follow *follow, ss_time now) {
    ssactuate_session_scan(&follow->session);
    set_load_process(follow);
    double load = ssactuate_load_sample(&follow->load, now);
    warn_if_unknown(follow, now, load);
    size_t rule = ssactuate_decide(&follow->decision, now, load);
    if (rule != follow->decision.rule)
        switch_rule(follow, rule, now, load);
}

/* Samples the load and may switch rules. Does neither after a signal, which restores the values. */
static ss_time wake(void *context, ss_time now) {
    struct follow *follow = context;
    ss_time every = follow->policy.every;
    if (now < follow->due)
        return follow->due;

    if (follow->session.signals_received == 0)
        sample(follow, now);

    /* Skip the samples that were missed while the run was suspended. */
    follow->due += every * ((now - follow->due) / every + 1);
    return follow->due;
}

static int start(struct follow *follow, struct ss_error *error) {
    struct ssactuate_session *session = &follow->session;
    if (ssactuate_load_open(&follow->load, &follow->policy, &session->machine, error) < 0 ||
        ssactuate_session_start(session, error) < 0)
        return -1;

    set_load_process(follow);
    if (follow->load.running)
        follow->load.used = follow->load.running->used;
    follow->begin = follow->known_at = ss_platform_now();
    follow->due = follow->begin + follow->policy.every;

    note_change(follow, follow->begin, NAN);
    return 0;
}

static void write_sides(const struct follow *follow, struct ss_json *json) {
    ss_json_open(json, "sides", '[');
    for (int i = 0; i < 2; i++) {
        const struct ssactuate_party *party = &follow->session.parties[i];
        char name[100];
        if (!party->name)
            continue;

        snprintf(name, sizeof name, "%.*s", (int)name_length(party), party->name);
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "name", name);
        ss_json_text(json, party->group > 0 ? "process_group" : "command",
            party->name + name_length(party) + (party->group > 0 ? 2 : 1));
        ss_json_close(json, '}');
    }

    ss_json_close(json, ']');
}

static void write_changes(const struct follow *follow, FILE *stream) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSACTUATE_RECORD_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ss_json_text(&json, "policy", follow->session.options->policy);
    write_sides(follow, &json);

    ss_json_open(&json, "rules", '[');
    for (size_t i = 0; i < follow->change_count; i++) {
        const struct change *change = &follow->changes[i];
        const struct ssactuate_rule *rule = &follow->policy.rules[change->rule];
        ss_json_open(&json, NULL, '{');
        ss_json_number(&json, "seconds", ss_time_seconds(change->time));
        ss_json_number(&json, "load", change->load);
        ss_json_number(&json, "line", (double)rule->line);
        ssactuate_record_write_knobs(&json, rule->knobs);
        ss_json_close(&json, '}');
    }
    ss_json_close(&json, ']');

    ss_json_number(
        &json, "seconds", ss_time_seconds(ss_time_since(ss_platform_now(), follow->begin)));
    ss_json_number(&json, "status", ssactuate_session_status(&follow->session));
    ss_json_close(&json, '}');
}

static int write_record(const struct follow *follow, struct ss_error *error) {
    struct ss_whole_file file;
    const char *path = follow->session.options->record;
    if (follow->is_incomplete)
        return ss_error_memory(error);
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    write_changes(follow, file.stream);
    return ss_whole_file_end(&file, path, error);
}

static int carry_out(
    struct follow *follow, const struct ssactuate_options *options, struct ss_error *error) {
    struct ssactuate_session *session = &follow->session;
    if (ssactuate_session_open(session, options, error) < 0)
        return -1;

    session->wake = wake;
    session->context = follow;
    if (prepare(follow, error) < 0 || start(follow, error) < 0)
        return -1;
    return ssactuate_session_watch(session, error);
}

int ssactuate_follow(const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct follow *follow = calloc(1, sizeof *follow);
    if (!follow)
        return ss_error_memory(error);

    struct ssactuate_session *session = &follow->session;
    int result = carry_out(follow, options, error);
    ssactuate_session_end_side(session);
    if (result == 0 && options->record)
        result = write_record(follow, error);

    *status = ssactuate_session_status(session);
    if (ssactuate_session_close(session, error) < 0)
        result = -1;
    ssactuate_load_close(&follow->load);
    ssactuate_plan_free(&follow->all_files);
    ssactuate_policy_free(&follow->policy);
    free(follow->changes);
    free(follow);
    return result;
}
