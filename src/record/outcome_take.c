/* SPDX-License-Identifier: Apache-2.0 */

/* Computes the results of a run from its monitor and its iterations, and warns of doubtful ones. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/judge.h"
#include "record/outcome.h"

/* Warn of a doubt that concerns at least this fraction of the counted samples. */
#define DOUBTFUL_FRACTION 0.1

/* Warn if the hypervisor took more than this fraction of the CPU time. */
#define DOUBTFUL_STEAL 0.01

/* A cause that applies to at least this fraction of the counted samples lasted throughout. */
#define DOUBTFUL_THROUGHOUT 0.9

/* If more than this fraction of a command's iterations ended in bursts, its rates are dropped. */
#define DOUBTFUL_BURSTS 0.1

/* With fewer iterations per instance, one more or less would change the rate by over 2 %. */
#define ITERATIONS_MIN 50

static void take_lateness(struct ss_outcome *outcome, const struct ss_board *board) {
    struct ss_histogram all;
    if (ss_histogram_open(&all, SS_HISTOGRAM_COARSE) < 0)
        return;
    for (uint32_t i = 0; i < board->instances; i++)
        ss_shared_histogram_read(&board->rows[i].lateness, &all);
    outcome->wake_p50_us = ss_histogram_quantile_max(&all, 0.5) * 1e6;
    outcome->wake_p99_us = ss_histogram_quantile_max(&all, 0.99) * 1e6;
    outcome->wake_max_us = ss_histogram_quantile_max(&all, 1) * 1e6;
    ss_histogram_close(&all);
}

static void warn_of_processes(struct ss_outcome *outcome, unsigned count, const char *what) {
    if (count > 0)
        ss_outcome_warn(outcome, "%u process%s %s", count, count == 1 ? "" : "es", what);
}

static void warn_of_escapes(struct ss_outcome *outcome, const struct ss_board *board) {
    warn_of_processes(outcome, atomic_load(&board->out_of_reach),
        "could not be controlled after a change of the user ID: run as root, or in a control group "
        "of your own");
    warn_of_processes(outcome, atomic_load(&board->strays),
        "may descend from attached processes but could not be controlled, because the parent ended "
        "too early: run as root outside of containers, where the kernel reports forks");
}

static void warn_of_doubt(
    struct ss_outcome *outcome, const struct ss_outcome_input *input, enum ss_doubt_kind kind) {
    const struct ss_plan *plan = input->plan;
    const struct ss_monitor *monitor = input->monitor;
    const struct ss_loaded_module *control = &plan->set.modules[SS_KIND_CONTROL];
    double samples = (double)monitor->doubts[kind];
    char text[sizeof outcome->warnings[0]];

    struct ss_doubt doubt = {
        .kind = kind,
        .fraction = samples / (double)monitor->figures.count,
        .attached = plan->attached.count > 0,
        .instances = plan->instances,
        .running = (double)monitor->running[kind] / samples,
        .cpus = plan->cpu_count,
        .open_loop = control->table.control.open_loop ? control->head->name : NULL,
    };
    if (doubt.fraction < DOUBTFUL_FRACTION)
        return;

    ss_usage_describe(input->usage, &doubt);
    outcome->held_back |=
        ss_doubt_cause(&doubt) == SS_DOUBT_OTHERS && doubt.fraction >= DOUBTFUL_THROUGHOUT;
    ss_doubt_print(text, sizeof text, &doubt);
    ss_outcome_warn(outcome, "%s", text);
}

static const char *cause_of_loss(const struct ss_monitor *monitor) {
    return monitor->source == SS_SOURCE_SENSOR
               ? "the machine was too busy, or the sensor had printed no number yet"
               : "the machine was too busy, or its counters could not be read";
}

