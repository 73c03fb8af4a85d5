/* SPDX-License-Identifier: Apache-2.0 */
#include "ratios.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

#include "base/student.h"
#include "base/words.h"

bool ssprofile_is_chosen(const char *patterns, const char *name) {
    struct ss_words_part part;
    if (!patterns)
        return true;
    while (ss_words_next(&patterns, ',', &part)) {
        char pattern[256];
        snprintf(pattern, sizeof pattern, "%.*s", (int)(part.length < 255 ? part.length : 255),
            part.text);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

static double unchanged(double value) {
    return value;
}

static double inverse(double value) {
    return 1 / value;
}

/* Returns the mean of a function of the results. It is exact if all results are equal. */
static double mean_of(const struct ssprofile_benchmark *benchmark, double (*function)(double)) {
    double mean = 0;
    for (size_t i = 0; i < benchmark->count; i++)
        mean += (function(benchmark->repetitions[i].result) - mean) / (double)(i + 1);
    return mean;
}

/* Returns the variance of that mean; NaN with one result. */
static double variance_of(
    const struct ssprofile_benchmark *benchmark, double (*function)(double), double mean) {
    double squares = 0, count = (double)benchmark->count;
    for (size_t i = 0; i < benchmark->count; i++) {
        double apart = function(benchmark->repetitions[i].result) - mean;
        squares += apart * apart;
    }
    return count > 1 ? squares / (count - 1) / count : NAN;
}

double ssprofile_spread(const struct ssprofile_benchmark *benchmark) {
    if (benchmark->count < 2)
        return NAN;
    double mean = mean_of(benchmark, unchanged);
    double error = sqrt(variance_of(benchmark, unchanged, mean));
    return ss_student((double)benchmark->count - 1) * error / mean;
}

/* Sums over the benchmarks. */
struct sums {
    double logs, times, variance, squares;
    double scatter[2]; /* of the least and the most ratio */
};

static void add_log(struct sums *sums, const struct ssprofile_benchmark *both[2]) {
    double logs[2];
    for (int side = 0; side < 2; side++) {
        logs[side] = mean_of(both[side], log);
        double variance = variance_of(both[side], log, logs[side]);
        sums->variance += variance;
        sums->squares += variance * variance / (double)(both[side]->count - 1);
    }
    sums->logs += both[0]->lower ? logs[0] - logs[1] : logs[1] - logs[0];
}

static void add_ratio(
    struct ssprofile_match *match, struct sums *sums, const struct ssprofile_benchmark *both[2]) {
    bool lower = both[0]->lower;
    const struct ssprofile_benchmark *slow = both[lower], *fast = both[!lower];
    /* The mean of the products over all pairs is the product of the means. */
    double ratio = mean_of(fast, unchanged) * mean_of(slow, inverse);
    double scatter = hypot(ssprofile_spread(both[0]), ssprofile_spread(both[1]));
    if (isnan(scatter))
        scatter = 0;
    if (match->count == 0 || ratio < match->least) {
        match->least = ratio;
        sums->scatter[0] = scatter;
    }
    if (match->count == 0 || ratio > match->most) {
        match->most = ratio;
        sums->scatter[1] = scatter;
    }
    sums->times += mean_of(slow, unchanged) * mean_of(fast, inverse);
    match->count++;
}

/*
 * The variance of the mean logarithm is the sum of the variances of both sides of all benchmarks,
 * each from its own repetitions; the degrees of freedom follow Welch and Satterthwaite.
 */
struct ssprofile_match ssprofile_match_of(
    const struct ssprofile_profile *base, const struct ssprofile_profile *here) {
    struct ssprofile_match match = {.least = NAN, .most = NAN};
    struct sums sums = {0};
    for (size_t i = 0; i < base->count; i++) {
        const struct ssprofile_benchmark *both[2] = {&base->benchmarks[i]};
        both[1] = ssprofile_profile_find(here, both[0]->name, both[0]->class);
        if (!both[1])
            continue;
        add_log(&sums, both);
        add_ratio(&match, &sums, both);
    }
    double count = (double)match.count;
    match.log_mean = sums.logs / count;
    match.time_mean = sums.times / count;
    match.half = NAN;
    if (sums.variance > 0)
        match.half =
            ss_student(sums.variance * sums.variance / sums.squares) * sqrt(sums.variance) / count;
    else if (sums.variance == 0 && match.count > 0)
        match.half = 0;
    match.scatter = (sums.scatter[0] + sums.scatter[1]) / 2;
    return match;
}
