/* SPDX-License-Identifier: Apache-2.0 */
#include "command/plan.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/module_call.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/pattern.h"
#include "base/streams.h"
#include "base/wallclock.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "command/commands.h"

static int resolve_cpus(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    struct ss_cpus allowed;

    ss_platform_affinity(&allowed);
    plan->cpus = allowed;
    plan->pinned = cli->cpus != NULL;
    if (cli->cpus) {
        if (ss_cpus_parse(cli->cpus, &plan->cpus, error) < 0)
            return ss_error_wrap(error, "--cpus");
        uint32_t outside = ss_cpus_first_outside(&plan->cpus, &allowed);
        if (outside < SS_CPUS_MAX) {
            char list[256];
            ss_cpus_print(list, sizeof list, &allowed);
            return ss_error_fail(
                error, "--cpus: CPU %u is not available here; available: %s", outside, list);
        }
    }

    plan->cpu_count = ss_cpus_count(&plan->cpus);
    if (plan->cpu_count == 0)
        return ss_error_fail(error, "--cpus: the list is empty: use CPU numbers, such as 0-3,8");

    return 0;
}

static int read_workloads(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    const char **path = &plan->workloads[1];
    *path = cli->workloads;
    if (cli->record && ss_inputs_add(&plan->inputs, NULL, "workloads", path, error) < 0)
        return -1;
    return ss_commands_read(&plan->commands, *path, error);
}

/*
 * Warns of a placeholder that was probably meant as a percentage: if the command is showstopper
 * itself, -l 60% would become -l 600.
 */
static void warn_of_percentage(struct ss_plan *plan, const char *placeholder) {
    const char *word = ss_commands_find_percentage(&plan->commands, placeholder);
    char text[400], number[16];
    if (!word)
        return;
    struct ss_words_shown shown = ss_words_show(word);
    ss_commands_print_number(number, sizeof number, 0, plan->commands.count);
    snprintf(text, sizeof text,
        "in the command, %s becomes %.*s%s, because %% stands for the instance's index: use "
        "%s%% to keep the %%, or -p '' if no index is needed",
        shown.text, (int)strcspn(shown.text, "%"), shown.text, number, shown.text);
    ss_option_store_warn(&plan->set.store, text);
}

/* Resolves attached processes. Each gets "--attach PID" as its command, for records and reports. */
static int resolve_attached(
    struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    char list[4096] = "";
    size_t used = 0;

    if (ss_attach_resolve(&plan->attached, cli->attach, cli->attach_name, error) < 0)
        return -1;

    for (uint32_t i = 0; i < plan->attached.count; i++) {
        char pid[16];
        char option[] = "--attach";
        char *words[] = {option, pid, NULL};
        snprintf(pid, sizeof pid, "%d", (int)plan->attached.items[i].pid);
        if (ss_commands_repeat(&plan->commands, words, 1, error) < 0)
            return -1;
        if (used + sizeof pid + 1 < sizeof list)
            used += (size_t)sprintf(list + used, "%s%s", i ? "," : "", pid);
    }

    plan->workloads[0] = "--attach";
    plan->workloads[1] = ss_option_store_add(&plan->set.store, list);
    plan->words = plan->workloads;
    return 0;
}

static int resolve_group(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    char option[] = "--attach-group";
    if (ss_attach_resolve_group(&plan->attached, cli->attach_group, error) < 0)
        return -1;
    char *words[] = {option, plan->attached.group, NULL};
    plan->workloads[0] = "--attach-group";
    plan->workloads[1] = plan->attached.group;
    plan->words = plan->workloads;
    return ss_commands_repeat(&plan->commands, words, 1, error);
}

