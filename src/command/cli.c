/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cli.h"

#include <math.h>

#include "base/owned.h"
#include "base/words.h"
#include "loop/module_set.h"
#include "options/arguments.h"

/* Characters allowed in the name of a label. No format of a record has to quote them. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static int check_name(const char *text, size_t length, struct ss_error *error) {
    struct ss_words_shown shown = ss_words_show(text);
    if (!text[length])
        return ss_error_fail(error, "'%s' has no value: use NAME=VALUE", shown.text);
    if (length == 0 || *text == '-' || strspn(text, letters) < length)
        return ss_error_fail(error,
            "'%s' does not begin with a name: use NAME=VALUE, with letters, digits, _ and - in "
            "NAME, which must not begin with -",
            shown.text);
    if (length > SS_LABEL_NAME_MAX)
        return ss_error_fail(error, "the name in '%s' is too long: %zu characters (at most %d)",
            shown.text, length, SS_LABEL_NAME_MAX);

    return 0;
}

static int check_value(const char *text, size_t name, struct ss_error *error) {
    const char *value = text + name + 1;
    size_t length = strlen(value);
    if (length > SS_LABEL_VALUE_MAX)
        return ss_error_fail(error, "the value of '%.*s' is too long: %zu bytes (at most %d)",
            (int)name, text, length, SS_LABEL_VALUE_MAX);
    if (ss_letter_has_controls(value))
        return ss_error_fail(error,
            "the value of '%.*s' contains a control character, such as a newline or a tab: use "
            "one line, with spaces",
            (int)name, text);
    return 0;
}

static int take_label(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct ss_option_store *store = &((struct ss_cli *)config)->store;
    struct ss_labels *labels = &((struct ss_cli *)config)->labels;
    size_t length = strcspn(text, "=");

    (void)row;
    if (check_name(text, length, error) < 0 || check_value(text, length, error) < 0)
        return -1;

    for (size_t i = 0; i < labels->count; i++) {
        const char *name = labels->items[i].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            return ss_error_fail(error, "'%s' is given twice: give each name once", name);
    }

    if (labels->count == SS_LABELS_MAX)
        return ss_error_fail(
            error, "'%.*s': too many labels (at most %d)", (int)length, text, SS_LABELS_MAX);

    char name[SS_LABEL_NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    struct ss_label label = {
        ss_option_store_add(store, name), ss_option_store_add(store, text + length + 1)};
    if (!label.name || !label.value)
        return ss_error_memory(error);

    labels->items[labels->count++] = label;
    return 0;
}

#define AT(member)       .offset = offsetof(struct ss_cli, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct ss_cli, member)

/* Options that apply only to processes started by the run. */
#define EXCLUDED_BY_ATTACH                                                                         \
    "instances workloads cpus fail-fast isolate repeat iteration output tty keep COMMAND"

