/* SPDX-License-Identifier: Apache-2.0 */
#include "group_tests.h"

#include <gsl/gsl_sf_log.h>
#include <math.h>
#include <stdlib.h>

#include "base/owned.h"
#include "tails.h"

static struct stats_test no_test(const char *why) {
    return (struct stats_test){
        .statistic = NAN, .freedom = NAN, .freedom_within = NAN, .p = NAN, .missing = why};
}

/* Corrects the mean by the mean of the residuals, which removes its rounding error. */
struct stats_sample stats_sample_of(const double *values, size_t count) {
    struct stats_sample sample = {.count = count, .mean = NAN, .variance = NAN};
    long double sum = 0, rest = 0, squares = 0, n = (long double)count;
    if (count == 0)
        return sample;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    for (size_t i = 0; i < count; i++)
        rest += values[i] - sum / n;
    long double mean = (sum + rest) / n;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    sample.mean = (double)mean;
    if (count > 1)
        sample.variance = (double)(squares / (n - 1));
    return sample;
}

/* Returns why a test of variances or means is impossible; NULL if it is possible. */
static const char *find_obstacle(const struct stats_sample *groups, size_t count) {
    if (count < 2)
        return "there is only one group";
    for (size_t i = 0; i < count; i++) {
        if (groups[i].count < 2)
            return "a group has fewer than two values";
    }
    for (size_t i = 0; i < count; i++) {
        if (!(groups[i].variance > 0))
            return "all values of a group are equal";
    }
    return NULL;
}

/* Returns log(1 + x) - x for x = variance / all - 1, which may round to -1. */
static double log_less(double variance, double all) {
    double x = (variance - all) / all;
    return fabs(x) < 0.5 ? gsl_sf_log_1plusx_mx(x) : log(variance) - log(all) - x;
}

/*
 * The statistic is the sum of -n log(v / V), where n is the degrees of freedom and v the variance
 * of each group, and V the pooled variance. The sum of n (v / V - 1) is 0, so it can be added: all
 * terms are then positive, and no digits are lost if variances are nearly equal.
 */
struct stats_test stats_test_variances(const struct stats_sample *groups, size_t count) {
    const char *obstacle = find_obstacle(groups, count);
    double freedom = 0, squares = 0, inverse = 0, sum = 0;
    if (obstacle)
        return no_test(obstacle);
    for (size_t i = 0; i < count; i++) {
        double n = (double)groups[i].count - 1;
        freedom += n;
        inverse += 1 / n;
        squares += n * groups[i].variance;
    }
    double all = squares / freedom;
    for (size_t i = 0; i < count; i++)
        sum -= ((double)groups[i].count - 1) * log_less(groups[i].variance, all);
    struct stats_test test = no_test(NULL);
    test.freedom = (double)count - 1;
    test.statistic = sum / (1 + (inverse - 1 / freedom) / (3 * test.freedom));
    test.p = stats_tail_chi_square(test.statistic, test.freedom);
    return test;
}

/* Returns the weight of a mean: the inverse of its variance. */
static double weight_of(const struct stats_sample *group) {
    return (double)group->count / group->variance;
}

struct stats_test stats_test_means(const struct stats_sample *groups, size_t count) {
    const char *obstacle = find_obstacle(groups, count);
    double weights = 0, mean = 0, squares = 0, unequal = 0, k = (double)count;
    if (obstacle)
        return no_test(obstacle);
    for (size_t i = 0; i < count; i++)
        weights += weight_of(&groups[i]);
    for (size_t i = 0; i < count; i++)
        mean += weight_of(&groups[i]) / weights * (groups[i].mean - groups[0].mean);
    for (size_t i = 0; i < count; i++) {
        double apart = groups[i].mean - groups[0].mean - mean;
        double rest = 1 - weight_of(&groups[i]) / weights;
        squares += weight_of(&groups[i]) * apart * apart;
        unequal += rest * rest / ((double)groups[i].count - 1);
    }
    unequal /= k * k - 1;
    struct stats_test test = no_test(NULL);
    test.freedom = k - 1;
    test.freedom_within = 1 / (3 * unequal);
    test.statistic = squares / (k - 1) / (1 + 2 * (k - 2) * unequal);
    test.p = stats_tail_f(test.statistic, test.freedom, test.freedom_within);
    return test;
}

