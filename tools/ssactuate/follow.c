/* SPDX-License-Identifier: Apache-2.0 */

/* Changes the knobs of one or two commands or running process groups as the load changes. */

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actuate_run.h"
#include "base/grow.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "child.h"
#include "copies.h"
#include "load_source.h"
#include "place.h"
#include "run_record.h"
#include "undoing.h"

/* How often to look for threads to bind, in milliseconds. */
#define BIND_INTERVAL 20

/* For a running process group, less often: each look reads all processes of the machine. */
#define LOOK_INTERVAL 200

/* How long the side may take to end after SIGTERM, before SIGKILL. */
#define SIDE_PATIENCE (2 * SS_SECOND)

/* A switch of rules, for the record. */
struct change {
    ss_time time; /* since the start */
    double load;
    size_t rule;
};

/* The command after --, or a side. */
struct party {
    const char *name;   /* NAME=... of a side; NULL: the command after -- */
    char *const *words; /* the command; NULL: a process group */
    char **split;       /* the words of a side; owned */
    pid_t group;        /* a running process group; 0: a command */
    size_t number;      /* number of the group in the journal */
    struct ssactuate_place place;
    struct ssactuate_child child;
    bool runs;
};

struct follow {
    const struct ssactuate_options *options;
    struct ssactuate_machine machine;
    struct ssactuate_policy policy;
    struct ssactuate_decision decision;
    struct ssactuate_load load;
    struct ssactuate_plan plan;     /* plan of the current rule */
    struct ssactuate_plan all;      /* the files of all rules */
    unsigned limits;                /* limits of all rules, as in ssactuate_place_limits() */
    bool moves;                     /* a rule chooses CPUs; otherwise affinities are left alone */
    struct party parties[2];        /* the command and the side, or two sides */
    bool has_side;                  /* the second party is present */
    struct ssactuate_copies copies; /* replace the command with `instances` */
    bool has_copies;
    struct ssactuate_undoing undoing;
    struct ss_signals signals;
    struct ss_scheduling *scheduling;
    struct ssactuate_binding binding;
    ss_time begin;
    struct change *changes;
    size_t change_count, change_room;
    bool changes_lost; /* memory was exhausted */
    int signals_received;
    struct ssactuate_end last;
    ss_time known;     /* the latest time at which the load was known, or the start */
    bool said_unknown; /* that the load is unknown */
    bool failing;      /* the latest switch has failed */
    bool said_crowded; /* that threads share CPUs */
};

/* Returns the setting of a file, or NULL. */
static struct ssactuate_setting *find_file(const struct ssactuate_plan *plan, const char *path) {
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->settings[i].path, path) == 0)
            return &plan->settings[i];
    }
    return NULL;
}

/* Adds the files of a rule to those of all rules. The journal must recognize the values of each. */
static int gather_files(
    struct follow *follow, const struct ssactuate_plan *plan, struct ss_error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct ssactuate_setting *setting = &plan->settings[i];
        struct ssactuate_setting *known = find_file(&follow->all, setting->path);
        if (!known && ssactuate_plan_add(&follow->all, setting, error) < 0)
            return -1;
        if (known && known->kept < setting->kept)
            known->kept = setting->kept;
    }
    return 0;
}

/* Plans all rules once, so that errors in them are reported before the command starts. */
static int gather(struct follow *follow, struct ss_error *error) {
    for (size_t i = 0; i < follow->policy.count; i++) {
        const struct ssactuate_rule *rule = &follow->policy.rules[i];
        struct ssactuate_plan plan;
        int status = ssactuate_plan_make(&plan, &follow->machine, rule->knobs, error);
        if (status == 0 && plan.duty > 0)
            status = ss_error_fail(error, "a policy cannot change duty while the command runs");
        if (status == 0 && (plan.instances > 0) != !!follow->options->control)
            status =
                ss_error_fail(error, plan.instances > 0 ? "`instances` requires --control, to send "
                                                          "the URLs of the instances to ssrequest"
                                                        : "--control requires `instances`");
        follow->has_copies = plan.instances > 0;
        if (status == 0)
            status = gather_files(follow, &plan, error);
        follow->limits |= ssactuate_place_limits(&follow->machine, &plan);
        follow->moves |= plan.pinned || plan.cpu_count > 0 || plan.each;
        ssactuate_plan_free(&plan);
        if (status < 0)
            return ss_error_wrap(error, "%s:%zu", follow->options->policy, rule->line);
    }
    return 0;
}

