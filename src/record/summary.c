/* SPDX-License-Identifier: Apache-2.0 */
#include "record/summary.h"

#include <math.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <showstopper/contract.h>

#include "base/json.h"
#include "base/streams.h"
#include "base/version.h"
#include "base/wallclock.h"
#include "base/whole_file.h"

/* Maximum number of commands in the text summary. */
#define COMMANDS_SHOWN_MAX 8

/* Maximum number of early ends in the text summary; further ones are only counted. */
#define ENDS_SHOWN_MAX 3

/* Prints one figure of a run, named as in showstopper-record(5). */
SS_FORMAT(6, 7)
static void print_row(FILE *stream, const char *name, double value, int decimals, const char *unit,
    const char *format, ...) {
    if (fabs(value) < 0.5 * pow(10, -decimals))
        value = 0; /* not -0.000 */
    if (isnan(value))
        fprintf(stream, "%-18s %-15s", name, "not measured");
    else
        fprintf(stream, "%-18s %9.*f %-3s  ", name, decimals, value, unit);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
}

/* With fewer samples than this, the 95 % quantile would be the maximum. */
#define SAMPLES_FOR_P95 20

static void print_errors(FILE *stream, const struct ss_outcome *outcome) {
    print_row(stream, "mean error", outcome->error_mean_percent, 3, "%", "target minus load");
    print_row(stream, "mean squared error", outcome->error_mse_e4, 3, "%^2", "mean of its squares");
    if (outcome->samples >= SAMPLES_FOR_P95)
        print_row(stream, "95 % within", outcome->error_p95_percent, 2, "%",
            "of the target: 95 %% of the samples");
    else if (outcome->samples > 1)
        print_row(stream, "95 % within", outcome->error_p95_percent, 2, "%",
            "of the target: all of the few samples");
}

static void print_figures(FILE *stream, const struct ss_outcome *outcome) {
    if (outcome->samples == 1)
        print_row(stream, "target", 100 * outcome->target_mean, 2, "%",
            "one sample of 500 ms, which has no spread");
    else
        print_row(stream, "target", 100 * outcome->target_mean, 2, "%",
            "mean of %llu samples of 500 ms", (unsigned long long)outcome->samples);

    print_row(stream, "load", 100 * outcome->load_mean, 2, "%", "mean of the same samples");
    print_errors(stream, outcome);
    if (isnan(outcome->settling_seconds))
        fprintf(stream, "%-18s %9s      the error did not stay within 5 %% for 2 s\n",
            "settling time", "never");
    else
        print_row(stream, "settling time", outcome->settling_seconds, 2, "s",
            "until the error stayed within 5 %% for 2 s");

    print_row(stream, "duty", 100 * outcome->duty_mean, 2, "%",
        "part of the time that instances may run");
    print_row(stream, "switches", outcome->switches_per_second, 1, "/s",
        "stops and continues of all instances");
}

/*
 * Prints the range of complete intervals. The mean, which is printed before, covers all of the time
 * and may be outside this range.
 */
static void print_intervals(FILE *stream, const struct ss_outcome *outcome) {
    double min = INFINITY, max = 0;
    double interval = ss_time_seconds(SS_THROUGHPUT_INTERVAL);
    double left = outcome->duration_seconds - (double)outcome->throughput_count * interval;

    for (size_t i = 0; i < outcome->throughput_count; i++) {
        min = fmin(min, ss_throughput_rate(&outcome->throughput, i));
        max = fmax(max, ss_throughput_rate(&outcome->throughput, i));
    }

    fprintf(stream, "%-34s%.3f to %.3f /s in %zu intervals of %g s", "", min, max,
        outcome->throughput_count, interval);
    if (left >= 0.05)
        fprintf(stream, "\n%-34swithout the last %.1f s", "", left);
    fputc('\n', stream);
}

static void print_bound(FILE *stream, const char *label, const struct ss_iteration_rate *rate) {
    fprintf(stream, "%-18s at most %.3f /s: no iteration ended\n", label, rate->bound);
}

/* A smaller uncertainty, as a fraction of the rate, is not printed. */
#define UNCERTAINTY_SHOWN_MIN 0.005

