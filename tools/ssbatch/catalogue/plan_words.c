/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_words.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/state.h"
#include "base/units.h"
#include "base/walk.h"
#include "base/words.h"
#include "catalogue.h"
#include "option_value.h"
#include "options/arguments.h"
#include "pair_order.h"
#include "planned_run.h"
#include "text_stream.h"
#include "workload.h"
#include "workload_checks.h"

#define INSTANCES_MAX "1000000"

enum part {
    PART_WORDS,
    PART_SETUP,
    PART_ONCE,
    PART_DEFINITION,
};

struct request {
    int list;
    const char *workload, *role, *memory;
    int part, anyway;
    uint64_t instances;
    struct ssbatch_definition defined;
    int is_repeated;
    const char *check, *warmup, *represent, *stand_ins;
    int counted;
    const char *method;
    const char *one;
    struct ssbatch_control control;
    struct ssbatch_planned_run run;
    int counters;
    const char *pairs, *workloads, *background, *places;
    uint64_t rounds;
    const char *type, *option, *program;
    const char **files; /* owned */
    size_t file_count, file_room;
    char **rest; /* words that are not options */
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

#define AT(member)       .offset = offsetof(struct request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, NULL, {"list-workloads", AT(list),
        .help = "list the workloads of the catalogue, and what each lacks on this machine"},
        .heading = "Workloads of the catalogue, as words of a plan:"},
    {0, "NAME", {"workload", SS_OPTION_TEXT, AT(workload),
        .help = "print the words that follow the options of showstopper in a plan: the options "
                "that count iterations of this workload, --, and its command"}},
    {0, "ROLE", {"role", SS_OPTION_TEXT, AT(role),
        .help = "the text for {side}; default: alone"}},
    {0, "SIZE", {"memory", SS_OPTION_TEXT, AT(memory),
        .help = "the text for {memory}; default: the workload's"}},
    {0, "PART", {"print", SS_OPTION_CHOICE, AT(part), .initial = "words",
        .choices = "words setup once definition",
        .help = "setup: lines that make the folders of instances; once: the line that calibrates "
                "the work, if the command has {work}; definition: what its runs have in common"}},
    {0, "N", {"instances", COUNT_AT(instances), .initial = "1", .min = "1",
        .max = INSTANCES_MAX,
        .help = "the number of folders that setup makes, or of instances of a run"}},
    {0, NULL, {"even-if-missing", AT(anyway),
        .help = "print a workload even if this machine lacks a program for it, with a warning"}},
    {0, "FILE", {"catalogue", .help = "search this file first; may be given several times"},
        .take = add_file},
    {0, "NAME", {"define", SS_OPTION_TEXT, AT(defined.name),
        .help = "add a workload of this name, with the words of --command"}, .needs = "command"},
    {0, "WORDS", {"command", SS_OPTION_TEXT, AT(defined.command),
        .help = "quoted words; {scratch} and so on are replaced, variables are not"},
        .needs = "define"},
    {0, "REGEX", {"iteration", SS_OPTION_TEXT, AT(defined.iteration),
        .help = "the expression that counts its iterations"}},
    {0, NULL, {"repeat", AT(is_repeated), .help = "restart its command when it ends; implied without --iteration"}},
    {0, "LIST", {"check-workloads", SS_OPTION_TEXT, AT(check),
        .help = "fail unless these workloads are known and can run here; print those whose "
                "iterations are counted"}},
    {0, "SECONDS", {"warmup", SS_OPTION_TEXT, AT(warmup),
        .help = "warn of workloads that take longer to warm up"}},
    {0, NULL, {"counted", AT(counted), .help = "warn of workloads whose iterations are not counted"}},
    {0, "LIST", {"represent", SS_OPTION_TEXT, AT(represent),
        .help = "print the workloads of this list that can run here, and the stand-ins of the "
                "others"}},
    {0, "LIST", {"stand-ins", SS_OPTION_TEXT, AT(stand_ins),
        .help = "workloads whose key `published` names what they represent"}},

    {0, "NAME", {"method", SS_OPTION_TEXT, AT(method),
        .help = "print the line of showstopper in which this method holds the load of --workload; "
                "KEY=VALUE..., -- and options of showstopper follow"},
        .heading = "A workload under a method, as lines of a plan:"},
    {0, "NAME", {"run", SS_OPTION_TEXT, AT(run.name),
        .help = "print a whole run of this name; in it, in columns and in options {instances}, "
                "{stands_for} and {target} are replaced"}, .needs = "takes"},
    {0, "TIME", {"takes", SS_OPTION_TEXT, AT(run.takes), .help = "how long the run takes"}},
    {0, "N", {"round", SS_OPTION_TEXT, AT(run.round), .help = "the column `round`"}},
    {0, "LINES", {"lines", SS_OPTION_TEXT, AT(run.lines),
        .help = "further lines of the run, before that of showstopper"}, .may_be_empty = true},
    {0, "LOAD", {"target", SS_OPTION_LOAD, AT(control.target), .initial = "1",
        .help = "the load that the instances represent, or are limited to"}},
    {0, "TIME", {"tau", SS_OPTION_TEXT, AT(control.tau),
        .help = "the mean length of a round, for a method that has one"}},
    {0, "N", {"machine-cpus", COUNT_AT(control.cpus), .initial = "1", .min = "1",
        .max = INSTANCES_MAX, .help = "number of CPUs that are a load of 100 %"}},
    {0, "LOAD", {"one", SS_OPTION_TEXT, AT(one),
        .help = "the load of one instance, for nbench-fit, or the folder of a study that found "
                "it as its value `one`; known for serial and parallel, which use one CPU and all"}},
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(run.pinned), .help = "run on these CPUs"}},
    {0, "WORDS", {"feedback", SS_OPTION_TEXT, AT(control.feedback),
        .help = "options in place of the feedback of the method"}},
    {0, "OPTIONS", {"cdc-dithering", SS_OPTION_TEXT, AT(control.cdc),
        .help = "further options of the dithering of cdc, 1cdc and independent"}},
    {0, "OPTIONS", {"pi-control", SS_OPTION_TEXT, AT(control.pi),
        .help = "options of the control of pi-even and pi-uneven"}},
    {0, "OPTIONS", {"geom-control", SS_OPTION_TEXT, AT(control.geom),
        .help = "options of the control of geom-even and geom-uneven"}},
    {0, "OPTIONS", {"realtime-feedback", SS_OPTION_TEXT, AT(control.realtime),
        .help = "options of the feedback of all methods but default"}},
    {0, "WORDS", {"around", SS_OPTION_TEXT, AT(run.around),
        .help = "quoted words before showstopper"}},
    {0, "WORDS", {"entering", SS_OPTION_TEXT, AT(run.entering),
        .help = "quoted words before the command"}},
    {0, "DIR", {"tools", SS_OPTION_TEXT, AT(run.tools), .initial = ".",
        .help = "the folder with env/group, for the method quota"}},
    {0, NULL, {"counters", AT(counters), .help = "let showstopper record counters"}},

    {0, "FORM", {"pairs", SS_OPTION_TEXT, AT(pairs),
        .help = "print the pairs in a balanced order, as lines FRONT BACK PLACE ROUND: all, "
                "symmetric, or a list such as h2:xz,xz:h2"},
        .heading = "Pairs of workloads:"},
    {0, "LIST", {"workloads", SS_OPTION_TEXT, AT(workloads),
        .help = "the names to pair"}},
    {0, "LIST", {"background", SS_OPTION_TEXT, AT(background),
        .help = "pair each of --workloads with each of these, instead of --pairs"},
        .excludes = "pairs"},
    {0, "LIST", {"places", SS_OPTION_TEXT, AT(places), .help = "where each pair runs"}},
    {0, "N", {"rounds", COUNT_AT(rounds), .initial = "1", .min = "1",
        .max = INSTANCES_MAX, .help = "how often each pair runs in each place"}},

    {0, "TYPE", {"value", SS_OPTION_TEXT, AT(type),
        .help = "print the following value in the form of plans: a time (in seconds), a length (above "
                "0), a duration (above 0, seldom minutes), a round (its length), rounds, a load (in percent), "
                "loads, a count, a whole number, a percent, cpus (how many), sets A/B (both, and "
                "how many CPUs each has), stairs HIGH:LOW:STEP (and the number of steps), a span (a time "
                "for people)"},
        .heading = "Values of a script's options:"},
    {0, "NAME", {"option", SS_OPTION_TEXT, AT(option), .initial = "workloads",
        .help = "the name of the option, for messages"}},
    {0, "NAME", {"program", SS_OPTION_TEXT, AT(program), .initial = "ssbatch",
        .help = "the name of the script, for messages"}},
    SS_ARGUMENTS_END,
};
// clang-format on

