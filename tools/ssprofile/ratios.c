/* SPDX-License-Identifier: Apache-2.0 */
#include "ratios.h"

#include <fnmatch.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "battery.h"
#include "statistics.h"

#define SPREAD_CONFIDENCE 0.95

/* Returns the mean of all results, or of their inverses. */
static double mean_of(const struct ssprofile_benchmark *benchmark, bool inverse) {
    double sum = 0;
    for (size_t i = 0; i < benchmark->count; i++) {
        double result = benchmark->repetitions[i].result;
        sum += inverse ? 1 / result : result;
    }
    return sum / (double)benchmark->count;
}

/* Returns the mean of the logarithms, and the variance of that mean. */
static double log_mean(const struct ssprofile_benchmark *benchmark, double *variance) {
    double sum = 0, squares = 0, count = (double)benchmark->count;
    for (size_t i = 0; i < benchmark->count; i++)
        sum += log(benchmark->repetitions[i].result);
    double mean = sum / count;
    for (size_t i = 0; i < benchmark->count; i++) {
        double apart = log(benchmark->repetitions[i].result) - mean;
        squares += apart * apart;
    }
    *variance = benchmark->count > 1 ? squares / (count - 1) / count : NAN;
    return mean;
}

double ssprofile_spread(const struct ssprofile_benchmark *benchmark) {
    SS_OWNED(free) double *values = calloc(benchmark->count + 1, sizeof *values);
    if (!values || benchmark->count < 2)
        return NAN;
    for (size_t i = 0; i < benchmark->count; i++)
        values[i] = benchmark->repetitions[i].result;
    struct ssreport_mean mean = ssreport_mean_of(values, benchmark->count, SPREAD_CONFIDENCE);
    return (mean.high - mean.low) / 2 / mean.mean;
}

static struct ssprofile_ratio ratio_of(
    const struct ssprofile_benchmark *base, const struct ssprofile_benchmark *target) {
    struct ssprofile_ratio ratio = {.name = base->name,
        .class = base->class,
        .repetitions = {base->count, target->count},
        .spread = {ssprofile_spread(base), ssprofile_spread(target)}};
    double logs[2] = {log_mean(base, &ratio.variance[0]), log_mean(target, &ratio.variance[1])};
    ratio.log = base->lower ? logs[0] - logs[1] : logs[1] - logs[0];
    /* The mean of the products over all pairs is the product of the means. */
    ratio.ratio = base->lower ? mean_of(base, false) * mean_of(target, true)
                              : mean_of(target, false) * mean_of(base, true);
    return ratio;
}