static int resolve_commands(
    struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    struct ss_commands *commands = &plan->commands;
    uint64_t instances = cli->instances ? cli->instances : plan->cpu_count;

    if (cli->attach || cli->attach_name)
        return resolve_attached(plan, cli, error);
    if (cli->attach_group)
        return resolve_group(plan, cli, error);
    if (!cli->workloads && !*cli->command)
        return ss_error_fail(error, "no command given: use showstopper -l 50%% COMMAND; "
                                    "see --help");

    plan->workloads[0] = "-w";
    plan->words = cli->workloads ? plan->workloads : (const char *const *)cli->command;
    if (cli->workloads ? read_workloads(plan, cli, error) < 0
                       : ss_commands_repeat(commands, cli->command, instances, error) < 0)
        return -1;

    warn_of_percentage(plan, cli->placeholder);
    if (ss_commands_fill_in(commands, cli->placeholder, error) < 0)
        return -1;
    if (ss_commands_use_installed(commands, error) < 0)
        return -1;
    return ss_commands_check(commands, error);
}

int ss_plan_number_instances(struct ss_plan *plan, struct ss_error *error) {
    snprintf(plan->instances_text, sizeof plan->instances_text, "%u", plan->instances);
    plan->numbers = calloc(plan->instances, sizeof *plan->numbers);
    for (uint32_t i = 0; plan->numbers && i < plan->instances; i++) {
        char number[16];
        ss_commands_print_number(number, sizeof number, i, plan->instances);
        plan->numbers[i] = strdup(number);
        if (!plan->numbers[i])
            return ss_error_memory(error);
    }
    return plan->numbers ? 0 : ss_error_memory(error);
}

/*
 * Returns the first word of the command that is an option of showstopper for the target, and is
 * probably misplaced; NULL if absent.
 */
static const char *find_late_target(const struct ss_cli *cli) {
    static const char *const options[] = {"-l", "--load", "-t", "--trace"};
    for (char **word = cli->command; *word; word++) {
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            if (strcmp(*word, options[i]) == 0)
                return *word;
        }
    }
    return NULL;
}

static int check_target(const struct ss_cli *cli, struct ss_error *error) {
    const char *late = find_late_target(cli);
    bool holds_load = strcmp(cli->modules[SS_KIND_TRACE], SS_TRACE_DEFAULT) == 0;
    if (!holds_load || cli->options[SS_KIND_TRACE])
        return 0;
    if (late)
        return ss_error_fail(error,
            "no target given: options must precede the command, but %s follows it: use "
            "showstopper %s ... %s",
            late, late, ss_words_show(*cli->command).text);
    return ss_error_fail(
        error, "no target given: hold a load with -l LOAD, or follow a trace with -t file -T FILE");
}

static int add_files(struct ss_plan *plan, enum ss_kind kind, struct ss_error *error) {
    const struct ss_option *row = plan->set.modules[kind].head->options;
    for (; row && row->name; row++) {
        const char **path = (const char **)((char *)plan->set.configs[kind] + row->offset);
        if (row->type == SS_OPTION_FILE && *path &&
            ss_inputs_add(&plan->inputs, ss_kind_names[kind], row->name, path, error) < 0)
            return ss_error_wrap(
                error, "%s/%s", ss_kind_names[kind], plan->set.modules[kind].head->name);
    }
    return 0;
}

/* Checks that the program of the sensor can be found and executed. */
static int check_sensor(const struct ss_plan *plan, struct ss_error *error) {
    size_t count;
    SS_OWNED(free) char **words = ss_words_split(plan->source.argument, &count, error);
    if (words && count > 0 && ss_commands_check_program(words[0], error) == 0)
        return 0;
    if (words && count == 0)
        ss_error_fail(error, "the command is empty: name a program");
    if (error)
        error->status = SS_ERROR_FAILED; /* 126 and 127 are for the command of the run */
    return ss_error_wrap(error, "feedback/%s", plan->set.modules[SS_KIND_FEEDBACK].head->name);
}