void ssbatch_plan_words_print_help(FILE *stream) {
    ss_arguments_print_help(stream, rows);
}

bool ssbatch_plan_words_requested(char *const *words) {
    static const char *const names[] = {"--list-workloads", "--workload", "--check-workloads",
        "--represent", "--pairs", "--background", "--value"};
    for (; *words && strcmp(*words, "--") != 0; words++) {
        size_t length = strcspn(*words, "=");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strlen(names[i]) == length && strncmp(*words, names[i], length) == 0)
                return true;
        }
    }
    return false;
}

static int read_catalogue(
    const struct request *request, struct ssbatch_catalogue *catalogue, struct ss_error *error) {
    if (request->defined.name && ssbatch_catalogue_define(catalogue, &request->defined, error) < 0)
        return -1;
    for (size_t i = 0; i < request->file_count; i++) {
        if (ssbatch_catalogue_read(catalogue, request->files[i], error) < 0)
            return ss_error_wrap(error, "--catalogue");
    }
    return ssbatch_catalogue_read_default(catalogue, error);
}

static int print_workload(FILE *stream, const struct request *request,
    const struct ssbatch_workload *workload, struct ss_error *error) {
    const struct ssbatch_use use = {.role = request->role, .memory = request->memory};
    const char *unfit = ssbatch_workload_unfit(workload);
    switch ((enum part)request->part) {
    case PART_SETUP:
        return ssbatch_workload_print_setup(
            stream, workload, &use, (uint32_t)request->instances, error);
    case PART_ONCE:
        ssbatch_workload_print_once(stream, workload, &use);
        return 0;
    case PART_DEFINITION:
        return ssbatch_workload_print_definition(stream, workload, &use, error);
    case PART_WORDS:
        break;
    }
    if (ssbatch_workload_check(workload, "ssbatch: warning: ", request->anyway, error) < 0)
        return -1;
    if (unfit)
        fprintf(stderr, "ssbatch: warning: %s is unfit: %s\n", workload->name, unfit);
    return ssbatch_workload_print(stream, workload, &use, "", error);
}

