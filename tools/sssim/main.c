/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fleet_command.h"
#include "program.h"
#include "queue_command.h"
#include "simulation.h"
#include "study.h"
#include "sweep.h"

static void print_help(void) {
    printf("Usage: sssim [OPTION]...\n"
           "       sssim queue [OPTION]...\n"
           "       sssim fleet [OPTION]... [-- OPTION...]\n"
           "Runs Showstopper's modules on a simulated machine and prints how well they hold\n"
           "the load. For requests to a simulated service see `sssim queue --help`, for a\n"
           "replay on many machines `sssim fleet --help`.\n\n"
           "Times: 20s, 107ms, 2min, 1h. Loads: 60%%, 0.6 or 6/10, and targets also as a\n"
           "number of CPUs: 0.5cpu.\n\n");
    ss_arguments_print_help(stdout, simulation_rows);
    printf("\nExamples: how well is a load held on 12 CPUs? How much do the length of a round\n"
           "and the target matter?\n"
           "  sssim -P 12 -l 50%% --settle 10s --duration 3min\n"
           "  sssim -P 12 --sweep load=25%%,50%%,75%% --sweep dithering-options=20ms,53ms,107ms\n"
           "\nA study of two programs, in a folder that ssreport reads:\n"
           "  sssim --foreground serial --iteration 50ms --noise 5%% --record study\n");
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
    /* Avoid -0.000. */
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

    if (!isnan(figures.throughput)) {
        printf("%-20s %9llu\n", "iterations", (unsigned long long)figures.iterations);
        print_figure("throughput", figures.throughput, " /s");
    }
}

static int run(struct simulation *simulation, struct ss_error *error) {
    static struct trial trial; /* static because it is too large for the stack */
    ss_time length;
    bool csv = simulation->csv;
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

static void print_round(
    const struct study_options *study, const struct trial_figures figures[MEMORY_SIDES]) {
    if (study->round == 1)
        printf("%-8s %18s %18s %14s %12s\n", "round", "foreground 1/s", "background 1/s",
            "mean error %", "MSE %^2");

    const struct trial_figures *background = &figures[STUDY_BACKGROUND];
    printf("%-8llu %18.3f %18.3f", (unsigned long long)study->round,
        figures[STUDY_FOREGROUND].throughput, background->throughput);
    if (background->samples > 0)
        printf(" %14.3f %12.3f\n", background->error_mean_percent, background->error_mse_e4);
    else
        printf(" %14s %12s\n", "none", "none");
}

static int run_rounds(const struct simulation *simulation, struct study_options *study,
    struct experiment *record, struct ss_option_store *warnings, struct ss_error *error) {
    for (uint64_t i = 0; i < simulation->rounds; i++) {
        struct trial_figures figures[MEMORY_SIDES];
        if (study_run(study, record, warnings, figures, error) < 0)
            return -1;
        print_round(study, figures);

        study->round++;
        for (int side = 0; side < MEMORY_SIDES; side++) {
            study->sides[side].seed++;
            study->sides[side].work.speed.seed++;
        }
    }
    return 0;
}

static int run_study(struct simulation *simulation, char **argv, struct ss_error *error) {
    struct study_options study;
    struct experiment experiment = {0}, *record = simulation->record ? &experiment : NULL;
    struct ss_option_store warnings = {0};
    if (simulation_make_study(simulation, argv, &study, error) < 0 ||
        (record && experiment_open(record, simulation->record, error) < 0))
        return -1;
    ss_option_store_print_warnings(stderr, "sssim", &simulation->store);

    int status = run_rounds(simulation, &study, record, &warnings, error);
    ss_option_store_print_warnings(stderr, "sssim", &warnings);
    ss_option_store_free(&warnings);
    if (status == 0)
        print_figure("known interference", study_interference(&study), " %");
    experiment_close(&experiment);
    return status;
}

static int execute(char **argv, int *exit_status, struct ss_error *error) {
    (void)exit_status;
    struct simulation simulation;
    if (argv[0] && argv[1] && strcmp(argv[1], "queue") == 0)
        return queue_command(argv + 1, error);
    if (argv[0] && argv[1] && strcmp(argv[1], "fleet") == 0)
        return fleet_command(argv + 1, error);

    int status = simulation_parse(&simulation, argv, error);
    if (status < 0 || ss_program_print_requested(
                          "sssim", NULL, simulation.help, simulation.version, print_help)) {
        simulation_close(&simulation);
        return status;
    }

    if (simulation.grid.count > 0)
        status = sweep_run(&simulation.grid, argv, simulation.csv || !isatty(STDOUT_FILENO), error);
    else if (simulation.foreground)
        status = run_study(&simulation, argv, error);
    else
        status = run(&simulation, error);

    simulation_close(&simulation);
    return status;
}

int main(int argc, char **argv) {
    return ss_program_main("sssim", execute, argc, argv);
}
