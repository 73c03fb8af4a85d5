/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis.h"
#include "antagonist_options.h"
#include "base/owned.h"
#include "base/pattern.h"
#include "base/wallclock.h"
#include "codes.h"
#include "platform/platform.h"
#include "platform/program.h"
#include "suspects.h"
#include "watch.h"

/* A study throttles at most this many suspects: a group for each code, and as many in each. */
#define SUSPECTS_MAX (CODES_SUSPECTS_MAX * CODES_SUSPECTS_MAX)

static int find_suspects(
    const struct antagonist_options *options, struct suspects *suspects, struct ss_error *error) {
    if (options->names)
        return suspects_add_known(suspects, options->suspects, options->names, error);
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

static int check_suspects(const struct antagonist_options *options, const struct suspects *suspects,
    struct ss_error *error) {
    struct suspects victims = {0};
    int status = find_victims(options, &victims, error);
    if (status == 0)
        status = suspects_check(suspects, &victims, error);
    /* A study calls `plan` after each run, but the warning is of use before the first. */
    if (status == 0 && victims.count == 0 && !options->names)
        warn_of_unknown_victims();
    suspects_free(&victims);
    return status;
}

static int list_suspects(const struct antagonist_options *options, struct ss_error *error) {
    struct suspects suspects = {0};
    int status = find_suspects(options, &suspects, error);
    if (status == 0 && (suspects.count == 0 || suspects.count > SUSPECTS_MAX))
        status =
            ss_error_fail(error, "%zu suspects: write from 1 to %d", suspects.count, SUSPECTS_MAX);
    if (status == 0 && options->victim)
        status = check_suspects(options, &suspects, error);
    if (status == 0)
        suspects_print(&suspects, stdout);
    suspects_free(&suspects);
    return status;
}

static int watch(const struct antagonist_options *options, struct ss_error *error) {
    char output[4200];
    int64_t now = ss_platform_wallclock();
    struct watch_options what = antagonist_options_victim(options);
    snprintf(output, sizeof output, "%s/slots.csv", options->folder);
    what.output = output;
    what.start_at = now;
    if (options->start_at && ss_wallclock_parse(options->start_at, now, &what.start_at, error) < 0)
        return ss_error_wrap(error, "--start-at");
    return watch_victim(&what, error);
}

static int write_codes(const struct antagonist_options *options, struct ss_error *error) {
    struct codes codes = {.slots = options->slots};
    if (codes_parse(&codes, options->shifts, error) < 0)
        return -1;
    if (codes.slots != CODES_LENGTH && codes.slots != 2 * CODES_LENGTH)
        return ss_error_fail(error, "--slots: write %d or %d", CODES_LENGTH, 2 * CODES_LENGTH);
    return codes_write(
        &codes, options->folder, ss_time_seconds(options->slot), options->depth, error);
}

static const char *yes_or_no(bool value) {
    return value ? "yes" : "no";
}

/* Writes the options as words of the Python package, NAME=VALUE, each ended by a null. */
static void write_call(const struct antagonist_options *options, const char *self, FILE *stream) {
    const struct watch_options victim = antagonist_options_victim(options);
    const struct {
        const char *name, *value;
    } texts[] = {
        {"command", options->command == ANTAGONIST_PLAN ? "plan" : "answer"},
        {"program", self},
        {"folder", options->folder},
        {"victim", options->victim},
        {"iteration", options->iteration},
        {"suspects", options->suspects},
        {"suspects_of", options->group},
        {"victim_pid", options->victim_pids},
        {"page", options->page},
        {"json", yes_or_no(options->json)},
        {"lower", yes_or_no(options->lower)},
        {"lower_is_better", yes_or_no(watch_is_lower_better(&victim))},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].value)
            fprintf(stream, "%s=%s%c", texts[i].name, texts[i].value, '\0');
    }
    fprintf(stream, "rate=%.9g%cdepth=%.17g%cslot=%.17g%c", options->rate, '\0', options->depth,
        '\0', ss_time_seconds(options->slot), '\0');
    fprintf(stream, "tau=%" PRIu64 "%cseed=%" PRIu64 "%c", (uint64_t)options->tau, '\0',
        options->seed, '\0');
}

/* Executes the Python package, which carries out `plan` and `answer`. */
static int evaluate(const struct antagonist_options *options, struct ss_error *error) {
    char self[4200], command[] = "ssantagonist", *words[32] = {NULL, command};
    SS_OWNED(free) char *text = NULL;
    size_t size, count = 2;
    if (options->suspects && suspects_check_list(options->suspects, error) < 0)
        return ss_error_wrap(error, "--suspects");
    if (ss_platform_program_path(self, sizeof self) < 0)
        return ss_error_fail(error, "cannot locate the programs");

    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return ss_error_memory(error);
    write_call(options, self, stream);
    if (fclose(stream) != 0)
        return ss_error_memory(error);
    for (char *at = text; at < text + size; at += strlen(at) + 1)
        words[count++] = at;
    return analysis_execute(words, error);
}

static int carry_out(const struct antagonist_options *options, struct ss_error *error) {
    bool looks = options->command == ANTAGONIST_PLAN || options->command == ANTAGONIST_SUSPECTS;
    if (options->iteration && ss_pattern_check(options->iteration, error) < 0)
        return ss_error_wrap(error, "--iteration");
    if (looks && ss_platform_check_proc(error) < 0)
        return -1;
    switch (options->command) {
    case ANTAGONIST_WATCH:
        return watch(options, error);
    case ANTAGONIST_CODES:
        return write_codes(options, error);
    case ANTAGONIST_SUSPECTS:
        return list_suspects(options, error);
    default:
        return evaluate(options, error);
    }
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct antagonist_options options;
    (void)status;
    int result = antagonist_options_parse(&options, argv, error);
    if (result == 0)
        ss_option_store_print_warnings(stderr, "ssantagonist", &options.store);
    if (result == 0 && options.help)
        antagonist_options_print_help(&options);
    else if (result == 0 && options.version)
        ss_program_print_version("ssantagonist");
    else if (result == 0)
        result = carry_out(&options, error);
    ss_option_store_free(&options.store);
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("ssantagonist", run, argv);
}
