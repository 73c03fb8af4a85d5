/* SPDX-License-Identifier: Apache-2.0 */

/* The commands `plan` and `answer` are in Python. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis.h"
#include "base/pattern.h"
#include "base/units.h"
#include "base/wallclock.h"
#include "codes.h"
#include "options/arguments.h"
#include "platform/platform.h"
#include "program.h"
#include "suspects.h"
#include "watch.h"

/* A study has up to one group of suspects per code, and up to CODES_SUSPECTS_MAX in a group. */
#define SUSPECTS_MAX (CODES_SUSPECTS_MAX * CODES_SUSPECTS_MAX)

/* The longest text that fits in a plan. */
#define TEXT_MAX 4000

struct request {
    struct ss_option_store store;
    char **words;       /* at most one, the folder of the results of a run */
    const char *folder; /* NULL if not given */
    const char *suspects, *group, *names, *victim_pids;
    const char *start_at, *shifts, *figure, *throttles;
    uint64_t rows, blocks;      /* rows and blocks of a slot */
    struct watch_options watch; /* also used by codes and suspects */
    double depth;
    int help, version;
};

#define AT(member)       .offset = offsetof(struct request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct request, member)

// clang-format off
#define VICTIM_ROWS                                                                                                    \
    {0, "WHAT", {"victim", SS_OPTION_TEXT, AT(watch.victim),                                                           \
        .help = "the service: a URL to send requests to; a log, with --iteration; or a command that prints figures, " \
                "and is run repeatedly"}},                                                                                 \
    {0, "REGEX", {"iteration", SS_OPTION_TEXT, AT(watch.iteration),                                                    \
        .help = "matches a line that ends an iteration; the first group, if any, is its time; without a group, lines are "     \
                "counted. Default, for a command: the last number of each line"}}
#define CODE_ROWS                                                                                                      \
    {0, "START:SHIFT,...", {"shifts", SS_OPTION_TEXT, AT(shifts),                                                      \
        .help = "where the sequence begins, and the shift of each suspect and of two ghosts"}},                        \
    {0, "N", {"rows", COUNT_AT(rows), .initial = "5", .min = "1", .max = "4096",                                       \
        .help = "rows of a slot"}},                                                                                    \
    {0, "N", {"blocks", COUNT_AT(blocks), .initial = "1", .min = "1", .max = "4096",                                   \
        .help = "in how many rows of a slot a throttled suspect is stopped, at the end of each"}}
#define SLOT_ROW                                                                                                       \
    {0, "TIME", {"slot", SS_OPTION_TIME, AT(watch.slot), .initial = "5s", .min = "1ms", .help = "length of a slot"}}
#define END_ROWS                                                                                                       \
    {'h', NULL, {"help", AT(help), .help = "print this help"}},                                                        \
    {0, NULL, {"version", AT(version), .help = "print the version"}},                                                  \
    SS_ARGUMENTS_WORDS_AT(struct request, words, 1)

static const struct ss_argument watch_rows[] = {
    VICTIM_ROWS,
    {0, "N", {"rate", SS_OPTION_NUMBER, AT(watch.rate), .initial = "20", .min = "0.001",
        .help = "requests per second to a URL"}},
    {0, NULL, {"lower-is-better", AT(watch.lower_is_better), .help = "smaller figures are better"}},
    {0, "mean|pN", {"figure", SS_OPTION_TEXT, AT(figure), .initial = "mean",
        .help = "the mean or a quantile, such as p99, of the response times of a URL"}},
    {0, "N", {"slots", COUNT_AT(watch.slots), .initial = "12", .min = "1", .max = "1000000",
        .help = "number of slots"}},
    SLOT_ROW,
    {0, "TIME", {"start-at", SS_OPTION_TEXT, AT(start_at),
        .help = "the first slot begins at this wall-clock time, as for showstopper; default: now"}},
    {0, "LOAD", {"settle", SS_OPTION_LOAD, AT(watch.settle), .initial = "20%", .max = "90%",
        .help = "skip this part at the beginning of each slot"}},
    CODE_ROWS,
    {0, "N", {"loss-blocks", COUNT_AT(watch.loss_blocks), .initial = "1", .min = "1",
        .help = "with --shifts, where each slot is a row of the codes: set a suspect aside, and record that in "
                "aside.csv, if the victim loses 30 % in each of this many successive blocks"}},
    {0, "PID,...", {"throttles", SS_OPTION_TEXT, AT(throttles),
        .help = "the processes that throttle the suspects; if a suspect is set aside, its process gets SIGTERM"},
        .needs = "shifts"},
    END_ROWS,
};
static const struct ss_argument codes_rows[] = {
    {0, "LOAD", {"depth", SS_OPTION_LOAD, AT(depth), .initial = "20%",
        .help = "the fraction of its running time that a throttled suspect loses"}},
    SLOT_ROW,
    {0, "N", {"slots", COUNT_AT(watch.slots), .initial = "126", .min = "63", .max = "126",
        .help = "126, or 63 without the inverted half"}},
    CODE_ROWS,
    END_ROWS,
};
static const struct ss_argument suspects_rows[] = {
    {0, "PID,...", {"suspects", SS_OPTION_TEXT, AT(suspects),
        .help = "processes that may slow the service down, each with its descendants"}, .excludes = "suspects-of"},
    {0, "GROUP", {"suspects-of", SS_OPTION_TEXT, AT(group),
        .help = "the processes of this control group, below /sys/fs/cgroup, and of its subgroups"}},
    {0, "NAME,...", {"names", SS_OPTION_TEXT, AT(names),
        .help = "names of the suspects of a study that has begun; --suspects then has PID@STARTED,..."},
        .may_be_empty = true, .needs = "suspects"},
    VICTIM_ROWS,
    {0, "PID,...", {"victim-pid", SS_OPTION_TEXT, AT(victim_pids),
        .help = "processes of the victim; neither they nor their relatives can be suspects; default: those that listen on the URL, or have the log open"}},
    END_ROWS,
};
static const struct ss_argument no_rows[] = {END_ROWS};
// clang-format on

