/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "base/words.h"
#include "quote.h"

/* The command line of a run. The swept options come last, so that they take precedence. */
struct words {
    char **argv;
    char *swept[GRID_AXES_MAX];
};

static int make_words(struct words *words, const struct grid *grid, const size_t *place,
    char **argv, struct ss_error *error) {
    size_t count = 0;
    while (argv[count] && strcmp(argv[count], "--") != 0)
        count++;
    *words = (struct words){.argv = calloc(count + grid->count + 1, sizeof *argv)};
    if (!words->argv)
        return ss_error_memory(error);

    memcpy(words->argv, argv, count * sizeof *argv);
    for (size_t i = 0; i < grid->count; i++) {
        const struct grid_axis *axis = &grid->axes[i];
        if (asprintf(&words->swept[i], "--%s=%s", axis->name, axis->values[place[i]]) < 0) {
            words->swept[i] = NULL;
            return ss_error_memory(error);
        }
        words->argv[count + i] = words->swept[i];
    }
    return 0;
}

/* Prefixes the error with the swept options of the run. */
static int prefix_error(const struct words *words, struct ss_error *error) {
    char text[128] = "";
    for (size_t i = 0; i < GRID_AXES_MAX && words->swept[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", words->swept[i]);
    }
    return ss_error_wrap(error, "--sweep: %s", ss_words_show(text).text);
}

static int run_trial(struct simulation *simulation, struct trial_figures *figures,
    struct ss_option_store *store, struct ss_error *error) {
    static struct trial trial; /* static because it is too large for the stack */
    ss_time length;
    int status = 0;
    if (simulation_open_trial(simulation, &trial, NULL, &length, error) < 0)
        return -1;

    if (figures) {
        status = trial_advance(&trial, length, error);
        trial_get_figures(&trial, figures);
    } else {
        study_merge_warnings(store, &simulation->store);
    }
    ss_pipeline_warn_of_excess(&trial.set, trial.board, store);
    trial_close(&trial);
    return status;
}

/*
 * Runs one simulation. If `figures` is NULL, only checks the command line. Adds warnings to
 * `store`.
 */
static int simulate(char **argv, struct trial_figures *figures, struct ss_option_store *store,
    struct ss_error *error) {
    struct simulation simulation;
    int status = simulation_parse(&simulation, argv, error);
    if (status == 0)
        status = run_trial(&simulation, figures, store, error);
    simulation_close(&simulation);
    return status;
}

static void print_number(double value) {
    putchar(',');
    if (!isnan(value))
        printf("%.6f", value);
}

static void print_csv_heading(const struct grid *grid) {
    for (size_t i = 0; i < grid->count; i++) {
        quote_csv(stdout, grid->axes[i].name);
        putchar(',');
    }
    puts("samples,target_mean,load_mean,error_mean_percent,error_mse_e4,error_p95_percent,"
         "settling_seconds,duty_mean,switches_per_second,own_cpu,iterations_per_second");
}

static void print_csv_row(
    const struct grid *grid, const size_t *place, const struct trial_figures *figures) {
    for (size_t i = 0; i < grid->count; i++) {
        quote_csv(stdout, grid->axes[i].values[place[i]]);
        putchar(',');
    }

    printf("%zu", figures->samples);
    print_number(figures->target_mean);
    print_number(figures->load_mean);
    print_number(figures->error_mean_percent);
    print_number(figures->error_mse_e4);
    print_number(figures->error_p95_percent);
    print_number(figures->settling_seconds);
    print_number(figures->duty_mean);
    print_number(figures->switches_per_second);
    print_number(figures->own_cpu);
    print_number(figures->throughput);
    putchar('\n');
}

static int width_of(const struct grid_axis *axis) {
    size_t width = strlen(axis->name);
    for (size_t i = 0; i < axis->count; i++) {
        if (strlen(axis->values[i]) > width)
            width = strlen(axis->values[i]);
    }
    return (int)width;
}

static void print_table_heading(const struct grid *grid) {
    for (size_t i = 0; i < grid->count; i++)
        printf("%-*s  ", width_of(&grid->axes[i]), grid->axes[i].name);
    puts("mean error %  MSE %^2  settling s  switches/s  own CPU %");
}

static void print_cell(int width, int digits, double value) {
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, digits, value);
}

static void print_table_row(
    const struct grid *grid, const size_t *place, const struct trial_figures *figures) {
    for (size_t i = 0; i < grid->count; i++)
        printf("%-*s  ", width_of(&grid->axes[i]), grid->axes[i].values[place[i]]);

    print_cell(12, 3, figures->error_mean_percent);
    print_cell(9, 3, figures->error_mse_e4);
    print_cell(12, 1, figures->settling_seconds);
    print_cell(12, 1, figures->switches_per_second);
    print_cell(11, 3, 100 * figures->own_cpu);
    putchar('\n');
}

/* Moves to the next run; the last axis varies fastest. Returns false after the last run. */
static bool next_combination(const struct grid *grid, size_t *place) {
    for (size_t i = grid->count; i-- > 0;) {
        if (++place[i] < grid->axes[i].count)
            return true;
        place[i] = 0;
    }
    return false;
}

struct sweep {
    const struct grid *grid;
    bool runs;                    /* false to only check the command lines */
    struct ss_option_store store; /* warnings of all runs, without duplicates */
    bool csv;
};

static int print_row(const struct sweep *sweep, const size_t *place,
    const struct trial_figures *row, struct ss_error *error) {
    if (sweep->csv)
        print_csv_row(sweep->grid, place, row);
    else
        print_table_row(sweep->grid, place, row);
    /* Show each row at once: users watch long sweeps. */
    return ss_streams_flush(error);
}

static int run_one(struct sweep *sweep, const size_t *place, char **argv, struct ss_error *error) {
    struct trial_figures figures, *row = sweep->runs ? &figures : NULL;
    struct words words;

    int status = make_words(&words, sweep->grid, place, argv, error);
    if (status == 0 && simulate(words.argv, row, &sweep->store, error) < 0)
        status = prefix_error(&words, error);
    if (status == 0 && row)
        status = print_row(sweep, place, row, error);

    for (size_t i = 0; i < GRID_AXES_MAX; i++)
        free(words.swept[i]);
    free(words.argv);
    return status;
}

static int run_all(struct sweep *sweep, char **argv, struct ss_error *error) {
    size_t place[GRID_AXES_MAX] = {0};
    int status;
    do {
        status = run_one(sweep, place, argv, error);
    } while (status == 0 && next_combination(sweep->grid, place));
    ss_option_store_print_warnings(stderr, "sssim", &sweep->store);
    ss_option_store_free(&sweep->store);
    return status;
}

int sweep_run(const struct grid *grid, char **argv, bool csv, struct ss_error *error) {
    struct sweep sweep = {.grid = grid, .csv = csv};
    if (run_all(&sweep, argv, error) < 0)
        return -1;

    if (csv)
        print_csv_heading(grid);
    else
        print_table_heading(grid);
    sweep.runs = true;
    return run_all(&sweep, argv, error);
}
