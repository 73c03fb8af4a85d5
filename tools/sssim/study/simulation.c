/* SPDX-License-Identifier: Apache-2.0 */
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/random.h>

#include "base/words.h"

/* The duration if neither the command line nor the trace determines one. */
#define DURATION_DEFAULT (60 * SS_SECOND)

/* The CPU time that an executor of showstopper uses per wake-up. */
#define SWITCH_COST (42 * SS_MICROSECOND)

/* The default target of a study's background, as in tools/experiments. */
#define STAIRS_DEFAULT "95%:5%:5%,hold=3min,symmetric=yes"

/* Makes the random numbers of the foreground independent of those of the background. */
#define FOREGROUND_SALT UINT64_C(0x66726f6e74)

/* Choice of the busy CPUs with --smt, in the order of the choices of --smt-fill. */
enum simulation_fill {
    FILL_CORES,
    FILL_RANDOM,
};

/* Adds the axis that "NAME=VALUE,..." describes. */
static int take_sweep(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct grid *grid = &((struct simulation *)config)->grid;
    (void)row;
    size_t length = strcspn(text, "=");
    if (length == 0 || !text[length])
        return ss_error_fail(error, "'%s' is not an option with values: use --sweep NAME=VALUE,...",
            ss_words_show(text).text);
    if (grid->count == GRID_AXES_MAX)
        return ss_error_fail(error, "too many options to sweep (at most %d)", GRID_AXES_MAX);

    struct grid_axis *axis = &grid->axes[grid->count++];
    axis->values = ss_words_split_list(text + length + 1, &axis->count, error);
    axis->name = strndup(text, length);
    if (!axis->values || !axis->name)
        return ss_error_memory(error);

    if (strcmp(axis->name, "sweep") == 0)
        return ss_error_fail(error, "'sweep' cannot be swept: name another option");
    for (size_t i = 0; i + 1 < grid->count; i++) {
        if (strcmp(grid->axes[i].name, axis->name) == 0)
            return ss_error_fail(error, "--%s is swept twice: give all its values to one --sweep",
                ss_words_show(axis->name).text);
    }
    return 0;
}

#define AT(member)       .offset = offsetof(struct simulation, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct simulation, member)