/* The options, in the order of --help. */
// clang-format off
static const struct ss_argument rows[] = {
    {'n', "N", {"instances", COUNT_AT(instances), .min = "1", .max = "1000000",
        .help = "how many copies of the command to run; default: the number of measured CPUs"}},
    SS_ARGUMENTS_MODULES(struct ss_cli),
    {'w', "FILE", {"workloads", SS_OPTION_TEXT, AT(workloads),
        .help = "run the commands in this file together; each line is COUNT COMMAND..."},
        .excludes = "instances COMMAND"},
    {'p', "STR", {"placeholder", SS_OPTION_TEXT, AT(placeholder), .initial = "%",
        .help = "the text in the command that is replaced by the instance's index; write "
                "it twice to keep it; '' turns this off"}, .may_be_empty = true},
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(cpus),
        .help = "pin all instances to these CPUs and measure only these: 0-3,8, or 0-14:2 for "
                "every second one"}},
    {0, "TIME", {"warmup", SS_OPTION_TIME, AT(warmup), .initial = "0", .sensible = "500ms",
        .help = "let the instances run at full speed for this long before control and the trace start"}},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(settle), .initial = "0", .sensible = "500ms",
        .help = "exclude this much time at the start of control from the statistics"}},
    {0, "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "1us", .sensible = "500ms",
        .help = "end after this much time under control; default: at the end of a trace that "
                "does not loop, else when the workloads end"}},
    {0, "TIME", {"start-at", SS_OPTION_TEXT, AT(start_at),
        .help = "start the trace at this wall-clock time: RFC 3339, HH:MM[:SS] or @EPOCH"}},
    {0, NULL, {"fail-fast", AT(fail_fast), .help = "end the run when an instance fails"}},
    {0, NULL, {"isolate", AT(isolate),
        .help = "run all instances in a PID namespace of their own, so that no process can "
                "outlive the run"}},
    {0, NULL, {"repeat", AT(repeat),
        .help = "start an instance again when it ends with status 0; without --iteration, each end is "
                "one iteration"}},
    {0, "REGEX", {"iteration", SS_OPTION_TEXT, AT(iteration),
        .help = "each line of output that matches ends one iteration; the first group, if any, "
                "is its time in milliseconds"}, .may_be_empty = true},
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write each instance's output to DIR/NN.out and DIR/NN.err"}},
    {0, NULL, {"tty", AT(tty),
        .help = "give each instance a pseudo-terminal as standard output, so that programs which "
                "buffer output to a pipe write it line by line"}},
    {0, "FILE", {"json", SS_OPTION_TEXT, AT(json),
        .help = "write the summary as JSON; - is standard output"}},
    {0, "DIR", {"record", SS_OPTION_TEXT, AT(record),
        .help = "record the run in this folder: plan, machine, samples, decisions, iterations, events"}},
    {0, "WHICH", {"record-decisions", SS_OPTION_CHOICE, AT(decisions), .choices = "all none",
        .initial = "all", .help = "which decisions to record"}, .needs = "record"},
    {0, "NAME=VALUE", {"label",
        .help = "store this text with the run, in the record and the summary; may be given several times, with different names"}, .take = take_label},
    {0, NULL, {"counters", AT(counters),
        .help = "record every second what the CPUs and the kernel count for the instances: "
                "instructions, cache misses, page faults, ..."}, .needs = "record"},
    {0, NULL, {"force", AT(force), .help = "replace an existing record"}, .needs = "record"},
    {0, "DIR", {"replay", SS_OPTION_TEXT, AT(replay),
        .help = "repeat a recorded run, and print how the machine differs; other options replace "
                "recorded ones"}, .excludes = "COMMAND"},
    {0, "USER", {"trust-owner", SS_OPTION_TEXT, AT(trust_owner),
        .help = "replay a record that belongs to USER, even if USER lets others write to it"},
        .needs = "replay"},
    {0, "WHEN", {"progress", SS_OPTION_CHOICE, AT(progress), .choices = "auto always never",
        .initial = "auto", .help = "show a live block on standard error; auto: on a terminal"}},
    {0, "TIME", {"grace", SS_OPTION_TIME, AT(grace), .initial = "5s", .sensible = "50ms",
        .help = "how long to wait for an instance to end before killing it"}},
    /* Output passes through a pipe: once it is closed, SIGPIPE would end instances that write. */
    {0, NULL, {"keep", AT(keep), .help = "leave instances running when showstopper ends"},
        .excludes = "isolate iteration output tty"},
    {0, "PID,...", {"attach", SS_OPTION_TEXT, AT(attach),
        .help = "control these running processes and all that they start, instead of a command"},
        .excludes = EXCLUDED_BY_ATTACH},
    {0, "NAME", {"attach-name", SS_OPTION_TEXT, AT(attach_name),
        .help = "control the running process with this name"}, .excludes = EXCLUDED_BY_ATTACH},
    {0, "PATH", {"attach-group", SS_OPTION_TEXT, AT(attach_group),
        .help = "control all processes that are in this control group (version 2) or join it, as one instance"},
        .excludes = EXCLUDED_BY_ATTACH " attach attach-name end counters"},
    {0, NULL, {"end", AT(end),
        .help = "end attached processes with the run; by default they are left running"},
        .needs = "attach attach-name"},
    /* In another PID namespace, the pids would name other processes. */
    {0, "PID,...", {"beside", SS_OPTION_TEXT, AT(beside),
        .help = "treat these running processes, such as the client of a service, and all that they "
                "start as part of the experiment: they do not count as other processes"},
        .excludes = "isolate"},
    {0, "PID LOAD", {"set", SS_OPTION_TEXT, AT(set_pid),
        .help = "change the target of a running showstopper of your own; `trace` returns to the trace"}, .second = offsetof(struct ss_cli, set_load),
        .only_with = "quiet verbose"},
    {0, "PID", {"status", SS_OPTION_TEXT, AT(status_pid),
        .help = "print the state, target, load and duty of a running showstopper of your own"},
        .only_with = "openmetrics quiet verbose"},
    {0, "FILE", {"openmetrics", SS_OPTION_TEXT, AT(metrics),
        .help = "write metrics to FILE as OpenMetrics text instead; - is standard output"},
        .needs = "status"},
    {'q', NULL, {"quiet", AT(quiet), .help = "print neither the summary nor its warnings"}},
    {'v', NULL, {"verbose", AT(verbose), .help = "print more about what the run does"}},
    {0, "PERCENT", {"tolerance", SS_OPTION_PERCENT, AT(tolerance_percent), .min = "0",
        .help = "exit with status 3 if the mean error of the run, up or down, exceeds this or is unknown"}},
    {0, NULL, {"dry-run", AT(dry_run), .help = "check everything, print the plan, start nothing"}},
    {0, NULL, {"list-modules", AT(list_modules), .help = "list the available modules"}},
    {0, "KIND/NAME", {"help-module", SS_OPTION_TEXT, AT(help_module),
        .help = "describe a module and its options"}},
    SS_ARGUMENTS_HELP_AT(struct ss_cli),
    SS_ARGUMENTS_END,
};
// clang-format on