static void warn_of_no_sample(struct ss_outcome *outcome, const struct ss_outcome_input *input) {
    const struct ss_monitor *monitor = input->monitor;
    if (monitor->lost_counted > 0)
        ss_outcome_warn(outcome, "no sample was counted: %llu %s lost, because %s",
            (unsigned long long)monitor->lost_counted, monitor->lost_counted == 1 ? "was" : "were",
            cause_of_loss(monitor));
    else if (monitor->free_samples > 0)
        ss_outcome_warn(outcome, "no sample was counted: all were in `free` sections of the trace");
    else
        ss_outcome_warn(outcome,
            "no sample was counted: the run was under control for less than half a second%s",
            input->plan->settle > 0 ? " after --settle" : "");
}

static void warn_of_doubts(struct ss_outcome *outcome, const struct ss_outcome_input *input) {
    const struct ss_monitor *monitor = input->monitor;

    if (monitor->figures.count == 0) {
        warn_of_no_sample(outcome, input);
        return;
    }

    warn_of_doubt(outcome, input, SS_DOUBT_BELOW);
    warn_of_doubt(outcome, input, SS_DOUBT_ABOVE);
    if (input->plan->beside.count > 0 && isnan(input->others))
        ss_outcome_warn(outcome,
            "%s ended during the run: the CPU use of other processes is unknown",
            input->plan->attached.count > 0 ? "an attached process or one of --beside"
                                            : "a process of --beside");

    bool steal_counts = monitor->source == SS_SOURCE_SYSTEM || monitor->source == SS_SOURCE_IDLE;
    if (steal_counts && outcome->steal_mean > DOUBTFUL_STEAL)
        ss_outcome_warn(outcome,
            "the load includes steal: the hypervisor took %.1f %% of the CPU time",
            100 * outcome->steal_mean);

    if (monitor->lost > 0)
        ss_outcome_warn(outcome, "%llu sample%s of the load %s lost: %s",
            (unsigned long long)monitor->lost, monitor->lost == 1 ? "" : "s",
            monitor->lost == 1 ? "was" : "were", cause_of_loss(monitor));
}

void ss_outcome_take(struct ss_outcome *outcome, const struct ss_outcome_input *input) {
    struct ss_monitor *monitor = input->monitor;
    struct ss_figures *figures = &monitor->figures;
    double seconds = monitor->counted_from == SS_TIME_NEVER
                         ? 0
                         : ss_time_seconds(ss_time_since(input->end, monitor->counted_from));

    outcome->duration_seconds = seconds;
    outcome->samples = figures->count;
    outcome->target_mean = ss_figures_target_mean(figures);
    outcome->target_varied = monitor->target_varied;
    outcome->load_mean = ss_figures_load_mean(figures);
    outcome->capacity = monitor->capacity;
    if (monitor->capacity.changes > 0 && monitor->control_from != SS_TIME_NEVER)
        outcome->capacity_changed_seconds =
            (double)(int64_t)(monitor->capacity.changed_at - monitor->control_from) / 1e9;

    outcome->error_mean_percent = ss_figures_error_mean_percent(figures);
    outcome->error_mse_e4 = ss_figures_error_mse_e4(figures);
    outcome->error_p95_percent = ss_figures_error_p95_percent(figures);
    outcome->settling_seconds = ss_settling_seconds(&monitor->settling);
    outcome->duty_mean = ss_monitor_duty_mean(monitor);
    outcome->steal_mean =
        monitor->steal_seconds > 0 ? monitor->steal_sum / monitor->steal_seconds : NAN;
    outcome->switches_per_second = seconds > 0 ? (double)input->switches / seconds : NAN;

    /* Without a sample, the run was so short that this would only measure its start and end. */
    outcome->own_cpu =
        seconds > 0 && figures->count > 0 ? ss_time_seconds(input->own) / seconds : NAN;
    take_lateness(outcome, input->board);
    warn_of_escapes(outcome, input->board);
    warn_of_doubts(outcome, input);
    ss_outcome_warn_of_own(outcome);
    ss_judge_control(outcome, input);
}

