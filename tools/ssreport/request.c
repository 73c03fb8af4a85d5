/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stdbool.h>
#include <stdlib.h>

#include "options/arguments.h"

#define AT(member) .offset = offsetof(struct ssreport_request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write report.html and a CSV file for every table there"}},
    {0, "TIME", {"edge", SS_OPTION_TIME, AT(edge), .sensible = "100m",
        .help = "leave out this much at both ends of every step; default: a sixth of it, at "
                "most 30s"}},
    {0, "TIME", {"interval", SS_OPTION_TIME, AT(interval), .initial = "6s", .min = "10m",
        .sensible = "500m",
        .help = "count iterations in intervals of this length"}},
    {0, "PART", {"confidence", SS_OPTION_LOAD, AT(confidence), .initial = "95%", .min = "50%",
        .max = "99.99%", .help = "the confidence level of intervals and bands"}},
    {0, "PART", {"deviation", SS_OPTION_LOAD, AT(deviation), .initial = "5%",
        .help = "warn if the throughput of a replay differs by more than this"}},
    {0, "DIR", {"published", SS_OPTION_TEXT, AT(published),
        .help = "the folder with published figures; default: the installed one"}},
    {0, NULL, {"against", AT(against),
        .help = "the records after this option are a second set, with which the first one is "
                "compared"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no summary on standard output"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

void ssreport_request_print_help(void) {
    printf("Usage: ssreport [OPTION]... RECORD...\n"
           "       ssreport [OPTION]... RECORD... --against RECORD...\n"
           "Reports records made by showstopper --record, or an experiment: a folder with a\n"
           "manifest.csv that names its records.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\n"
           "The status is 0 if at least one record was reported, otherwise 125.\n");
}

/* Whether the option that a word names takes the next one for its value. */
static bool takes_next(const char *word) {
    for (const struct ss_argument *row = rows; row->option.name; row++) {
        bool is_it = word[1] == '-' ? strcmp(word + 2, row->option.name) == 0
                                    : word[1] == row->letter && word[2] == '\0';
        if (is_it)
            return row->value != NULL;
    }
    return false;
}

/* Parts options from folders, so that either may stand anywhere. */
static int sort_words(
    struct ssreport_request *request, char **argv, char **options, struct ss_error *error) {
    bool marked = false, against = false;
    size_t used = 1;
    options[0] = argv[0];
    for (char **word = argv + 1; *word; word++) {
        if (!marked && strcmp(*word, "--") == 0) {
            marked = true;
        } else if (!marked && strcmp(*word, "--against") == 0) {
            if (against)
                return ss_error_fail(error, "--against is there twice");
            against = true;
            request->first_set = request->count;
        } else if (!marked && **word == '-') {
            bool takes = takes_next(*word) && word[1];
            options[used++] = *word;
            if (takes)
                options[used++] = *++word;
        } else {
            request->folders[request->count++] = *word;
        }
    }
    if (!against)
        request->first_set = request->count;
    else if (request->first_set == 0 || request->first_set == request->count)
        return ss_error_fail(
            error, "--against stands between two sets: ssreport A... --against B...");
    return 0;
}

int ssreport_request_parse(
    struct ssreport_request *request, int argc, char **argv, struct ss_error *error) {
    *request = (struct ssreport_request){.edge = SS_TIME_NEVER};
    char **options = calloc((size_t)argc + 2, sizeof *options), **rest;
    request->folders = calloc((size_t)argc + 2, sizeof *request->folders);
    int result = -1;
    if (!options || !request->folders)
        ss_error_memory(error);
    else if (sort_words(request, argv, options, error) == 0)
        result = ss_arguments_parse(rows, request, &request->store, options, &rest, error);
    free(options);
    if (result == 0 && !request->help && !request->version && request->count == 0)
        return ss_error_fail(error, "name at least one record: see --help");
    return result;
}

void ssreport_request_free(struct ssreport_request *request) {
    free(request->folders);
    ss_option_store_free(&request->store);
}
