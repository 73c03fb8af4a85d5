/* SPDX-License-Identifier: Apache-2.0 */

/* Findings about the best placement of two programs, and about the cost of an environment. */

#include "pair_findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "findings.h"
#include "placement_crossings.h"

/* Minimum number of runs for an interval from their medians. */
#define RUNS_MIN 6

/* A row of the table of findings. Unknown members are NULL and NaN. */
struct finding {
    const char *kind;
    const struct ssreport_pair *pair; /* any pair of the environment and set in question */
    bool is_general;
    const char *placement, *against, *measure;
    double percent;
    struct ssreport_interval interval;
    bool is_clear;
    size_t count;
    const char *unit;
    char sentence[1024];
};

SS_FORMAT(2, 3)
static void append(struct finding *finding, const char *format, ...) {
    size_t used = strlen(finding->sentence);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->sentence + used, sizeof finding->sentence - used, format, arguments);
    va_end(arguments);
}

static void add_finding(struct ssreport_report *report, const struct finding *finding) {
    const struct ssreport_pair *pair = finding->pair;
    const struct ssreport_run *run = pair->foreground;
    bool general = finding->is_general;
    struct table_sheet *sheet = ssreport_findings_add(
        report, finding->kind, "%s%s", run->set > 0 ? "Second set: " : "", finding->sentence);
    TABLE_CELLS(sheet, CELL("scope", general ? "all" : "pair"),
        CELL("environment", ssreport_run_environment(run)), CELL("measured_in", run->measured_in),
        CELL("placement", finding->placement), CELL("foreground", general ? "" : pair->program),
        CELL("background", general ? "" : pair->background_program),
        CELL("against", finding->against), CELL("measure", finding->measure),
        CELL("percent", finding->percent), CELL("low_percent", finding->interval.low),
        CELL("high_percent", finding->interval.high), CELL("told", finding->is_clear),
        CELL("count", finding->count), CELL("of", finding->unit), CELL("set", run->set + 1));
}

static const struct {
    const char *name, *one_program, *two_programs;
} measures[] = {
    [SSREPORT_OF_FOREGROUND] = {"foreground", "throughput of the foreground",
        "throughput of the foreground"},
    [SSREPORT_OF_SYSTEM] = {"system", "throughput of both sides",
        "throughput of both sides, each relative to its program alone,"},
    [SSREPORT_PER_WATT_HOUR] = {"per-watt-hour", "iterations per watt-hour of both sides",
        "work per watt-hour of both sides, each relative to its program alone,"},
};

static void add_changes(
    const struct ssreport_report *report, const struct ssreport_placements *placements) {
    const struct ssreport_pair *pair = placements->pair;
    const struct ssreport_run *run = pair->foreground;
    for (size_t i = 0; i < placements->change_count; i++) {
        const struct ssreport_change *change = &placements->changes[i];
        TABLE_ROW(ssreport_table(report, "changes"),
            CELL("environment", ssreport_run_environment(run)),
            CELL("measured_in", run->measured_in), CELL("foreground", pair->program),
            CELL("background", pair->background_program),
            CELL("measure", measures[placements->measure].name),
            CELL("below", placements->placed[change->below].name),
            CELL("above", placements->placed[change->above].name), CELL("load", change->load),
            CELL("load_low", change->interval.low), CELL("load_high", change->interval.high),
            CELL("told", change->is_clear), CELL("steps", placements->steps),
            CELL("load_least", placements->least_load), CELL("load_most", placements->most_load),
            CELL("set", run->set + 1));
    }
}

/* Appends the loads at which another placement becomes better. */
static void append_changes(struct finding *finding, const struct ssreport_placements *placements) {
    for (size_t i = 0; i < placements->change_count; i++) {
        const struct ssreport_change *change = &placements->changes[i];
        if (change->is_clear)
            append(finding,
                " Above a background load of %.0f %% (%.0f to %.0f), %s is better than %s.",
                100 * change->load, 100 * change->interval.low, 100 * change->interval.high,
                placements->placed[change->above].name, placements->placed[change->below].name);
    }
}

/* Appends why only the throughput of the foreground is compared. */
static void append_unknown(struct finding *finding, const struct ssreport_pair *pair) {
    const char *unknown = isnan(pair->alone[0].throughput) ? pair->program : NULL;
    if (!unknown && isnan(pair->alone[1].throughput))
        unknown = pair->background_program;
    append(finding, " Which placement is best for both sides together is unknown: ");
    if (pair->is_one_program || !unknown)
        append(finding, "the iterations of the background were not counted.");
    else
        append(finding, "%.60s was not measured alone.", unknown);
}