static int find_suspects(
    const struct request *request, struct suspects *suspects, struct ss_error *error) {
    if (request->names)
        return suspects_add_known(suspects, request->suspects, request->names, error);

    int status = request->group ? suspects_add_group(suspects, request->group, error)
                                : suspects_add(suspects, request->suspects, error);
    return status == 0 ? 0 : ss_error_wrap(error, request->group ? "--suspects-of" : "--suspects");
}

/* Finds the victim's processes, as far as this user may examine them. */
static int find_victims(
    const struct request *request, struct suspects *victims, struct ss_error *error) {
    const struct watch_options *watch = &request->watch;

    if (request->victim_pids)
        return suspects_add(victims, request->victim_pids, error);

    switch (watch_kind(watch->victim, watch->iteration)) {
    case WATCH_URL:
        return suspects_add_listeners(victims, watch->victim, error);
    case WATCH_LOG:
        suspects_add_users(victims, watch->victim);
        break;
    case WATCH_COMMAND:
        break; /* not started yet, and it may query a service */
    }
    return 0;
}

static int check_suspects(
    const struct request *request, const struct suspects *suspects, struct ss_error *error) {
    struct suspects victims = {0};

    int status = find_victims(request, &victims, error);
    if (status == 0)
        status = suspects_check(suspects, &victims, error);
    /* A study calls `plan` after each run, but one warning before the first run is enough. */
    if (status == 0 && victims.count == 0 && !request->names)
        fputs("ssantagonist: warning: the processes of the victim are unknown, so suspects may be "
              "among them or related to them: name them with --victim-pid\n",
            stderr);

    suspects_free(&victims);
    return status;
}

static int choose_suspects(
    const struct request *request, struct suspects *suspects, struct ss_error *error) {
    if (find_suspects(request, suspects, error) < 0)
        return -1;
    if (suspects->count == 0 || suspects->count > SUSPECTS_MAX)
        return ss_error_fail(error, "%zu suspects: use 1 to %d", suspects->count, SUSPECTS_MAX);
    return request->watch.victim ? check_suspects(request, suspects, error) : 0;
}

static int list_suspects(struct request *request, struct ss_error *error) {
    struct suspects suspects = {0};
    if (!request->suspects && !request->group)
        return ss_error_fail(error, "either --suspects or --suspects-of is required");
    if (ss_platform_check_proc(error) < 0)
        return -1;

    int status = choose_suspects(request, &suspects, error);
    if (status == 0)
        suspects_print(&suspects, stdout);
    suspects_free(&suspects);
    return status;
}

/* Takes the codes of a run from --shifts, if given. */
static int take_codes(const struct request *request, struct codes *codes, struct ss_error *error) {
    codes->rows = request->rows;
    codes->blocks = request->blocks;
    if (request->shifts && codes_parse(codes, request->shifts, error) < 0)
        return -1;
    return codes_check_rows(codes, error);
}

/* Parses mean, or a quantile: p99, p99.9. */
static int take_figure(struct request *request, struct ss_error *error) {
    struct watch_options *watch = &request->watch;
    double percent;

    watch->quantile = NAN;
    if (strcmp(request->figure, "mean") == 0)
        return 0;

    if (*request->figure != 'p' || ss_units_number(request->figure + 1, &percent, error) < 0 ||
        percent <= 0 || percent >= 100)
        return ss_error_fail(error, "--figure: use mean, or a quantile such as p99");
    if (watch_kind(watch->victim, watch->iteration) != WATCH_URL)
        return ss_error_fail(error, "--figure: only the response times of a URL have quantiles");

    watch->quantile = percent / 100;
    return 0;
}

