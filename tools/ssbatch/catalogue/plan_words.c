/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "catalogue.h"
#include "options/arguments.h"
#include "pair_order.h"
#include "workload.h"

#define INSTANCES_MAX "1000000"

enum part {
    PART_WORDS,
    PART_SETUP,
    PART_ONCE,
    PART_WARMUP,
    PART_MEMORY,
    PART_NOTE,
    PART_MISSING,
    PART_PUBLISHED,
};

struct request {
    int list;
    const char *workload, *role, *memory;
    int part, anyway;
    uint64_t instances;
    const char *pairs, *workloads, *background, *places;
    uint64_t rounds;
    const char **files; /* owned */
    size_t file_count, file_room;
    struct ss_option_store store;
};

static int add_file(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (!SS_GROW(request->files, request->file_count + 1, request->file_room))
        return ss_error_memory(error);
    request->files[request->file_count++] = value;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, NULL, {"list-workloads", AT(list),
        .help = "list the workloads of the catalogue, and what each lacks on this machine"},
        .heading = "Workloads of the catalogue, as words of a plan:"},
    {0, "NAME", {"workload", SS_OPTION_TEXT, AT(workload),
        .help = "print how iterations of this workload are counted, --, and its command: what "
                "follows the options of showstopper in a plan"}},
    {0, "ROLE", {"role", SS_OPTION_TEXT, AT(role),
        .help = "the text for {side}; default: alone"}},
    {0, "SIZE", {"memory", SS_OPTION_TEXT, AT(memory),
        .help = "the text for {memory}; default: the workload's"}},
    {0, "PART", {"print", SS_OPTION_CHOICE, AT(part), .initial = "words",
        .choices = "words setup once warmup memory note missing published",
        .help = "setup: lines that make the folders of instances; once: the line that calibrates "
                "the work, if the command has {work}; warmup, memory, note, published: the value; "
                "missing: what this machine lacks for the workload"}},
    {0, "N", {"instances", SS_OPTION_COUNT, AT(instances), .initial = "1", .min = "1",
        .max = INSTANCES_MAX, .help = "the number of folders that setup makes"}},
    {0, NULL, {"even-if-missing", AT(anyway),
        .help = "print a workload even if this machine lacks a program for it, with a warning"}},
    {0, "FILE", {"catalogue", .help = "search this file first; may be given several times"},
        .take = add_file},
    {0, "FORM", {"pairs", SS_OPTION_TEXT, AT(pairs),
        .help = "print lines FRONT BACK PLACE ROUND in a balanced order, of all, symmetric, or a "
                "list such as h2:xz,xz:h2"},
        .heading = "Pairs of workloads:"},
    {0, "LIST", {"workloads", SS_OPTION_TEXT, AT(workloads),
        .help = "the names to pair"}},
    {0, "LIST", {"background", SS_OPTION_TEXT, AT(background),
        .help = "pair each of --workloads with each of these, instead of --pairs"}},
    {0, "LIST", {"places", SS_OPTION_TEXT, AT(places), .help = "where each pair runs"}},
    {0, "N", {"rounds", SS_OPTION_COUNT, AT(rounds), .initial = "1", .min = "1",
        .max = INSTANCES_MAX, .help = "how often each pair runs in each place"}},
    SS_ARGUMENTS_END,
};
// clang-format on

void ssbatch_plan_words_print_help(FILE *stream) {
    ss_arguments_print_help(stream, rows);
}

bool ssbatch_plan_words_requested(char *const *words) {
    static const char *const names[] = {
        "--list-workloads", "--workload", "--pairs", "--background"};
    for (; *words && strcmp(*words, "--") != 0; words++) {
        size_t length = strcspn(*words, "=");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strlen(names[i]) == length && strncmp(*words, names[i], length) == 0)
                return true;
        }
    }
    return false;
}

/* ---- workloads ---- */

static int read_catalogue(
    const struct request *request, struct ssbatch_catalogue *catalogue, struct ss_error *error) {
    for (size_t i = 0; i < request->file_count; i++) {
        if (ssbatch_catalogue_read(catalogue, request->files[i], error) < 0)
            return ss_error_wrap(error, "--catalogue");
    }
    return ssbatch_catalogue_read_default(catalogue, error);
}

/* Refuses a workload that cannot run here, or only warns about it. */
static int check_missing(const struct request *request, const struct ssbatch_workload *workload,
    struct ss_error *error) {
    SS_OWNED(free) char *lacks = NULL;
    size_t size;
    FILE *text = open_memstream(&lacks, &size);
    if (!text)
        return ss_error_memory(error);
    bool missing = ssbatch_workload_print_missing(text, workload);
    if (fclose(text) != 0)
        return ss_error_memory(error);
    if (missing && !request->anyway)
        return ss_error_fail(error, "%s cannot be run here: %s", workload->name, lacks);
    if (missing)
        fprintf(stderr, "ssbatch: warning: %s cannot be run here: %s\n", workload->name, lacks);
    return 0;
}

static int print_words(FILE *stream, const struct request *request,
    const struct ssbatch_workload *workload, struct ss_error *error) {
    const struct ssbatch_use use = {.role = request->role, .memory = request->memory};
    const char *unfit = ssbatch_workload_unfit(workload);
    if (check_missing(request, workload, error) < 0)
        return -1;
    if (unfit)
        fprintf(stderr, "ssbatch: warning: %s is unfit: %s\n", workload->name, unfit);
    return ssbatch_workload_print(stream, workload, &use, error);
}