static void add_best(struct ssreport_report *report, const struct ssreport_placements *placements) {
    const struct ssreport_pair *pair = placements->pair;
    const char *best = placements->placed[placements->best].name;
    const char *second = placements->placed[placements->second].name;
    bool by_energy = placements->measure == SSREPORT_PER_WATT_HOUR;
    struct finding finding = {.kind = by_energy ? "placement-energy" : "placement",
        .pair = pair,
        .placement = best,
        .against = second,
        .measure = measures[placements->measure].name,
        .percent = 100 * placements->advantage,
        .interval = {100 * placements->interval.low, 100 * placements->interval.high},
        .is_clear = placements->is_clear,
        .count = placements->by_rounds > 0 ? placements->by_rounds : placements->steps,
        .unit = placements->by_rounds > 0 ? "rounds" : "steps"};
    append(&finding, "%.60s beside %.60s (%s)%s: ", pair->program, pair->background_program,
        pair->environment, by_energy ? ", energy" : "");
    if (finding.is_clear)
        append(&finding, "%s is best, with %.1f %% (%.1f to %.1f) more %s than %s.", best,
            finding.percent, finding.interval.low, finding.interval.high,
            pair->is_one_program ? measures[placements->measure].one_program
                                 : measures[placements->measure].two_programs,
            second);
    else
        append(&finding,
            "no placement is best overall: %s is %.1f %% (%.1f to %.1f) above %s, which is "
            "within the uncertainty.",
            best, finding.percent, finding.interval.low, finding.interval.high, second);
    append_changes(&finding, placements);
    if (placements->measure == SSREPORT_OF_FOREGROUND)
        append_unknown(&finding, pair);
    add_finding(report, &finding);
}

/* The number of pairs in an environment for which each placement is best. */
struct tally {
    bool by_energy;
    const char *names[SSREPORT_PLACEMENTS_MAX];
    size_t counts[SSREPORT_PLACEMENTS_MAX], count;
    /*
     * Numbers of ordered pairs: all, without a best placement, with a single placement, and
     * compared by the foreground only
     */
    size_t pairs, unclear, single, foreground;
};

static void count_best(struct tally *tally, const struct ssreport_placements *placements) {
    size_t i = 0;
    if (placements->count < 2) {
        tally->pairs += !tally->by_energy; /* with by_energy, the power is unknown */
        tally->single += !tally->by_energy;
        return;
    }
    tally->pairs++;
    tally->foreground += placements->measure == SSREPORT_OF_FOREGROUND;
    if (!placements->is_clear) {
        tally->unclear++;
        return;
    }
    const char *best = placements->placed[placements->best].name;
    while (i < tally->count && strcmp(tally->names[i], best) != 0)
        i++;
    if (i == SSREPORT_PLACEMENTS_MAX)
        return;
    if (i == tally->count)
        tally->names[tally->count++] = best;
    tally->counts[i]++;
}

static void add_tally(
    struct ssreport_report *report, const struct ssreport_pair *pair, const struct tally *tally) {
    struct finding finding = {.kind = tally->by_energy ? "placement-energy" : "placement",
        .pair = pair,
        .is_general = true,
        .percent = NAN,
        .interval = {NAN, NAN},
        .is_clear = tally->count > 0,
        .count = tally->pairs,
        .unit = "pairs"};
    append(&finding,
        "Where to pin%s (%s):", tally->by_energy ? " for the most work per watt-hour" : "",
        pair->environment);
    for (size_t i = 0; i < tally->count; i++)
        append(&finding, "%s %s %sfor %zu", i > 0 ? "," : "", tally->names[i],
            i > 0 ? "" : "is best ", tally->counts[i]);
    const char *joint = tally->count > 0 ? ";" : "";
    if (tally->unclear > 0)
        append(&finding, "%s the differences are within their uncertainty for %zu", joint,
            tally->unclear);
    joint = tally->count + tally->unclear > 0 ? ";" : "";
    if (tally->single > 0)
        append(&finding,
            "%s no two placements have three steps in common, so none is best, for %zu", joint,
            tally->single);
    append(&finding, " of %zu ordered pair%s.", tally->pairs, tally->pairs == 1 ? "" : "s");
    if (tally->foreground > 0)
        append(&finding, " For %zu of them, only the throughput of the foreground is known.",
            tally->foreground);
    add_finding(report, &finding);
}

/*
 * Compares placements by the throughput of both sides or, if that is unknown, of the foreground;
 * with `by_energy`, only by the work of both sides per watt-hour.
 */
static int compare(struct ssreport_placements *placements, const struct ssreport_report *report,
    const struct ssreport_pair *pair, bool by_energy) {
    if (by_energy)
        return ssreport_placements_compare(placements, report, pair, SSREPORT_PER_WATT_HOUR);
    int result = ssreport_placements_compare(placements, report, pair, SSREPORT_OF_SYSTEM);
    if (result < 0 || placements->count >= 2)
        return result;
    ssreport_placements_free(placements);
    return ssreport_placements_compare(placements, report, pair, SSREPORT_OF_FOREGROUND);
}

