/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "plan_words.h"

static void print_help(void) {
    printf("Usage: ssbatch --workload NAME [OPTION]...\n"
           "       ssbatch --list-workloads [--catalogue FILE]...\n"
           "       ssbatch --pairs FORM [OPTION]...\n"
           "Prints words for the plan of a study, see showstopper-plan(5).\n\n");
    ssbatch_plan_words_print_help(stdout);
    printf("Other options:\n"
           "  -h, --help                  print this help\n"
           "      --version               print the version\n");
}

static int execute(char **argv, int *exit_status, struct ss_error *error) {
    (void)exit_status;
    if (ssbatch_plan_words_requested(argv + 1))
        return ssbatch_plan_words_print(stdout, argv, error);
    if (argv[1] && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        print_help();
    else if (argv[1] && strcmp(argv[1], "--version") == 0)
        ss_program_print_version("ssbatch");
    else
        return ss_error_fail(error, "expected --workload, --list-workloads or --pairs: see --help");
    return 0;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("ssbatch", execute, argv);
}