static int open_source(struct ss_plan *plan, struct ss_error *error) {
    if (ss_module_set_prepare_feedback(&plan->set, &plan->source, error) < 0)
        return -1;

    if (plan->source.source == SS_SOURCE_CGROUP && !plan->source.argument)
        plan->source.argument = plan->attached.group;

    /* A load of 1 is this many CPUs; 0 if unknown. */
    plan->set.load_cpus = plan->cpu_count;
    if (plan->source.source == SS_SOURCE_SENSOR)
        plan->set.load_cpus = 0;
    else if (plan->source.source == SS_SOURCE_OWN && plan->source.cpus > 0)
        plan->set.load_cpus = plan->source.cpus;
    if (plan->set.load_cpus > plan->cpu_count)
        return ss_error_fail(error,
            "feedback/%s: cpus=%g exceeds the %u measured CPU%s: use at most %u",
            plan->set.modules[SS_KIND_FEEDBACK].head->name, plan->set.load_cpus, plan->cpu_count,
            plan->cpu_count == 1 ? "" : "s", plan->cpu_count);

    if (plan->source.source == SS_SOURCE_OWN)
        snprintf(plan->reader.path, sizeof plan->reader.path, "%s",
            ss_platform_task_clock_works() ? "perf_event_open and /proc" : "/proc");

    if (plan->source.source == SS_SOURCE_SENSOR && check_sensor(plan, error) < 0)
        return -1;
    if (!ss_plan_reads_counters(plan))
        return 0;
    if (ss_platform_counters_open(&plan->reader, &plan->source, &plan->cpus, NULL, error) < 0)
        return -1;
    if (plan->source.required && plan->reader.source != plan->source.source)
        return ss_error_fail(error, "feedback/%s: the requested source is not available: %s",
            plan->set.modules[SS_KIND_FEEDBACK].head->name, plan->reader.reason);

    plan->source.source = plan->reader.source;
    if (plan->source.source == SS_SOURCE_CGROUP)
        plan->set.load_cpus = plan->reader.capacity;
    return 0;
}

/*
 * Loads the modules. The feedback module is first: it defines a load of 100 %, on which the target
 * may depend.
 */
static int load_modules(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    static const enum ss_kind order[SS_KINDS] = {
        SS_KIND_FEEDBACK, SS_KIND_TRACE, SS_KIND_CONTROL, SS_KIND_SPACE, SS_KIND_DITHERING};

    plan->set.instances = plan->instances;
    plan->set.cpus = plan->cpu_count;
    plan->set.window = cli->window;
    for (size_t i = 0; i < SS_KINDS; i++) {
        enum ss_kind kind = order[i];
        if (ss_module_set_load(&plan->set, kind, cli->modules[kind], cli->options[kind], error) < 0)
            return -1;
        if (plan->record && add_files(plan, kind, error) < 0)
            return -1;
        if (kind == SS_KIND_FEEDBACK && open_source(plan, error) < 0)
            return -1;
    }
    return 0;
}

static int prepare_modules(struct ss_plan *plan, struct ss_error *error) {
    if (ss_module_set_prepare(&plan->set, error) < 0)
        return -1;
    if (ss_inputs_check(&plan->inputs, error) < 0)
        return ss_error_wrap(error, "--record");

    struct ss_self selves[SS_KINDS];
    ss_module_set_selves(&plan->set, NULL, plan->instances, selves);
    const struct ss_loaded_module *trace = &plan->set.modules[SS_KIND_TRACE];
    ss_called_module_path = trace->object.path;
    ss_time length = trace->table.trace.length(&selves[SS_KIND_TRACE]);
    ss_called_module_path = NULL;
    if (length == 0)
        return ss_error_fail(error, "trace/%s: the trace has length 0", trace->head->name);

    if (length < plan->duration) {
        plan->duration = length;
        plan->ends_with_trace = true;
    }

    if (plan->settle < plan->duration)
        return 0;

    return ss_error_fail(
        error, "--settle leaves no time to count: use a time that is shorter than the run");
}

/* If the feedback module says nothing, says why the platform has no better source. */
static void describe_modules(struct ss_plan *plan) {
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++)
        ss_module_set_describe(&plan->set, kind, plan->found[kind], sizeof plan->found[kind]);
    char *feedback = plan->found[SS_KIND_FEEDBACK];
    plan->feedback_differs = *feedback;
    if (!plan->feedback_differs)
        snprintf(feedback, sizeof plan->found[0], "%s", plan->reader.reason);
}