static void print_iterations(FILE *stream, const struct ss_outcome *outcome) {
    const struct ss_iteration_rate *rate = &outcome->rate;

    print_row(stream, "iterations", outcome->iterations, 0, "", "ended in the counted time");
    if (rate->bound > 0) {
        print_bound(stream, "throughput", rate);
        return;
    }

    if (isnan(rate->per_second))
        print_row(stream, "throughput", NAN, 0, "", "iterations per second");
    else
        print_row(stream, "throughput", rate->per_second, 3, "/s",
            "iterations per second, mean of %.1f s", outcome->duration_seconds);

    if (rate->estimated > 0 && rate->uncertainty >= UNCERTAINTY_SHOWN_MIN * rate->per_second)
        fprintf(stream,
            "%-34s+- %.3f /s, as %.2f of the iterations had not\n"
            "%-34sended and are estimated\n",
            "", rate->uncertainty, rate->estimated, "");

    if (outcome->throughput_count > 1)
        print_intervals(stream, outcome);
}

static void print_times(FILE *stream, const char *label, const struct ss_iteration_times *times) {
    static const struct {
        const char *name;
        double per_second;
    } units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}};
    size_t unit = 0;

    if (isnan(times->mean))
        return;

    while (unit < 2 && times->mean * units[unit].per_second < 1)
        unit++;
    double factor = units[unit].per_second;

    /* Four significant digits show how iterations differ. */
    int digits = times->mean * factor < 100 ? 2 : 1;
    if (times->mean * factor < 10)
        digits = 3;
    if (isnan(times->deviation))
        print_row(stream, label, times->mean * factor, digits, units[unit].name,
            "one iteration, which has no spread");
    else
        print_row(stream, label, times->mean * factor, digits, units[unit].name,
            "mean; standard deviation %.*f", digits, times->deviation * factor);

    fprintf(stream, "%-34smedian %.*f, 95 %% %.*f, 99 %% %.*f\n", "", digits,
        times->median * factor, digits, times->p95 * factor, digits, times->p99 * factor);
}

/* Returns the rate of an instance; 0 if it completed no iteration. */
static double rate_of(const struct ss_iteration_outcome *instance) {
    return isnan(instance->rate.per_second) ? 0 : instance->rate.per_second;
}

/* Prints the slowest and the fastest instance of one command. */
static void print_instances(FILE *stream, const char *label, const struct ss_plan *plan,
    const struct ss_outcome *outcome, const struct ss_command_line *line) {
    const struct ss_iteration_outcome *all = outcome->per_instance;
    uint32_t min = line->first, max = line->first;

    for (uint32_t i = line->first; i < line->first + line->count; i++) {
        min = rate_of(&all[i]) < rate_of(&all[min]) ? i : min;
        max = rate_of(&all[i]) > rate_of(&all[max]) ? i : max;
    }

    if (line->count < 2 || !(rate_of(&all[max]) > 0))
        return;

    if (isnan(all[min].rate.per_second))
        fprintf(stream, "%-18s at most %.3f /s, to %.3f /s: instances %s and %s\n", label,
            all[min].rate.bound, rate_of(&all[max]), plan->numbers[min], plan->numbers[max]);
    else
        print_row(stream, label, rate_of(&all[min]), 3, "/s", "to %.3f /s: instances %s and %s",
            rate_of(&all[max]), plan->numbers[min], plan->numbers[max]);
}

/* Prints one line, truncated if it is too long. */
static void print_command_line(FILE *stream, const struct ss_command_line *line) {
    char text[80];
    int used = snprintf(text, sizeof text, "%u x", line->count);
    for (char **word = line->words; *word && used < (int)sizeof text - 4; word++) {
        int length = snprintf(text + used, sizeof text - (size_t)used, " %s", *word);
        used = length < 0 ? used : used + length;
    }
    if (used > 79)
        strcpy(text + 76, "...");
    for (char *at = text; *at; at++)
        *at = (unsigned char)*at < ' ' ? '?' : *at;
    fprintf(stream, "%s\n", text);
}

/*
 * Prints the figures of each command. Different commands count different things, so no common
 * figure is printed for their iterations.
 */