/* Removes trailing slashes from a folder's name, to which "/FILE" is appended later. */
static int cut_slashes(const char **name, struct ss_option_store *store) {
    size_t length = *name ? strlen(*name) : 0;
    if (length < 2 || (*name)[length - 1] != '/')
        return 0;
    while (length > 1 && (*name)[length - 1] == '/')
        length--;
    SS_OWNED(free) char *cut = strndup(*name, length);
    *name = cut ? ss_option_store_add(store, cut) : NULL;
    return *name ? 0 : -1;
}

int ss_cli_parse(struct ss_cli *cli, char **argv, struct ss_error *error) {
    *cli = (struct ss_cli){.duration = SS_TIME_NEVER, .tolerance_percent = NAN, .arguments = argv};
    if (ss_arguments_parse(rows, cli, &cli->store, argv, &cli->command, error) < 0)
        return -1;
    if (cut_slashes(&cli->output, &cli->store) < 0 || cut_slashes(&cli->record, &cli->store) < 0)
        return ss_error_memory(error);
    return 0;
}

void ss_cli_free(struct ss_cli *cli) {
    ss_option_store_free(&cli->store);
}

void ss_cli_help(FILE *stream) {
    fprintf(stream,
        "Usage: showstopper [OPTION]... [--] COMMAND [ARGUMENT]...\n"
        "       showstopper [OPTION]... --attach PID[,PID]...\n"
        "       showstopper [OPTION]... --attach-group PATH\n"
        "       showstopper --replay DIR [OPTION]...\n"
        "       showstopper --set PID LOAD | --status PID\n"
        "Runs copies of COMMAND and holds the CPU load at a target, or makes it follow a\n"
        "trace, by stopping and continuing them.\n\n"
        "Times: 20s, 107ms, 2min, 1h. Loads: 60%%, 0.6 or 6/10, or a number of the\n"
        "measured CPUs: 0.5cpu.\n\n");
    ss_arguments_print_help(stream, rows);
    fprintf(stream, "\nExample: hold this machine at half of its capacity for 20 seconds.\n"
                    "  showstopper -l 50%% --duration 20s ssburn serial\n");
}