static int resolve_times(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    plan->warmup = cli->warmup;
    plan->settle = cli->settle;
    plan->duration = cli->duration;
    plan->grace = cli->grace;
    plan->has_start_at = cli->start_at != NULL;
    if (!cli->start_at)
        return 0;

    int64_t now = ss_platform_wallclock();
    if (ss_wallclock_parse(cli->start_at, now, &plan->start_at, error) < 0)
        return ss_error_wrap(error, "--start-at");
    if (plan->start_at < now)
        return ss_error_fail(
            error, "--start-at: '%s' has passed: give a time in the future", cli->start_at);

    return 0;
}

static size_t count_option_words(const struct ss_cli *cli) {
    size_t count = 1;
    while (cli->arguments[count] && cli->arguments + count != cli->command)
        count++;
    bool dashes = cli->arguments[count] && strcmp(cli->arguments[count - 1], "--") == 0;
    return count - 1 - dashes;
}

static int check_output(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    struct stat status;

    plan->output = cli->output;
    plan->json = cli->json;
    plan->record = cli->record;
    plan->force = cli->force;
    plan->no_decisions = cli->decisions == SS_DECISIONS_NONE;
    plan->labels = cli->labels;
    plan->counters = cli->counters;
    plan->arguments = cli->arguments;
    plan->option_words = count_option_words(cli);
    if (cli->iteration && ss_pattern_compile(&plan->iteration, cli->iteration, error) < 0)
        return ss_error_wrap(error, "--iteration");

    plan->has_iteration = cli->iteration != NULL;
    bool output_exists = cli->output && stat(cli->output, &status) == 0;
    if (output_exists && !S_ISDIR(status.st_mode))
        return ss_error_fail(error, "--output: %s is not a folder: name a folder", cli->output);

    /* --record may create its parent folder. */
    if (cli->output && !output_exists && !cli->record &&
        ss_whole_file_check(cli->output, error) < 0)
        return ss_error_wrap(error, "--output");
    if (!cli->json)
        return 0;

    int result = strcmp(cli->json, "-") == 0 ? ss_streams_check_output(error)
                                             : ss_whole_file_check(cli->json, error);
    return result < 0 ? ss_error_wrap(error, "--json") : 0;
}

/* Refuses a --json that would replace a file that a module reads. */
static int check_files(const struct ss_plan *plan, enum ss_kind kind, struct ss_error *error) {
    const struct ss_loaded_module *module = &plan->set.modules[kind];
    const struct ss_option *row = module->head->options;
    char reader[128];

    snprintf(reader, sizeof reader, "%s/%s", ss_kind_names[kind], module->head->name);
    for (; row && row->name; row++) {
        const char *const *path =
            (const char *const *)((char *)plan->set.configs[kind] + row->offset);
        if (row->type != SS_OPTION_FILE)
            continue;
        const struct ss_path paths[] = {{reader, *path, true}, {"--json", plan->json, false}};
        if (ss_paths_check(paths, 2, -1, error) < 0)
            return -1;
    }

    return 0;
}

static int check_json(
    const struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    if (!plan->json || strcmp(plan->json, "-") == 0)
        return 0;
    const struct ss_path paths[] = {{"-w", cli->workloads, true}, {"--json", plan->json, false}};
    if (ss_paths_check(paths, 2, -1, error) < 0)
        return -1;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        if (check_files(plan, kind, error) < 0)
            return -1;
    }
    return 0;
}

static int check_limits(
    const struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    uint64_t processes = 2 * (uint64_t)plan->instances + 2;
    /*
     * The guardian has two files per instance. The master has two pipes per instance for its output
     * and, with --output, two files more. All processes inherit the claims.
     */
    uint64_t files = (cli->output ? 4 : 2) * (uint64_t)plan->instances + plan->attached.count + 32;
    if (ss_platform_check_limits(processes, files, error) < 0)
        return ss_error_wrap(
            error, "%u instance%s", plan->instances, plan->instances == 1 ? "" : "s");
    return 0;
}

