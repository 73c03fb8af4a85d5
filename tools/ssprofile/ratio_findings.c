/* SPDX-License-Identifier: Apache-2.0 */
#include "ratio_findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 8 /* maximum number of names in a sentence */

const struct table_column ssprofile_finding_columns[1] = {{"sentence", "Sentence"}};

void ssprofile_say(struct table_sheet *findings, const char *format, ...) {
    char sentence[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    TABLE_ROW(findings, CELL("sentence", sentence));
}

/* Returns the number of decimals: machines that are nearly alike differ only in the third digit. */
static int decimals_of(double least, double most) {
    return most - least < 0.2 ? 4 : 2;
}

void ssprofile_show_range(char text[64], double least, double most) {
    int decimals = decimals_of(least, most);
    snprintf(text, 64, "[%.*f, %.*f]", decimals, least, decimals, most);
}

void ssprofile_say_range(
    struct table_sheet *findings, const struct ssprofile_series *target, const char *base) {
    const struct ssprofile_figures *figures = &target->figures;
    int decimals = decimals_of(figures->least, figures->most);
    if (figures->count < 2) {
        ssprofile_say(findings,
            "%s:%s is %.4f times as fast as %s in the only benchmark that both have.",
            target->machine, target->limits, figures->median, base);
        return;
    }
    ssprofile_say(findings,
        "%s:%s is %.*f to %.*f times as fast as %s (%zu benchmarks, median %.*f, length of the "
        "range %.*f); one more benchmark of the same kind lies in this range with a probability of "
        "%.1f%%.",
        target->machine, target->limits, decimals, figures->least, decimals, figures->most, base,
        figures->count, decimals, figures->median, decimals, figures->length,
        100 * ssprofile_coverage_of(figures->count));
}

void ssprofile_say_chance(
    struct table_sheet *findings, const struct ssprofile_series *target, const char *whole) {
    const struct ssprofile_figures *figures = &target->figures;
    ssprofile_say(findings,
        "Only chance distinguishes the odd from the even repetitions of %s: the ratios of %zu "
        "benchmark%s lie between %.4f and %.4f, with a median of %.4f; one more benchmark of the "
        "same kind lies in this range with a probability of %.1f%%.",
        whole, figures->count, figures->count == 1 ? "" : "s", figures->least, figures->most,
        figures->median, 100 * ssprofile_coverage_of(figures->count));
    ssprofile_say(
        findings, "A difference between machines that is smaller than this may be chance.");
}

const char *ssprofile_spread_change(double before, double after, double scatter) {
    if (ssprofile_is_chance(fmax(before, after) / fmin(before, after), scatter))
        return "stays the same";
    return after < before ? "narrows" : "widens";
}

void ssprofile_say_reduction(struct table_sheet *findings, const struct ssprofile_series *plain,
    const struct ssprofile_series *throttled) {
    const struct ssprofile_figures *before = &plain->figures, *after = &throttled->figures;
    struct ssprofile_reduction reduction = ssprofile_reduction_of(before, after);
    char ranges[2][64];
    ssprofile_show_range(ranges[0], before->least, before->most);
    ssprofile_show_range(ranges[1], after->least, after->most);
    bool is_shorter = reduction.reduction >= 1;
    double scatter =
        fmax(ssprofile_scatter_of(plain->ratios), ssprofile_scatter_of(throttled->ratios));
    bool is_chance = ssprofile_is_chance(before->most_to_least, scatter);
    char change[64] = "";
    if (!is_chance && isfinite(reduction.reduction) && reduction.reduction > 0)
        snprintf(change, sizeof change, ", %.2f times %s",
            is_shorter ? reduction.reduction : 1 / reduction.reduction,
            is_shorter ? "shorter" : "longer");
    ssprofile_say(findings,
        "Under %s, the ratios of %s in the %zu benchmarks that both have span %s instead of %s%s.",
        throttled->limits, plain->machine, before->count, ranges[1], ranges[0], change);
    if (strncmp(throttled->limits, "frequency-", strlen("frequency-")) == 0) {
        ssprofile_say(findings,
            "The relative spread %s: the largest ratio is %.3f times the smallest before and %.3f "
            "times under %s. " SSPROFILE_WHY_FREQUENCY,
            ssprofile_spread_change(before->most_to_least, after->most_to_least, scatter),
            before->most_to_least, after->most_to_least, throttled->limits);
        return;
    }
    if (is_chance) {
        ssprofile_say(findings,
            "The ratios of %s differ no more than repeated runs do (%.1f%%): the largest is %.3f "
            "times the smallest before and %.3f times under %s; the common factor is %.2f, and the "
            "rest "
            "cannot be distinguished from chance.",
            plain->machine, 100 * scatter, before->most_to_least, after->most_to_least,
            throttled->limits, reduction.factor);
        return;
    }
    if (isfinite(reduction.share) && reduction.reduction > 1.05)
        ssprofile_say(findings,
            "Of this factor of %.2f, a common slowdown accounts for %.2f (%.1f%% of the logarithm) "
            "and the change of the relative spread for %.2f (%.1f%%).",
            reduction.reduction, reduction.factor, 100 * reduction.share, reduction.relative,
            100 * (1 - reduction.share));
    ssprofile_say(findings,
        "A throttle slows all benchmarks by about the same factor, so it moves the range, but "
        "hardly changes its relative spread: the largest ratio is %.3f times the smallest before "
        "and %.3f times under %s.",
        before->most_to_least, after->most_to_least, throttled->limits);
}

void ssprofile_say_limit(struct table_sheet *findings, const struct ssprofile_series *target) {
    if (target->figures.count < 2)
        return;
    ssprofile_say(findings,
        "A throttle slows all benchmarks by about the same factor, so it would move the range of "
        "%s:%s, but hardly change its relative spread: the largest ratio is %.3f times the "
        "smallest.",
        target->machine, target->limits, target->figures.most_to_least);
}

/* Lists unstable benchmarks: "a, b and 3 more". */
static void name_unstable(char *text, size_t size, const struct ssprofile_ratios *ratios) {
    size_t used = 0, named = 0, more = 0;
    *text = '\0';
    for (size_t i = 0; i < ratios->left_out_count; i++) {
        const struct ssprofile_left_out *left_out = &ratios->left_out[i];
        if (strcmp(left_out->why, SSPROFILE_UNSTABLE) != 0)
            continue;
        if (named == NAMES_MAX) {
            more++;
            continue;
        }
        used += (size_t)snprintf(
            text + used, size - used, "%s%.60s", named > 0 ? ", " : "", left_out->name);
        named++;
    }
    if (more > 0)
        snprintf(text + used, size - used, " and %zu more", more);
}

void ssprofile_say_left_out(struct table_sheet *findings, const struct ssprofile_series *target) {
    const struct ssprofile_ratios *ratios = target->ratios;
    size_t unstable = 0, missing = 0, used = 0;
    char names[NAMES_MAX * 64 + 32], parts[sizeof names + 200] = "none";
    for (size_t i = 0; i < ratios->left_out_count; i++) {
        unstable += strcmp(ratios->left_out[i].why, SSPROFILE_UNSTABLE) == 0;
        missing += strcmp(ratios->left_out[i].why, SSPROFILE_MISSING) == 0;
    }
    size_t others = ratios->left_out_count - unstable - missing;
    name_unstable(names, sizeof names, ratios);
    if (unstable > 0)
        used += (size_t)snprintf(parts, sizeof parts, "%zu unstable (%s)", unstable, names);
    if (missing > 0)
        used += (size_t)snprintf(parts + used, sizeof parts - used, "%s%zu that only one side has",
            used > 0 ? ", " : "", missing);
    if (others > 0)
        snprintf(parts + used, sizeof parts - used,
            "%s%zu whose direction differs or whose ratio is not a number", used > 0 ? ", " : "",
            others);
    size_t all = ratios->left_out_count + ratios->count;
    ssprofile_say(findings, "Benchmarks left out for %s:%s, of %zu: %s.", target->machine,
        target->limits, all, parts);
}

void ssprofile_say_within(
    struct table_sheet *findings, const struct ssprofile_series *target, double part) {
    char outside[1200] = "";
    size_t inside = 0, used = 0, unnamed = 0;
    for (size_t i = 0; i < target->ratios->count; i++) {
        const struct ssprofile_ratio *ratio = &target->ratios->items[i];
        if (ratio->ratio >= 1 - part && ratio->ratio <= 1 + part)
            inside++;
        else if (used < sizeof outside - 300)
            used += (size_t)snprintf(outside + used, sizeof outside - used, "%s %.200s %.4f",
                used > 0 ? "," : "; outside:", ratio->name, ratio->ratio);
        else
            unnamed++;
    }
    if (unnamed > 0)
        snprintf(outside + used, sizeof outside - used, " and %zu more", unnamed);
    ssprofile_say(findings, "%zu of %zu ratios of %s:%s lie in [%.4g, %.4g]%s.", inside,
        target->ratios->count, target->machine, target->limits, 1 - part, 1 + part, outside);
}