static void print_commands(
    FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    if (!outcome->per_command)
        return;
    if (plan->commands.line_count == 1) {
        print_times(stream, "iteration time", &outcome->iteration_times);
        print_instances(stream, "each instance", plan, outcome, plan->commands.lines);
        return;
    }

    for (uint32_t i = 0; i < plan->commands.line_count && i < COMMANDS_SHOWN_MAX; i++) {
        const struct ss_iteration_outcome *line = &outcome->per_command[i];
        print_command_line(stream, &plan->commands.lines[i]);
        if (line->rate.bound > 0)
            print_bound(stream, "  throughput", &line->rate);
        else
            print_row(stream, "  throughput", line->rate.per_second, 3, "/s", "%llu iteration%s",
                (unsigned long long)line->ended, line->ended == 1 ? "" : "s");
        print_times(stream, "  iteration time", &line->times);
        print_instances(stream, "  each instance", plan, outcome, &plan->commands.lines[i]);
    }

    if (plan->commands.line_count > COMMANDS_SHOWN_MAX) {
        uint32_t left = plan->commands.line_count - COMMANDS_SHOWN_MAX;
        fprintf(stream, "and %u more command%s: see --json\n", left, left == 1 ? "" : "s");
    }
}

/* An instance that exited with status 0 ended early only if others continued to run. */
static bool ended_early(const struct ss_outcome *outcome, const struct ss_end *end) {
    return end->status != 0 || strcmp(outcome->ended_by, "workloads") != 0;
}

static void print_ends(FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    const struct ss_ends *ends = &outcome->ends;
    size_t early = 0, shown = 0;

    for (size_t i = 0; i < ends->count; i++)
        early += ended_early(outcome, &ends->items[i]);
    if (early == 0)
        return;

    print_row(stream, "ended early", (double)early, 0, "", "of %u instance%s", plan->instances,
        plan->instances == 1 ? "" : "s");
    for (size_t i = 0; i < ends->count && shown < ENDS_SHOWN_MAX; i++) {
        char when[SS_END_TEXT_SIZE], how[SS_END_TEXT_SIZE];
        if (!ended_early(outcome, &ends->items[i]))
            continue;
        ss_end_print_time(when, ends->items[i].seconds);
        ss_end_describe(how, ends->items[i].status);
        fprintf(
            stream, "  instance %s %s: %s\n", plan->numbers[ends->items[i].instance], when, how);
        shown++;
    }

    if (early > shown)
        fprintf(stream, "  and %zu more\n", early - shown);
}

/* Reports what 100 % means now, if the limits of the control group changed. */
static void print_capacity(FILE *stream, const struct ss_outcome *outcome) {
    const struct ss_capacity *capacity = &outcome->capacity;
    if (capacity->changes == 0)
        return;
    print_row(stream, "allowance", capacity->latest, 3, "CPU", "since %.1f s: 100 %% was %g before",
        outcome->capacity_changed_seconds, capacity->first);
    if (capacity->changes > 1)
        fprintf(
            stream, "%-34sthe latest of %llu changes\n", "", (unsigned long long)capacity->changes);
}

void ss_summary_print(FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    char cpus[512], load[8192], verdict[SS_VERDICT_LINE_SIZE];

    ss_cpus_print(cpus, sizeof cpus, &plan->cpus);
    fprintf(stream, "showstopper: %u instance%s on %u CPU%s (%s), %s\n", plan->instances,
        plan->instances == 1 ? "" : "s", plan->cpu_count, plan->cpu_count == 1 ? "" : "s", cpus,
        ss_plan_load_subject(plan));
    ss_plan_describe_load(load, sizeof load, plan);
    fputs("100 % is ", stream);
    ss_option_print_wrapped(stream, 9, load);
    print_capacity(stream, outcome);
    if (plan->feedback_differs) {
        fputs("feedback ", stream);
        ss_option_print_wrapped(stream, 9, plan->found[SS_KIND_FEEDBACK]);
    }

    print_row(
        stream, "counted", outcome->duration_seconds, 1, "s", "ended by %s", outcome->ended_by);
    print_ends(stream, plan, outcome);
    if (outcome->samples > 0)
        print_figures(stream, outcome);
    if (plan->repeat || plan->has_iteration || !isnan(outcome->iterations))
        print_iterations(stream, outcome);
    print_commands(stream, plan, outcome);
    if (!isnan(outcome->own_cpu))
        print_row(stream, "own CPU time", 100 * outcome->own_cpu, 2, "%", "of one CPU");
    if (!isnan(outcome->wake_p50_us))
        print_row(stream, "late wake-up", outcome->wake_p50_us, 0, "us",
            "median; 99 %% < %.0f us, all < %.0f us", outcome->wake_p99_us, outcome->wake_max_us);

    for (int i = 0; i < outcome->warning_count; i++) {
        fputs("warning: ", stream);
        ss_option_print_wrapped(stream, 9, outcome->warnings[i]);
    }

    ss_verdict_describe(verdict, &outcome->verdict);
    fputs("verdict: ", stream);
    ss_option_print_wrapped(stream, 9, verdict);
}

