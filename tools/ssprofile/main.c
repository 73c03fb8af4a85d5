/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis.h"
#include "base/suggest.h"
#include "commands.h"
#include "program.h"

static const struct {
    const char *name;
    int (*run)(char **argv, struct ss_error *error); /* NULL if the command is in Python */
    const char *help;
} commands[] = {
    {"measure", ssprofile_measure, "run a battery of benchmarks on this machine"},
    {"compare", NULL, "compare the speed of targets with that of a base"},
    {"calibrate", NULL, "find the throttle that makes this machine match a base"},
    {"portability", NULL, "compare two machines on one page, or this one with itself"},
    {"predict", NULL, "predict the ratio of one more benchmark"},
    {"verify", NULL, "check a prediction by applications under the throttle"},
    {"sweep", NULL, "plot the speed of this machine against the setting of a throttle"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static void print_help(void) {
    printf("Usage: ssprofile COMMAND [OPTION]...\n"
           "Estimates what a result from one machine is worth on another.\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-11s  %s\n", commands[i].name, commands[i].help);
    printf("\nssprofile COMMAND --help describes a command.\n"
           "Exit status: 0, 2 if a battery is invalid, or 125 if anything else failed.\n");
}

static int run(char **argv, int *status, struct ss_error *error) {
    static const struct ss_suggest_names known = {
        "command", SS_SUGGEST_ROWS(commands), "see --help"};
    (void)status;
    if (!argv[0] || !argv[1])
        return ss_error_fail(error, "no command given: see --help");

    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        ss_program_print_version("ssprofile");
        return 0;
    }

    int found = ss_suggest_find(&known, argv[1], error);
    if (found < 0)
        return -1;
    return commands[found].run ? commands[found].run(argv + 1, error)
                               : analysis_execute("ssprofile", argv + 1, error);
}

int main(int argc, char **argv) {
    return ss_program_main("ssprofile", run, argc, argv);
}