/* Prints a value as a line, which is empty if the value is absent. */
static void print_value(FILE *stream, const char *value) {
    fprintf(stream, "%s\n", value ? value : "");
}

static int print_workload(FILE *stream, const struct request *request,
    const struct ssbatch_workload *workload, struct ss_error *error) {
    const struct ssbatch_use use = {.role = request->role, .memory = request->memory};
    switch ((enum part)request->part) {
    case PART_SETUP:
        return ssbatch_workload_print_setup(
            stream, workload, &use, (uint32_t)request->instances, error);
    case PART_ONCE:
        ssbatch_workload_print_once(stream, workload, &use);
        return 0;
    case PART_WARMUP:
        print_value(stream, workload->values[SSBATCH_WARMUP]);
        return 0;
    case PART_MEMORY:
        print_value(stream, use.memory ? use.memory : workload->values[SSBATCH_MEMORY]);
        return 0;
    case PART_NOTE:
        print_value(stream, workload->values[SSBATCH_NOTE]);
        return 0;
    case PART_PUBLISHED:
        print_value(stream, workload->values[SSBATCH_PUBLISHED]);
        return 0;
    case PART_MISSING:
        ssbatch_workload_print_missing(stream, workload);
        fputc('\n', stream);
        return 0;
    case PART_WORDS:
        break;
    }
    return print_words(stream, request, workload, error);
}

/* Checks values that become parts of words and of the name of a folder. */
static int check_use(const struct request *request, struct ss_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *role = request->role;
    if (role && (!*role || role[strspn(role, plain)]))
        return ss_error_fail(error, "--role: '%s' is not a role: use letters, digits, _ and -",
            ss_words_show(role).text);
    if (request->memory &&
        ssbatch_catalogue_check_value(SSBATCH_MEMORY, request->memory, error) < 0)
        return ss_error_wrap(error, "--memory");
    return 0;
}

static int print_from_catalogue(
    FILE *stream, const struct request *request, struct ss_error *error) {
    struct ssbatch_catalogue catalogue = {0};
    int status = read_catalogue(request, &catalogue, error);
    if (status == 0 && request->list) {
        ssbatch_catalogue_list(stream, &catalogue);
    } else if (status == 0) {
        const struct ssbatch_workload *workload =
            ssbatch_catalogue_find(&catalogue, request->workload, error);
        status = workload ? print_workload(stream, request, workload, error) : -1;
    }
    ssbatch_catalogue_free(&catalogue);
    return status;
}

/* ---- pairs ---- */

static int print_pair_lists(
    FILE *stream, const struct request *request, char **lists[3], struct ss_error *error) {
    struct ssbatch_pairs pairs = {0};
    SS_OWNED(free) char *form = request->pairs ? strdup(request->pairs) : NULL;
    if (request->pairs && !form)
        return ss_error_memory(error);
    int status = ssbatch_pairs_add(&pairs, form, lists[0], lists[1], error);
    if (status == 0)
        status = ssbatch_pairs_print(stream, &pairs, lists[2], request->rounds, error);
    ssbatch_pairs_free(&pairs);
    return status;
}

static int print_pairs(FILE *stream, const struct request *request, struct ss_error *error) {
    const char *texts[3] = {request->workloads, request->background, request->places};
    char *none[] = {NULL};
    char **lists[3] = {none, none, none}, **owned[3] = {NULL};
    int status = 0;
    for (int i = 0; status == 0 && i < 3; i++) {
        if (texts[i] && !(lists[i] = owned[i] = ss_words_split_list(texts[i], NULL, error)))
            status = -1;
    }
    if (status == 0)
        status = print_pair_lists(stream, request, lists, error);
    for (int i = 0; i < 3; i++)
        free(owned[i]);
    return status;
}

static int check_pairs(const struct request *request, struct ss_error *error) {
    bool is_list = request->pairs && strchr(request->pairs, ':');
    if (request->pairs && request->background)
        return ss_error_fail(error, "--pairs takes the place of --background: remove one of them");
    if (!is_list && !request->workloads)
        return ss_error_fail(error, "the pairs have no names: add --workloads A,B,C");
    if (is_list && request->workloads)
        return ss_error_fail(error, "--pairs names all pairs: remove --workloads");
    if (!request->places)
        return ss_error_fail(error, "the pairs have no place: add --places NAME,...");
    return 0;
}

/* ---- the command line ---- */

static int print_requested(FILE *stream, const struct request *request, struct ss_error *error) {
    bool pairs = request->pairs || request->background;
    if ((request->list != 0) + (request->workload != NULL) + pairs != 1)
        return ss_error_fail(
            error, "give exactly one of --list-workloads, --workload and --pairs: see --help");
    if (!pairs)
        return check_use(request, error) < 0 ? -1 : print_from_catalogue(stream, request, error);
    return check_pairs(request, error) < 0 ? -1 : print_pairs(stream, request, error);
}

int ssbatch_plan_words_print(FILE *stream, char **argv, struct ss_error *error) {
    struct request request = {0};
    int status = ss_arguments_parse(rows, &request, &request.store, argv, NULL, error);
    if (status == 0)
        status = print_requested(stream, &request, error);
    ss_option_store_free(&request.store);
    free(request.files);
    return status;
}
