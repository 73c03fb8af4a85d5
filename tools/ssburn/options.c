/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
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

/* 4096, 32K, 8M, 1G: bytes. */
static int read_size(const char *text, uint64_t *bytes, struct ss_error *error) {
    static const char suffixes[] = "KMG";
    char number[24];
    size_t length = strlen(text);
    const char *suffix = length > 0 ? strchr(suffixes, text[length - 1]) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    length -= suffix != NULL;
    snprintf(number, sizeof number, "%.*s", (int)(length < 24 ? length : 23), text);
    struct ss_error ignored = {0};
    if (length >= sizeof number || ss_units_count(number, bytes, &ignored) < 0 ||
        *bytes > UINT64_MAX >> shift)
        return ss_error_fail(error,
            "'%s' is not a size: write a number of bytes, or one of K, M or G: 32K, 8M, 1G",
            ss_words_show(text).text);
    *bytes <<= shift;
    return 0;
}

static int count_between(
    const char *text, uint64_t min, uint64_t max, uint64_t *value, struct ss_error *error) {
    if (ss_units_count(text, value, error) < 0)
        return -1;
    if (*value < min || *value > max)
        return ss_error_fail(
            error, "%" PRIu64 " is not between %" PRIu64 " and %" PRIu64, *value, min, max);
    return 0;
}

static int set_threads(struct options *options, const char *value, struct ss_error *error) {
    return count_between(value, 1, THREADS_MAX, &options->threads, error);
}

static int set_iteration(struct options *options, const char *value, struct ss_error *error) {
    if (ss_units_time(value, &options->iteration, error) < 0)
        return -1;
    return options->iteration > 0 ? 0 : ss_error_fail(error, "must be more than 0");
}

static int set_work(struct options *options, const char *value, struct ss_error *error) {
    return count_between(value, 1, WORK_UNITS_MAX, &options->work, error);
}

static int set_iterations(struct options *options, const char *value, struct ss_error *error) {
    return count_between(value, 0, TALLY_ENDLESS - 1, &options->iterations, error);
}

static int set_memory(struct options *options, const char *value, struct ss_error *error) {
    if (read_size(value, &options->memory, error) < 0)
        return -1;
    return options->memory >= WORK_MEMORY_MIN
               ? 0
               : ss_error_fail(error, "must be %d bytes or more", WORK_MEMORY_MIN);
}

static int set_help(struct options *options, const char *value, struct ss_error *error) {
    (void)value, (void)error;
    options->wish = OPTIONS_HELP;
    return 0;
}

static int set_version(struct options *options, const char *value, struct ss_error *error) {
    (void)value, (void)error;
    options->wish = OPTIONS_VERSION;
    return 0;
}

static const struct row {
    const char *name;
    const char *value; /* what to call it in the help; NULL: takes none */
    int (*set)(struct options *options, const char *value, struct ss_error *error);
    const char *help;
} rows[] = {
    {"--threads", "N", set_threads, "threads, or children at work at a time (see the classes)"},
    {"--iteration", "TIME", set_iteration, "CPU time of the work of one iteration (100m)"},
    {"--work", "COUNT", set_work, "that work in units, as an earlier ssburn printed it"},
    {"--iterations", "N", set_iterations, "end after this many (endless); 0 only calibrates"},
    {"--memory", "SIZE", set_memory, "work by walking so many bytes: 32K, 8M, 1G"},
    {"--help", NULL, set_help, "print this and end"},
    {"--version", NULL, set_version, "print the version and end"},
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

void options_print_help(void) {
    printf("Usage: ssburn CLASS [OPTION]...\n"
           "Keeps CPUs busy and prints a line for each iteration.\n\nClasses:\n");
    for (size_t i = 0; i < CLASS_COUNT; i++)
        printf("  %-20s  %s\n", classes[i].name, classes[i].help);
    printf("\nOptions:\n");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char left[32];
        snprintf(left, sizeof left, "%s%s%s", rows[i].name, rows[i].value ? " " : "",
            rows[i].value ? rows[i].value : "");
        printf("  %-20s  %s\n", left, rows[i].help);
    }
}

static int take_class(struct options *options, const char *word, struct ss_error *error) {
    const char *names[CLASS_COUNT];
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        names[i] = classes[i].name;
        if (strcmp(word, names[i]) != 0)
            continue;
        if (options->class)
            return ss_error_fail(
                error, "%s: there is a class already: %s", word, options->class->name);
        options->class = &classes[i];
        return 0;
    }
    struct ss_nearest_names known = {"class", names, CLASS_COUNT, "see ssburn --help"};
    return ss_nearest_refuse(&known, word, error);
}

/* Takes one option and its value, which may be the next word; `words` stops at the last one taken.
 */
static int take_option(struct options *options, char ***words, struct ss_error *error) {
    char *word = **words;
    size_t length = strcspn(word, "=");
    const char *names[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i];
        names[i] = row->name + strlen("--");
        if (strlen(row->name) != length || strncmp(word, row->name, length) != 0)
            continue;
        const char *value = word[length] ? word + length + 1 : NULL;
        if (value && !row->value)
            return ss_error_fail(error, "%s: takes no value", row->name);
        if (row->value && !value && !(value = *++*words))
            return ss_error_fail(error, "%s: needs a value: %s", row->name, row->value);
        return row->set(options, value, error) < 0 ? ss_error_wrap(error, "%s", row->name) : 0;
    }
    word[length] = '\0';
    struct ss_nearest_names known = {"option", names, ROW_COUNT, "see ssburn --help"};
    return ss_nearest_refuse(&known, word, error);
}

/* How many CPUs we may use, which may be fewer than there are. */
static uint64_t cpus_usable(void) {
    struct ss_cpus cpus;
    ss_platform_affinity(&cpus);
    uint32_t count = ss_cpus_count(&cpus);
    return count > THREADS_MAX ? THREADS_MAX : count < 1 ? 1 : count;
}

static int complete(struct options *options, struct ss_error *error) {
    const struct burn_class *class = options->class;
    if (!class)
        return ss_error_fail(error, "no class: give one of serial, blocking, parallel, forking");
    if (options->threads > class->threads_max)
        return ss_error_fail(
            error, "--threads: %s has one thread; use parallel for more", class->name);
    if (options->threads == 0)
        options->threads = class->threads ? class->threads : cpus_usable();
    if (options->work && options->iteration)
        return ss_error_fail(
            error, "--work: excludes --iteration; both say how long an iteration is");
    if (options->iteration == 0)
        options->iteration = 100 * SS_MILLISECOND;
    return 0;
}

int options_parse(struct options *options, char **words, struct ss_error *error) {
    *options = (struct options){.iterations = TALLY_ENDLESS};
    for (; *words; words++) {
        int result = (*words)[0] == '-' ? take_option(options, &words, error)
                                        : take_class(options, *words, error);
        if (result < 0)
            return result;
        if (options->wish != OPTIONS_RUN)
            return 0;
    }
    return complete(options, error);
}
