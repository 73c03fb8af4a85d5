/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist_options.h"

#include <math.h>
#include <string.h>

#include "base/words.h"

/* The longest text that fits in a plan. */
#define TEXT_MAX 4000

#define AT(member)       .offset = offsetof(struct antagonist_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct antagonist_options, member)

static int take_folder(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct antagonist_options *options = config;
    (void)row;
    if (options->folder)
        return ss_error_fail(
            error, "unexpected argument '%s': write one folder", ss_words_show(value).text);
    options->folder = value;
    return 0;
}

// clang-format off
#define WHAT_ROWS                                                                                                      \
    {0, "WHAT", {"victim", SS_OPTION_TEXT, AT(victim),                                                                 \
        .help = "the service: a URL to send requests to; a log, with --iteration; or a command that prints figures, " \
                "and is run repeatedly"}},                                                                                 \
    {0, "REGEX", {"iteration", SS_OPTION_TEXT, AT(iteration),                                                          \
        .help = "matches a line that ends an iteration; the first group, if any, is its time; without a group, lines are "     \
                "counted. Default, for a command: the last number of each line"}}
#define VICTIM_ROWS                                                                                                    \
    WHAT_ROWS,                                                                                                         \
    {0, "N", {"rate", SS_OPTION_NUMBER, AT(rate), .initial = "20", .min = "0.001",                                     \
        .help = "requests per second to a URL"}},                                                                      \
    {0, NULL, {"lower-is-better", AT(lower), .help = "smaller figures are better"}}
#define END_ROWS                                                                                                       \
    {'h', NULL, {"help", AT(help), .help = "print this help"}},                                                        \
    {0, NULL, {"version", AT(version), .help = "print the version"}},                                                  \
    SS_ARGUMENTS_WORDS(take_folder)
#define SUSPECT_ROWS                                                                                                   \
    {0, "PID,...", {"suspects", SS_OPTION_TEXT, AT(suspects),                                                          \
        .help = "processes that may hurt it, each with its descendants"}},                                             \
    {0, "GROUP", {"suspects-of", SS_OPTION_TEXT, AT(group),                                                            \
        .help = "the processes of this control group, below /sys/fs/cgroup, and of its subgroups"}}
#define VICTIM_PID_ROW                                                                                                 \
    {0, "PID,...", {"victim-pid", SS_OPTION_TEXT, AT(victim_pids),                                                     \
        .help = "processes of the victim; neither they nor their relatives can be suspects; default: those that "      \
                "listen on the URL, or have the log open"}}
#define STUDY_ROWS                                                                                                     \
    VICTIM_ROWS,                                                                                                       \
    SUSPECT_ROWS,                                                                                                      \
    /* Without an initial value, which could not be distinguished from one that contradicts the study. */              \
    {0, "LOAD", {"depth", SS_OPTION_LOAD, AT(depth), .min = "1%", .max = "90%",                                        \
        .help = "the part of its running time that a throttled suspect loses; default 20%"}},                          \
    {0, "TIME", {"slot", SS_OPTION_TIME, AT(slot), .initial = "0",                                                     \
        .help = "length of a slot, for which a suspect is throttled or not; 0: the longest of 5 s, 10 iterations, and 50 rounds"}},       \
    {0, "TIME", {"tau", SS_OPTION_TIME, AT(tau), .initial = "53m", .min = "1m", .max = "10s",                          \
        .help = "mean length of a round of running and stopping"}},                                                    \
    {0, "N", {"seed", COUNT_AT(seed), .initial = "0",                                                                  \
        .help = "seed of the codes; 0: derived from the suspects"}}

static const struct ss_argument plan_rows[] = {
    STUDY_ROWS,
    VICTIM_PID_ROW,
    END_ROWS,
};
static const struct ss_argument answer_rows[] = {
    STUDY_ROWS,
    {0, NULL, {"json", AT(json), .help = "print a JSON document"}},
    {0, "DIR", {"page", SS_OPTION_TEXT, AT(page), .help = "write a page and tables to this folder"}},
    END_ROWS,
};
static const struct ss_argument watch_rows[] = {
    VICTIM_ROWS,
    {0, "N", {"slots", COUNT_AT(slots), .initial = "12", .min = "1", .max = "126",
        .help = "number of slots"}},
    {0, "TIME", {"slot", SS_OPTION_TIME, AT(slot), .initial = "5s", .min = "1m", .help = "length of a slot"}},
    {0, "TIME", {"start-at", SS_OPTION_TEXT, AT(start_at),
        .help = "the first slot begins at this wall-clock time, as for showstopper; default: now"}},
    {0, "FIGURE", {"usual", SS_OPTION_NUMBER, AT(usual),
        .help = "the figure without throttles; if the victim loses 30 % of it in two slots, the run ends with status 4"}},
    END_ROWS,
};
static const struct ss_argument codes_rows[] = {
    {0, "LOAD", {"depth", SS_OPTION_LOAD, AT(depth), .initial = "20%",
        .help = "the part of its running time that a throttled suspect loses"}},
    {0, "TIME", {"slot", SS_OPTION_TIME, AT(slot), .initial = "5s", .min = "1m", .help = "length of a slot"}},
    {0, "N", {"slots", COUNT_AT(slots), .initial = "126", .min = "63", .max = "126",
        .help = "126, or 63 without the inverted half"}},
    {0, "START:SHIFT,...", {"shifts", SS_OPTION_TEXT, AT(shifts),
        .help = "where the sequence begins, and the shift of each suspect and of two ghosts"}},
    END_ROWS,
};
static const struct ss_argument suspects_rows[] = {
    SUSPECT_ROWS,
    {0, "NAME,...", {"names", SS_OPTION_TEXT, AT(names),
        .help = "names of the suspects of a study that has begun; --suspects then has PID@STARTED,..."},
        .may_be_empty = true},
    WHAT_ROWS,
    VICTIM_PID_ROW,
    END_ROWS,
};
static const struct ss_argument no_rows[] = {END_ROWS};
// clang-format on

