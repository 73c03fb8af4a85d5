/* SPDX-License-Identifier: Apache-2.0 */

/* Measures applications under a calibrated throttle, and checks a prediction against them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/owned.h"
#include "battery.h"
#include "commands.h"
#include "forwarded.h"
#include "json_document.h"
#include "options/arguments.h"
#include "profile_output.h"
#include "ratio_findings.h"
#include "ratios.h"
#include "results.h"
#include "throttle.h"

#define SPREAD "10%" /* for applications, which vary more than benchmarks */

struct request {
    struct ssprofile_forwarded measure; /* options for measure */
    const char *base, *target, *spread, *coverage, *battery;
    int base_here, force, help;
    char *words[2]; /* the comparison and the folder of the results */
    size_t count;
};

static int accept_word(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->count == 2)
        return ss_error_fail(
            error, "unexpected argument '%s': a comparison and a folder were already given", word);
    request->words[request->count++] = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "BASE", {"base", SS_OPTION_TEXT, AT(base),
        .help = "the applications as measured on the base: a folder of `ssprofile measure --battery applications`"}},
    {0, NULL, {"base-here", AT(base_here),
        .help = "this machine is the base, too, under the throttle that the comparison names: measure the applications under both"}},
    {0, "NAME", {"target", SS_OPTION_TEXT, AT(target),
        .help = "the target, as MACHINE:LIMITS, if the comparison has several throttled ones"}},
    {0, "NAME|FILE", {"battery", SS_OPTION_TEXT, AT(battery), .initial = "applications",
        .help = "the applications"}},
    {0, "PERCENT", {"spread", SS_OPTION_TEXT, AT(spread), .initial = SPREAD,
        .help = "leave out applications whose mean is more uncertain than this"}},
    {0, "PART", {"coverage", SS_OPTION_TEXT, AT(coverage), .initial = "100%",
        .help = "check against the narrowest interval that covers this much"}},
    {0, NULL, {"force", AT(force),
        .help = "compare results of different versions of the applications"}},
    SSPROFILE_FORWARDED(struct request, measure),
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(accept_word),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile verify [OPTION]... COMPARISON DIR\n"
           "Runs applications on this machine under the throttle of a calibrated target, and\n"
           "reports how many of their ratios are in the range that the benchmarks predict.\n"
           "COMPARISON is the folder of `ssprofile compare -o` that has the target; the\n"
           "results are kept in DIR. Repeat the command to resume an interrupted\n"
           "measurement.\n\n");
    ss_arguments_print_help(stdout, rows);
}

/* A machine under a throttle: MACHINE:LIMITS. */
struct subject {
    char name[600], machine[600], throttle[64]; /* `throttle` is written as for --under */
};

static int split_subject(struct subject *subject, const char *name, struct ss_error *error) {
    const char *colon = strrchr(name, ':');
    *subject = (struct subject){0};
    snprintf(subject->name, sizeof subject->name, "%s", name);
    if (colon)
        snprintf(subject->machine, sizeof subject->machine, "%.*s", (int)(colon - name), name);
    if (colon && ssprofile_throttle_word(subject->throttle, colon + 1))
        return 0;
    return ss_error_fail(error,
        "%s: these limits are not a throttle that can be set here: choose "
        "another target",
        name);
}

static bool is_throttled(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon && strcmp(colon + 1, SSPROFILE_WITHOUT) != 0;
}

/* Finds the target with this name, or the only throttled one. */
static const char *find_target(
    const struct request *request, struct json_object *document, struct ss_error *error) {
    struct json_object *ranges = document_get(document, "ranges", json_type_array);
    const char *found = NULL;
    for (size_t i = 0; ranges && i < json_object_array_length(ranges); i++) {
        const char *name = document_text(json_object_array_get_idx(ranges, i), "target");
        if (!name || (request->target ? strcmp(name, request->target) != 0 : !is_throttled(name)))
            continue;
        if (found) {
            ss_error_fail(error,
                "%s has several throttled targets, such as %s and %s: choose one "
                "with --target",
                request->words[0], found, name);
            return NULL;
        }
        found = name;
    }
    if (!found)
        ss_error_fail(error, "%s has no %s%s", request->words[0],
            request->target ? "target " : "throttled target",
            request->target ? request->target : "");
    return found;
}

/* Reads the names of base and target. */
static int read_comparison(const struct request *request, struct subject *base,
    struct subject *target, struct ss_error *error) {
    struct json_object *document = document_read(request->words[0], "compare.json",
        ": name the folder that `ssprofile compare -o` wrote", error);
    if (!document)
        return -1;
    const char *name = NULL;
    if (document_check_schema(document, "compare.json", SSPROFILE_SCHEMA, error) == 0)
        name = find_target(request, document, error);
    int result = name ? split_subject(target, name, error) : -1;
    name = document_text(document, "base");
    if (result == 0 && request->base_here)
        result = name ? split_subject(base, name, error)
                      : ss_error_fail(error, "%s names no base", request->words[0]);
    json_object_put(document);
    return result;
}