/* Returns the level of `pin` in a rule, or NULL. */
static const char *find_pin(const struct ssactuate_rule *rule) {
    for (const char *const *word = rule->knobs; *word; word++) {
        if (strncmp(*word, "pin=", 4) == 0)
            return *word + 4;
    }
    return NULL;
}

/* Chooses the CPUs of the side: the other half if `pin` divides them, or else all that it names. */
static int choose_side(
    struct follow *follow, const struct ssactuate_rule *rule, struct ss_error *error) {
    struct ssactuate_plan plan = {0};
    const char *pin = find_pin(rule);
    if (pin && ssactuate_pin_place(&follow->machine, pin, 1, &plan, error) < 0)
        return -1;
    return ssactuate_place_choose(&follow->parties[1].place, &follow->machine, &plan, error);
}

/* Plans a rule again, because the order in which limits are set depends on their current values. */
static int plan_rule(
    struct follow *follow, const struct ssactuate_rule *rule, struct ss_error *error) {
    ssactuate_plan_free(&follow->plan);
    if (ssactuate_plan_make(&follow->plan, &follow->machine, rule->knobs, error) < 0 ||
        ssactuate_place_choose(&follow->parties[0].place, &follow->machine, &follow->plan, error) <
            0)
        return -1;
    return follow->has_side ? choose_side(follow, rule, error) : 0;
}

static int check_memory(const struct follow *follow, struct ss_error *error) {
    const struct ssactuate_place *place = &follow->parties[0].place;
    if (!place->has_group || follow->plan.memory == 0 || follow->options->force)
        return 0;
    uint64_t used = limit_group_memory(&place->group);
    return used <= follow->plan.memory
               ? 0
               : ss_error_fail(error,
                     "memory is below the %llu MiB in use: --force sets the limit anyway",
                     (unsigned long long)(used >> 20));
}

/*
 * Restores the files that only other rules set, such as the governor of a single frequency when the
 * planned rule has a range: a level must not depend on the previous rule.
 */
static int restore_others(struct follow *follow, struct ss_error *error) {
    struct ssactuate_journal *journal = &follow->undoing.journal;
    SS_OWNED(free) bool *kept = calloc(journal->count + 1, sizeof *kept);
    if (!kept)
        return ss_error_memory(error);
    for (size_t i = 0; i < journal->count; i++)
        kept[i] = find_file(&follow->plan, journal->entries[i].setting.path) != NULL;
    return ssactuate_journal_restore_others(journal, kept, error);
}

/*
 * Orphans of both parties become children of this process, and count as processes of the command.
 */
static void move_party(const struct follow *follow, int number) {
    const pid_t spared[] = {follow->undoing.keeper.pid, follow->parties[1].child.process.pid};
    const pid_t none[2] = {0};
    ssactuate_child_move(number == 0 ? getpid() : follow->parties[1].child.process.pid,
        number == 0 ? spared : none, follow->parties[number].place.mask);
}

/*
 * Confines a running process group. Without a pin, restores the affinity that its threads had
 * before.
 */
static int confine_group(struct follow *follow, const struct party *party, struct ss_error *error) {
    struct ssactuate_journal *journal = &follow->undoing.journal;
    const struct topology_order *order = &follow->plan.cpus;
    for (uint32_t i = 0; party == follow->parties && follow->plan.each && i < order->count; i++) {
        struct ss_cpus one = {0};
        ss_cpus_add(&one, order->cpus[i]);
        if (ssactuate_journal_note_cpus(journal, party->number, &one, error) < 0)
            return -1;
    }
    return ssactuate_journal_confine(
        journal, party->number, party->place.masked ? &party->place.mask : NULL, error);
}