static const struct {
    const char *name, *usage;
    const struct ss_argument *rows;
} commands[] = {
    [ANTAGONIST_PLAN] = {"plan",
        " STUDY\nPrints the plan of a study for ssbatch(1), as far as it is known: later runs\n"
        "depend on earlier ones. Prints on standard error which costs the next run can\n"
        "find.",
        plan_rows},
    [ANTAGONIST_ANSWER] = {"answer", " STUDY\nPrints which suspects hurt the victim.", answer_rows},
    [ANTAGONIST_WATCH] = {"watch",
        " FOLDER\nMeasures the victim, and writes slots.csv: its figure in each slot.", watch_rows},
    [ANTAGONIST_CODES] = {"codes",
        " FOLDER\nWrites the codes of a run: a load trace for each suspect, and codes.csv.",
        codes_rows},
    [ANTAGONIST_SUSPECTS] = {"suspects",
        "\nPrints the suspects as CSV: pid, started (which identifies the process with its\n"
        "pid) and name. With --victim, fails if one must not be throttled.",
        suspects_rows},
    [ANTAGONIST_NONE] = {"", "", no_rows},
};

void antagonist_options_print_help(const struct antagonist_options *options) {
    if (options->command != ANTAGONIST_NONE) {
        printf("Usage: ssantagonist %s [OPTION]...%s\n\n", commands[options->command].name,
            commands[options->command].usage);
    } else {
        printf("Usage: ssantagonist plan|answer [OPTION]... STUDY\n"
               "       ssantagonist watch|codes [OPTION]... FOLDER\n"
               "       ssantagonist suspects [OPTION]...\n"
               "Finds which processes slow a service down, by throttling each by a code of its\n"
               "own. The experiment antagonist runs all steps. Each command has its own\n"
               "--help.\n\n");
    }
    ss_arguments_print_help(stdout, commands[options->command].rows);
}

static int require(const void *value, const char *name, struct ss_error *error) {
    return value ? 0 : ss_error_fail(error, "%s is required: see --help", name);
}

static int check(const struct antagonist_options *options, struct ss_error *error) {
    if (options->help || options->version)
        return 0;
    if (options->command == ANTAGONIST_NONE)
        return ss_error_fail(
            error, "no command given: write plan, answer, watch, codes or suspects");
    if (options->command != ANTAGONIST_SUSPECTS && require(options->folder, "a folder", error) < 0)
        return -1;
    if (options->command == ANTAGONIST_CODES)
        return require(options->shifts, "--shifts", error);
    if (options->command != ANTAGONIST_SUSPECTS && require(options->victim, "--victim", error) < 0)
        return -1;
    if ((options->victim && strlen(options->victim) > TEXT_MAX) ||
        (options->iteration && strlen(options->iteration) > TEXT_MAX))
        return ss_error_fail(
            error, "--victim and --iteration may have at most %d characters", TEXT_MAX);
    if (options->command == ANTAGONIST_WATCH)
        return 0;
    if (!options->suspects == !options->group)
        return ss_error_fail(error, "either --suspects or --suspects-of is required");
    if (options->names && !options->suspects)
        return ss_error_fail(error, "--names requires --suspects");
    return 0;
}

int antagonist_options_parse(
    struct antagonist_options *options, char **argv, struct ss_error *error) {
    *options = (struct antagonist_options){.command = ANTAGONIST_NONE, .usual = NAN};
    for (int i = 0; argv[0] && argv[1] && i < ANTAGONIST_NONE; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            options->command = (enum antagonist_command)i;
    }
    bool named = options->command != ANTAGONIST_NONE;
    if (ss_arguments_parse(commands[options->command].rows, options, &options->store, argv + named,
            NULL, error) < 0)
        return -1;
    return check(options, error);
}

struct watch_options antagonist_options_victim(const struct antagonist_options *options) {
    return (struct watch_options){
        .victim = options->victim,
        .iteration = options->iteration,
        .rate = options->rate,
        .lower = options->lower,
        .slots = options->slots,
        .slot = options->slot,
        .usual = options->usual,
    };
}
