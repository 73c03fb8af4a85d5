/* SPDX-License-Identifier: Apache-2.0 */
#include "actuate_options.h"

#include "base/words.h"
#include "local_socket.h"

#define AT(member) .offset = offsetof(struct ssactuate_options, member)

static int take_side(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct ssactuate_options *options = config;
    size_t room = sizeof options->sides / sizeof *options->sides;
    (void)row;
    if (options->side_count == room)
        return ss_error_fail(error, "too many sides (at most %zu)", room);
    options->sides[options->side_count++] = value;
    return 0;
}

// clang-format off
static const struct ss_argument rows[] = {
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root),
        .help = "use /proc, /sys and /run of the machine whose root folder is DIR"}},
    {0, "FILE", {"record", SS_OPTION_TEXT, AT(record),
        .help = "write JSON to FILE (-: standard output): for `run`, what was set, the values read back and the actual frequency; for `follow`, the switches"}},
    {0, "FILE", {"policy", SS_OPTION_TEXT, AT(policy),
        .help = "for `follow`: read from FILE which levels apply at which load"}},
    {0, "NAME=COMMAND|@PGID", {"side", SS_OPTION_TEXT,
        .help = "for `follow`: also run COMMAND, split into words as by a shell, or confine process group PGID, which is already running; if `pin` divides the CPUs, the side gets the other half; without a command after --, the first side takes its place"}, .take = take_side, .needs = "policy"},
    {0, "SOCKET", {"control", SS_OPTION_TEXT, AT(control),
        .help = "for `instances`: send the URLs of the instances to the ssrequest with this --control"}},
    {0, NULL, {"check", AT(check),
        .help = "for `run`: only check that the levels can be set on this machine"}, .excludes = "record"},
    {0, NULL, {"force", AT(force),
        .help = "for `follow`: set `memory` even below the memory in use"}, .needs = "policy"},
    SS_ARGUMENTS_HELP_AT(struct ssactuate_options),
    SS_ARGUMENTS_WORDS_AT(struct ssactuate_options, words, SIZE_MAX),
};
// clang-format on

void ssactuate_options_print_help(void) {
    printf("Usage: ssactuate list [OPTION]...\n"
           "       ssactuate get [OPTION]... ACTUATOR[@TARGET]\n"
           "       ssactuate run [OPTION]... ACTUATOR=LEVEL... -- COMMAND [ARGUMENT]...\n"
           "       ssactuate run --check [OPTION]... ACTUATOR=LEVEL...\n"
           "       ssactuate follow [OPTION]... --policy FILE -- COMMAND [ARGUMENT]...\n"
           "       ssactuate follow [OPTION]... --policy FILE --side NAME=@PGID\n"
           "       ssactuate restore [OPTION]...\n"
           "Turns knobs of the machine while a command or a process group runs, and restores\n"
           "them afterwards, even if ssactuate is killed.\n\n");

    ss_arguments_print_help(stdout, rows);

    printf("\n"
           "`ssactuate list` prints the actuators and their levels; ssactuate(1) describes\n"
           "them. Exit status: that of COMMAND; 3 if `get` names an absent actuator; 125 if\n"
           "a knob cannot be set, in which case COMMAND is not started, or cannot be\n"
           "restored.\n");
}

static int check_command(const struct ssactuate_options *options, struct ss_error *error) {
    const struct ssactuate_verb *verb = options->verb;
    bool has_command = options->command && *options->command;
    const char *equals = options->side_count > 0 ? strchr(options->sides[0], '=') : NULL;
    /* `follow` needs no command if its first side is a process group that is already running. */
    bool has_running_side = equals && equals[1] == '@';

    if (options->command && !verb->takes_command)
        return ss_error_fail(error, "`%s` takes no command: leave out --", verb->name);
    if (options->check && options->command)
        return ss_error_fail(error, "--check starts no command: leave out --");

    if (verb->takes_command && !has_command && !options->check &&
        (options->command || !has_running_side))
        return ss_error_fail(error, "no command given: put it after --");

    if (has_command && options->side_count > 1)
        return ss_error_fail(error, "--side is given twice: with a command after --, give it once");
    return 0;
}

static int check(struct ssactuate_options *options, const struct ss_suggest_names *verbs,
    struct ss_error *error) {
    const char *name = *options->words;
    if (!name)
        return ss_error_fail(
            error, "no command given: use list, get, run, follow or restore; see --help");

    size_t count = ss_words_count(++options->words);
    int found = ss_suggest_find(verbs, name, error);
    if (found < 0)
        return -1;

    const struct ssactuate_verb *verb = (const struct ssactuate_verb *)verbs->rows + found;
    options->verb = verb;
    if (count > 0 && !verb->takes_words)
        return ss_error_fail(error, "unexpected argument '%s': `%s` takes none",
            ss_words_show(options->words[0]).text, verb->name);

    if (options->record && !verb->takes_record)
        return ss_error_fail(error, "--record is for `run` and `follow`");
    if (options->check && !verb->takes_check)
        return ss_error_fail(error, "--check is for `run`");
    if (options->policy && !verb->takes_policy)
        return ss_error_fail(error, "--policy is for `follow`");
    if (verb->takes_policy && !options->policy)
        return ss_error_fail(error, "`follow` requires --policy FILE");
    if (options->control && !verb->takes_command)
        return ss_error_fail(error, "--control is for `run` and `follow`");

    if (options->control && local_socket_check(options->control, error) < 0)
        return ss_error_wrap(error, "--control");
    if (check_command(options, error) < 0)
        return -1;

    if (verb->takes_words && count == 0)
        return ss_error_fail(error, "no actuator given: `ssactuate list` prints them");
    if (strcmp(verb->name, "get") == 0 && count > 1)
        return ss_error_fail(error, "unexpected argument '%s': `get` takes one actuator",
            ss_words_show(options->words[1]).text);
    return 0;
}

int ssactuate_options_parse(struct ssactuate_options *options, const struct ss_suggest_names *verbs,
    char **argv, struct ss_error *error) {
    *options = (struct ssactuate_options){0};
    if (ss_arguments_parse(rows, options, &options->store, argv, &options->command, error) < 0)
        return -1;
    return options->help || options->version ? 0 : check(options, verbs, error);
}
