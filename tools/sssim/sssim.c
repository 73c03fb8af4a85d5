/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "trial.h"
#include "version.h"

/* Where neither the command line nor the trace says how long. */
#define DURATION_DEFAULT (60 * SS_SECOND)

enum class {
    CLASS_SERIAL,
    CLASS_PARALLEL,
};

struct request {
    uint64_t cpus;
    uint64_t instances; /* 0: as many as CPUs */
    int class;          /* enum class */
    const char *load;
    const char *modules[SS_KINDS];
    const char *options[SS_KINDS];
    ss_time warmup;
    ss_time settle;
    ss_time duration; /* SS_TIME_NEVER: not given */
    uint64_t seed;
    ss_time lateness;
    int lateness_law;  /* enum trial_lateness */
    double background; /* of the whole machine */
    int csv;
    int help;
    int version;
    struct ss_option_store store;
};

#define AT(member) .offset = offsetof(struct request, member)

/* In the order of the help. */
// clang-format off
static const struct ss_argument rows[] = {
    {'P', "CPUS", {"cpus", SS_OPTION_COUNT, AT(cpus), .initial = "4", .min = "1", .max = "65536",
                   .help = "CPUs of the machine"}},
    {'n', "N", {"instances", SS_OPTION_COUNT, AT(instances), .min = "1", .max = "1000000",
                .help = "instances of the workload; without it, as many as CPUs"}},
    {0, "CLASS", {"class", SS_OPTION_CHOICE, AT(class), .initial = "serial",
                  .choices = "serial parallel",
                  .help = "serial: one thread an instance; parallel: as many as CPUs"}},
    {'l', "LOAD", {"load", SS_OPTION_TEXT, AT(load),
                   .help = "hold this load: short for -t constant -T LOAD"}},
    SS_ARGUMENTS_MODULES(struct request),
    {0, "TIME", {"warmup", SS_OPTION_TIME, AT(warmup), .initial = "0", .max = "36500d",
                 .help = "run uncontrolled first; the trace starts after it"}},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(settle), .initial = "0", .max = "36500d",
                 .help = "controlled, but counted in no figure"}},
    {0, "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "1u", .max = "36500d",
                 .help = "controlled time, settling included; without it, the trace's length, or 1M"}},
    {0, "N", {"seed", SS_OPTION_COUNT, AT(seed), .initial = "1",
              .help = "which sequence of chances; the same one gives the same output"}},
    {0, "TIME", {"lateness", SS_OPTION_TIME, AT(lateness), .initial = "0", .max = "1h",
                 .help = "how late wake-ups are on average"}},
    {0, "LAW", {"lateness-law", SS_OPTION_CHOICE, AT(lateness_law), .initial = "exponential",
                .choices = "fixed exponential",
                .help = "whether each is as late as the others, or they are by chance"}},
    {0, "LOAD", {"background", SS_OPTION_LOAD, AT(background), .initial = "0",
                 .help = "the part of the machine that other processes want all the time"}},
    {0, NULL, {"csv", .offset = offsetof(struct request, csv),
               .help = "print the samples in place of the figures"}},
    {'h', NULL, {"help", .offset = offsetof(struct request, help), .help = "print this help"}},
    {0, NULL, {"version", .offset = offsetof(struct request, version),
               .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

static int parse(struct request *request, char **argv, struct ss_error *error) {
    char **rest;
    *request = (struct request){.duration = SS_TIME_NEVER};
    if (ss_arguments_parse(rows, request, &request->store, argv, &rest, error) < 0)
        return -1;
    if (*rest)
        return ss_error_set(error, SS_ERROR_FAILED,
            "'%s' is no option, and there are no commands to run here", *rest);
    return 0;
}

static void print_help(void) {
    printf("Usage: sssim [OPTION]...\n"
           "Runs Showstopper's modules on a simulated machine and prints how well they hold\n"
           "the load.\n\n"
           "Times: 20s, 107m (milliseconds), 2M (minutes), 1h. Loads: 60%%, 0.6 or 6/10.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\nExample: what does the published controller reach on 12 CPUs?\n"
           "  sssim -P 12 -l 50%% --settle 10s --duration 3M\n");
}

/* ---- the run ---- */

static int resolve_trace(struct request *request, struct ss_error *error) {
    const char **options = &request->options[SS_KIND_TRACE];
    bool constant = strcmp(request->modules[SS_KIND_TRACE], "constant") == 0;
    if (request->load && (!constant || *options))
        return ss_error_set(error, SS_ERROR_FAILED,
            "-l is short for -t constant -T LOAD: give either -l or -t and -T");
    if (request->load)
        *options = request->load;
    if (constant && !*options)
        return ss_error_set(error, SS_ERROR_FAILED,
            "no target is given: -l LOAD holds a load, -t file -T FILE follows a trace");
    return 0;
}

static void print_field(double value) {
    if (!isnan(value))
        printf("%.6f", value);
}

static void print_sample(void *context, const struct trial_sample *sample) {
    (void)context;
    printf("%.6f,", sample->elapsed);
    print_field(sample->target);
    printf(",%.6f,", sample->load);
    print_field(sample->target - sample->load);
    putchar('\n');
}

static void print_figure(const char *name, double value, const char *unit) {
    /* Not "-0.000": what is rounded away has no sign. */
    double shown = fabs(value) < 0.0005 ? 0 : value;
    if (isnan(value))
        printf("%-20s %9s\n", name, "none");
    else
        printf("%-20s %9.3f%s\n", name, shown, unit);
}

static void print_figures(struct trial *trial) {
    struct trial_figures figures;
    trial_get_figures(trial, &figures);
    printf("%-20s %9zu\n", "samples", figures.samples);
    print_figure("mean target", 100 * figures.target_mean, " %");
    print_figure("mean load", 100 * figures.load_mean, " %");
    print_figure("mean error", figures.error_mean_percent, " %");
    print_figure("mean squared error", figures.error_mse_e4, " x 10^-4");
    print_figure("mean duty", 100 * figures.duty_mean, " %");
    print_figure("switches per second", figures.switches_per_second, "");
    print_figure("settled after", figures.settling_seconds, " s");
}

static struct trial_options make_options(const struct request *request) {
    struct trial_options options = {
        .cpus = (uint32_t)request->cpus,
        .instances = (uint32_t)(request->instances ? request->instances : request->cpus),
        .width = request->class == CLASS_PARALLEL ? (uint32_t)request->cpus : 1,
        .background = request->background * (double)request->cpus,
        .warmup = request->warmup,
        .settle = request->settle,
        .lateness = request->lateness,
        .lateness_law = request->lateness_law,
        .seed = request->seed,
        .on_sample = request->csv ? print_sample : NULL,
    };
    memcpy(options.modules, request->modules, sizeof options.modules);
    memcpy(options.options, request->options, sizeof options.options);
    return options;
}

static int run(struct request *request, struct ss_error *error) {
    static struct trial trial; /* large, and there is one */
    if (resolve_trace(request, error) < 0)
        return -1;
    struct trial_options options = make_options(request);
    if (trial_open(&trial, &options, error) < 0)
        return -1;
    ss_time length = trial_trace_length(&trial);
    ss_time duration = request->duration < length ? request->duration : length;
    if (duration == SS_TIME_NEVER)
        duration = DURATION_DEFAULT;
    int status = 0;
    if (request->settle >= duration)
        status = ss_error_set(error, SS_ERROR_FAILED,
            "--settle leaves nothing to be counted: it must be shorter than the run");
    if (status == 0 && request->csv)
        puts("elapsed_seconds,target,load,error");
    if (status == 0)
        status = trial_advance(&trial, ss_time_add(request->warmup, duration), error);
    if (status == 0 && !request->csv)
        print_figures(&trial);
    trial_close(&trial);
    return status;
}

int main(int argc, char **argv) {
    (void)argc;
    struct request request;
    struct ss_error error = {0};
    int status = parse(&request, argv, &error);
    if (status == 0 && request.help)
        print_help();
    else if (status == 0 && request.version)
        printf("sssim %s\n", ss_version());
    else if (status == 0)
        status = run(&request, &error);
    if (fflush(stdout) != 0 && status == 0)
        status =
            ss_error_set(&error, SS_ERROR_FAILED, "output cannot be written: %s", strerror(errno));
    ss_option_store_free(&request.store);
    if (status < 0)
        fprintf(stderr, "sssim: %s\n", error.message);
    return status < 0 ? error.status : 0;
}
