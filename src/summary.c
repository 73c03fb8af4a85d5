/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "version.h"
#include "wallclock.h"
#include "whole_file.h"

/* So many of those that ended early are named for people; the rest is counted. */
#define ENDS_SHOWN 3

static void print_figures(FILE *stream, const struct ss_outcome *outcome) {
    fprintf(stream, "target       %8.2f %%   mean of %llu samples of 500 ms\n",
        100 * outcome->target_mean, (unsigned long long)outcome->samples);
    fprintf(stream, "load         %8.2f %%\n", 100 * outcome->load_mean);
    fprintf(stream, "mean error   %+8.3f %%   target minus load\n", outcome->error_mean_percent);
    fprintf(stream, "mean squared %8.3f     x 10^4; 95 %% of samples within %.2f %%\n",
        outcome->error_mse_e4, outcome->error_p95_percent);
    if (isnan(outcome->settling_seconds))
        fprintf(stream, "settling        never     within 5 %% for 2 s\n");
    else
        fprintf(stream, "settling     %8.2f s   until within 5 %% for 2 s\n",
            outcome->settling_seconds);
    fprintf(stream, "duty         %8.2f %%   %.1f switches per second\n", 100 * outcome->duty_mean,
        outcome->switches_per_second);
}

static void print_iterations(FILE *stream, const struct ss_outcome *outcome) {
    double least = INFINITY, most = 0;
    fprintf(stream, "iterations   %8.0f     %.3f per second", outcome->iterations,
        outcome->iterations_per_second);
    for (size_t i = 0; i < outcome->throughput_count; i++) {
        least = fmin(least, ss_throughput_rate(&outcome->throughput, i));
        most = fmax(most, ss_throughput_rate(&outcome->throughput, i));
    }
    if (outcome->throughput_count > 1)
        fprintf(stream, "; %.3f to %.3f in intervals of %g s", least, most,
            ss_time_seconds(SS_THROUGHPUT_INTERVAL));
    fputc('\n', stream);
}

/* An instance that was done is worth a word only where others went on. */
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
    fprintf(stream, "ended early  %8zu     of %u instance%s\n", early, plan->instances,
        plan->instances == 1 ? "" : "s");
    for (size_t i = 0; i < ends->count && shown < ENDS_SHOWN; i++) {
        char when[SS_END_TEXT], how[SS_END_TEXT];
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

void ss_summary_print(FILE *stream, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    char cpus[512], load[8192];
    ss_cpus_print(cpus, sizeof cpus, &plan->cpus);
    fprintf(stream, "showstopper: %u instance%s on %u CPU%s (%s), %.1f s counted, ended by %s\n",
        plan->instances, plan->instances == 1 ? "" : "s", plan->cpu_count,
        plan->cpu_count == 1 ? "" : "s", cpus, outcome->duration_seconds, outcome->ended_by);
    ss_plan_describe_load(load, sizeof load, plan);
    fprintf(stream, "%-13s", "100 % is");
    ss_option_print_wrapped(stream, 13, load);
    print_ends(stream, plan, outcome);
    if (outcome->samples > 0)
        print_figures(stream, outcome);
    if (!isnan(outcome->iterations))
        print_iterations(stream, outcome);
    if (!isnan(outcome->own_cpu))
        fprintf(stream, "own CPU time %8.2f %%   of one CPU\n", 100 * outcome->own_cpu);
    fprintf(stream, "late wake-up %8.0f us  median; 99 %% under %.0f us, all under %.0f us\n",
        outcome->wake_p50_us, outcome->wake_p99_us, outcome->wake_max_us);
    for (int i = 0; i < outcome->warning_count; i++) {
        fputs("warning: ", stream);
        ss_option_print_wrapped(stream, 9, outcome->warnings[i]);
    }
}

static void print_modules(struct ss_json *json, const struct ss_plan *plan) {
    ss_json_open(json, "modules", '{');
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        const struct ss_module *head = plan->rig.modules[kind].head;
        ss_json_open(json, ss_kind_names[kind], '{');
        ss_json_text(json, "name", head->name);
        ss_json_open(json, "options", '{');
        for (const struct ss_option *row = head->options; row && row->name; row++) {
            char value[4096];
            ss_option_print_value(value, sizeof value, row, plan->rig.configs[kind]);
            if (*value)
                ss_json_text(json, row->name, value);
        }
        ss_json_close(json, '}');
        if (*plan->found[kind])
            ss_json_text(json, "found", plan->found[kind]);
        ss_json_close(json, '}');
    }
    ss_json_close(json, '}');
}

static const char *scope_of(const struct ss_plan *plan) {
    switch (plan->source.source) {
    case SS_SOURCE_SENSOR:
        return "sensor";
    case SS_SOURCE_CGROUP:
        return "cgroup";
    default:
        return "cpus";
    }
}