/*
 * Finds the best placement of two programs in an environment, and counts it. Adds findings unless
 * `general`.
 */
static int find_placement(struct ssreport_report *report, const struct ssreport_pair *pair,
    struct tally *tally, bool general) {
    struct ssreport_placements placements;
    int result = compare(&placements, report, pair, tally->by_energy);
    if (result == 0)
        count_best(tally, &placements);
    if (result == 0 && !general && placements.count > 1) {
        add_best(report, &placements);
        add_changes(report, &placements);
    }
    ssreport_placements_free(&placements);
    return result;
}

/* Returns whether the environment of this pair has more than one placement. */
static bool has_placements(
    const struct ssreport_report *report, const struct ssreport_pair *first) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        if (ssreport_pair_is_like(pair, first, SSREPORT_PAIR_ENVIRONMENT) &&
            !ssreport_pair_is_like(pair, first, SSREPORT_PAIR_PLACEMENT))
            return true;
    }
    return false;
}

/* Adds findings about placements. Called twice, because general sentences come first. */
static int find_placements(struct ssreport_report *report, bool general, bool by_energy) {
    SS_OWNED(groups)
    struct stats_groups environments = ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT);
    SS_OWNED(groups)
    struct stats_groups pairs =
        ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS);
    if (!environments.first || !pairs.first)
        return -1;
    for (size_t group = 0; group < environments.count; group++) {
        const struct ssreport_pair *first = &report->pairs[environments.first[group]];
        struct tally tally = {.by_energy = by_energy};
        if (ssreport_pair_is_emulated(first) || !has_placements(report, first))
            continue;
        for (size_t i = 0; i < pairs.count; i++) {
            if (environments.group[pairs.first[i]] == group &&
                find_placement(report, &report->pairs[pairs.first[i]], &tally, general) < 0)
                return -1;
        }
        if (general && tally.pairs > 0)
            add_tally(report, first, &tally);
    }
    return 0;
}

/* Percent by which an environment lowers a foreground's throughput. */
struct costs {
    double *values, *medians; /* costs of the steps, and medians of the runs; `values` owns both */
    size_t steps, runs;
};

static int open_costs(struct costs *costs, const struct ssreport_report *report) {
    size_t room = report->pair_count + 1;
    for (size_t i = 0; i < report->pair_count; i++)
        room += report->pairs[i].count;
    *costs = (struct costs){.values = calloc(2 * room, sizeof *costs->values)};
    costs->medians = costs->values ? costs->values + room : NULL;
    return costs->values ? 0 : -1;
}

/*
 * Returns the same pair, with the same placement and round, on the host, of the same study if that
 * has one; NULL if absent.
 */
static const struct ssreport_pair *find_outside(
    const struct ssreport_report *report, const struct ssreport_pair *pair) {
    const struct ssreport_pair *found = NULL;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (ssreport_run_is_on_host(other->foreground) &&
            ssreport_pair_is_like(pair, other,
                SSREPORT_PAIR_PLACEMENT | SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND) &&
            ssreport_others_permit(pair->foreground->others, other->foreground->others) &&
            ssreport_pair_is_closer(pair, other, found))
            found = other;
        if (found && ssreport_pair_is_of_study(pair, found))
            break;
    }
    return found;
}

static void add_costs(
    struct costs *costs, const struct ssreport_report *report, const struct ssreport_pair *pair) {
    const struct ssreport_pair *outside = find_outside(report, pair);
    size_t first = costs->steps;
    for (size_t i = 0; outside && i < pair->count; i++) {
        const struct ssreport_pair_step *same = ssreport_pair_step_like(outside, &pair->steps[i]);
        double ratio = same ? pair->steps[i].foreground / same->foreground : NAN;
        if (isfinite(ratio))
            costs->values[costs->steps++] = 100 * (1 - ratio);
    }
    if (costs->steps > first)
        costs->medians[costs->runs++] =
            ssreport_median_of(costs->values + first, costs->steps - first);
}

/*
 * Sets the interval. Uses the medians of runs if there are enough runs, because the steps of a run
 * are not independent.
 */
static void weigh_costs(struct finding *finding, struct costs *costs, double confidence) {
    bool by_run = costs->runs >= RUNS_MIN;
    double *values = by_run ? costs->medians : costs->values;
    finding->count = by_run ? costs->runs : costs->steps;
    finding->unit = by_run ? "runs" : "steps";
    finding->percent = ssreport_median_of(values, finding->count);
    finding->interval = ssreport_median_interval(values, finding->count, confidence);
    finding->is_clear = finding->interval.low > 0 || finding->interval.high < 0;
}

