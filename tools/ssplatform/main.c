/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/whole_file.h"
#include "base/words.h"
#include "options/arguments.h"
#include "platform/program.h"
#include "platform_document.h"

struct request {
    const char *root;
    const char *output;
    int sets; /* enum topology_division; -1 if not given */
    int help;
    int version;
    struct ss_option_store store;
};

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root),
                .help = "describe the machine whose /proc and /sys were copied to DIR"}},
    {'o', "FILE", {"output", SS_OPTION_TEXT, AT(output),
                   .help = "write to FILE, which is replaced only on success"}},
    {0, "PLACEMENT", {"sets", SS_OPTION_CHOICE, AT(sets), .choices = "per-chip per-core per-thread",
                      .help = "print two disjoint sets with equal numbers of CPUs instead, as A/B"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

static int parse(struct request *request, char **argv, struct ss_error *error) {
    *request = (struct request){.sets = -1};
    if (ss_arguments_parse(rows, request, &request->store, argv, NULL, error) < 0)
        return -1;
    if (request->sets >= 0 && request->output)
        return ss_error_fail(
            error, "--sets cannot be combined with --output: --sets prints to standard output");
    return 0;
}

static void print_help(void) {
    printf("Usage: showstopper-platform [OPTION]...\n"
           "Describes this machine as one JSON object: kernel, CPUs, caches, frequencies,\n"
           "idle states, virtual machine or container, and the part of it that may be used.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static int write_file(const struct request *request, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, request->output) == 0) {
        if (ssplatform_report(file.stream, request->root, error) != 0) {
            ss_whole_file_abandon(&file);
            return -1;
        }
        if (ss_whole_file_commit(&file) == 0)
            return 0;
    }
    return ss_error_fail(
        error, "%s cannot be written: %s", ss_words_show(request->output).text, strerror(errno));
}

/* Answers the request. Returns 0, 1 if --sets finds no two sets, or -1 on failure. */
static int answer(const struct request *request, struct ss_error *error) {
    if (request->help)
        print_help();
    else if (request->version)
        ss_program_print_version("showstopper-platform");
    else if (request->sets >= 0)
        return ssplatform_sets(stdout, request->root, (enum topology_division)request->sets, error);
    else if (request->output)
        return write_file(request, error);
    else
        return ssplatform_report(stdout, request->root, error);
    return 0;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct request request;
    int result = parse(&request, argv, error);
    if (result == 0)
        result = answer(&request, error);
    if (result > 0)
        *status = result;
    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("showstopper-platform", run, argv);
}