/* Sets the levels that plan_rule() has planned. */
static int apply(struct follow *follow, struct ss_error *error) {
    if (ssactuate_undoing_set(&follow->undoing, &follow->plan, error) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        struct party *party = &follow->parties[i];
        if (ssactuate_place_limit(&party->place, &follow->plan, error) < 0)
            return -1;
        if (!follow->moves)
            continue;
        if (party->group > 0 && confine_group(follow, party, error) < 0)
            return -1;
        if (party->runs && party->group == 0)
            move_party(follow, i);
    }
    ssactuate_binding_free(&follow->binding); /* so that all threads are bound again */
    follow->binding.cpus = &follow->plan.cpus;
    ssactuate_copies_want(&follow->copies, follow->plan.instances);
    return 0;
}

static void note_change(struct follow *follow, ss_time now, double load) {
    if (SS_GROW(follow->changes, follow->change_count + 1, follow->change_room))
        follow->changes[follow->change_count++] =
            (struct change){ss_time_since(now, follow->begin), load, follow->decision.rule};
    else
        follow->changes_lost = true;
}

/* Plans again after restoring limits, which the plan may then have to change. */
static int set_rule(
    struct follow *follow, const struct ssactuate_rule *rule, struct ss_error *error) {
    if (plan_rule(follow, rule, error) < 0 || check_memory(follow, error) < 0 ||
        restore_others(follow, error) < 0 || plan_rule(follow, rule, error) < 0)
        return -1;
    return apply(follow, error);
}