static void append_cost(struct finding *finding, const char *what) {
    double percent = finding->percent, low = finding->interval.low, high = finding->interval.high;
    append(finding, "%s", what);
    if (finding->count == 0)
        append(finding, ": its cost is unknown, because no step was also measured on the host.");
    else if (!isfinite(low))
        append(finding,
            ": its cost is uncertain: %zu %s are too few for an interval; the median is %.1f %%.",
            finding->count, finding->unit, percent);
    else if (!finding->is_clear)
        append(finding,
            ": the cost is within its uncertainty, %.1f %% (%.1f to %.1f) of the foreground's "
            "throughput on the host",
            percent, low, high);
    else if (percent < 0)
        append(finding,
            " costs nothing: the foreground's throughput is %.1f %% (%.1f to %.1f) higher than on "
            "the host",
            -percent, -high, -low);
    else
        append(finding, " costs %.1f %% (%.1f to %.1f) of the foreground's throughput on the host",
            percent, low, high);
    if (isfinite(low) && finding->count > 0)
        append(finding, "; median of %zu %s.", finding->count, finding->unit);
}

/* Adds a finding about the cost of an environment for a group of pairs. */
static int add_cost(
    struct ssreport_report *report, const struct stats_groups *groups, size_t group, bool general) {
    const struct ssreport_pair *pair = &report->pairs[groups->first[group]];
    struct finding finding = {.kind = "environment",
        .pair = pair,
        .is_general = general,
        .placement = general ? "" : pair->placement,
        .against = SSREPORT_HOST};
    struct costs costs;
    char what[256];
    if (open_costs(&costs, report) < 0)
        return -1;
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i])
        add_costs(&costs, report, &report->pairs[i]);
    weigh_costs(&finding, &costs, report->settings.confidence);
    free(costs.values);
    if (general)
        snprintf(what, sizeof what, "%s", pair->environment);
    else
        snprintf(what, sizeof what, "%s, %.60s beside %.60s, %s", pair->environment, pair->program,
            pair->background_program, pair->placement);
    append_cost(&finding, what);
    /* If nothing can be compared, only the general finding says so. */
    if (general || finding.count > 0)
        add_finding(report, &finding);
    return 0;
}

static int find_costs(struct ssreport_report *report, bool general) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_pairs_group(
        report, SSREPORT_PAIR_ENVIRONMENT |
                    (general ? 0 : SSREPORT_PAIR_PLACEMENT | SSREPORT_PAIR_PROGRAMS));
    if (!groups.first)
        return -1;
    for (size_t group = 0; group < groups.count; group++) {
        const struct ssreport_pair *pair = &report->pairs[groups.first[group]];
        if (!ssreport_run_is_on_host(pair->foreground) && !ssreport_pair_is_emulated(pair) &&
            add_cost(report, &groups, group, general) < 0)
            return -1;
    }
    return 0;
}

static int name_emulated(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT);
    for (size_t group = 0; group < groups.count; group++) {
        const struct ssreport_pair *pair = &report->pairs[groups.first[group]];
        struct finding finding = {.kind = "left-out",
            .pair = pair,
            .is_general = true,
            .percent = NAN,
            .interval = {NAN, NAN},
            .unit = "runs",
            .sentence = "tcg is left out of the findings: an emulated machine says nothing about a "
                        "real one."};
        for (size_t i = groups.first[group]; i < groups.items; i = groups.next[i])
            finding.count++;
        if (ssreport_pair_is_emulated(pair))
            add_finding(report, &finding);
    }
    return groups.first ? 0 : -1;
}

/*
 * Adds a finding about runs that are not compared because of other processes. Counts only runs that
 * differ at most in placement and environment.
 */
static int find_forbidden(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups groups =
        ssreport_pairs_group(report, SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND);
    size_t count = 0, forbidden = 0;
    for (size_t i = 0; groups.first && i < groups.items; i++) {
        for (size_t j = groups.next[i]; j < groups.items; j = groups.next[j], count++)
            forbidden += !ssreport_others_permit(
                report->pairs[i].foreground->others, report->pairs[j].foreground->others);
    }
    if (forbidden > 0)
        ssreport_findings_add(report, "others",
            "%zu of %zu comparisons of placements and environments are left out: the share of the "
            "machine that other processes used differs by more than %g points between the runs, "
            "which may explain a difference in throughput.",
            forbidden, count, 100 * SSREPORT_OTHERS_DIFFERENCE_MAX);
    return groups.first ? 0 : -1;
}

int ssreport_pair_findings(struct ssreport_report *report) {
    if (find_forbidden(report) < 0 || find_placements(report, true, false) < 0 ||
        find_placements(report, true, true) < 0 || find_costs(report, true) < 0 ||
        name_emulated(report) < 0)
        return -1;
    return find_placements(report, false, false) < 0 || find_placements(report, false, true) < 0 ||
                   find_costs(report, false) < 0
               ? -1
               : 0;
}