/* Opens the values of a study. Returns NULL, with the error set unless it has none. */
static FILE *open_values(const char *study, struct ss_error *error) {
    static const struct ss_trust nobody_else;
    SS_OWNED(free) char *path = ss_words_format(error, "%s/.study", study);
    SS_OWNED(free) char *values = ss_words_format(error, "%s/.study/values", study);
    if (!path || !values)
        return NULL;
    SS_OWNED(close) int folder = ss_walk_folder_path(study, O_RDONLY, NULL);
    SS_OWNED(close)
    int state =
        folder < 0 ? -1 : ss_state_folder(folder, ".study", &nobody_else, false, path, error);
    return state < 0 ? NULL : ss_state_read(state, "values", &nobody_else, values, error);
}

/* Sets the value `one` found by a study, which decides how many instances a plan has, or NaN. */
static int read_found(const char *study, double *found, struct ss_error *error) {
    struct ss_error refusal = {0};
    SS_OWNED(free) char *line = NULL;
    size_t room = 0, count;
    SS_OWNED(fclose) FILE *file = open_values(study, &refusal);
    *found = NAN;
    if (refusal.status)
        return ss_error_fail(error, "--one: %s", refusal.message);
    while (file && getline(&line, &room, file) > 0) {
        SS_OWNED(free) char **words = ss_words_split(line, &count, NULL);
        if (words && count == 2 && strcmp(words[0], "one") == 0)
            *found = strtod(words[1], NULL);
    }
    return 0;
}