static int watch(struct request *request, struct ss_error *error) {
    struct watch_options *watch = &request->watch;
    int64_t now = ss_platform_wallclock();
    if (!request->folder || !watch->victim)
        return ss_error_fail(
            error, "%s is required: see --help", request->folder ? "--victim" : "a folder");

    if (take_figure(request, error) < 0 || take_codes(request, &watch->codes, error) < 0)
        return -1;

    watch->codes.slots = 2 * CODES_LENGTH;
    if (request->shifts && watch->slots > watch->codes.slots * watch->codes.rows)
        return ss_error_fail(error, "--slots: use at most %zu, the number of rows of the codes",
            watch->codes.slots * watch->codes.rows);

    watch->folder = request->folder;
    watch->start_at = now;
    if (request->start_at &&
        ss_wallclock_parse(request->start_at, now, &watch->start_at, error) < 0)
        return ss_error_wrap(error, "--start-at");

    if (request->throttles && suspects_add(&watch->throttles, request->throttles, error) < 0)
        return ss_error_wrap(error, "--throttles");

    int status = watch_victim(watch, error);
    suspects_free(&watch->throttles);
    return status;
}

static int write_codes(struct request *request, struct ss_error *error) {
    struct codes codes = {.slots = request->watch.slots};
    if (!request->folder || !request->shifts)
        return ss_error_fail(
            error, "%s is required: see --help", request->folder ? "--shifts" : "a folder");

    if (take_codes(request, &codes, error) < 0)
        return -1;
    if (codes.slots != CODES_LENGTH && codes.slots != 2 * CODES_LENGTH)
        return ss_error_fail(error, "--slots: use %d or %d", CODES_LENGTH, 2 * CODES_LENGTH);

    return codes_write(
        &codes, request->folder, ss_time_seconds(request->watch.slot), request->depth, error);
}

static const struct command {
    const char *name, *usage;
    const struct ss_argument *rows;
    int (*run)(struct request *request, struct ss_error *error); /* NULL if in Python */
} commands[] = {
    {"plan", "", NULL, NULL},
    {"answer", "", NULL, NULL},
    {"watch",
        "watch [OPTION]... FOLDER\n"
        "Measures the victim, and writes slots.csv: its figure in each slot.",
        watch_rows, watch},
    {"codes",
        "codes [OPTION]... FOLDER\n"
        "Writes the codes of a run: a load trace for each suspect, and codes.csv.",
        codes_rows, write_codes},
    {"suspects",
        "suspects [OPTION]...\n"
        "Prints the suspects as CSV: pid, started (which, with the pid, identifies the\n"
        "process) and name. With --victim, fails if one must not be throttled.",
        suspects_rows, list_suspects},
};

static const struct command no_command = {"",
    "plan|answer [OPTION]... STUDY\n"
    "       ssantagonist watch|codes [OPTION]... FOLDER\n"
    "       ssantagonist suspects [OPTION]...\n"
    "Finds which processes slow a service down, by throttling each by a code of its\n"
    "own. The experiment antagonist runs all steps. Each command has its own\n"
    "--help.",
    no_rows, NULL};

static int execute(const struct command *command, struct request *request, struct ss_error *error) {
    request->folder = *request->words;
    const struct watch_options *watch = &request->watch;

    if (!command->run)
        return ss_error_fail(error, "no command given: use plan, answer, watch, codes or suspects");

    if ((watch->victim && strlen(watch->victim) > TEXT_MAX) ||
        (watch->iteration && strlen(watch->iteration) > TEXT_MAX))
        return ss_error_fail(
            error, "--victim and --iteration may have at most %d characters", TEXT_MAX);
    if (watch->iteration && ss_pattern_check(watch->iteration, error) < 0)
        return ss_error_wrap(error, "--iteration");

    return command->run(request, error);
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct request request = {0};
    const struct command *command = &no_command;
    (void)status;

    for (size_t i = 0; argv[0] && argv[1] && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            command = &commands[i];
    }

    if (!command->rows)
        return analysis_execute("ssantagonist", argv + 1, error);

    int result = ss_arguments_parse(
        command->rows, &request, &request.store, argv + (command != &no_command), NULL, error);
    if (result == 0)
        ss_option_store_print_warnings(stderr, "ssantagonist", &request.store);
    if (result == 0 && request.help) {
        printf("Usage: ssantagonist %s\n\n", command->usage);
        ss_arguments_print_help(stdout, command->rows);
    } else if (result == 0 && request.version) {
        ss_program_print_version("ssantagonist");
    } else if (result == 0) {
        result = execute(command, &request, error);
    }

    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("ssantagonist", run, argc, argv);
}