static void path_in(char path[4300], const struct request *request, const char *name) {
    snprintf(path, 4300, "%.4000s/%s", request->words[1], name);
}

static int measure(const struct request *request, const struct subject *subject, const char *name,
    struct ss_error *error) {
    char folder[4300];
    char *words[SSPROFILE_FORWARDED_WORDS + 10] = {(char *)"measure", (char *)"--battery",
        (char *)request->battery, (char *)"--machine", (char *)subject->machine, (char *)"--under",
        (char *)subject->throttle};
    path_in(folder, request, name);
    size_t count = 7 + ssprofile_forward(&request->measure, words + 7);
    words[count] = folder;
    return ssprofile_measure(words, error);
}

static int compare(const struct request *request, const char *base, struct ss_error *error) {
    char output[4300], target[4300];
    path_in(output, request, "compare");
    path_in(target, request, "target");
    char *words[] = {(char *)"compare", (char *)"-q", (char *)"--spread", (char *)request->spread,
        (char *)"-o", output, (char *)base, target, request->force ? (char *)"--force" : NULL,
        NULL};
    return ssprofile_compare(words, error);
}

static int predict(
    const struct request *request, const struct subject *target, struct ss_error *error) {
    char applications[4300];
    path_in(applications, request, "compare");
    char *words[] = {(char *)"predict", (char *)"--coverage", (char *)request->coverage,
        (char *)"--target", (char *)target->name, (char *)"-o", request->words[1],
        request->words[0], applications, NULL};
    return ssprofile_predict(words, error);
}

/* Returns whether a folder has a result of an application. */
static bool has_result(
    const struct ssprofile_results *results, const struct ssprofile_task *application) {
    for (size_t i = 0; i < results->count; i++) {
        if (ssprofile_profile_find(&results->profiles[i], application->name, application->class))
            return true;
    }
    return false;
}

/* Names the applications that could not run. The reasons were printed during measurement. */
static int name_missing(const struct request *request, struct ss_error *error) {
    struct ssprofile_battery battery = {0};
    struct ssprofile_results results = {0};
    struct table_sheet findings = SSPROFILE_FINDINGS();
    const char *only = request->measure.only;
    const struct ssprofile_matching chosen = {
        .only = only && strcmp(only, "all") != 0 ? only : NULL};
    char path[4300], names[1500] = "";
    size_t missing = 0, count = 0, used = 0;
    ssprofile_battery_find(path, sizeof path, request->battery);
    int result = ssprofile_battery_read(&battery, path, error);
    path_in(path, request, "target/results.csv");
    if (result == 0)
        result = ssprofile_results_read(&results, path, error);
    for (size_t i = 0; result == 0 && i < battery.count; i++) {
        const struct ssprofile_task *task = &battery.tasks[i];
        if (!ssprofile_is_chosen(&chosen, task->name, task->class))
            continue;
        count++;
        if (has_result(&results, task))
            continue;
        if (used < sizeof names - 100)
            used += (size_t)snprintf(
                names + used, sizeof names - used, "%s%.60s", used > 0 ? ", " : "", task->name);
        missing++;
    }
    if (missing > 0)
        ssprofile_say(
            &findings, "%zu of %zu applications could not be run here: %s.", missing, count, names);
    ssprofile_print_findings(stdout, &findings);
    table_free(&findings);
    ssprofile_results_free(&results);
    ssprofile_battery_free(&battery);
    return result;
}

static int verify(const struct request *request, struct ss_error *error) {
    struct subject base, target;
    char folder[4300];
    path_in(folder, request, "base");
    if (!request->base == !request->base_here)
        return ss_error_fail(error, "give either --base or --base-here");
    if (read_comparison(request, &base, &target, error) < 0)
        return -1;
    if (mkdir(request->words[1], 0777) < 0 && errno != EEXIST)
        return ss_error_fail(error, "%s: %s", request->words[1], strerror(errno));
    if (request->base_here && measure(request, &base, "base", error) < 0)
        return ss_error_wrap(error, "the base");
    if (measure(request, &target, "target", error) < 0)
        return ss_error_wrap(error, "the target");
    if (compare(request, request->base ? request->base : folder, error) < 0 ||
        name_missing(request, error) < 0)
        return -1;
    return predict(request, &target, error);
}

int ssprofile_verify(char **argv, struct ss_error *error) {
    struct request request = {0};
    struct ss_option_store store = {0};
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && request.count < 2)
        result = ss_error_fail(error, "name a comparison and a folder: see --help");
    else if (result == 0)
        result = verify(&request, error);
    ss_option_store_free(&store);
    return result;
}