static void warn_of_rule(const struct ssactuate_rule *rule, const struct ss_error *error) {
    fprintf(stderr, "ssactuate: warning: the rule in line %zu cannot be applied: %s\n", rule->line,
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
    ssactuate_decided(&follow->decision, now, failed ? before : rule);
    if (!failed)
        note_change(follow, now, load);
    else if (!follow->failing)
        warn_of_rule(&rules[rule], &error);
    follow->failing = failed;
}

static int read_policy(struct follow *follow, struct ss_error *error) {
    const char *name = follow->options->policy;
    SS_OWNED(fclose) FILE *stream = fopen(name, "re");
    if (!stream)
        return ss_error_fail(error, "%s: %s", ss_words_show(name).text, strerror(errno));
    if (ssactuate_policy_read(&follow->policy, stream, name, error) < 0)
        return -1;
    follow->decision.policy = &follow->policy;
    return 0;
}

static int read_group(struct party *party, const char *text, struct ss_error *error) {
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
static int read_side(struct party *party, const char *side, struct ss_error *error) {
    const char *equals = strchr(side, '=');
    size_t count = 0;
    if (!equals || equals == side)
        return ss_error_fail(error, "--side: write NAME=COMMAND or NAME=@PGID");
    party->name = side;
    if (equals[1] == '@')
        return read_group(party, equals + 2, error);
    party->words = party->split = ss_words_split(equals + 1, &count, error);
    if (!party->split)
        return ss_error_wrap(error, "--side");
    return count > 0 ? 0 : ss_error_fail(error, "--side: the command is empty");
}

static size_t name_length(const struct party *party) {
    return party->name ? strcspn(party->name, "=") : 0;
}

/* Checks that the side whose load decides is the second party. */
static int check_load(const struct follow *follow, struct ss_error *error) {
    const char *name = follow->policy.argument, *file = follow->options->policy;
    const struct party *side = &follow->parties[1];
    if (follow->policy.source != SSACTUATE_SIDE)
        return 0;
    if (!follow->has_side)
        return ss_error_fail(error, "%s: `load side` requires %s", file,
            follow->options->side_count > 0 ? "a second --side, or a command" : "--side");
    if (name && (strlen(name) != name_length(side) || strncmp(name, side->name, strlen(name)) != 0))
        return ss_error_fail(error, "%s: `load side %s`: the other side is %.*s", file,
            ss_words_show(name).text, (int)name_length(side), side->name);
    return 0;
}

static int read_parties(struct follow *follow, struct ss_error *error) {
    const struct ssactuate_options *options = follow->options;
    struct party *next = follow->parties;
    if (options->command)
        next++->words = options->command;
    for (size_t i = 0; i < options->side_count; i++) {
        if (read_side(next++, options->sides[i], error) < 0)
            return -1;
    }
    follow->has_side = next == follow->parties + 2;
    if (follow->parties[0].group > 0 && follow->parties[0].group == follow->parties[1].group)
        return ss_error_fail(
            error, "--side: both sides are process group %d", (int)follow->parties[0].group);
    return check_load(follow, error);
}

/* A running process group is not moved to a control group, so only CPUs can be limited. */
static int check_limits(const struct follow *follow, struct ss_error *error) {
    if (follow->parties[0].group == 0 || !(follow->limits & ~(1U << LIMIT_CPUS)))
        return 0;
    return ss_error_fail(error,
        "%s: quota and memory can limit only a command, not a running process group",
        follow->options->policy);
}

static int find_places(struct follow *follow, struct ss_error *error) {
    static const char *const prefixes[] = {"ssactuate", "ssactuate-side"};
    for (int i = 0; i < 2; i++) {
        struct party *party = &follow->parties[i];
        unsigned limits = i == 0 ? follow->limits : follow->limits & 1U << LIMIT_CPUS;
        if (ssactuate_place_find(
                &party->place, &follow->machine, party->words ? limits : 0, prefixes[i], error) < 0)
            return -1;
    }
    return 0;
}

static int open_undoing(struct follow *follow, struct ss_error *error) {
    struct ssactuate_changes changes = {.plan = &follow->all};
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        struct party *party = &follow->parties[i];
        changes.groups[i] = party->place.has_group ? &party->place.group : NULL;
        changes.running[i] = party->group;
        party->number = party->group > 0 ? count++ : 0;
    }
    return ssactuate_undoing_open(&follow->undoing, &changes, follow->machine.root, error);
}

/* Prepares the copies. The keeper must end them if this process is killed. */
static int prepare_copies(struct follow *follow, struct ss_error *error) {
    struct ssactuate_copies *copies = &follow->copies;
    if (!follow->has_copies)
        return 0;
    if (!follow->options->command)
        return ss_error_fail(error, "instances requires a command: write it after --");
    copies->command = follow->options->command;
    copies->url = follow->plan.instance_url;
    copies->control = follow->options->control;
    copies->spared = &follow->undoing.keeper.pid;
    copies->side = &follow->parties[1].child.process.pid;
    follow->undoing.orphaned = ssactuate_copies_end_orphaned;
    follow->undoing.context = copies;
    return ssactuate_copies_open(copies, error);
}

static int prepare(struct follow *follow, struct ss_error *error) {
    if (read_policy(follow, error) < 0 || read_parties(follow, error) < 0 ||
        gather(follow, error) < 0 || check_limits(follow, error) < 0 ||
        plan_rule(follow, &follow->policy.rules[0], error) < 0 || find_places(follow, error) < 0 ||
        open_undoing(follow, error) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        if (ssactuate_place_make(&follow->parties[i].place, error) < 0)
            return -1;
    }
    return prepare_copies(follow, error) < 0 || ssactuate_undoing_keep(&follow->undoing, error) < 0
               ? -1
               : apply(follow, error);
}

static struct ssactuate_child child_of(const struct follow *follow, const struct party *party) {
    return (struct ssactuate_child){
        .words = party->words,
        .group = party->place.has_group ? &party->place.group : NULL,
        .mask = party->place.masked ? &party->place.mask : NULL,
        .signals = &follow->signals,
        .scheduling = follow->scheduling,
    };
}

static int start(struct follow *follow, struct party *party, struct ss_error *error) {
    party->runs = party->group > 0;
    if (!party->words)
        return 0;
    party->child = child_of(follow, party);
    if (ssactuate_child_fork(&party->child, error) < 0 ||
        ssactuate_child_execute(&party->child, error) < 0)
        return -1;
    party->runs = true;
    return 0;
}

static struct ssactuate_running *find_running(struct follow *follow, const struct party *party) {
    return &follow->undoing.journal.running[party->number];
}

static int start_both(struct follow *follow, struct ss_error *error) {
    ss_platform_adopt_orphans();
    follow->scheduling = ss_platform_scheduling_save();
    if (!follow->scheduling)
        return ss_error_memory(error);
    if (ssactuate_load_open(&follow->load, &follow->policy, &follow->machine, error) < 0 ||
        ssactuate_child_check_signals(&follow->signals, error) < 0)
        return -1;
    if (start(follow, &follow->parties[1], error) < 0)
        return ss_error_wrap(error, "--side");
    if (follow->has_copies) {
        follow->copies.like = child_of(follow, &follow->parties[0]);
        follow->parties[0].runs = true;
    } else if (start(follow, &follow->parties[0], error) < 0) {
        return -1;
    }
    follow->load.side = follow->parties[1].child.process.pid;
    if (follow->parties[1].group > 0) {
        follow->load.running = find_running(follow, &follow->parties[1]);
        follow->load.used = follow->load.running->used;
    }
    follow->begin = follow->known = ss_platform_now();
    note_change(follow, follow->begin, NAN);
    return 0;
}

static void reap(struct follow *follow) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (int i = 0; i < 2; i++) {
            struct party *party = &follow->parties[i];
            if (party->runs && party->words && pid == party->child.process.pid) {
                ssactuate_child_reaped(&party->child, status);
                party->runs = false;
            }
        }
        if (!follow->parties[1].runs)
            follow->load.side = 0; /* its pid may be reused */
        ssactuate_copies_reaped(&follow->copies, pid, status);
        ssactuate_undoing_reaped(&follow->undoing, pid, status);
    }
    if (follow->has_copies && ssactuate_copies_are_over(&follow->copies))
        follow->parties[0].runs = false;
}