int ss_plan_make(struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error) {
    *plan = (struct ss_plan){.reader = {.file = -1}};
    plan->tolerance_percent = cli->tolerance_percent;
    plan->placeholder = cli->placeholder;
    plan->quiet = cli->quiet;
    plan->verbose = cli->verbose;
    plan->progress = cli->progress;
    plan->fail_fast = cli->fail_fast;
    plan->repeat = cli->repeat;
    plan->keep = cli->keep || cli->attach_group || ((cli->attach || cli->attach_name) && !cli->end);
    plan->isolate = cli->isolate;
    plan->tty = cli->tty;

    if (ss_platform_check_system(error) < 0)
        return -1;
    if (resolve_cpus(plan, cli, error) < 0)
        return -1;
    if (resolve_times(plan, cli, error) < 0)
        return -1;
    if (check_target(cli, error) < 0)
        return -1;
    if (resolve_commands(plan, cli, error) < 0)
        return -1;
    if (ss_attach_find_beside(&plan->beside, cli->beside, error) < 0)
        return -1;

    plan->instances = plan->commands.count;
    if (ss_plan_number_instances(plan, error) < 0)
        return -1;
    if (check_limits(plan, cli, error) < 0)
        return -1;
    if (check_output(plan, cli, error) < 0)
        return -1;
    if (load_modules(plan, cli, error) < 0)
        return -1;
    if (check_json(plan, cli, error) < 0)
        return -1;
    if (prepare_modules(plan, error) < 0)
        return -1;

    describe_modules(plan);
    return 0;
}

void ss_plan_free(struct ss_plan *plan) {
    ss_commands_free(&plan->commands);
    for (uint32_t i = 0; plan->numbers && i < plan->instances; i++)
        free(plan->numbers[i]);
    free(plan->numbers);
    ss_attach_free(&plan->attached);
    if (plan->has_iteration)
        regfree(&plan->iteration);
    ss_platform_counters_close(&plan->reader);
    ss_module_set_release(&plan->set);
    ss_inputs_close(&plan->inputs);
    *plan = (struct ss_plan){.reader = {.file = -1}};
}

ss_time ss_plan_now(const struct ss_plan *plan) {
    return plan->clock ? plan->clock->now(plan->clock->context) : ss_platform_now();
}

int64_t ss_plan_wallclock(const struct ss_plan *plan) {
    return plan->clock ? plan->clock->wallclock(plan->clock->context) : ss_platform_wallclock();
}

bool ss_plan_reads_counters(const struct ss_plan *plan) {
    return plan->source.source != SS_SOURCE_SENSOR && plan->source.source != SS_SOURCE_OWN;
}

bool ss_plan_pipes_output(const struct ss_plan *plan) {
    return plan->has_iteration || plan->output || plan->tty;
}

int ss_plan_output_descriptor(const struct ss_plan *plan) {
    return plan->json && strcmp(plan->json, "-") == 0 ? STDERR_FILENO : STDOUT_FILENO;
}

void ss_plan_print_options(
    char *buffer, size_t size, const struct ss_plan *plan, enum ss_kind kind) {
    const struct ss_option *row = plan->set.modules[kind].head->options;
    size_t used = 0;

    buffer[0] = '\0';
    for (; row && row->name; row++) {
        char value[4096];
        ss_option_print_value(value, sizeof value, row, plan->set.configs[kind]);
        if (!*value)
            continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s=", used ? "," : "", row->name);
        for (const char *at = value; *at && used + 2 < size; at++) {
            if (*at == ',' || *at == '\\')
                buffer[used++] = '\\';
            buffer[used++] = *at;
        }
        buffer[used < size ? used : size - 1] = '\0';
        if (used + 2 >= size)
            return;
    }
}