/*
 * Returns whether JSON shows values of this type as numbers. Times are printed as text with a unit.
 */
static bool is_number(enum ss_option_type type) {
    return type == SS_OPTION_LOAD || type == SS_OPTION_COUNT || type == SS_OPTION_NUMBER ||
           type == SS_OPTION_PERCENT;
}

static void print_modules(struct ss_json *json, const struct ss_plan *plan) {
    ss_json_open(json, "modules", '{');
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        const struct ss_module *head = plan->set.modules[kind].head;
        ss_json_open(json, ss_kind_names[kind], '{');
        ss_json_text(json, "name", head->name);
        ss_json_open(json, "options", '{');
        for (const struct ss_option *row = head->options; row && row->name; row++) {
            char value[4096];
            ss_option_print_value(value, sizeof value, row, plan->set.configs[kind]);
            if (*value && is_number(row->type))
                ss_json_digits(json, row->name, value);
            else if (*value)
                ss_json_text(json, row->name, value);
        }
        ss_json_close(json, '}');
        if (*plan->found[kind])
            ss_json_text(json, "found", plan->found[kind]);
        ss_json_close(json, '}');
    }

    ss_json_close(json, '}');
}

/*
 * Prints the scope and the source of the load, and whether the statistics count iowait, steal and
 * guest time as work. For run time, steal is unknown: it depends on the kernel's configuration.
 */
static void print_measured(struct ss_json *json, const struct ss_plan *plan) {
    static const char *const scopes[] = {
        [SS_SOURCE_CGROUP] = "cgroup", [SS_SOURCE_SENSOR] = "sensor", [SS_SOURCE_OWN] = "own"};
    enum ss_source source = plan->source.source;
    bool sensor = source == SS_SOURCE_SENSOR;
    bool ran = source == SS_SOURCE_RUNTIME || source == SS_SOURCE_CGROUP || source == SS_SOURCE_OWN;
    char from[4200];
    ss_platform_counters_print_paths(from, sizeof from, &plan->reader);

    ss_json_open(json, "measured", '{');
    ss_json_text(json, "scope", scopes[source] ? scopes[source] : "cpus");
    ss_json_text(json, "from", sensor ? plan->source.argument : from);
    ss_json_number(json, "capacity_cpus", sensor ? NAN : plan->set.load_cpus);
    ss_json_text(json, "iowait", sensor ? NULL : "idle");
    ss_json_text(json, "steal", sensor || ran ? NULL : "work");
    ss_json_text(json, "guest", sensor ? NULL : "work");
    ss_json_close(json, '}');
}

static void print_words(struct ss_json *json, const char *name, const char *const *words) {
    ss_json_open(json, name, '[');
    for (; *words; words++)
        ss_json_text(json, NULL, *words);
    ss_json_close(json, ']');
}

static void print_plan(struct ss_json *json, const struct ss_plan *plan) {
    char cpus[SS_CPUS_TEXT_SIZE];

    ss_cpus_print(cpus, sizeof cpus, &plan->cpus);
    ss_json_number(json, "schema", SS_RECORD_SCHEMA);
    ss_json_text(json, "version", ss_version());
    ss_json_open(json, "labels", '{');
    for (size_t i = 0; i < plan->labels.count; i++)
        ss_json_text(json, plan->labels.items[i].name, plan->labels.items[i].value);
    ss_json_close(json, '}');
    print_words(json, "command", plan->words);
    ss_json_number(json, "instances", plan->instances);
    ss_json_text(json, "cpus", cpus);
    ss_json_number(json, "cpu_count", plan->cpu_count);
    print_measured(json, plan);
    print_modules(json, plan);
    ss_json_number(json, "window_seconds", ss_time_seconds(plan->set.window));
}