// clang-format off
const struct ss_argument simulation_rows[] = {
    {'P', "CPUS", {"cpus", COUNT_AT(cpus), .initial = "4", .min = "1", .max = "65536",
                   .help = "CPUs of the machine"}},
    {'n', "N", {"instances", COUNT_AT(instances), .min = "1", .max = "1000000",
                .help = "instances of the workload; default: as many as CPUs"}},
    {0, "CLASS", {"class", SS_OPTION_TEXT, AT(class), .initial = "serial",
                  .help = "what an instance runs: serial: one thread; parallel: one for each CPU; blocking: 1.3 threads on average; forking: one, in short-lived children; queue:LOAD: one while work is waiting, which keeps arriving; profile:FILE: as lines of TIME THREADS say; serial:3,parallel:1: three serial instances, then a parallel one"}},
    SS_ARGUMENTS_MODULES(struct trial_options),
    {0, "TIME", {"warmup", SS_OPTION_TIME, AT(trial.warmup), .initial = "0", .max = "36500d",
                 .sensible = "500ms",
                 .help = "let the instances run at full speed for this long before control and "
                         "the trace start"}},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(trial.settle), .initial = "0", .max = "36500d",
                 .sensible = "500ms",
                 .help = "exclude this much time at the start of control from the statistics"}},
    {0, "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "1us", .max = "36500d",
                   .sensible = "500ms",
                 .help = "time under control, including --settle; default: until the end of a trace "
                         "that does not loop, otherwise 1min"}},
    {0, "N", {"seed", COUNT_AT(trial.seed), .initial = "1",
              .help = "seed of the random numbers; the same seed gives the same output"}},
    {0, "TIME", {"lateness", SS_OPTION_TIME, AT(trial.lateness), .max = "1h",
                 .help = "executors wake up late by random times with this mean; default: as on a real machine"}},
    {0, "TIME", {"preempt", SS_OPTION_TIME, AT(trial.preempt), .initial = "0", .max = "1h",
                 .help = "executors at normal priority: each thread that they continue and that finds no idle CPU delays them by this; 0: real-time priority"}},
    {0, "CPUS", {"quota", SS_OPTION_NUMBER, AT(trial.quota), .initial = "0", .max = "65536",
                 .help = "CPU time that all instances together are allowed, as in a control group "
                         "with a quota in each 100 ms: 0.5 is half of one CPU; 0: no limit"}},
    {0, "LOAD", {"background", SS_OPTION_LOAD, AT(background), .initial = "0",
                 .help = "the fraction of the machine that other processes demand"}, .excludes = "foreground"},
    {0, "HZ", {"tick-rate", COUNT_AT(trial.tick_rate), .initial = "0", .max = "10000",
               .help = "the modules see the counters of /proc/stat, with this many ticks per second; 0: exact values"}},
    {0, "TIME", {"iteration", SS_OPTION_TIME, AT(trial.work.iteration), .initial = "0", .max = "1h",
                 .help = "CPU time that an undisturbed iteration of an instance takes; 0: do not "
                         "count iterations"}},
    {0, "PART", {"noise", SS_OPTION_LOAD, AT(trial.work.noise), .initial = "0",
                 .help = "standard deviation of the length of iterations, as a fraction of the mean"}, .needs = "iteration"},
    {0, "PART", {"speed-noise", SS_OPTION_LOAD, AT(trial.work.speed.deviation), .initial = "0",
                 .help = "standard deviation of the speed of the machine, as a fraction of the mean; the speed changes once a second"}, .needs = "iteration"},
    {0, "RATE", {"memory", SS_OPTION_NUMBER, AT(trial.memory_rate), .initial = "0",
                 .help = "accesses per second that the machine's memory serves; 0: no limit"}, .needs = "iteration"},
    {0, "RATE", {"accesses", SS_OPTION_NUMBER, AT(trial.work.use.accesses), .initial = "0",
                 .help = "accesses per second that a running thread makes if nothing disturbs it"}, .needs = "memory"},
    {0, "PART", {"waiting", SS_OPTION_LOAD, AT(trial.work.use.waiting), .initial = "0",
                 .help = "the fraction of its time that such a thread waits for its accesses"}, .needs = "accesses"},
    {0, "GAIN", {"smt", SS_OPTION_NUMBER, AT(trial.cores.gain), .initial = "0",
                 .help = "CPUs are pairs of hardware threads: two busy threads of a core do GAIN times the work of one, 1 to 2; 0: every CPU is a core"}, .needs = "iteration"},
    {0, "WORD", {"smt-fill", SS_OPTION_CHOICE, AT(smt_fill), .initial = "cores",
                 .choices = "cores random",
                 .help = "with --smt, which CPUs are busy: cores: one thread of every core before the second of any; random: any CPUs, at random"}, .needs = "smt sweep"},
    {0, "LIST", {"turbo", SS_OPTION_TEXT, AT(turbo),
                 .help = "speed of busy CPUs as CORES:SPEED, for up to this many busy cores: 2:1.3,4:1.15; with more, 1"}, .needs = "iteration"},
    {0, "CLASS", {"foreground", SS_OPTION_TEXT, AT(foreground),
                  .help = "study how much the instances slow down a foreground of this class, which "
                          "runs uncontrolled on as many other CPUs"}, .needs = "iteration", .excludes = "sweep csv"},
    {0, "N", {"rounds", COUNT_AT(rounds), .initial = "1", .min = "1", .max = "100000",
              .help = "how many times to repeat the study, each time with the next seed"}, .needs = "foreground"},
    {0, "DIR", {"record", SS_OPTION_TEXT, AT(record),
                .help = "write the study to this folder, which ssreport reads"}, .needs = "foreground"},
    {0, "NAME=V,...", {"sweep",
                       .help = "run once with each of these values of a long option, or with each combination if given several times; print a table"},
                       .take = take_sweep},
    {0, NULL, {"csv", AT(csv), .help = "print the samples instead of the statistics, as CSV; with --sweep, print the table as CSV"}},
    SS_ARGUMENTS_HELP_AT(struct simulation),
    SS_ARGUMENTS_END,
};
// clang-format on

static int check(struct simulation *simulation, struct ss_error *error) {
    struct cores *cores = &simulation->trial.cores;
    if (cores->gain != 0 && !(cores->gain >= 1 && cores->gain <= 2))
        return ss_error_fail(error, "--smt must be 0 or a gain from 1 to 2, not %g", cores->gain);
    if (cores->gain > 0 && simulation->cpus % 2 != 0)
        return ss_error_fail(
            error, "--smt requires an even number of --cpus: two of them make a core");

    if (simulation->turbo && cores_parse_steps(cores, simulation->turbo, error) < 0)
        return ss_error_wrap(error, "--turbo");

    if (simulation->record && 2 * simulation->cpus > SS_CPUS_MAX)
        return ss_error_fail(error,
            "--record: a record has at most %d CPUs, and a study twice as many as --cpus: use "
            "fewer --cpus",
            SS_CPUS_MAX);
    return 0;
}

/* Sets the members of the trial that depend on several options. */
static void complete(struct simulation *simulation) {
    struct trial_options *trial = &simulation->trial;
    trial->cpus = (uint32_t)simulation->cpus;
    trial->instances = (uint32_t)(simulation->instances ? simulation->instances : simulation->cpus);
    trial->mix = &simulation->mix;
    trial->background = simulation->background * trial->cpus;
    trial->cores.overlaps_at_random = simulation->smt_fill == FILL_RANDOM;
    trial->work.speed.seed = trial->seed; /* both sides of a study use the same machine */
}