/* Whose load it is, and what counts it. */
static void print_measured(struct ss_json *json, const struct ss_plan *plan) {
    bool sensor = plan->source.source == SS_SOURCE_SENSOR;
    bool group = plan->source.source == SS_SOURCE_CGROUP;
    ss_json_open(json, "measured", '{');
    ss_json_text(json, "scope", scope_of(plan));
    ss_json_text(json, "from", sensor ? plan->source.argument : plan->reader.path);
    ss_json_number(json, "capacity_cpus",
        sensor  ? NAN
        : group ? plan->reader.capacity
                : plan->cpu_count);
    ss_json_close(json, '}');
}

static void print_plan(struct ss_json *json, const struct ss_plan *plan) {
    char cpus[4096];
    ss_cpus_print(cpus, sizeof cpus, &plan->cpus);
    ss_json_text(json, "version", ss_version());
    ss_json_open(json, "command", '[');
    for (const char *const *word = plan->words; *word; word++)
        ss_json_text(json, NULL, *word);
    ss_json_close(json, ']');
    ss_json_number(json, "instances", plan->instances);
    ss_json_text(json, "cpus", cpus);
    ss_json_number(json, "cpu_count", plan->cpu_count);
    print_measured(json, plan);
    print_modules(json, plan);
}

void ss_summary_print_plan(FILE *stream, const struct ss_plan *plan) {
    struct ss_json json = {.stream = stream};
    char folder[4096], started[64];
    ss_json_open(&json, NULL, '{');
    print_plan(&json, plan);
    ss_json_open(&json, "arguments", '[');
    for (char *const *word = plan->arguments + 1; *word; word++)
        ss_json_text(&json, NULL, *word);
    ss_json_close(&json, ']');
    ss_json_number(&json, "options", (double)plan->option_words);
    ss_json_text(&json, "folder", getcwd(folder, sizeof folder));
    ss_wallclock_print(started, sizeof started, ss_platform_wallclock());
    ss_json_text(&json, "started", started);
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

static void print_ends_json(
    struct ss_json *json, const struct ss_plan *plan, const struct ss_outcome *outcome) {
    ss_json_open(json, "instances_ended", '[');
    for (size_t i = 0; i < outcome->ends.count; i++) {
        const struct ss_end *end = &outcome->ends.items[i];
        bool killed = WIFSIGNALED(end->status);
        char name[SS_END_TEXT];
        if (killed)
            ss_end_signal_name(name, WTERMSIG(end->status));
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "instance", plan->numbers[end->instance]);
        ss_json_number(json, "elapsed_seconds", end->seconds);
        ss_json_number(json, "exit_status", killed ? NAN : WEXITSTATUS(end->status));
        ss_json_text(json, "signal", killed ? name : NULL);
        ss_json_bool(json, "core_dumped", killed && WCOREDUMP(end->status));
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
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
    ss_json_number(&json, "error_mean_percent", outcome->error_mean_percent);
    ss_json_number(&json, "error_mse_e4", outcome->error_mse_e4);
    ss_json_number(&json, "error_p95_percent", outcome->error_p95_percent);
    ss_json_number(&json, "settling_seconds", outcome->settling_seconds);
    ss_json_number(&json, "duty_mean", outcome->duty_mean);
    ss_json_number(&json, "switches_per_second", outcome->switches_per_second);
    ss_json_number(&json, "iterations", outcome->iterations);
    ss_json_number(&json, "iterations_per_second", outcome->iterations_per_second);
    print_throughput(&json, outcome);
    print_ends_json(&json, plan, outcome);
    ss_json_number(&json, "own_cpu", outcome->own_cpu);
    ss_json_open(&json, "wake_lateness_us", '{');
    ss_json_number(&json, "p50", outcome->wake_p50_us);
    ss_json_number(&json, "p99", outcome->wake_p99_us);
    ss_json_number(&json, "max", outcome->wake_max_us);
    ss_json_close(&json, '}');
    ss_json_text(&json, "ended_by", outcome->ended_by);
    ss_json_open(&json, "warnings", '[');
    for (int i = 0; i < outcome->warning_count; i++)
        ss_json_text(&json, NULL, outcome->warnings[i]);
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
}

/* What failed to be written before is gone: the last flush need not fail on it again. */
int ss_summary_flush(struct ss_error *error) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return ss_error_set(error, SS_ERROR_FAILED, "standard output: %s", strerror(errno));
}

int ss_summary_write(const struct ss_plan *plan, const struct ss_outcome *outcome, const char *path,
    struct ss_error *error) {
    if (strcmp(path, "-") == 0) {
        ss_summary_print_json(stdout, plan, outcome);
        return ss_summary_flush(error);
    }
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, path) == 0) {
        ss_summary_print_json(file.stream, plan, outcome);
        if (ss_whole_file_commit(&file) == 0)
            return 0;
    }
    return ss_error_set(error, SS_ERROR_FAILED, "%s: %s", path, strerror(errno));
}
