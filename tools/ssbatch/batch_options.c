/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_options.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "base/words.h"

#define AT(member)       .offset = offsetof(struct ssbatch_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct ssbatch_options, member)

static int take_seed(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct ssbatch_options *options = config;
    (void)row;
    options->shuffles = 1;
    return ss_units_count(value, &options->seed, error);
}

/* Options that have an effect only if runs are carried out. */
#define CARRYING_OUT                                                                               \
    "only retries retry-disturbed quiet-below go-on shuffle ram ram-folder others joblog dry-run"

// clang-format off
static const struct ss_argument rows[] = {
    {0, "NAMES", {"only", SS_OPTION_TEXT, AT(only),
        .help = "carry out these runs, separated by commas, of the plan that STUDY keeps"},
        .heading = "Which runs"},
    {0, "NAMES", {"redo", SS_OPTION_TEXT, AT(redo),
        .help = "carry out these runs again, even if they are done or the plan has changed them"}},
    {0, "N", {"retries", COUNT_AT(retries), .initial = "0", .max = "1000",
        .help = "repeat a failed run up to N times"}},
    {0, NULL, {"retry-disturbed", AT(retries_disturbed),
        .help = "also repeat a run, up to --retries times (at least once), in which other processes "
                "used more than --others"}, .needs = "others quiet-below"},
    {0, "PERCENT", {"quiet-below", SS_OPTION_PERCENT, AT(quiet_below), .min = "0.1", .max = "100",
        .help = "before each attempt, wait until other processes use at most this much of the machine; "
                "implies --retry-disturbed and, unless given, --others with the same value"}},
    {0, NULL, {"go-on", AT(go_on), .help = "continue with the next run after one has failed"}},
    {0, "SEED", {"shuffle", SS_OPTION_COUNT, .help = "shuffle the runs; if they have a column `round`, only within each round"}, .take = take_seed},
    {0, NULL, {"dry-run", AT(dry_run),
        .help = "print the runs, their times and which programs are missing"}},

    {0, NULL, {"ram", AT(in_memory),
        .help = "let runs write to memory (/dev/shm), and copy their files to STUDY afterwards"},
        .heading = "How"},
    {0, "DIR", {"ram-folder", SS_OPTION_TEXT, AT(memory), .help = "like --ram, but write to this folder instead of /dev/shm"}},
    {0, "PERCENT", {"others", SS_OPTION_PERCENT, AT(others), .max = "100",
        .help = "warn about runs in which other processes used more of the machine than this"}},
    {0, "FILE", {"joblog", SS_OPTION_TEXT, AT(joblog),
        .help = "append a line for each attempt, with the columns of GNU parallel"}},
    {0, "USER", {"trust-owner", SS_OPTION_TEXT, AT(trust_owner),
        .help = "also carry out what belongs to USER in STUDY, or what USER allows others to change"},
        .excludes = "list dry-run"},
    {'q', NULL, {"quiet", AT(quiet), .help = "do not show progress"}},

    {0, NULL, {"list", AT(list), .help = "list the runs: done, failed, skipped and still to come"},
        .excludes = CARRYING_OUT " redo add clean", .heading = "Instead of carrying out runs"},
    {0, NULL, {"csv", AT(csv), .help = "print the list as CSV, with the columns of the plan"},
        .needs = "list", .excludes = "json"},
    {0, NULL, {"json", AT(json), .help = "print the list as JSON, with the columns of the plan"},
        .needs = "list"},
    {0, NULL, {"add", AT(add), .help = "add the runs of PLAN to STUDY without carrying them out"},
        .excludes = CARRYING_OUT " clean"},
    {0, NULL, {"clean", AT(clean),
        .help = "undo what killed calls on this host left behind"},
        .excludes = CARRYING_OUT " redo"},
    SS_ARGUMENTS_HELP_AT(struct ssbatch_options),
    SS_ARGUMENTS_WORDS_AT(struct ssbatch_options, words, 2),
};
// clang-format on

void ssbatch_options_print_help(void) {
    printf("Usage: ssbatch [OPTION]... STUDY [PLAN]\n"
           "       ssbatch --list|--clean [OPTION]... STUDY\n"
           "Carries out the runs of PLAN (default: standard input) that are not done.\n"
           "STUDY is the folder of their results.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\n"
           "ssbatch(1) describes the folder, showstopper-plan(5) the plan.\n"
           "The status is 0 if all runs are done, 1 if some failed or were refused, or 125\n"
           "if something else failed.\n");
}

/* Refuses options that have moved to sslab. */
static int refuse_moved(char *const *words, struct ss_error *error) {
    static const struct {
        const char *option, *command;
    } moved[] = {
        {"--list-workloads", "line"},
        {"--workload", "line"},
        {"--check-workloads", "line"},
        {"--represent", "line"},
        {"--pairs", "pairs"},
        {"--background", "pairs"},
        {"--value", "value"},
    };

    for (; *words && strcmp(*words, "--") != 0; words++) {
        size_t length = strcspn(*words, "=");
        for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
            if (strlen(moved[i].option) == length && strncmp(*words, moved[i].option, length) == 0)
                return ss_error_fail(error,
                    "%s: ssbatch carries out plans; use sslab %s to print them", moved[i].option,
                    moved[i].command);
        }
    }
    return 0;
}

static int check(const struct ssbatch_options *options, struct ss_error *error) {
    if (!options->study || !*options->study)
        return ss_error_fail(error, "no study given: name the folder for its results; see --help");
    if (options->plan && (options->list || options->clean || options->only))
        return ss_error_fail(error,
            "unexpected argument '%s': this call uses the plan of the study",
            ss_words_show(options->plan).text);

    if (options->memory && *options->memory != '/')
        return ss_error_fail(error, "--ram-folder: '%s' is relative: use an absolute path",
            ss_words_show(options->memory).text);
    if (options->memory && strpbrk(options->memory, "%{"))
        return ss_error_fail(error,
            "--ram-folder: %s: commands would treat %% or { as a placeholder: use another folder",
            ss_words_show(options->memory).text);
    if (options->memory && access(options->memory, W_OK | X_OK) < 0)
        return ss_error_fail(
            error, "--ram-folder: %s: %s", ss_words_show(options->memory).text, strerror(errno));
    return 0;
}

int ssbatch_options_parse(struct ssbatch_options *options, char **argv, struct ss_error *error) {
    *options = (struct ssbatch_options){.others = NAN, .quiet_below = NAN};

    if (refuse_moved(argv + 1, error) < 0)
        return -1;
    if (ss_arguments_parse(rows, options, &options->store, argv, NULL, error) < 0)
        return -1;

    options->study = options->words[0];
    options->plan = options->study ? options->words[1] : NULL;
    if (!options->help && !options->version && check(options, error) < 0)
        return -1;

    if (options->in_memory && !options->memory)
        options->memory = "/dev/shm";
    if (isnan(options->quiet_below))
        return 0;
    options->retries_disturbed = true;
    if (isnan(options->others))
        options->others = options->quiet_below;
    return 0;
}