int simulation_parse(struct simulation *simulation, char **argv, struct ss_error *error) {
    *simulation = (struct simulation){
        .trial = {.lateness = SS_TIME_NEVER,
            .lateness_varies = true,
            .switch_cost = SWITCH_COST,
            .work.speed = {.correlation = 0.5, .window = SS_SECOND},
            .quota_period = 100 * SS_MILLISECOND},
        .duration = SS_TIME_NEVER,
    };

    if (ss_arguments_parse(simulation_rows, simulation, &simulation->store, argv, NULL, error) < 0)
        return -1;
    complete(simulation);
    return check(simulation, error);
}

void simulation_close(struct simulation *simulation) {
    demand_mix_free(&simulation->mix);
    demand_mix_free(&simulation->foreground_mix);
    for (size_t i = 0; i < simulation->grid.count; i++) {
        free(simulation->grid.axes[i].name);
        free(simulation->grid.axes[i].values);
    }
    ss_option_store_free(&simulation->store);
}

static int resolve_trace(struct simulation *simulation, struct ss_error *error) {
    const char **module = &simulation->trial.modules[SS_KIND_TRACE];
    const char **options = &simulation->trial.options[SS_KIND_TRACE];
    bool constant = strcmp(*module, SS_TRACE_DEFAULT) == 0;
    if (simulation->foreground && constant && !*options) {
        *module = "staircase";
        *options = STAIRS_DEFAULT;
        return 0;
    }
    if (constant && !*options)
        return ss_error_fail(error,
            "no target given: hold a load with -l LOAD, or follow a trace with -t file -T FILE");
    return 0;
}

int simulation_open_trial(struct simulation *simulation, struct trial *trial,
    void (*on_sample)(void *context, const struct trial_sample *sample), ss_time *length,
    struct ss_error *error) {
    if (resolve_trace(simulation, error) < 0)
        return -1;
    if (demand_mix_parse(&simulation->mix, simulation->class, error) < 0)
        return ss_error_wrap(error, "--class");

    simulation->trial.on_sample = on_sample;
    if (trial_open(trial, &simulation->trial, error) < 0)
        return -1;
    study_merge_warnings(&simulation->store, &trial->set.store);

    ss_time duration = trial_trace_length(trial);
    if (simulation->duration < duration)
        duration = simulation->duration;
    if (duration == SS_TIME_NEVER)
        duration = DURATION_DEFAULT;

    *length = ss_time_add(simulation->trial.warmup, duration);
    if (simulation->trial.settle < duration)
        return 0;
    trial_close(trial);
    return ss_error_fail(
        error, "--settle leaves no time to count: use a time that is shorter than the run");
}

/* Makes the options of the foreground, whose load is always 100 %. */
static void make_foreground(const struct simulation *simulation, struct trial_options *options) {
    static const char *const modules[SS_KINDS] = {
        [SS_KIND_TRACE] = "constant",
        [SS_KIND_FEEDBACK] = "realtime",
        [SS_KIND_CONTROL] = "fixed",
        [SS_KIND_SPACE] = "even",
        [SS_KIND_DITHERING] = "stagger",
    };

    memcpy(options->modules, modules, sizeof options->modules);
    memset(options->options, 0, sizeof options->options);
    options->options[SS_KIND_TRACE] = "100%";
    options->options[SS_KIND_CONTROL] = "duty=100%";

    options->instances = (uint32_t)simulation->cpus;
    options->mix = &simulation->foreground_mix;
    options->quota = 0;
    options->seed = ss_random_hash(simulation->trial.seed + FOREGROUND_SALT);
}

int simulation_make_study(struct simulation *simulation, char **argv, struct study_options *options,
    struct ss_error *error) {
    if (resolve_trace(simulation, error) < 0)
        return -1;
    if (demand_mix_parse(&simulation->mix, simulation->class, error) < 0)
        return ss_error_wrap(error, "--class");
    if (demand_mix_parse(&simulation->foreground_mix, simulation->foreground, error) < 0)
        return ss_error_wrap(error, "--foreground");

    *options = (struct study_options){
        .workloads =
            {[STUDY_FOREGROUND] = simulation->foreground, [STUDY_BACKGROUND] = simulation->class},
        .memory_rate = simulation->trial.memory_rate,
        .duration = simulation->duration,
        .round = 1,
        .argv = argv,
    };

    options->sides[STUDY_BACKGROUND] = simulation->trial;
    options->sides[STUDY_FOREGROUND] = simulation->trial;
    make_foreground(simulation, &options->sides[STUDY_FOREGROUND]);
    return 0;
}