/*
 * Passes a signal on to the command or to all copies. If `number` is 0, they have already received
 * it from the terminal.
 */
static void send_signal(struct follow *follow, int number) {
    if (!follow->has_copies && number > 0)
        kill(follow->parties[0].child.process.pid, number);
    else if (follow->has_copies && number == SIGKILL)
        ssactuate_copies_kill(&follow->copies);
    else if (follow->has_copies)
        ssactuate_copies_end(&follow->copies, number);
}

/*
 * As in `run`: the first signal that ends the run restores all values at once, and the second kills
 * the command. If the command was just started, the terminal may have sent the signal before.
 */
static int take_signal(struct follow *follow, int number, bool started, struct ss_error *error) {
    if (number == SIGTSTP)
        ss_signals_suspend(&follow->signals);
    if (!ssactuate_is_end(number) ||
        ssactuate_is_repeated(&follow->last, number, follow->signals.typed, ss_platform_now()))
        return 0;
    follow->signals_received++;
    if (follow->parties[0].group > 0) {
        follow->parties[0].runs = false; /* nothing waits for a command */
        follow->parties[0].child.status = 128 + number;
    } else {
        bool received = !started && ssactuate_is_from_terminal(&follow->signals, number);
        send_signal(follow, follow->signals_received > 1 ? SIGKILL : received ? 0 : number);
    }
    if (follow->signals_received > 1 || !follow->undoing.has_journal)
        return 0;
    return ssactuate_journal_restore_values(&follow->undoing.journal, &ssactuate_restorer, error);
}

