/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The path of data through ssbatch:
 *
 *   PLAN --plan/--> runs --merge--> STUDY/.study/plan
 *                    |
 *                    v   for each run that has no result
 *               carry_run --------> .study/calls/  the journal: what is to be undone
 *                    |
 *                    v
 *      carry/: stage --> spawner --> minders --> commands --> STUDY/.NAME.part/result
 *                    |
 *                    v
 *                 run.json, sync, rename --> STUDY/NAME/ --> list, ssreport
 */

#include "batch_options.h"
#include "platform/platform.h"
#include "program.h"

static ssbatch_action *choose_action(const struct ssbatch_options *options) {
    if (options->list)
        return ssbatch_list;
    if (options->clean)
        return ssbatch_clean;
    return options->dry_run ? ssbatch_dry_run : ssbatch_carry_out;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssbatch_options options;
    int result = ssbatch_options_parse(&options, argv, error);
    const struct ss_option_store *warnings = options.quiet ? NULL : &options.store;

    if (result == 0 && !ss_program_print_requested("ssbatch", warnings, options.help,
                           options.version, ssbatch_options_print_help))
        result = choose_action(&options)(&options, status, error);

    ss_option_store_free(&options.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("ssbatch", run, argc, argv);
}
