/* SPDX-License-Identifier: Apache-2.0 */
#include "burn_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "platform/platform.h"

#define THREADS_MAX 4096

static const struct burn_class classes[] = {
    {"serial", burn_serial, 1, 1, "one thread"},
    {"blocking", burn_blocking, 8, THREADS_MAX,
        "threads that pass work on and wait for each other (8)"},
    {"parallel", burn_parallel, 0, THREADS_MAX,
        "threads that keep all CPUs busy (one for each CPU)"},
    {"forking", burn_forking, 1, THREADS_MAX,
        "a tree of short-lived children (1 at work at a time)"},
};

#define CLASS_COUNT (sizeof classes / sizeof *classes)

int options_take_size(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    static const char suffixes[] = "KMG";
    size_t length = strlen(text);
    const char *suffix = length > 0 ? strchr(suffixes, text[length - 1]) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    struct ss_error ignored = {0};
    char number[24];
    uint64_t bytes;

    length -= suffix != NULL;
    snprintf(number, sizeof number, "%.*s", (int)(length < 24 ? length : 23), text);
    if (length >= sizeof number || ss_units_count(number, &bytes, &ignored) < 0 ||
        bytes > UINT64_MAX >> shift)
        return ss_error_fail(error,
            "'%s' is not a size: use a number of bytes, or a size such as 32K, 8M or 1G",
            ss_words_show(text).text);
    snprintf(number, sizeof number, "%" PRIu64, bytes << shift);
    return ss_option_set(&row->option, number, config, NULL, error);
}

static int take_class(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    static const struct ss_suggest_names known = {"class", SS_SUGGEST_ROWS(classes), "see --help"};
    struct options *options = config;
    int found = ss_suggest_find(&known, word, error);
    (void)row;

    if (found >= 0 && options->class)
        return ss_error_fail(error, "unexpected argument '%s': class %s was already given", word,
            options->class->name);
    if (found >= 0)
        options->class = &classes[found];
    return found < 0 ? -1 : 0;
}

/* The bounds in the rows repeat THREADS_MAX, WORK_UNITS_MAX and WORK_MEMORY_MIN as text. */
#define AT(member)       .offset = offsetof(struct options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct options, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "N", {"threads", COUNT_AT(threads), .min = "1", .max = "4096",
        .help = "number of threads, or of children at work at a time; default: see the classes"}},
    {0, "TIME", {"iteration", SS_OPTION_TIME, AT(iteration), .initial = "100ms", .min = "1ns",
        .help = "CPU time of an iteration"}},
    {0, "COUNT", {"work", COUNT_AT(work), .min = "1", .max = "4611686018427387904",
        .help = "the work of an iteration in units, as printed by an earlier run"}, .excludes = "iteration"},
    {0, "N", {"iterations", COUNT_AT(iterations),
        .help = "exit after this many iterations; 0 only calibrates; default: never exit"}},
    {0, "SIZE", {"memory", COUNT_AT(memory), .min = "128",
        .help = "do the work by walking through this many bytes, such as 32K, 8M or 1G"}, .take = options_take_size},
    SS_ARGUMENTS_HELP_AT(struct options),
    SS_ARGUMENTS_WORDS(take_class),
};
// clang-format on

void options_print_help(void) {
    printf("Usage: ssburn CLASS [OPTION]...\n"
           "       ssburn kernel NAME|--list [OPTION]...\n"
           "       ssburn serve [OPTION]...\n"
           "Keeps CPUs busy and prints a line for each iteration. ssburn kernel prints the\n"
           "rate of one microbenchmark: see ssburn kernel --help. ssburn serve is an HTTP\n"
           "server: see ssburn serve --help.\n\nClasses:\n");
    for (size_t i = 0; i < CLASS_COUNT; i++)
        printf("  %-22s  %s\n", classes[i].name, classes[i].help);
    printf("\nOptions:\n");
    ss_arguments_print_help(stdout, rows);
}

/* Returns how many CPUs this process may use, which may be fewer than the machine has. */
static uint64_t cpus_usable(void) {
    struct ss_cpus cpus;
    ss_platform_affinity(&cpus);
    uint32_t count = ss_cpus_count(&cpus);
    if (count < 1)
        return 1;
    return count > THREADS_MAX ? THREADS_MAX : count;
}

static int complete(struct options *options, struct ss_error *error) {
    const struct burn_class *class = options->class;
    if (!class)
        return ss_error_fail(
            error, "no class given: use serial, blocking, parallel, forking, kernel or serve");

    if (options->threads > class->threads_max)
        return ss_error_fail(
            error, "--threads: %s has one thread: use parallel for more", class->name);

    if (options->threads == 0)
        options->threads = class->threads ? class->threads : cpus_usable();
    return 0;
}

int options_parse(struct options *options, char **argv, struct ss_error *error) {
    *options = (struct options){.iterations = TALLY_ENDLESS};
    if (ss_arguments_parse(rows, options, NULL, argv, NULL, error) < 0)
        return -1;
    return options->help || options->version ? 0 : complete(options, error);
}
