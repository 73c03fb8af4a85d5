/* SPDX-License-Identifier: Apache-2.0 */
#include "place_options.h"

#include "base/suggest.h"
#include "base/words.h"

#define AT(member) .offset = offsetof(struct ssplace_options, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(cpu_list), .help = "for `make` and `settings`: limit the place to these CPUs"}},
    {0, "CPUS", {"quota", SS_OPTION_NUMBER, AT(quota), .min = "0.01", .help = "for `make` and `settings`: limit the CPU time to this mean number of CPUs"}},
    {0, NULL, {"instance", AT(instance), .help = "for `enter`: leave signals to Showstopper"}},
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root), .help = "use /proc and /sys/fs/cgroup in DIR"}},
    SS_ARGUMENTS_HELP_AT(struct ssplace_options),
    SS_ARGUMENTS_WORDS_AT(struct ssplace_options, words, SIZE_MAX),
};
// clang-format on

static const struct verb {
    const char *name;
    size_t min, max; /* words after it */
    bool takes_command;
} verbs[] = {
    {"hold", 1, 1, true},
    {"join", 2, 2, false},
    {"enter", 1, 1, true},
    {"group", 1, 1, false},
    {"close", 1, SIZE_MAX, true},
    {"make", 1, 1, false},
    {"settings", 0, 0, false},
    {"why-not", 1, 1, false},
};

void ssplace_options_print_help(void) {
    printf("Usage: showstopper-place hold PLACE -- ENVIRONMENT [OPTION]...\n"
           "       showstopper-place join PLACE PID\n"
           "       showstopper-place enter PLACE [--instance] -- COMMAND [ARGUMENT]...\n"
           "       showstopper-place group PLACE\n"
           "       showstopper-place close PLACE... -- ENVIRONMENT\n"
           "       showstopper-place make PLACE [--cpus LIST] [--quota CPUS]\n"
           "       showstopper-place settings [--cpus LIST] [--quota CPUS]\n"
           "       showstopper-place why-not quota|cpus|memory\n"
           "The environments of the experiments call this program; their README has\n"
           "the contract.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static int check(struct ssplace_options *options, struct ss_error *error) {
    static const struct ss_suggest_names known = {"command", SS_SUGGEST_ROWS(verbs), NULL};

    options->verb = *options->words;
    if (!options->verb)
        return ss_error_fail(error, "no command given: see --help");

    options->word_count = ss_words_count(++options->words);
    int found = ss_suggest_find(&known, options->verb, error);
    if (found < 0)
        return -1;

    const struct verb *verb = &verbs[found];
    if (options->word_count < verb->min || options->word_count > verb->max)
        return ss_error_fail(error, "%s: %s: see --help", verb->name,
            options->word_count < verb->min ? "too few arguments" : "too many arguments");
    if (verb->takes_command != (options->command && *options->command))
        return ss_error_fail(error, "%s: %s", verb->name,
            verb->takes_command ? "a command must follow --" : "no command may follow --");

    return options->cpu_list ? ss_cpus_parse(options->cpu_list, &options->cpus, error) : 0;
}

static int choose_roots(struct ssplace_options *options, struct ss_error *error) {
    if (!options->root)
        return 0;
    if (strlen(options->root) > sizeof options->cgroup - sizeof "/sys/fs/cgroup")
        return ss_error_fail(error, "--root: the path is too long");

    snprintf(options->proc, sizeof options->proc, "%s/proc", options->root);
    snprintf(options->cgroup, sizeof options->cgroup, "%s/sys/fs/cgroup", options->root);
    options->roots.proc = options->proc;
    options->roots.cgroup = options->cgroup;
    return 0;
}

int ssplace_options_parse(struct ssplace_options *options, char **argv, struct ss_error *error) {
    *options = (struct ssplace_options){0};
    if (ss_arguments_parse(rows, options, &options->store, argv, &options->command, error) < 0 ||
        choose_roots(options, error) < 0)
        return -1;
    return options->help || options->version ? 0 : check(options, error);
}