static struct ssreport_sureness sureness_of(const struct stats_sample *sample) {
    double n = (double)sample->count;
    return (struct ssreport_sureness){.error = sqrt(sample->variance / n), .freedom = n - 1};
}

struct stats_difference stats_test_difference(
    const struct stats_sample *one, const struct stats_sample *other, double confidence) {
    struct stats_difference result = {
        .test = no_test(NULL), .difference = one->mean - other->mean, .interval = {NAN, NAN}};
    if (one->count < 2 || other->count < 2) {
        result.test.missing = "a group has fewer than two values";
        return result;
    }
    struct ssreport_sureness sureness =
        ssreport_sureness_of_difference(sureness_of(one), sureness_of(other));
    if (!(sureness.error > 0)) {
        result.test.missing = "all values of both groups are equal";
        return result;
    }
    result.test.statistic = result.difference / sureness.error;
    result.test.freedom = sureness.freedom;
    result.test.p = stats_tail_t(result.test.statistic, sureness.freedom);
    result.interval = ssreport_mean_interval(result.difference, sureness, confidence);
    return result;
}

struct ranked {
    double value;
    size_t group;
};

static int compare_values(const void *left, const void *right) {
    const struct ranked *one = left, *other = right;
    return (one->value > other->value) - (one->value < other->value);
}

/*
 * Adds ranks to the sums of their groups, counted from the mean of all ranks; equal values share
 * their mean rank.
 */
static void add_ranks(const struct ranked *all, size_t count, double *sums, double *ties) {
    double middle = ((double)count - 1) / 2;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && all[end].value == all[i].value;)
            end++;
        double same = (double)(end - i), rank = (double)(i + end - 1) / 2;
        *ties += same * (same * same - 1);
        for (size_t j = i; j < end; j++)
            sums[all[j].group] += rank - middle;
    }
}

static struct stats_test test_ranks(
    const struct stats_values *groups, size_t count, const struct ranked *all, double *sums) {
    double n = 0, ties = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        n += (double)groups[i].count;
    add_ranks(all, (size_t)n, sums, &ties);
    for (size_t i = 0; i < count; i++)
        sum += sums[i] * sums[i] / (double)groups[i].count;
    double untied = 1 - ties / (n * (n * n - 1));
    if (!(untied > 0))
        return no_test("all values are equal");
    struct stats_test test = no_test(NULL);
    test.freedom = (double)count - 1;
    test.statistic = 12 / (n * (n + 1)) * sum / untied;
    test.p = stats_tail_chi_square(test.statistic, test.freedom);
    return test;
}

struct stats_test stats_test_ranks(const struct stats_values *groups, size_t count) {
    size_t size = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        size += groups[i].count;
        if (groups[i].count == 0)
            return no_test("a group has no value");
    }
    if (count < 2)
        return no_test("there is only one group");
    SS_OWNED(free) struct ranked *all = calloc(size, sizeof *all);
    SS_OWNED(free) double *sums = calloc(count, sizeof *sums);
    if (!all || !sums)
        return no_test("out of memory");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < groups[i].count; j++)
            all[at++] = (struct ranked){groups[i].values[j], i};
    }
    qsort(all, size, sizeof *all, compare_values);
    return test_ranks(groups, count, all, sums);
}

struct numbered {
    double p;
    size_t number;
};

static int compare_p(const void *left, const void *right) {
    const struct numbered *one = left, *other = right;
    return (one->p > other->p) - (one->p < other->p);
}

int stats_adjust_holm(const double *p, double *adjusted, size_t count) {
    size_t tests = 0;
    double least = 0;
    SS_OWNED(free) struct numbered *sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < count; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            sorted[tests++] = (struct numbered){p[i], i};
    }
    qsort(sorted, tests, sizeof *sorted, compare_p);
    for (size_t i = 0; i < tests; i++) {
        least = fmax(least, fmin(1, (double)(tests - i) * sorted[i].p));
        adjusted[sorted[i].number] = least;
    }
    return 0;
}
