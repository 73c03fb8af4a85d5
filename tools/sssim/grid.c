/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"
#include "simulation.h"
#include "words.h"

/* ---- the axes ---- */

static int add_axis(struct grid *grid, const char *text, struct ss_error *error) {
    size_t length = strcspn(text, "=");
    if (length == 0 || !text[length])
        return ss_error_set(error, SS_ERROR_FAILED,
            "--sweep: '%s' names no option and values: write --sweep NAME=VALUE,...",
            ss_words_show(text).text);
    if (grid->count == GRID_AXES_MAX)
        return ss_error_set(
            error, SS_ERROR_FAILED, "--sweep is given too often: at most %d times", GRID_AXES_MAX);
    struct grid_axis *axis = &grid->axes[grid->count++];
    axis->values = items_split(text + length + 1, &axis->count, error);
    axis->name = strndup(text, length);
    if (!axis->values || !axis->name)
        return ss_error_set(error, SS_ERROR_FAILED, "out of memory");
    if (strcmp(axis->name, "sweep") == 0)
        return ss_error_set(error, SS_ERROR_FAILED, "--sweep cannot be swept itself");
    for (size_t i = 0; i + 1 < grid->count; i++) {
        if (strcmp(grid->axes[i].name, axis->name) == 0)
            return ss_error_set(error, SS_ERROR_FAILED,
                "--%s is swept twice: give all its values to one --sweep",
                ss_words_show(axis->name).text);
    }
    return 0;
}

int grid_take(struct grid *grid, char **argv, struct ss_error *error) {
    static const char joined[] = "--sweep=";
    *grid = (struct grid){0};
    char **to = argv, **from = argv;
    int status = 0;
    for (; *from && strcmp(*from, "--") != 0; from++) {
        const char *text = NULL;
        if (strncmp(*from, joined, sizeof joined - 1) == 0)
            text = *from + sizeof joined - 1;
        else if (strcmp(*from, "--sweep") == 0 && from[1])
            text = *++from;
        if (!text)
            *to++ = *from;
        else if (status == 0)
            status = add_axis(grid, text, error);
    }
    while (*from)
        *to++ = *from++;
    *to = NULL;
    return status;
}

void grid_close(struct grid *grid) {
    for (size_t i = 0; i < grid->count; i++) {
        free(grid->axes[i].name);
        free(grid->axes[i].values);
    }
    *grid = (struct grid){0};
}

/* ---- one run ---- */

/* The command line of a run: what is swept comes last, and so is what counts. */
struct words {
    char **argv;
    char *swept[GRID_AXES_MAX];
};

static void free_words(struct words *words) {
    for (size_t i = 0; i < GRID_AXES_MAX; i++)
        free(words->swept[i]);
    free(words->argv);
}

static int make_words(struct words *words, const struct grid *grid, const size_t *place,
    char **argv, struct ss_error *error) {
    size_t count = 0;
    while (argv[count] && strcmp(argv[count], "--") != 0)
        count++;
    *words = (struct words){.argv = calloc(count + grid->count + 1, sizeof *argv)};
    if (!words->argv)
        return ss_error_set(error, SS_ERROR_FAILED, "out of memory");
    memcpy(words->argv, argv, count * sizeof *argv);
    for (size_t i = 0; i < grid->count; i++) {
        const struct grid_axis *axis = &grid->axes[i];
        if (asprintf(&words->swept[i], "--%s=%s", axis->name, axis->values[place[i]]) < 0) {
            words->swept[i] = NULL;
            return ss_error_set(error, SS_ERROR_FAILED, "out of memory");
        }
        words->argv[count + i] = words->swept[i];
    }
    return 0;
}

/* Which run it is that failed. */
static int blame(const struct words *words, struct ss_error *error) {
    char text[128] = "";
    for (size_t i = 0; i < GRID_AXES_MAX && words->swept[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", words->swept[i]);
    }
    return ss_error_wrap(error, "%s", ss_words_show(text).text);
}

/* `store` gets the warnings. */
static int simulate(char **argv, bool dry, struct trial_figures *figures,
    struct ss_option_store *store, struct ss_error *error) {
    static struct trial trial; /* large */
    struct simulation simulation;
    ss_time length;
    int status = simulation_parse(&simulation, argv, error);
    if (status == 0)
        status = simulation_open_trial(&simulation, &trial, NULL, &length, error);
    if (status == 0) {
        if (!dry)
            status = trial_advance(&trial, length, error);
        trial_get_figures(&trial, figures);
        trial_close(&trial);
        ss_option_store_merge(store, &simulation.store);
    }
    simulation_close(&simulation);
    return status;
}

/* ---- the output ---- */

/* Quoted where CSV wants it. */
static void print_text(const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void print_number(double value) {
    putchar(',');
    if (!isnan(value))
        printf("%.6f", value);
}

static void print_heading(const struct grid *grid) {
    for (size_t i = 0; i < grid->count; i++) {
        print_text(grid->axes[i].name);
        putchar(',');
    }
    puts("samples,target_mean,load_mean,error_mean_percent,error_mse_e4,error_p95_percent,"
         "settling_seconds,duty_mean,switches_per_second");
}

static void print_row(
    const struct grid *grid, const size_t *place, const struct trial_figures *figures) {
    for (size_t i = 0; i < grid->count; i++) {
        print_text(grid->axes[i].values[place[i]]);
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
    putchar('\n');
    /* A long sweep is looked at while it goes on. */
    fflush(stdout);
}

/* ---- all runs ---- */

/* The last axis turns fastest. False: all have been. */
static bool go_on(const struct grid *grid, size_t *place) {
    for (size_t i = grid->count; i-- > 0;) {
        if (++place[i] < grid->axes[i].count)
            return true;
        place[i] = 0;
    }
    return false;
}

static int run_all(const struct grid *grid, char **argv, bool dry, struct ss_option_store *store,
    struct ss_error *error) {
    size_t place[GRID_AXES_MAX] = {0};
    int status;
    do {
        struct words words;
        struct trial_figures figures;
        status = make_words(&words, grid, place, argv, error);
        if (status == 0 && simulate(words.argv, dry, &figures, store, error) < 0)
            status = blame(&words, error);
        if (status == 0 && !dry)
            print_row(grid, place, &figures);
        free_words(&words);
    } while (status == 0 && go_on(grid, place));
    return status;
}

int grid_run(const struct grid *grid, char **argv, struct ss_error *error) {
    struct ss_option_store store = {0};
    int status = run_all(grid, argv, true, &store, error);
    ss_option_store_print_warnings(stderr, "sssim", &store);
    if (status == 0) {
        print_heading(grid);
        status = run_all(grid, argv, false, &store, error);
    }
    ss_option_store_free(&store);
    return status;
}