/* Computes the results of each instance and of each command. */
static void take_shares(
    struct ss_outcome *outcome, const struct ss_plan *plan, struct ss_iterations *iterations) {
    if (!iterations->shares)
        return;

    size_t count = (size_t)plan->commands.line_count + plan->instances;
    outcome->per_command = calloc(count, sizeof *outcome->per_command);
    if (!outcome->per_command)
        return;

    outcome->per_instance = outcome->per_command + plan->commands.line_count;
    for (uint32_t i = 0; i < plan->commands.line_count; i++) {
        outcome->per_command[i].times = ss_iterations_times(iterations, i, 1);
        outcome->per_command[i].rate = ss_iterations_rate_of(iterations,
            plan->commands.lines[i].first, plan->commands.lines[i].count, iterations->to);
    }

    for (uint32_t i = 0; i < plan->instances; i++) {
        const struct ss_iteration_share *share = &iterations->shares[i];
        outcome->per_command[iterations->line_of[i]].ended += share->ended;
        outcome->per_instance[i] = (struct ss_iteration_outcome){
            .ended = share->ended,
            .rate = ss_iterations_rate_of(iterations, i, 1, iterations->to),
            .times = {share->ended ? share->seconds / (double)share->ended : NAN, NAN, NAN, NAN,
                NAN},
        };
    }
}

static const struct ss_iteration_times no_times = {NAN, NAN, NAN, NAN, NAN};
static const struct ss_iteration_rate no_rate = {NAN, NAN, NAN, NAN};

/* Clears the rates and times of a command and of its instances, but not their counts. */
static void leave_out_rates(
    struct ss_outcome *outcome, const struct ss_plan *plan, uint32_t which) {
    const struct ss_command_line *line = &plan->commands.lines[which];
    outcome->per_command[which].rate = no_rate;
    outcome->per_command[which].times = no_times;
    for (uint32_t i = line->first; i < line->first + line->count; i++) {
        outcome->per_instance[i].rate = no_rate;
        outcome->per_instance[i].times = no_times;
    }
}

/*
 * Drops rates and times of commands whose iterations ended in bursts: they would show the size of
 * an output buffer, not the speed of the program.
 */
static void leave_out_bursts(
    struct ss_outcome *outcome, const struct ss_plan *plan, struct ss_iterations *iterations) {
    uint64_t all = 0;

    outcome->iterations_in_bursts = 0;
    for (uint32_t i = 0; outcome->per_instance && i < plan->commands.line_count; i++) {
        const struct ss_command_line *line = &plan->commands.lines[i];
        uint64_t bursts = ss_iterations_in_bursts(iterations, line->first, line->count);
        outcome->iterations_in_bursts += (double)bursts;
        if ((double)bursts <= DOUBTFUL_BURSTS * (double)outcome->per_command[i].ended)
            continue;
        all += bursts;
        leave_out_rates(outcome, plan, i);
    }

    if (all == 0)
        return;

    outcome->rate = no_rate;
    outcome->iteration_times = no_times;
    ss_throughput_free(&iterations->throughput);
    outcome->evidence.figures[SS_CHECK_THROUGHPUT] = NAN;
    ss_outcome_warn(outcome,
        "%llu of %llu iterations ended in bursts, as if the program buffered its output: "
        "throughput and iteration times are not measured; try --tty, or stdbuf -oL",
        (unsigned long long)all, (unsigned long long)iterations->ended);
}

/*
 * Explains why no iteration was seen, unless there was no output because the load of other
 * processes kept the instances stopped.
 */
static void warn_of_no_match(struct ss_outcome *outcome, const struct ss_iterations *iterations) {
    if (iterations->unmatched == 1)
        ss_outcome_warn(outcome, "the only line of output does not match --iteration: '%s'",
            iterations->example);
    else if (iterations->unmatched > 1)
        ss_outcome_warn(outcome,
            "no line of output matched --iteration: the first of %llu lines is '%s'",
            (unsigned long long)iterations->unmatched, iterations->example);
    else if (!outcome->held_back)
        ss_outcome_warn(outcome, "no line of output matched --iteration: there was no output; if "
                                 "the program buffers it, try --tty, or stdbuf -oL");
}

