/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/streams.h"
#include "base/version.h"
#include "crash.h"
#include "grid.h"
#include "simulation.h"
#include "sweep.h"

static void print_help(void) {
    printf("Usage: sssim [OPTION]...\n"
           "Runs Showstopper's modules on a simulated machine and prints how well they hold\n"
           "the load.\n\n"
           "Times: 20s, 107m (milliseconds), 2M (minutes), 1h. Loads: 60%%, 0.6 or 6/10,\n"
           "and targets also as a number of CPUs: 0.5cpu.\n\n");
    ss_arguments_print_help(stdout, simulation_rows);
    printf("\nExamples: how well is a load held on 12 CPUs? How much do the length of a round\n"
           "and the target matter?\n"
           "  sssim -P 12 -l 50%% --settle 10s --duration 3M\n"
           "  sssim -P 12 --sweep load=25%%,50%%,75%% --sweep dithering-options=20m,53m,107m\n");
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
    print_figure("target", 100 * figures.target_mean, " %");
    print_figure("load", 100 * figures.load_mean, " %");
    print_figure("mean error", figures.error_mean_percent, " %");
    print_figure("mean squared error", figures.error_mse_e4, " %^2");
    print_figure("duty", 100 * figures.duty_mean, " %");
    print_figure("switches", figures.switches_per_second, " /s");
    print_figure("own CPU time", 100 * figures.own_cpu, " % of one CPU");
    print_figure("settling time", figures.settling_seconds, " s");
}

static int run(struct simulation *simulation, struct ss_error *error) {
    static struct trial trial; /* large, and there is one */
    ss_time length;
    bool csv = simulation->csv;
    crash_name_modules(&trial.set);
    if (simulation_open_trial(simulation, &trial, csv ? print_sample : NULL, &length, error) < 0)
        return -1;
    ss_option_store_print_warnings(stderr, "sssim", &simulation->store);
    if (csv)
        puts("elapsed_seconds,target,load,error");
    int status = trial_advance(&trial, length, error);
    if (status == 0 && !csv)
        print_figures(&trial);
    struct ss_option_store excesses = {0};
    ss_pipeline_warn_of_excess(&trial.set, trial.board, &excesses);
    ss_option_store_print_warnings(stderr, "sssim", &excesses);
    ss_option_store_free(&excesses);
    trial_close(&trial);
    return status;
}

static int serve(char **argv, struct ss_error *error) {
    struct simulation simulation;
    int status = simulation_parse(&simulation, argv, error);
    if (status == 0 && simulation.help)
        print_help();
    else if (status == 0 && simulation.version)
        printf("sssim %s\n", ss_version());
    else if (status == 0 && simulation.grid.count > 0)
        status = sweep_run(&simulation.grid, argv, simulation.csv || !isatty(STDOUT_FILENO), error);
    else if (status == 0)
        status = run(&simulation, error);
    simulation_close(&simulation);
    return status;
}

int main(int argc, char **argv) {
    (void)argc;
    struct ss_error error = {0};
    ss_streams_occupy();
    int status = serve(argv, &error);
    if (status == 0)
        status = ss_streams_flush(&error);
    if (status < 0)
        fprintf(stderr, "sssim: %s\n", error.message);
    return status < 0 ? error.status : 0;
}
