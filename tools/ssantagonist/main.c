/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "answer.h"
#include "antagonist_options.h"
#include "base/pattern.h"
#include "base/wallclock.h"
#include "code_files.h"
#include "platform/platform.h"
#include "platform/program.h"
#include "study_columns.h"
#include "watch.h"

static int find_suspects(
    const struct antagonist_options *options, struct suspects *suspects, struct ss_error *error) {
    int status = options->group ? suspects_add_group(suspects, options->group, error)
                                : suspects_add(suspects, options->suspects, error);
    return status == 0 ? 0 : ss_error_wrap(error, options->group ? "--suspects-of" : "--suspects");
}

/* Finds the victim's processes, as far as possible: other users' processes cannot be examined. */
static int find_victims(
    const struct antagonist_options *options, struct suspects *victims, struct ss_error *error) {
    if (options->victim_pids)
        return suspects_add(victims, options->victim_pids, error);
    switch (watch_kind(options->victim, options->iteration)) {
    case WATCH_URL:
        return suspects_add_listeners(victims, options->victim, error);
    case WATCH_LOG:
        return suspects_add_users(victims, options->victim, error);
    case WATCH_COMMAND:
        break; /* not started yet, and it may query a service */
    }
    return 0;
}

static void warn_of_unknown_victims(void) {
    fputs("ssantagonist: warning: the processes of the victim are unknown, so suspects may be "
          "among them or related to them: name them with --victim-pid\n",
        stderr);
}

/* Checks the suspects of the runs to come. A finished study may outlive all of its processes. */
static int check_pending(
    const struct antagonist_options *options, const struct stages *stages, struct ss_error *error) {
    struct suspects pending = {0}, victims = {0};
    int status = stages_add_pending(stages, &pending, error);
    if (status == 0 && pending.count > 0)
        status = find_victims(options, &victims, error);
    if (status == 0)
        status = suspects_check(&pending, &victims, error);
    /* A study calls `plan` after each run, but the warning is of use before the first. */
    if (status == 0 && victims.count == 0 && !stages->items[0].done)
        warn_of_unknown_victims();
    suspects_free(&victims);
    suspects_free(&pending);
    return status;
}

/* Takes the suspects from the study or, if it has not begun, from the call. */
static int begin(const struct antagonist_options *options, struct stages_options *what,
    struct suspects *suspects, struct ss_error *error) {
    int status = study_columns_read(what, suspects, error);
    if (status != 0)
        return status < 0 ? -1 : 0;
    if (what->depth == 0)
        what->depth = ANTAGONIST_DEPTH;
    return find_suspects(options, suspects, error);
}

static int study(
    const struct antagonist_options *options, int *exit_status, struct ss_error *error) {
    struct stages_options what = antagonist_options_study(options);
    struct suspects suspects = {0};
    struct stages stages = {0};
    int status = begin(options, &what, &suspects, error);
    if (status == 0)
        status = stages_open(&stages, &what, &suspects, error);
    if (status == 0 && options->command == ANTAGONIST_PLAN)
        status = check_pending(options, &stages, error);
    if (status == 0 && options->command == ANTAGONIST_PLAN) {
        stages_print_plan(&stages, stdout);
        answer_print_forecast(&stages, stderr);
    } else if (status == 0 && options->json) {
        answer_print_json(&stages, stdout);
    } else if (status == 0) {
        answer_print(&stages, stdout);
    }
    if (status == 0 && options->page)
        status = answer_write_page(&stages, options->page, error);
    if (options->command == ANTAGONIST_ANSWER && status == 0 && answer_is_missing(&stages))
        *exit_status = 1;
    stages_close(&stages);
    suspects_free(&suspects);
    return status;
}

static int watch(const struct antagonist_options *options, struct ss_error *error) {
    char output[4200];
    int64_t now = ss_platform_wallclock();
    struct watch_options what = antagonist_options_study(options).victim;
    snprintf(output, sizeof output, "%s/slots.csv", options->folder);
    what.output = output;
    what.slots = options->slots;
    what.slot = options->slot;
    what.start_at = now;
    what.usual = options->usual;
    if (options->start_at && ss_wallclock_parse(options->start_at, now, &what.start_at, error) < 0)
        return ss_error_wrap(error, "--start-at");
    return watch_victim(&what, error);
}

static int write_codes(const struct antagonist_options *options, struct ss_error *error) {
    struct codes codes = {.slots = options->slots};
    if (code_files_parse(&codes, options->shifts, error) < 0)
        return -1;
    if (codes.slots != CODES_LENGTH && codes.slots != 2 * CODES_LENGTH)
        return ss_error_fail(error, "--slots: write %d or %d", CODES_LENGTH, 2 * CODES_LENGTH);
    return code_files_write(
        &codes, options->folder, ss_time_seconds(options->slot), options->depth, error);
}

static int carry_out(
    const struct antagonist_options *options, int *exit_status, struct ss_error *error) {
    if (options->iteration && ss_pattern_check(options->iteration, error) < 0)
        return ss_error_wrap(error, "--iteration");
    if (options->command == ANTAGONIST_PLAN && ss_platform_check_proc(error) < 0)
        return -1;
    switch (options->command) {
    case ANTAGONIST_WATCH:
        return watch(options, error);
    case ANTAGONIST_CODES:
        return write_codes(options, error);
    default:
        return study(options, exit_status, error);
    }
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct antagonist_options options;
    int result = antagonist_options_parse(&options, argv, error);
    if (result == 0)
        ss_option_store_print_warnings(stderr, "ssantagonist", &options.store);
    if (result == 0 && options.help)
        antagonist_options_print_help(&options);
    else if (result == 0 && options.version)
        ss_program_print_version("ssantagonist");
    else if (result == 0)
        result = carry_out(&options, status, error);
    ss_option_store_free(&options.store);
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("ssantagonist", run, argv);
}