/* Lists the files that are copied to the record. */
static void print_inputs(struct ss_json *json, const struct ss_plan *plan) {
    ss_json_open(json, "inputs", '[');
    for (size_t i = 0; i < plan->inputs.count; i++) {
        const struct ss_input *input = &plan->inputs.items[i];
        ss_json_open(json, NULL, '{');
        if (input->kind)
            ss_json_text(json, "kind", input->kind);
        ss_json_text(json, "option", input->option);
        ss_json_text(json, "path", input->path);
        ss_json_text(json, "file", input->name);
        ss_json_close(json, '}');
    }

    ss_json_close(json, ']');
}

void ss_summary_print_plan(FILE *stream, const struct ss_plan *plan) {
    struct ss_json json = {.stream = stream};
    char folder[4096], started[64];

    ss_json_open(&json, NULL, '{');
    print_plan(&json, plan);
    print_words(&json, "arguments", (const char *const *)plan->arguments + 1);
    ss_json_number(&json, "options", (double)plan->option_words);
    print_inputs(&json, plan);
    ss_json_text(&json, "folder", getcwd(folder, sizeof folder));
    ss_wallclock_print(started, sizeof started, ss_plan_wallclock(plan));
    ss_json_text(&json, "started", started);
    if (plan->clock)
        ss_json_bool(&json, "simulated", true);
    ss_json_close(&json, '}');
}

static void print_throughput(struct ss_json *json, const struct ss_outcome *outcome) {
    ss_json_open(json, "throughput", '{');
    ss_json_number(json, "interval_seconds", ss_time_seconds(SS_THROUGHPUT_INTERVAL));
    ss_json_open(json, "iterations_per_second", '[');
    for (size_t i = 0; i < outcome->throughput_count; i++)
        ss_json_number(json, NULL, ss_throughput_rate(&outcome->throughput, i));
    ss_json_close(json, ']');
    ss_json_close(json, '}');
}

static void print_times_json(struct ss_json *json, const struct ss_iteration_times *times) {
    ss_json_open(json, "iteration_seconds", '{');
    ss_json_number(json, "mean", times->mean);
    ss_json_number(json, "deviation", times->deviation);
    ss_json_number(json, "median", times->median);
    ss_json_number(json, "p95", times->p95);
    ss_json_number(json, "p99", times->p99);
    ss_json_close(json, '}');
}

static void print_rate_json(struct ss_json *json, const struct ss_iteration_rate *rate) {
    ss_json_number(json, "iterations_per_second", rate->per_second);
    ss_json_number(json, "iterations_per_second_uncertainty", rate->uncertainty);
    ss_json_number(json, "iterations_per_second_bound", rate->bound);
    ss_json_number(json, "iterations_estimated", rate->estimated);
}

static void print_commands_json(
    struct ss_json *json, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    static const struct ss_iteration_times unknown = {NAN, NAN, NAN, NAN, NAN};
    static const struct ss_iteration_rate unmeasured = {NAN, NAN, NAN, NAN};

    ss_json_open(json, "commands", '[');
    for (uint32_t i = 0; i < plan->commands.line_count; i++) {
        const struct ss_iteration_outcome *line =
            outcome->per_command ? &outcome->per_command[i] : NULL;
        ss_json_open(json, NULL, '{');
        print_words(json, "command", (const char *const *)plan->commands.lines[i].words);
        ss_json_number(json, "instances", plan->commands.lines[i].count);
        ss_json_number(json, "iterations", line ? (double)line->ended : NAN);
        print_rate_json(json, line ? &line->rate : &unmeasured);
        print_times_json(json, line ? &line->times : &unknown);
        ss_json_close(json, '}');
    }

    ss_json_close(json, ']');
}

static void print_instances_json(
    struct ss_json *json, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    ss_json_open(json, "instances_detail", '[');
    for (uint32_t line = 0; outcome->per_instance && line < plan->commands.line_count; line++) {
        for (uint32_t i = 0; i < plan->commands.lines[line].count; i++) {
            uint32_t index = plan->commands.lines[line].first + i;
            const struct ss_iteration_outcome *instance = &outcome->per_instance[index];
            ss_json_open(json, NULL, '{');
            ss_json_number(json, "instance", index);
            ss_json_number(json, "command", line);
            ss_json_number(json, "iterations", (double)instance->ended);
            print_rate_json(json, &instance->rate);
            ss_json_number(json, "iteration_seconds_mean", instance->times.mean);
            ss_json_close(json, '}');
        }
    }

    ss_json_close(json, ']');
}