bool ssprofile_is_chosen(
    const struct ssprofile_matching *matching, const char *name, const char *class) {
    if ((matching->class && strcmp(matching->class, class) != 0) ||
        (matching->battery && !ssprofile_battery_task(matching->battery, name, class)))
        return false;
    if (!matching->only)
        return true;
    const char *at = matching->only;
    struct ss_words_part part;
    while (ss_words_next(&at, ',', &part)) {
        char pattern[256];
        snprintf(pattern, sizeof pattern, "%.*s", (int)(part.length < 255 ? part.length : 255),
            part.text);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

static const char *name_of(const struct ssprofile_profile *profile, char text[256]) {
    snprintf(text, 256, "%.120s:%.120s", profile->machine, profile->limits);
    return text;
}

/* Returns whether the direction of the benchmark agrees with the battery, if there is a battery. */
static bool is_as_in_battery(const struct ssprofile_benchmark *benchmark,
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings) {
    const struct ssprofile_task *task =
        matching->battery
            ? ssprofile_battery_task(matching->battery, benchmark->name, benchmark->class)
            : NULL;
    if (!task || task->lower == benchmark->lower)
        return true;
    ssprofile_warn(warnings,
        "%s: left out: lower_is_better is %s in line %llu of the base, and the battery says %s",
        benchmark->name, benchmark->lower ? "true" : "false", (unsigned long long)benchmark->line,
        task->lower ? "lower" : "higher");
    return false;
}

/* Returns why a benchmark cannot be compared, and adds a warning; NULL if it can be. */
static const char *find_obstacle(const struct ssprofile_benchmark *benchmarks[2],
    const struct ssprofile_profile *sides[2], const struct ssprofile_matching *matching,
    struct ssprofile_warnings *warnings) {
    char text[256];
    const char *name = benchmarks[0]->name;
    for (int i = 0; i < 2; i++) {
        if (!benchmarks[i]->contradictory)
            continue;
        ssprofile_warn(warnings, "%s: left out: rows of %s differ in lower_is_better", name,
            name_of(sides[i], text));
        return SSPROFILE_CONTRADICTORY;
    }
    if (benchmarks[0]->lower != benchmarks[1]->lower) {
        ssprofile_warn(warnings,
            "%s: left out: lower_is_better is %s in line %llu of the base and %s in line %llu of "
            "%s",
            name, benchmarks[0]->lower ? "true" : "false", (unsigned long long)benchmarks[0]->line,
            benchmarks[1]->lower ? "true" : "false", (unsigned long long)benchmarks[1]->line,
            name_of(sides[1], text));
        return SSPROFILE_CONTRADICTORY;
    }
    if (!is_as_in_battery(benchmarks[0], matching, warnings))
        return SSPROFILE_CONTRADICTORY;
    for (int i = 0; i < 2; i++) {
        double spread = ssprofile_spread(benchmarks[i]);
        if (!(spread > matching->unstable))
            continue;
        ssprofile_warn(warnings, "%s: left out: unstable on %s: " SSPROFILE_UNCERTAIN, name,
            name_of(sides[i], text), 100 * spread, benchmarks[i]->count);
        return SSPROFILE_UNSTABLE;
    }
    return NULL;
}

static void warn_missing(const struct ssprofile_profile *sides[2], int missing,
    const struct ssprofile_benchmark *benchmark, struct ssprofile_warnings *warnings) {
    char has[256], lacks[256];
    ssprofile_warn(warnings, "%s of class %s: left out: %s has it, in line %llu, but %s does not",
        benchmark->name, benchmark->class, name_of(sides[!missing], has),
        (unsigned long long)benchmark->line, name_of(sides[missing], lacks));
}

/* Warns about benchmarks of the battery that neither side has. */
static void warn_of_neither(const struct ssprofile_profile *sides[2],
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings) {
    char text[2][256];
    for (size_t i = 0; matching->battery && i < matching->battery->count; i++) {
        const struct ssprofile_task *task = &matching->battery->tasks[i];
        if (ssprofile_is_chosen(matching, task->name, task->class) &&
            !ssprofile_profile_find(sides[0], task->name, task->class) &&
            !ssprofile_profile_find(sides[1], task->name, task->class))
            ssprofile_warn(warnings,
                "%s of class %s: left out: the battery has it, but neither %s nor %s", task->name,
                task->class, name_of(sides[0], text[0]), name_of(sides[1], text[1]));
    }
}

static int add_ratio(struct ssprofile_ratios *ratios, const struct ssprofile_ratio *ratio) {
    if (!SS_GROW(ratios->items, ratios->count + 1, ratios->capacity))
        return -1;
    ratios->items[ratios->count++] = *ratio;
    return 0;
}

/* Counts an excluded benchmark. `base` or `target` is NULL if that side lacks it. */
static int leave_out(struct ssprofile_ratios *ratios, const struct ssprofile_benchmark *base,
    const struct ssprofile_benchmark *target, const char *why) {
    const struct ssprofile_benchmark *known = base ? base : target;
    if (!SS_GROW(ratios->left_out, ratios->left_out_count + 1, ratios->left_out_capacity))
        return -1;
    ratios->left_out[ratios->left_out_count++] =
        (struct ssprofile_left_out){known->name, known->class, why,
            {base ? ssprofile_spread(base) : NAN, target ? ssprofile_spread(target) : NAN}};
    return 0;
}

/* Compares a benchmark that both sides have. */
static int compare_benchmark(struct ssprofile_ratios *ratios,
    const struct ssprofile_benchmark *both[2], const struct ssprofile_profile *sides[2],
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings) {
    const char *obstacle = find_obstacle(both, sides, matching, warnings);
    if (obstacle)
        return leave_out(ratios, both[0], both[1], obstacle);
    struct ssprofile_ratio ratio = ratio_of(both[0], both[1]);
    if (isfinite(ratio.ratio) && ratio.ratio > 0)
        return add_ratio(ratios, &ratio);
    ssprofile_warn(
        warnings, "%s: left out: its ratio is not a positive finite number", both[0]->name);
    return leave_out(ratios, both[0], both[1], SSPROFILE_NO_NUMBER);
}

/* Computes the ratios of benchmarks that both base and target have. */
static int compare_common(struct ssprofile_ratios *ratios, const struct ssprofile_profile *sides[2],
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings) {
    for (size_t i = 0; i < sides[0]->count; i++) {
        const struct ssprofile_benchmark *both[2] = {&sides[0]->benchmarks[i]};
        if (!ssprofile_is_chosen(matching, both[0]->name, both[0]->class))
            continue;
        both[1] = ssprofile_profile_find(sides[1], both[0]->name, both[0]->class);
        if (!both[1])
            warn_missing(sides, 1, both[0], warnings);
        if ((both[1] ? compare_benchmark(ratios, both, sides, matching, warnings)
                     : leave_out(ratios, both[0], NULL, SSPROFILE_MISSING)) < 0)
            return -1;
    }
    return 0;
}

int ssprofile_ratios_make(struct ssprofile_ratios *ratios, const struct ssprofile_profile *sides[2],
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings,
    struct ss_error *error) {
    char text[2][256];
    *ratios = (struct ssprofile_ratios){0};
    if (compare_common(ratios, sides, matching, warnings) < 0)
        return ss_error_memory(error);
    for (size_t i = 0; i < sides[1]->count; i++) {
        const struct ssprofile_benchmark *target = &sides[1]->benchmarks[i];
        if (!ssprofile_is_chosen(matching, target->name, target->class) ||
            ssprofile_profile_find(sides[0], target->name, target->class))
            continue;
        warn_missing(sides, 0, target, warnings);
        if (leave_out(ratios, NULL, target, SSPROFILE_MISSING) < 0)
            return ss_error_memory(error);
    }
    warn_of_neither(sides, matching, warnings);
    if (ratios->count > 0)
        return 0;
    size_t unstable = 0;
    for (size_t i = 0; i < ratios->left_out_count; i++)
        unstable += strcmp(ratios->left_out[i].why, SSPROFILE_UNSTABLE) == 0;
    return ss_error_fail(error,
        "%s and %s have no benchmark in common that can be compared (%zu are unstable%s)",
        name_of(sides[0], text[0]), name_of(sides[1], text[1]), unstable,
        unstable > 0 ? ": measure more repetitions, or allow more with --spread" : "");
}

void ssprofile_ratios_free(struct ssprofile_ratios *ratios) {
    free(ratios->items);
    free(ratios->left_out);
    *ratios = (struct ssprofile_ratios){0};
}

struct ssprofile_figures ssprofile_figures_of(const double *ratios, size_t count) {
    struct ssprofile_figures figures = {count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    SS_OWNED(free) double *sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted || count == 0)
        return figures;
    double logs = 0;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = ratios[i];
        logs += log(ratios[i]);
    }
    figures.median = ssreport_median_of(sorted, count);
    figures.least = sorted[0];
    figures.most = sorted[count - 1];
    figures.length = figures.most - figures.least;
    figures.mean = gsl_stats_mean(ratios, 1, count);
    figures.geometric = exp(logs / (double)count);
    figures.most_to_least = figures.most / figures.least;
    if (count > 1)
        figures.variation = gsl_stats_sd_m(ratios, 1, count, figures.mean) / figures.mean;
    return figures;
}

struct ssprofile_figures ssprofile_ratios_figures(const struct ssprofile_ratios *ratios) {
    SS_OWNED(free) double *values = calloc(ratios->count + 1, sizeof *values);
    if (!values)
        return ssprofile_figures_of(&(double){0}, 0);
    for (size_t i = 0; i < ratios->count; i++)
        values[i] = ratios->items[i].ratio;
    return ssprofile_figures_of(values, ratios->count);
}

/* Returns the effect of chance on one ratio; 0 if there are too few repetitions. */
static double scatter_of_one(const struct ssprofile_ratio *ratio) {
    double scatter = hypot(ratio->spread[0], ratio->spread[1]);
    return isnan(scatter) ? 0 : scatter;
}

double ssprofile_scatter_of(const struct ssprofile_ratios *ratios) {
    const struct ssprofile_ratio *least = NULL, *most = NULL;
    for (size_t i = 0; i < ratios->count; i++) {
        const struct ssprofile_ratio *ratio = &ratios->items[i];
        least = !least || ratio->ratio < least->ratio ? ratio : least;
        most = !most || ratio->ratio > most->ratio ? ratio : most;
    }
    return least ? (scatter_of_one(least) + scatter_of_one(most)) / 2 : 0;
}

bool ssprofile_is_chance(double most_to_least, double scatter) {
    return log(most_to_least) <= 2 * scatter + 1e-9; /* tolerance for rounding */
}

double ssprofile_coverage_of(size_t count) {
    return count > 0 ? ((double)count - 1) / ((double)count + 1) : 0;
}

size_t ssprofile_bin_of(double ratio, double bin) {
    double number = ceil(ratio / bin - 1e-9);
    return number > 1 ? (size_t)number : 1;
}

struct ssprofile_reduction ssprofile_reduction_of(
    const struct ssprofile_figures *plain, const struct ssprofile_figures *throttled) {
    struct ssprofile_reduction reduction = {
        .reduction = plain->length / throttled->length,
        .factor = plain->geometric / throttled->geometric,
        .share = NAN,
    };
    reduction.relative = reduction.reduction / reduction.factor;
    if (isfinite(reduction.reduction) && log(reduction.reduction) != 0)
        reduction.share = log(reduction.factor) / log(reduction.reduction);
    return reduction;
}

/*
 * Returns the mean of the logarithms. Its variance is the sum of the variances of both sides of all
 * benchmarks, each from its own repetitions; the degrees of freedom follow Welch and Satterthwaite.
 */
struct ssprofile_log_mean ssprofile_ratios_log_mean(
    const struct ssprofile_ratios *ratios, double confidence) {
    double sum = 0, variance = 0, squares = 0, count = (double)ratios->count;
    for (size_t i = 0; i < ratios->count; i++) {
        const struct ssprofile_ratio *ratio = &ratios->items[i];
        sum += ratio->log;
        for (int side = 0; side < 2; side++) {
            double part = ratio->variance[side] / (count * count);
            variance += part;
            squares += part * part / (double)(ratio->repetitions[side] - 1);
        }
    }
    struct ssprofile_log_mean mean = {ratios->count > 0 ? sum / count : NAN, NAN};
    if (variance > 0)
        mean.half = gsl_cdf_tdist_Pinv((1 + confidence) / 2, variance * variance / squares) *
                    sqrt(variance);
    else if (variance == 0 && ratios->count > 0)
        mean.half = 0;
    return mean;
}

/*
 * Another exchangeable value is equally likely to fall into each of the count + 1 gaps between the
 * values.
 */
struct ssprofile_interval ssprofile_interval_of(
    const double *sorted, size_t count, size_t left_out) {
    if (count == 0 || 2 * left_out + 1 > count)
        return (struct ssprofile_interval){left_out, NAN, NAN, 0};
    return (struct ssprofile_interval){left_out, sorted[left_out], sorted[count - 1 - left_out],
        ((double)count - 1 - 2 * (double)left_out) / ((double)count + 1)};
}

struct ssprofile_interval ssprofile_interval_covering(
    const double *sorted, size_t count, double coverage) {
    size_t left_out = 0;
    while (2 * (left_out + 1) + 1 <= count &&
           ssprofile_interval_of(sorted, count, left_out + 1).coverage >= coverage)
        left_out++;
    return ssprofile_interval_of(sorted, count, left_out);
}
