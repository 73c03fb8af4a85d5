/* SPDX-License-Identifier: Apache-2.0 */
#include "simulation.h"

#include <string.h>

/* Where neither the command line nor the trace says how long. */
#define DURATION_DEFAULT (60 * SS_SECOND)

enum simulation_accounting {
    ACCOUNTING_EXACT,
    ACCOUNTING_TICKS,
};

/* In the order of the option's words. */
enum simulation_law {
    LAW_AUTO, /* recorded, or exponential where a mean is given */
    LAW_FIXED,
    LAW_EXPONENTIAL,
    LAW_RECORDED,
};

enum simulation_priority {
    PRIORITY_REALTIME,
    PRIORITY_NORMAL,
};

static int take_sweep(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    (void)row;
    return grid_add_axis(&((struct simulation *)config)->grid, value, error);
}

#define AT(member) .offset = offsetof(struct simulation, member)

// clang-format off
const struct ss_argument simulation_rows[] = {
    {'P', "CPUS", {"cpus", SS_OPTION_COUNT, AT(cpus), .initial = "4", .min = "1", .max = "65536",
                   .help = "CPUs of the machine"}},
    {'n', "N", {"instances", SS_OPTION_COUNT, AT(instances), .min = "1", .max = "1000000",
                .help = "instances of the workload; without it, as many as CPUs"}},
    {0, "CLASS", {"class", SS_OPTION_TEXT, AT(class), .initial = "serial",
                  .help = "what an instance does: serial: one thread; parallel: as many as CPUs; "
                          "blocking: 1.3 threads in the mean; forking: 1, in short turns; "
                          "profile:FILE: as lines of TIME THREADS say; serial:3,parallel:1: three "
                          "of the one, then one of the other"}},
    {'l', "LOAD", {"load", SS_OPTION_TEXT, AT(load),
                   .help = "hold this load: short for -t constant -T LOAD"}},
    SS_ARGUMENTS_MODULES(struct simulation),
    {0, "TIME", {"warmup", SS_OPTION_TIME, AT(warmup), .initial = "0", .max = "36500d",
                 .sensible = "500m",
                 .help = "let the instances run at full speed first; control and the trace start "
                         "after it"}},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(settle), .initial = "0", .max = "36500d",
                 .sensible = "500m",
                 .help = "leave this much time at the start of control out of the statistics"}},
    {0, "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "1u", .max = "36500d",
                   .sensible = "500m",
                 .help = "time under control, --settle included; default: the trace's length, or 1M"}},
    {0, "N", {"seed", SS_OPTION_COUNT, AT(seed), .initial = "1",
              .help = "the seed of the random numbers; the same one gives the same output"}},
    {0, "TIME", {"lateness", SS_OPTION_TIME, AT(lateness), .max = "1h",
                 .help = "how late executors wake up on average; default: as on a real machine"}},
    {0, "LAW", {"lateness-law", SS_OPTION_CHOICE, AT(lateness_law), .initial = "auto",
                .choices = "auto fixed exponential recorded",
                .help = "fixed: all are equally late; exponential: random; recorded: as on a real "
                        "machine; auto: recorded, or exponential with --lateness"}},
    {0, "TIME", {"switch-cost", SS_OPTION_TIME, AT(switch_cost), .initial = "42u", .max = "1s",
                 .help = "CPU time that an executor uses whenever it wakes up"}},
    {0, "WORD", {"priority", SS_OPTION_CHOICE, AT(priority), .initial = "realtime",
                 .choices = "realtime normal",
                 .help = "the priority of the executors: at normal priority the instances that they "
                         "continue delay them"}},
    {0, "TIME", {"preempt", SS_OPTION_TIME, AT(preempt), .initial = "2m", .max = "1h",
                 .help = "with --priority normal, how long each thread that finds no idle CPU "
                         "delays its executor"}},
    {0, "TIME", {"stop-lateness", SS_OPTION_TIME, AT(stop_lateness), .initial = "0", .max = "1h",
                 .help = "a stop reaches one thread of an instance at once and the others at the "
                         "next tick; this is the time between ticks; 0: all at once"}},
    {0, "TIME", {"start-lateness", SS_OPTION_TIME, AT(start_lateness), .initial = "0", .max = "1h",
                 .help = "in one of four cases the other threads of an instance begin later than "
                         "its first, by a random time up to this one"}},
    {0, "CPUS", {"quota", SS_OPTION_NUMBER, AT(quota), .initial = "0",
                 .help = "CPU time that all instances together are allowed, as in a control group "
                         "with a quota: 0.5 is half of one CPU; 0: no limit"}},
    {0, "TIME", {"quota-period", SS_OPTION_TIME, AT(quota_period), .initial = "100m", .min = "1m",
                 .max = "1s", .help = "the quota's period"}},
    {0, "LOAD", {"background", SS_OPTION_LOAD, AT(background), .initial = "0",
                 .help = "the part of the machine that other processes demand"}},
    {0, "TIME", {"background-period", SS_OPTION_TIME, AT(background_period), .initial = "0",
                 .max = "36500d",
                 .help = "other processes demand it only in the first half of each such period; 0: "
                         "all the time"}},
    {0, "TIME", {"overhead", SS_OPTION_TIME, AT(overhead), .initial = "0", .max = "1s",
                 .help = "how long a CPU takes to become idle, in which time it neither idles nor "
                         "runs a task"}},
    {0, "WORD", {"accounting", SS_OPTION_CHOICE, AT(accounting), .initial = "exact",
                 .choices = "exact ticks",
                 .help = "the counters that the modules see: exact values, or those of /proc/stat"}},
    {0, "HZ", {"tick-rate", SS_OPTION_COUNT, AT(tick_rate), .initial = "250", .min = "1",
               .max = "10000", .help = "ticks per second for --accounting ticks"}},
    {0, "NAME=V,...", {"sweep",
                       .help = "run once with each of these values of a long option; given again, "
                               "with each combination; prints a table and what to choose"},
                       .take = take_sweep},
    {0, NULL, {"csv", AT(csv), .help = "print the samples instead of the statistics, as CSV; with --sweep, "
                                    "the table"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

static int check(const struct simulation *simulation, struct ss_error *error) {
    if (simulation->lateness != SS_TIME_NEVER && simulation->lateness_law == LAW_RECORDED)
        return ss_error_fail(
            error, "--lateness-law recorded has its own lengths: leave --lateness away");
    if (simulation->background_period == 1)
        return ss_error_fail(error, "--background-period has no halves: give 2 ns or more");
    return 0;
}

int simulation_parse(struct simulation *simulation, char **argv, struct ss_error *error) {
    *simulation = (struct simulation){.duration = SS_TIME_NEVER, .lateness = SS_TIME_NEVER};
    if (ss_arguments_parse(simulation_rows, simulation, &simulation->store, argv, NULL, error) < 0)
        return -1;
    return check(simulation, error);
}

void simulation_close(struct simulation *simulation) {
    demand_mix_free(&simulation->mix);
    grid_close(&simulation->grid);
    ss_option_store_free(&simulation->store);
}

static int resolve_trace(struct simulation *simulation, struct ss_error *error) {
    const char **options = &simulation->options[SS_KIND_TRACE];
    bool constant = strcmp(simulation->modules[SS_KIND_TRACE], "constant") == 0;
    if (simulation->load && (!constant || *options))
        return ss_error_fail(
            error, "-l is short for -t constant -T LOAD: give either -l or -t and -T");
    if (simulation->load)
        *options = simulation->load;
    if (constant && !*options)
        return ss_error_fail(
            error, "no target is given: -l LOAD holds a load, -t file -T FILE follows a trace");
    return 0;
}

static enum trial_lateness choose_law(const struct simulation *simulation) {
    switch (simulation->lateness_law) {
    case LAW_FIXED:
        return TRIAL_LATENESS_FIXED;
    case LAW_EXPONENTIAL:
        return TRIAL_LATENESS_EXPONENTIAL;
    case LAW_RECORDED:
        return TRIAL_LATENESS_RECORDED;
    default:
        return simulation->lateness == SS_TIME_NEVER ? TRIAL_LATENESS_RECORDED
                                                     : TRIAL_LATENESS_EXPONENTIAL;
    }
}

static struct trial_options make_options(const struct simulation *simulation) {
    uint64_t cpus = simulation->cpus;
    struct trial_options options = {
        .cpus = (uint32_t)cpus,
        .instances = (uint32_t)(simulation->instances ? simulation->instances : cpus),
        .mix = &simulation->mix,
        .background = simulation->background * (double)cpus,
        .background_period = simulation->background_period,
        .switch_cost = simulation->switch_cost,
        .quota = simulation->quota,
        .quota_period = simulation->quota_period,
        .inside = simulation->priority == PRIORITY_NORMAL,
        .overhead = simulation->overhead,
        .tick_rate = simulation->accounting == ACCOUNTING_TICKS ? simulation->tick_rate : 0,
        .window = simulation->window,
        .warmup = simulation->warmup,
        .settle = simulation->settle,
        .lateness = simulation->lateness == SS_TIME_NEVER ? 0 : simulation->lateness,
        .lateness_law = choose_law(simulation),
        .preempt = simulation->priority == PRIORITY_NORMAL ? simulation->preempt : 0,
        .stop_lateness = simulation->stop_lateness,
        .start_lateness = simulation->start_lateness,
        .seed = simulation->seed,
    };
    memcpy(options.modules, simulation->modules, sizeof options.modules);
    memcpy(options.options, simulation->options, sizeof options.options);
    return options;
}

int simulation_open_trial(struct simulation *simulation, struct trial *trial,
    void (*on_sample)(void *context, const struct trial_sample *sample), ss_time *length,
    struct ss_error *error) {
    if (resolve_trace(simulation, error) < 0 ||
        demand_mix_parse(&simulation->mix, simulation->class, error) < 0)
        return -1;
    struct trial_options options = make_options(simulation);
    options.on_sample = on_sample;
    if (trial_open(trial, &options, error) < 0)
        return -1;
    ss_option_store_merge(&simulation->store, &trial->set.store);
    ss_time duration = trial_trace_length(trial);
    if (simulation->duration < duration)
        duration = simulation->duration;
    if (duration == SS_TIME_NEVER)
        duration = DURATION_DEFAULT;
    *length = ss_time_add(simulation->warmup, duration);
    if (simulation->settle < duration)
        return 0;
    trial_close(trial);
    return ss_error_fail(
        error, "--settle leaves nothing to be counted: it must be shorter than the run");
}