static void warn_of_untimed(struct ss_outcome *outcome, const struct ss_iterations *iterations) {
    if (iterations->untimed > 0)
        ss_outcome_warn(outcome,
            "the first group of --iteration matched '%s', which is not a number of milliseconds: "
            "%llu of %llu iterations were measured from line to line",
            iterations->untimed_example, (unsigned long long)iterations->untimed,
            (unsigned long long)iterations->seen);
}

static void warn_of_few(struct ss_outcome *outcome, const struct ss_plan *plan) {
    double fewest = INFINITY;

    for (uint32_t i = 0; outcome->per_command && i < plan->commands.line_count; i++)
        fewest =
            fmin(fewest, (double)outcome->per_command[i].ended / plan->commands.lines[i].count);
    if (!(fewest < ITERATIONS_MIN))
        return;

    if (fewest > 0)
        ss_outcome_warn(outcome,
            "the throughput is uncertain: only %.3g iteration%s per instance ended; let the run "
            "last longer, or count shorter iterations, so that there are %d or more",
            fewest, fewest == 1 ? "" : "s", ITERATIONS_MIN);
    else if (!outcome->held_back)
        ss_outcome_warn(outcome,
            "no iteration ended in the counted time%s: let the run last "
            "longer, or count shorter iterations",
            plan->commands.line_count > 1 ? " of some command" : "");
}

/* Warns if programs finished before the end of the run: some or all of the load was missing. */
static void warn_of_early_end(struct ss_outcome *outcome, const struct ss_plan *plan) {
    const struct ss_ends *ends = &outcome->ends;
    size_t done = ends->count - ss_ends_failed(ends);
    bool all = strcmp(outcome->ended_by, "workloads") == 0;
    const char *hint = plan->repeat || plan->attached.count ? "" : ": --repeat starts it again";
    char when[SS_END_TEXT_SIZE];

    if (plan->duration == SS_TIME_NEVER || done == 0)
        return;

    ss_end_print_time(when, ends->items[ends->count - 1].seconds);
    if (all)
        ss_outcome_warn(outcome,
            "the run ended before its duration of %.2f s, because its program finished %s%s",
            ss_time_seconds(plan->duration), when, hint);
    else
        ss_outcome_warn(outcome,
            "in %zu of %u instances the program finished before the end of the run%s", done,
            plan->instances, hint);
}

void ss_outcome_take_iterations(
    struct ss_outcome *outcome, const struct ss_plan *plan, struct ss_iterations *iterations) {
    warn_of_early_end(outcome, plan);
    if (iterations->to == SS_TIME_NEVER || !(plan->repeat || plan->has_iteration))
        return;

    bool matched = iterations->seen > 0 || !plan->has_iteration;
    if (!matched)
        warn_of_no_match(outcome, iterations);
    warn_of_untimed(outcome, iterations);
    if (!ss_iterations_are_counted(iterations, iterations->to))
        return;

    outcome->iterations = (double)iterations->ended;
    if (plan->has_iteration)
        outcome->lines_unmatched = matched ? 0 : (double)iterations->unmatched_counted;
    take_shares(outcome, plan, iterations);
    if (!matched) {
        /* A pattern that never matches does not even bound the throughput. */
        for (uint32_t i = 0; outcome->per_instance && i < plan->commands.line_count; i++)
            leave_out_rates(outcome, plan, i);
        outcome->evidence.figures[SS_CHECK_ITERATIONS] = 0;
        return;
    }

    outcome->rate = ss_iterations_rate(iterations, iterations->to);
    if (iterations->shares)
        outcome->iteration_times = ss_iterations_times(iterations, 0, iterations->line_count);
    warn_of_few(outcome, plan);
    ss_iterations_finish(iterations);
    ss_judge_iterations(outcome, iterations);
    leave_out_bursts(outcome, plan, iterations);
    outcome->throughput_count = ss_throughput_count(&iterations->throughput, iterations->to);
    outcome->throughput = iterations->throughput;
    iterations->throughput = (struct ss_throughput){.from = SS_TIME_NEVER};
}
