/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_PLAN_H
#define SHOWSTOPPER_COMMAND_PLAN_H

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

#include "base/cpus.h"
#include "command/attach.h"
#include "command/cli.h"
#include "command/commands.h"
#include "command/inputs.h"
#include "loop/board.h"
#include "loop/module_set.h"
#include "platform/platform.h"

/* Everything about a run, checked and resolved before anything is started. */
struct ss_plan {
    struct ss_module_set set;
    char found[SS_KINDS][4400]; /* values that a module chose for its options, and why; for feedback
                                   otherwise why it has no better source; "" if nothing */
    bool feedback_differs;      /* feedback does not count time as the statistics do; its text in
                                   `found` says how */
    uint32_t instances;
    struct ss_beside beside;
    struct ss_attachments attached; /* processes of the instances; empty if commands are started */
    struct ss_commands commands;    /* placeholders are replaced in `items`, not in `lines` */
    const char *placeholder;        /* "" if nothing is replaced */
    char **numbers;           /* number of each instance: its index, zero-padded to equal width */
    char instances_text[16];  /* the number of instances, as text */
    const char *const *words; /* the command as given, or `workloads` */
    const char *workloads[3]; /* "-w" and its file, "--attach" and its pids, or "--attach-group" and
                                 its folder */

    struct ss_cpus cpus; /* the CPUs that are measured */
    uint32_t cpu_count;
    bool pinned; /* instances are bound to `cpus` */

    ss_time warmup;
    ss_time settle;
    ss_time duration; /* controlled time; SS_TIME_NEVER without an end */
    bool ends_with_trace;
    bool has_start_at;
    int64_t start_at; /* wall clock, nanoseconds since 1970 */
    ss_time grace;
    double tolerance_percent; /* in percent; NaN if off */

    bool fail_fast;
    bool repeat;
    bool isolate;
    bool keep;
    bool quiet;
    bool verbose;
    int progress; /* enum ss_progress_when */

    bool has_iteration;
    regex_t iteration;
    const char *output;           /* folder for output of instances; NULL if not redirected */
    bool tty;                     /* standard output of instances is a pseudo-terminal */
    const char *json;             /* file for the summary as JSON; NULL if absent */
    const char *record;           /* a folder; NULL if absent */
    const struct ss_clock *clock; /* simulated clock of the record's times; NULL for the machine's
                                     clocks */
    bool force;                   /* replace an existing record */
    bool no_decisions;            /* decisions are not recorded */
    struct ss_labels labels;
    bool counters;           /* with `record`: events of the instances are counted */
    struct ss_inputs inputs; /* with `record`: the files that the run reads at its start */
    char *const *arguments;  /* the command line */
    size_t option_words; /* the number of `arguments` that are options, between the program's name
                            and the command */

    struct ss_source_request source;
    struct ss_counter_reader reader; /* open if the source has counters */
};

/*
 * Makes the plan or reports what is wrong with the command line; starts nothing. The plan points
 * into `cli`, which must outlive it.
 */
SS_MUST_USE int ss_plan_make(
    struct ss_plan *plan, const struct ss_cli *cli, struct ss_error *error);

/* Sets `numbers` and `instances_text`. */
SS_MUST_USE SS_NONNULL(1) int ss_plan_number_instances(
    struct ss_plan *plan, struct ss_error *error);

void ss_plan_free(struct ss_plan *plan);

/* Prints the plan for --dry-run. */
void ss_plan_print(FILE *stream, const struct ss_plan *plan);

/* Return the current time on the record's clocks, which are simulated in trials. */
ss_time ss_plan_now(const struct ss_plan *plan);
int64_t ss_plan_wallclock(const struct ss_plan *plan);

/* Returns whose load is measured, in a few words. */
const char *ss_plan_load_subject(const struct ss_plan *plan);

/* Describes in one line what a load of 100 % is and how it is measured. */
SS_WRITES(1, 2) void ss_plan_describe_load(char *buffer, size_t size, const struct ss_plan *plan);

/*
 * Returns whether the run reads counters of the system through `reader`: always, unless the load
 * comes from a sensor or is the CPU time of the run's own processes.
 */
bool ss_plan_reads_counters(const struct ss_plan *plan);

/*
 * Returns the descriptor for the standard output of instances without --output. With --json - it is
 * standard error, so that the summary alone is on standard output.
 */
SS_NONNULL() int ss_plan_output_descriptor(const struct ss_plan *plan);

/* Returns whether the standard output or standard error of instances passes through the master. */
bool ss_plan_pipes_output(const struct ss_plan *plan);

/* Prints "name=value,..." for one module, with everything resolved. */
void ss_plan_print_options(
    char *buffer, size_t size, const struct ss_plan *plan, enum ss_kind kind);

#endif