/*
 * Looks for new threads of running process groups. After an error, which means that the journal
 * cannot be written, no longer follows the group.
 */
static void look(struct follow *follow) {
    for (int i = 0; i < 2; i++) {
        struct party *party = &follow->parties[i];
        struct ss_error error = {0};
        int status = party->group > 0 && party->runs
                         ? ssactuate_journal_look(&follow->undoing.journal, party->number, &error)
                         : 1;
        if (status <= 0)
            party->runs = false;
        if (status < 0)
            fprintf(stderr, "ssactuate: warning: process group %d is no longer followed: %s\n",
                (int)party->group, error.message);
    }
}

/* Binds the threads of a process group that runs already. */
static void bind_group(struct follow *follow, const struct party *party) {
    struct ssactuate_binding *binding = &follow->binding;
    look(follow);
    const struct ssactuate_running *running = find_running(follow, party);
    ssactuate_binding_begin(binding);
    for (size_t i = 0; i < running->count; i++)
        ssactuate_binding_see(binding, running->members[i].id, running->members[i].started);
    ssactuate_binding_end(binding, ssactuate_child_bind_thread, NULL);
}

static void bind_threads(struct follow *follow) {
    struct ssactuate_binding *binding = &follow->binding;
    const struct party *party = &follow->parties[0];
    if (!follow->plan.each)
        return;
    if (party->group == 0)
        ssactuate_child_bind(binding,
            (const pid_t[]){follow->undoing.keeper.pid, follow->parties[1].child.process.pid},
            NULL);
    else
        bind_group(follow, party);
    ssactuate_child_warn_if_crowded(binding, &follow->said_crowded);
}

/*
 * Warns once if the load stays unknown, for example because the record does not exist. Never warns
 * for a trace, which may have sections without a load.
 */
static void note_load(struct follow *follow, ss_time now, double load) {
    if (!isnan(load) || follow->policy.source == SSACTUATE_TRACE)
        follow->known = now;
    if (follow->said_unknown || ss_time_since(now, follow->known) < follow->policy.stay)
        return;
    follow->said_unknown = true;
    fprintf(stderr, "ssactuate: warning: the load is unknown%s%s: keeping the current levels\n",
        follow->load.samples ? ": no load in " : "",
        follow->load.samples ? ss_words_show(follow->load.samples).text : "");
}

static void sample(struct follow *follow, ss_time now) {
    look(follow);
    double load = ssactuate_load_sample(&follow->load, now);
    note_load(follow, now, load);
    size_t rule = ssactuate_decide(&follow->decision, now, load);
    if (rule != follow->decision.rule)
        switch_rule(follow, rule, now, load);
}

/* Starts and ends copies. If one cannot be started, ends the others. */
static int advance_copies(struct follow *follow, struct ss_error *error) {
    if (!follow->has_copies || ssactuate_copies_advance(&follow->copies, error) == 0)
        return 0;
    ssactuate_copies_end(&follow->copies, SIGTERM);
    return -1;
}

/* Sleeps until a signal, a sample, or a look at copies or at new threads is due. */
static void sleep_until(const struct follow *follow, ss_time due) {
    struct pollfd polls[] = {{.fd = follow->signals.pipe[0], .events = POLLIN}};
    ss_time left = ss_time_since(due, ss_platform_now()) / SS_MILLISECOND + 1;
    int timeout = left < 60000 ? (int)left : 60000;
    int interval = follow->parties[0].group > 0 ? LOOK_INTERVAL : BIND_INTERVAL;
    int copies = follow->has_copies ? ssactuate_copies_timeout(&follow->copies) : -1;
    if (copies >= 0 && copies < timeout)
        timeout = copies;
    poll(polls, 1, follow->plan.each && timeout > interval ? interval : timeout);
}