static void print_ends_json(struct ss_json *json, const struct ss_outcome *outcome) {
    ss_json_open(json, "instances_ended", '[');
    for (size_t i = 0; i < outcome->ends.count; i++) {
        const struct ss_end *end = &outcome->ends.items[i];
        bool killed = WIFSIGNALED(end->status);
        char name[SS_SIGNAL_NAME_SIZE];
        if (killed)
            ss_end_signal_name(name, WTERMSIG(end->status));
        ss_json_open(json, NULL, '{');
        ss_json_number(json, "instance", end->instance);
        ss_json_number(json, "elapsed_seconds", end->seconds);
        ss_json_number(json, "exit_status", killed ? NAN : WEXITSTATUS(end->status));
        ss_json_text(json, "signal", killed ? name : NULL);
        ss_json_bool(json, "core_dumped", killed && WCOREDUMP(end->status));
        ss_json_close(json, '}');
    }

    ss_json_close(json, ']');
}

static void print_capacity_json(struct ss_json *json, const struct ss_outcome *outcome) {
    const struct ss_capacity *capacity = &outcome->capacity;
    bool changed = capacity->changes > 0;
    ss_json_open(json, "allowance", '{');
    ss_json_number(json, "changes", (double)capacity->changes);
    ss_json_number(json, "latest_cpus", changed ? capacity->latest : NAN);
    ss_json_number(json, "changed_seconds", outcome->capacity_changed_seconds);
    ss_json_close(json, '}');
}

void ss_summary_print_json(
    FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    struct ss_json json = {.stream = stream};

    ss_json_open(&json, NULL, '{');
    print_plan(&json, plan);
    ss_json_number(&json, "duration_seconds", outcome->duration_seconds);
    ss_json_number(&json, "samples", (double)outcome->samples);
    ss_json_number(&json, "target_mean", outcome->target_mean);
    ss_json_number(&json, "load_mean", outcome->load_mean);
    print_capacity_json(&json, outcome);
    ss_json_number(&json, "error_mean_percent", outcome->error_mean_percent);
    ss_json_number(&json, "error_mse_e4", outcome->error_mse_e4);
    ss_json_number(&json, "error_p95_percent", outcome->error_p95_percent);
    ss_json_number(&json, "settling_seconds", outcome->settling_seconds);
    ss_json_number(&json, "duty_mean", outcome->duty_mean);
    ss_json_number(&json, "steal_mean", outcome->steal_mean);
    ss_json_number(&json, "switches_per_second", outcome->switches_per_second);
    ss_json_number(&json, "iterations", outcome->iterations);
    print_rate_json(&json, &outcome->rate);
    ss_json_number(&json, "iterations_in_bursts", outcome->iterations_in_bursts);
    ss_json_number(&json, "iterations_left_out", (double)outcome->iterations_omitted);
    ss_json_number(&json, "lines_unmatched", outcome->lines_unmatched);
    print_throughput(&json, outcome);
    print_ends_json(&json, outcome);
    ss_json_number(&json, "own_cpu", outcome->own_cpu);
    ss_json_open(&json, "wake_lateness_us", '{');
    ss_json_number(&json, "p50", outcome->wake_p50_us);
    ss_json_number(&json, "p99", outcome->wake_p99_us);
    ss_json_number(&json, "max", outcome->wake_max_us);
    ss_json_close(&json, '}');
    print_times_json(&json, &outcome->iteration_times);
    print_commands_json(&json, plan, outcome);
    print_instances_json(&json, plan, outcome);
    ss_json_text(&json, "ended_by", outcome->ended_by);
    ss_json_open(&json, "warnings", '[');
    for (int i = 0; i < outcome->warning_count; i++)
        ss_json_text(&json, NULL, outcome->warnings[i]);
    ss_json_close(&json, ']');
    ss_verdict_print_json(&json, &outcome->verdict);
    ss_json_close(&json, '}');
}

int ss_summary_write(const struct ss_plan *plan, const struct ss_outcome *outcome, const char *path,
    struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    ss_summary_print_json(file.stream, plan, outcome);
    return ss_whole_file_end(&file, path, error);
}
