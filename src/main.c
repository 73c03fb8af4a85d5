/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "base/streams.h"
#include "base/version.h"
#include "command/cli.h"
#include "command/plan.h"
#include "command/replay.h"
#include "command/running.h"
#include "keeper/signals.h"
#include "loop/registry.h"
#include "platform/platform.h"
#include "record/documents.h"
#include "record/folder.h"
#include "record/outcome.h"
#include "record/summary.h"
#include "run/master.h"

static int print_error(const struct ss_error *error) {
    fprintf(stderr, "showstopper: %s\n", error->message);
    return error->status;
}

/*
 * Answers a command line that requests no run, such as --help, and sets the exit status. Returns
 * false if a run is requested.
 */
static bool answer_query(struct ss_cli *cli, int *status, struct ss_error *error) {
    int result = 0;
    if (cli->help)
        ss_cli_help(stdout);
    else if (cli->version)
        printf("showstopper %s\n", ss_version());
    else if (cli->list_modules)
        result = ss_registry_list(stdout, error);
    else if (cli->help_module)
        result = ss_registry_help(stdout, cli->help_module, error);
    else if (cli->replay)
        result = ss_replay(cli, error);
    else if (cli->set_pid)
        result = ss_running_set_target(cli, error);
    else if (cli->status_pid)
        result = ss_running_show_status(stdout, cli, error);
    else
        return false;
    if (result == 0)
        result = ss_streams_flush(error);
    *status = result < 0 ? print_error(error) : 0;
    return true;
}

static int run(struct ss_plan *plan) {
    struct ss_error error = {0};
    struct ss_outcome outcome;
    int status = ss_master_run(plan, &outcome, &error);
    if (!plan->quiet && (status == 0 || outcome.samples > 0))
        ss_summary_print(stderr, plan, &outcome);
    if (status < 0)
        print_error(&error);
    else if (outcome.status == 0 && outcome.signal == 0 &&
             ss_outcome_check(&outcome, plan->tolerance_percent, &error) < 0)
        outcome.status = print_error(&error);
    if (*outcome.loss) {
        struct ss_error loss = {0};
        ss_error_fail(&loss, "%s", outcome.loss);
        outcome.status = outcome.status ? outcome.status : SS_ERROR_FAILED;
        if (plan->quiet) /* otherwise a warning of the summary says so */
            print_error(&loss);
    }
    struct ss_error unwritten = {0};
    if (plan->json && !outcome.lost &&
        ss_summary_write(plan, &outcome, plan->json, &unwritten) < 0) {
        if (strcmp(plan->json, "-") != 0)
            ss_error_wrap(&unwritten, "--json");
        print_error(&unwritten);
        outcome.status = outcome.status ? outcome.status : unwritten.status;
    }
    struct ss_error unrecorded = {0};
    if (!outcome.lost && ss_record_finish(plan, &outcome, &unrecorded) < 0) {
        print_error(&unrecorded);
        outcome.status = outcome.status ? outcome.status : unrecorded.status;
    }
    ss_outcome_close(&outcome);
    if (outcome.signal && status == 0)
        ss_signals_raise_default(outcome.signal);
    return outcome.status;
}

static int show_plan(const struct ss_plan *plan, struct ss_error *error) {
    ss_plan_print(stdout, plan);
    return ss_streams_flush(error) < 0 ? print_error(error) : 0;
}

int main(int argc, char **argv) {
    static struct ss_plan plan; /* too large for the stack */
    struct ss_error error = {0};
    struct ss_cli cli;
    int status;

    ss_streams_open_missing();
    ss_paths_drop_empty();
    ss_signals_catch_file_limit();
    ss_signals_catch_crashes();
    if (ss_platform_check_rights(&error) < 0)
        return print_error(&error);
    ss_platform_keep_arguments(argc, argv);

    if (ss_cli_parse(&cli, argv, &error) < 0) {
        status = print_error(&error);
    } else if (!answer_query(&cli, &status, &error)) {
        ss_option_store_print_warnings(stderr, "showstopper", &cli.store);
        bool made = ss_plan_make(&plan, &cli, &error) == 0 &&
                    (!plan.record || ss_record_folder_check(plan.record, plan.force, &error) == 0);
        ss_option_store_print_warnings(stderr, "showstopper", &plan.set.store);
        if (!made)
            status = print_error(&error);
        else if (cli.dry_run)
            status = show_plan(&plan, &error);
        else
            status = run(&plan);
        ss_plan_free(&plan);
    }
    ss_cli_free(&cli);
    return status;
}