static int watch(struct follow *follow, struct ss_error *error) {
    int result = 0;
    bool started = !follow->has_copies;
    ss_time due = follow->begin + follow->policy.every;
    for (reap(follow); follow->parties[0].runs; reap(follow)) {
        if (advance_copies(follow, error) < 0)
            result = -1;
        started |= follow->copies.fresh;
        follow->copies.fresh = false;
        bind_threads(follow);
        sleep_until(follow, started ? 0 : due);
        for (int number; (number = ss_signals_next(&follow->signals)) != 0;) {
            if (take_signal(follow, number, started, error) < 0)
                result = -1;
        }
        started = false;
        ss_time now = ss_platform_now();
        if (now < due)
            continue;
        if (follow->signals_received == 0)
            sample(follow, now);
        /* Skip the samples that were missed while the run was suspended. */
        due += follow->policy.every * ((now - due) / follow->policy.every + 1);
    }
    if (follow->has_copies)
        ssactuate_copies_kill(&follow->copies); /* descendants that outlived their copy */
    return result;
}

/* Ends the side command once the command has exited. */
static void end_side(struct follow *follow) {
    struct party *side = &follow->parties[1];
    ss_time deadline = ss_platform_now() + SIDE_PATIENCE;
    for (int i = 0; side->runs && side->words; i++) {
        struct pollfd polls[] = {{.fd = follow->signals.pipe[0], .events = POLLIN}};
        if (i == 0)
            kill(side->child.process.pid, SIGTERM);
        else if (ss_platform_now() >= deadline)
            kill(side->child.process.pid, SIGKILL);
        poll(polls, 1, BIND_INTERVAL);
        while (ss_signals_next(&follow->signals) != 0)
            ;
        reap(follow);
    }
}

static void write_sides(const struct follow *follow, struct ss_json *json) {
    ss_json_open(json, "sides", '[');
    for (int i = 0; i < 2; i++) {
        const struct party *party = &follow->parties[i];
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

static int status_of(const struct follow *follow) {
    return follow->has_copies ? follow->copies.status : follow->parties[0].child.status;
}

static void write_changes(const struct follow *follow, FILE *stream) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSACTUATE_RECORD_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ss_json_text(&json, "policy", follow->options->policy);
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
    ss_json_number(&json, "status", status_of(follow));
    ss_json_close(&json, '}');
}

static int write_record(const struct follow *follow, struct ss_error *error) {
    struct ss_whole_file file;
    const char *path = follow->options->record;
    if (follow->changes_lost)
        return ss_error_memory(error);
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    write_changes(follow, file.stream);
    return ss_whole_file_end(&file, path, error);
}

static void free_follow(struct follow *follow) {
    ssactuate_load_close(&follow->load);
    ssactuate_binding_free(&follow->binding);
    ssactuate_plan_free(&follow->plan);
    ssactuate_plan_free(&follow->all);
    ssactuate_policy_free(&follow->policy);
    ssactuate_machine_close(&follow->machine);
    for (int i = 0; i < 2; i++)
        free(follow->parties[i].split);
    free(follow->scheduling);
    free(follow->changes);
    free(follow);
}

int ssactuate_follow(const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct follow *follow = calloc(1, sizeof *follow);
    if (!follow)
        return ss_error_memory(error);
    follow->options = options;
    int result = ssactuate_machine_open(&follow->machine, options->root, error);
    if (result == 0 && options->record && strcmp(options->record, "-") != 0)
        result = ss_whole_file_check(options->record, error);
    if (result == 0 && ss_signals_open(&follow->signals) < 0)
        result = ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    if (result == 0)
        result = prepare(follow, error);
    if (result == 0)
        result = start_both(follow, error);
    if (result == 0)
        result = watch(follow, error);
    end_side(follow);
    if (result == 0 && options->record)
        result = write_record(follow, error);
    if (ssactuate_undoing_finish(&follow->undoing, error) < 0)
        result = -1;
    *status = status_of(follow);
    ssactuate_copies_close(&follow->copies);
    free_follow(follow);
    return result;
}
