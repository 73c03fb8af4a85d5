/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The path of data through ssactuate:
 *
 *   ACTUATOR=LEVEL --knobs/--> plan: files and values, CPUs, quota, memory, duty
 *                               |
 *                               v   locks, values before, boot ID
 *                            journal/ --sync--> /run/showstopper/PID-....journal
 *                               |
 *                               v   keeper started
 *                     set --> read back --> journal
 *                               |
 *                               v
 *                            COMMAND
 *                               |
 *                               v   also by the keeper, and by `ssactuate restore`
 *                     restore in reverse --> read back --> journal removed
 */

#include "actuate_options.h"
#include "actuate_run.h"
#include "base/owned.h"
#include "base/words.h"
#include "platform/platform.h"
#include "program.h"
#include "text_stream.h"

/* The status of `get` for an actuator that this machine does not have. */
#define STATUS_ABSENT 3

static int list(const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct ssactuate_machine machine;
    (void)status;

    if (ssactuate_machine_open(&machine, options->root, error) < 0)
        return -1;

    ssactuate_list_print(&machine, stdout);
    ssactuate_machine_close(&machine);
    return 0;
}

/* Prints the level of one knob, or nothing if reading it fails midway. */
static int print_knob(const struct ssactuate_knob *knob, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;

    int result = 0;
    if (knob->actuator->constant_level)
        fprintf(text.stream, "%s=%s\n", knob->text, knob->actuator->constant_level);
    else
        result = knob->actuator->get(knob, text.stream, error);

    SS_OWNED(free) char *level = ss_text_close(&text, error);
    if (!level || result < 0)
        return -1;

    fputs(level, stdout);
    return 0;
}

static int get(const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct ssactuate_machine machine;
    struct ssactuate_knob knob;
    struct ss_error reason = {0};

    if (ssactuate_knob_parse(&knob, options->words[0], error) < 0)
        return -1;

    if (*knob.level)
        return ss_error_fail(error, "'%s': `get` takes an actuator without a level",
            ss_words_show(options->words[0]).text);

    if (ssactuate_machine_open(&machine, options->root, error) < 0)
        return -1;

    knob.machine = &machine;
    int result = ssactuate_knob_probe(&knob, &reason) == 0
                     ? print_knob(&knob, error)
                     : ss_error_set(error, STATUS_ABSENT, "%s is absent: %s", knob.actuator->name,
                           reason.message);

    ssactuate_machine_close(&machine);
    (void)status;
    return result;
}

static const struct ssactuate_verb verbs[] = {
    {"list", .action = list},
    {"get", .takes_words = true, .action = get},
    {"run", .takes_words = true, .takes_command = true, .takes_record = true, .takes_check = true,
        .changes = true, .action = ssactuate_run},
    {"follow", .takes_command = true, .takes_record = true, .takes_policy = true, .changes = true,
        .action = ssactuate_follow},
    {"restore", .changes = true, .action = ssactuate_restore},
};

static int run(char **argv, int *status, struct ss_error *error) {
    static const struct ss_suggest_names known = {"command", SS_SUGGEST_ROWS(verbs), NULL};
    struct ssactuate_options options;

    int result = ssactuate_options_parse(&options, &known, argv, error);
    if (result == 0 && !ss_program_print_requested("ssactuate", &options.store, options.help,
                           options.version, ssactuate_options_print_help))
        result = options.verb->changes && ss_platform_check_proc(error) < 0
                     ? -1
                     : options.verb->action(&options, status, error);

    ss_option_store_free(&options.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("ssactuate", run, argc, argv);
}