/*
 * Sets the load of one instance, which is known, given, or found by a study. Fails if the method
 * requires it and it is unknown.
 */
static int read_one(const struct request *request, const struct ssbatch_workload *workload,
    struct ssbatch_control *control, struct ss_error *error) {
    double cpus = (double)control->cpus;
    control->one = NAN;
    if (strcmp(workload->name, "serial") == 0)
        control->one = 1 / cpus;
    else if (strcmp(workload->name, "parallel") == 0)
        control->one = 1;
    else if (request->one && ss_units_load(request->one, cpus, &control->one, NULL) < 0 &&
             read_found(request->one, &control->one, error) < 0)
        return -1;
    if (control->one <= 0)
        return ss_error_fail(
            error, "--one: the load of one instance of %s must be above 0", workload->name);
    if (!isnan(control->one) || control->method->copies != SSBATCH_COPIES_MEASURED)
        return 0;
    if (request->one)
        return ss_error_fail(error,
            "--one: '%s' is not a load, nor a study that has found the value `one`: carry out that "
            "study first",
            ss_words_show(request->one).text);
    return ss_error_fail(
        error, "--method: %s requires the load of one instance: add --one 50%%", request->method);
}

static int print_planned(FILE *stream, const struct request *request,
    const struct ssbatch_workload *workload, struct ss_error *error) {
    const struct ssbatch_use use = {.role = request->role, .memory = request->memory};
    struct ssbatch_control control = request->control;
    struct ssbatch_planned_run run = request->run;
    control.instances = request->instances;
    control.method = ssbatch_method_find(request->method, error);
    if (!control.method)
        return ss_error_wrap(error, "--method");
    if (read_one(request, workload, &control, error) < 0)
        return -1;
    if (ssbatch_method_has_rounds(control.method) && !control.tau)
        return ss_error_fail(
            error, "--method: %s requires a length of rounds: add --tau 107m", request->method);
    run.workload = workload;
    run.use = &use;
    run.control = &control;
    run.counters = request->counters;
    /* Parsing drops the -- before options of showstopper if no column comes before it. */
    run.columns = request->rest - (strcmp(request->rest[-1], "--") == 0);
    return ssbatch_planned_run_print(stream, &run, error);
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

/* Returns the parts of a list, none if it is not given, or NULL. free() the result. */
static char **split_list(const char *text, struct ss_error *error) {
    return ss_words_split_list(text ? text : "", NULL, error);
}

/* Carries out --check-workloads or --represent. */
static int print_lists(FILE *stream, const struct request *request,
    const struct ssbatch_catalogue *catalogue, struct ss_error *error) {
    const struct ssbatch_workload_checks checks = {.catalogue = catalogue,
        .option = request->option,
        .warmup = request->warmup,
        .even_if_missing = request->anyway,
        .warn_uncounted = request->counted};
    SS_OWNED(free)
    char **names = split_list(request->check ? request->check : request->represent, error);
    SS_OWNED(free) char **stand_ins = split_list(request->stand_ins, error);
    if (!names || !stand_ins)
        return ss_error_memory(error);
    if (request->check)
        return ssbatch_workloads_check(stream, &checks, names, error);
    return ssbatch_workloads_represent(stream, catalogue, names, stand_ins, error);
}

static int print_from_catalogue(
    FILE *stream, const struct request *request, struct ss_error *error) {
    struct ssbatch_catalogue catalogue = {0};
    const struct ssbatch_workload *workload = NULL;
    int status = read_catalogue(request, &catalogue, error);
    if (status == 0 && request->workload) {
        workload = ssbatch_catalogue_find(&catalogue, request->workload, error);
        status = workload ? 0 : -1;
    }
    if (status == 0 && request->list)
        status = ssbatch_catalogue_list(stream, &catalogue, error);
    else if (status == 0 && workload && request->method)
        status = print_planned(stream, request, workload, error);
    else if (status == 0 && workload)
        status = print_workload(stream, request, workload, error);
    else if (status == 0)
        status = print_lists(stream, request, &catalogue, error);
    ssbatch_catalogue_free(&catalogue);
    return status;
}

static int print_pairs(FILE *stream, const struct request *request, struct ss_error *error) {
    struct ssbatch_pairs pairs = {0};
    SS_OWNED(free) char **names = split_list(request->workloads, error);
    SS_OWNED(free) char **background = split_list(request->background, error);
    SS_OWNED(free) char **places = split_list(request->places, error);
    SS_OWNED(free) char *form = request->pairs ? strdup(request->pairs) : NULL;
    if (!names || !background || !places || (request->pairs && !form))
        return ss_error_memory(error);
    int status = ssbatch_pairs_add(&pairs, form, names, background, error);
    if (status == 0)
        status = ssbatch_pairs_print(stream, &pairs, places, request->rounds, error);
    ssbatch_pairs_free(&pairs);
    return status;
}

static int check_pairs(const struct request *request, struct ss_error *error) {
    bool is_list = request->pairs && strchr(request->pairs, ':');
    if (!is_list && !request->workloads)
        return ss_error_fail(error, "the pairs have no names: add --workloads A,B,C");
    if (is_list && request->workloads)
        return ss_error_fail(error, "--pairs names all pairs: remove --workloads");
    if (!request->places)
        return ss_error_fail(error, "the pairs have no place: add --places NAME,...");
    return 0;
}

static int print_value(FILE *stream, const struct request *request, struct ss_error *error) {
    const struct ssbatch_option_value value = {.type = request->type,
        .text = request->rest[0],
        .option = request->option,
        .program = request->program};
    if (!value.text || request->rest[1])
        return ss_error_fail(error, "--value: exactly one value must follow");
    return ssbatch_option_value_print(stream, &value, error);
}

static int print_requested(FILE *stream, struct request *request, struct ss_error *error) {
    bool pairs = request->pairs || request->background;
    bool catalogue = request->list || request->workload || request->check || request->represent;
    int requests = (request->list != 0) + (request->workload != NULL) + (request->check != NULL) +
                   (request->represent != NULL) + pairs + (request->type != NULL);
    request->defined.repeat = request->is_repeated;
    if (requests != 1)
        return ss_error_fail(error,
            "give exactly one of --list-workloads, --workload, "
            "--check-workloads, --represent, --pairs and --value: see --help");
    if (request->type)
        return print_value(stream, request, error);
    if (*request->rest && !request->method)
        return ss_error_fail(
            error, "unexpected argument '%s': see --help", ss_words_show(*request->rest).text);
    if (catalogue)
        return check_use(request, error) < 0 ? -1 : print_from_catalogue(stream, request, error);
    return check_pairs(request, error) < 0 ? -1 : print_pairs(stream, request, error);
}

/* Prints all or nothing. */
static int print_whole(FILE *stream, struct request *request, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;
    int result = print_requested(text.stream, request, error);
    SS_OWNED(free) char *whole = ss_text_close(&text, error);
    if (!whole || result < 0)
        return -1;
    fputs(whole, stream);
    return 0;
}

int ssbatch_plan_words_print(FILE *stream, char **argv, int *status, struct ss_error *error) {
    struct request request = {0};
    int result = ss_arguments_parse(rows, &request, &request.store, argv, &request.rest, error);
    if (result == 0)
        result = print_whole(stream, &request, error);
    if (result < 0 && request.program && strcmp(request.program, "ssbatch") != 0 && error) {
        fprintf(stderr, "%s: %s\n", request.program, error->message);
        *error = (struct ss_error){0};
        *status = 1;
        result = 0;
    }
    ss_option_store_free(&request.store);
    free(request.files);
    return result;
}
