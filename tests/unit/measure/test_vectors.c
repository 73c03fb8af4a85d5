/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests formulas that reports in Python have, too: tests/python/test_vectors.py reads the same rows
 * of data/analysis/vectors.csv. Each row has a function, its value (empty if it refuses the
 * arguments) and its arguments, separated by spaces.
 */

#include <stdbool.h>
#include <stdlib.h>

#include "base/histogram.h"
#include "measure/figures.h"
#include "measure/unfinished.h"
#include "unit.h"

#define TWELVE_DIGITS 1e-12
#define NUMBERS_MAX   64

struct vector {
    char line[512];
    const char *function, *value, *text;
    double numbers[NUMBERS_MAX]; /* the arguments */
    size_t count;
};

static bool read_vector(FILE *stream, struct vector *vector) {
    char *rest = vector->line, *end;
    if (!fgets(vector->line, sizeof vector->line, stream))
        return false;
    vector->line[strcspn(vector->line, "\n")] = '\0';
    vector->function = strsep(&rest, ",");
    vector->value = strsep(&rest, ",");
    vector->text = rest;
    assert_non_null(rest);
    for (vector->count = 0; *rest && vector->count < NUMBERS_MAX; rest = end) {
        vector->numbers[vector->count++] = strtod(rest, &end);
        if (end == rest)
            break;
    }
    return true;
}

/* Compares all rows of a function with its results. */
static void expect(const char *function, size_t rows, double (*compute)(const struct vector *)) {
    struct vector vector;
    size_t compared = 0;
    FILE *stream = fopen(TEST_SOURCE_DIR "/data/analysis/vectors.csv", "r");
    assert_non_null(stream);
    while (read_vector(stream, &vector)) {
        if (strcmp(vector.function, function) != 0)
            continue;
        double want = *vector.value ? strtod(vector.value, NULL) : NAN, have = compute(&vector);
        if (isnan(want) ? !isnan(have) : !(fabs(have - want) <= TWELVE_DIGITS * fabs(want)))
            fail_msg("%s(%s) is %.15g, not %.15g", function, vector.text, have, want);
        compared++;
    }
    fclose(stream);
    assert_int_equal(compared, rows);
}

static double error_of(const struct vector *vector, double (*figure)(struct ss_figures *)) {
    struct ss_figures figures = {0};
    for (size_t i = 0; i + 1 < vector->count; i += 2)
        assert_true(ss_figures_add(&figures, vector->numbers[i], vector->numbers[i + 1]));
    double value = figure(&figures);
    ss_figures_free(&figures);
    return value;
}

static double mean_percent(struct ss_figures *figures) {
    return ss_figures_error_mean_percent(figures);
}

static double mse_e4(struct ss_figures *figures) {
    return ss_figures_error_mse_e4(figures);
}

static double error_mean_percent(const struct vector *vector) {
    return error_of(vector, mean_percent);
}

static double error_mse_e4(const struct vector *vector) {
    return error_of(vector, mse_e4);
}

static double error_p95_percent(const struct vector *vector) {
    return error_of(vector, ss_figures_error_p95_percent);
}

TEST(errors_of_samples_match_the_vectors) {
    expect("error_mean_percent", 3, error_mean_percent);
    expect("error_mse_e4", 3, error_mse_e4);
    expect("error_p95_percent", 3, error_p95_percent);
}

/* Arguments: the share, the maximum (0 if unknown), and values in nanoseconds. */
static double quantile(const struct vector *vector) {
    struct ss_histogram histogram;
    assert_int_equal(ss_histogram_open(&histogram, SS_HISTOGRAM_FINE), 0);
    for (size_t i = 2; i < vector->count; i++) {
        unsigned bucket = ss_histogram_bucket((ss_time)vector->numbers[i], SS_HISTOGRAM_FINE);
        ss_histogram_add_bucket(&histogram, bucket, 1);
    }
    if (vector->numbers[1] > 0)
        ss_histogram_set_max(&histogram, (ss_time)vector->numbers[1]);
    double value = ss_histogram_quantile(&histogram, vector->numbers[0]);
    ss_histogram_close(&histogram);
    return value;
}

TEST(quantiles_of_buckets_match_the_vectors) {
    expect("quantile", 11, quantile);
}

/* Arguments: the time since the iteration began, and the mean length of ended ones. */
static double unfinished(const struct vector *vector) {
    return ss_unfinished_length(&(struct ss_unfinished){
        .elapsed = vector->numbers[0], .mean = vector->numbers[1], .deviation = NAN});
}

TEST(lengths_of_unfinished_iterations_match_the_vectors) {
    expect("unfinished", 4, unfinished);
}

UNIT_RUN
