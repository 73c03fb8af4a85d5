/* SPDX-License-Identifier: Apache-2.0 */

/* Where to pin two programs, and what an environment costs: in sentences and as a table. */

#include "pair_findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "placement_crossings.h"

// clang-format off
static const struct ssreport_column finding_columns[] = {
    {"kind", NULL}, {"scope", NULL}, {"environment", "environment"}, {"measured_in", NULL},
    {"placement", "placement"},
    {"foreground", "foreground"}, {"background", "background"}, {"against", "against"},
    {"percent", "%", 2}, {"low_percent", "its confidence, from", 2}, {"high_percent", "to", 2},
    {"told", NULL}, {"count", "of"}, {"of", ""}, {"sentence", NULL}, {"set", NULL},
};
static const struct ssreport_column change_columns[] = {
    {"environment", "environment"}, {"measured_in", NULL}, {"foreground", "foreground"},
    {"background", "background"},
    {"below", "best below"}, {"above", "best above"}, {"load", "background load, %", 1, true},
    {"load_low", "its confidence, from", 1, true}, {"load_high", "to", 1, true}, {"told", "told"},
    {"steps", "steps"}, {"load_least", NULL}, {"load_most", NULL}, {"set", NULL},
};
// clang-format on

/* How many runs are enough to say how much their medians scatter. */
#define RUNS_MIN 6

/* NULL and NaN: unknown. */
struct finding {
    const char *kind;
    const struct ssreport_pair *pair; /* gives the environment and the set */
    bool is_general;
    const char *placement, *against;
    double percent;
    struct ssreport_interval interval;
    bool told;
    size_t count;
    const char *unit;
    char sentence[1024];
};

__attribute__((format(printf, 2, 3))) static void append(
    struct finding *finding, const char *format, ...) {
    size_t used = strlen(finding->sentence);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->sentence + used, sizeof finding->sentence - used, format, arguments);
    va_end(arguments);
}

static void add_finding(struct ssreport_report *report, const struct finding *finding) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_FINDINGS];
    const struct ssreport_pair *pair = finding->pair;
    const struct ssreport_run *run = pair->foreground;
    char sentence[sizeof "Second set: " + sizeof finding->sentence];
    snprintf(
        sentence, sizeof sentence, "%s%s", run->set > 0 ? "Second set: " : "", finding->sentence);
    SSREPORT_TEXTS(sheet, finding->kind, finding->is_general ? "all" : "pair",
        ssreport_run_environment(run), run->measured_in, finding->placement,
        finding->is_general ? "" : pair->program,
        finding->is_general ? "" : pair->background_program, finding->against);
    SSREPORT_NUMBERS(sheet, finding->percent, finding->interval.low, finding->interval.high);
    SSREPORT_TEXTS(sheet, finding->told ? "yes" : "no");
    SSREPORT_NUMBERS(sheet, (double)finding->count);
    SSREPORT_TEXTS(sheet, finding->unit, sentence);
    SSREPORT_NUMBERS(sheet, run->set + 1);
}

void ssreport_findings_add(struct ssreport_report *report, const char *kind, const char *sentence) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_FINDINGS];
    SSREPORT_TEXTS(sheet, kind, "all", NULL, NULL, NULL, NULL, NULL, NULL);
    SSREPORT_NUMBERS(sheet, NAN, NAN, NAN);
    SSREPORT_TEXTS(sheet, "yes");
    SSREPORT_NUMBERS(sheet, NAN);
    SSREPORT_TEXTS(sheet, NULL, sentence);
    SSREPORT_NUMBERS(sheet, NAN);
}

struct ssreport_finding ssreport_finding_at(const struct ssreport_report *report, size_t row) {
    const struct ssreport_sheet *sheet = &report->sheets[SSREPORT_FINDINGS];
    const struct ssreport_cell *cells = &sheet->cells[row * sheet->column_count];
    struct ssreport_finding finding = {0};
    for (size_t i = 0; i < sheet->column_count; i++) {
        if (strcmp(sheet->columns[i].name, "sentence") == 0)
            finding.sentence = cells[i].text;
        else if (strcmp(sheet->columns[i].name, "scope") == 0)
            finding.is_general = strcmp(cells[i].text, "all") == 0;
    }
    return finding;
}

/* ---- placements ---- */

static void add_changes(
    struct ssreport_report *report, const struct ssreport_placements *placements) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_CHANGES];
    const struct ssreport_pair *pair = placements->pair;
    const struct ssreport_run *run = pair->foreground;
    for (size_t i = 0; i < placements->change_count; i++) {
        const struct ssreport_change *change = &placements->changes[i];
        SSREPORT_TEXTS(sheet, ssreport_run_environment(run), run->measured_in, pair->program,
            pair->background_program, placements->names[change->below],
            placements->names[change->above]);
        SSREPORT_NUMBERS(sheet, change->load, change->interval.low, change->interval.high);
        SSREPORT_TEXTS(sheet, change->told ? "yes" : "no");
        SSREPORT_NUMBERS(sheet, (double)placements->steps, placements->least_load,
            placements->most_load, run->set + 1);
    }
}

/* Behind the sentence on the best one: from which load on it is another one. */
static void tell_changes(struct finding *finding, const struct ssreport_placements *placements) {
    for (size_t i = 0; i < placements->change_count; i++) {
        const struct ssreport_change *change = &placements->changes[i];
        if (change->told)
            append(finding,
                " From a background load of %.0f %% (%.0f to %.0f) on, %s is better than %s.",
                100 * change->load, 100 * change->interval.low, 100 * change->interval.high,
                placements->names[change->above], placements->names[change->below]);
    }
}

static void add_best(struct ssreport_report *report, const struct ssreport_placements *placements) {
    const struct ssreport_pair *pair = placements->pair;
    const char *best = placements->names[placements->best];
    const char *second = placements->names[placements->second];
    struct finding finding = {.kind = "placement",
        .pair = pair,
        .placement = best,
        .against = second,
        .percent = 100 * placements->advantage,
        .interval = {100 * placements->interval.low, 100 * placements->interval.high},
        .told = placements->told,
        .count = placements->by_rounds > 0 ? placements->by_rounds : placements->steps,
        .unit = placements->by_rounds > 0 ? "rounds" : "steps"};
    append(&finding, "%.60s beside %.60s (%s): ", pair->program, pair->background_program,
        pair->environment);
    if (finding.told)
        append(&finding,
            "best %s, %.1f %% (%.1f to %.1f) more throughput of the foreground than %s.", best,
            finding.percent, finding.interval.low, finding.interval.high, second);
    else
        append(&finding,
            "on the whole the best placement cannot be told: %s is %.1f %% (%.1f to %.1f) above "
            "%s.",
            best, finding.percent, finding.interval.low, finding.interval.high, second);
    tell_changes(&finding, placements);
    add_finding(report, &finding);
}

/* How often each placement is the best one in an environment. */
struct tally {
    const char *names[SSREPORT_PLACEMENTS_MAX];
    size_t counts[SSREPORT_PLACEMENTS_MAX], count;
    size_t pairs, untold, single; /* of ordered pairs; with a placement alone */
};

static void count_best(struct tally *tally, const struct ssreport_placements *placements) {
    size_t i = 0;
    tally->pairs++;
    if (placements->count < 2) {
        tally->single++;
        return;
    }
    if (!placements->told) {
        tally->untold++;
        return;
    }
    while (i < tally->count && strcmp(tally->names[i], placements->names[placements->best]) != 0)
        i++;
    if (i == SSREPORT_PLACEMENTS_MAX)
        return;
    if (i == tally->count)
        tally->names[tally->count++] = placements->names[placements->best];
    tally->counts[i]++;
}

static void add_tally(
    struct ssreport_report *report, const struct ssreport_pair *pair, const struct tally *tally) {
    struct finding finding = {.kind = "placement",
        .pair = pair,
        .is_general = true,
        .percent = NAN,
        .interval = {NAN, NAN},
        .told = tally->count > 0,
        .count = tally->pairs,
        .unit = "pairs"};
    append(&finding, "Where to pin (%s):", pair->environment);
    for (size_t i = 0; i < tally->count; i++)
        append(&finding, "%s %s %sfor %zu", i > 0 ? "," : "", tally->names[i],
            i > 0 ? "" : "is best ", tally->counts[i]);
    const char *joint = tally->count > 0 ? ";" : "";
    if (tally->untold > 0)
        append(&finding, "%s the differences are within their uncertainty for %zu", joint,
            tally->untold);
    joint = tally->count + tally->untold > 0 ? ";" : "";
    if (tally->single > 0)
        append(&finding,
            "%s it cannot be told, as fewer than two placements have three steps in common, for "
            "%zu",
            joint, tally->single);
    append(&finding, " of %zu ordered pair%s.", tally->pairs, tally->pairs == 1 ? "" : "s");
    add_finding(report, &finding);
}

/* General sentences come first, so the pairs are gone through twice. */
static int find_placements(struct ssreport_report *report, bool general) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        struct tally tally = {0};
        if (ssreport_pair_is_emulated(pair) ||
            !ssreport_pair_is_first(report, i, SSREPORT_PAIR_ENVIRONMENT))
            continue;
        for (size_t j = i; j < report->pair_count; j++) {
            const struct ssreport_pair *other = &report->pairs[j];
            struct ssreport_placements placements;
            if (!ssreport_pair_is_like(pair, other, SSREPORT_PAIR_ENVIRONMENT) ||
                !ssreport_pair_is_first(
                    report, j, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS))
                continue;
            if (ssreport_placements_compare(&placements, report, other) < 0)
                return -1;
            if (placements.steps < 3)
                placements.count = 0; /* nothing in common */
            count_best(&tally, &placements);
            if (!general && placements.count > 1) {
                add_best(report, &placements);
                add_changes(report, &placements);
            }
            ssreport_placements_free(&placements);
        }
        if (general)
            add_tally(report, pair, &tally);
    }
    return 0;
}

/* ---- what an environment costs ---- */

/* How many percent lower a foreground's throughput is than in the same step outside of the
 * environment. */
struct costs {
    double *values, *medians; /* of the steps, and of each run with any; `values` owns both */
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

/* The same pair with the same placement in the same round, but in no environment. */
static const struct ssreport_pair *find_outside(
    const struct ssreport_report *report, const struct ssreport_pair *pair) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (strcmp(ssreport_run_environment(other->foreground), "none") == 0 &&
            ssreport_pair_is_like(pair, other,
                SSREPORT_PAIR_PLACEMENT | SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND) &&
            ssreport_others_permit(pair->foreground->others, other->foreground->others))
            return other;
    }
    return NULL;
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
 * Steps of one run are not independent, so where there are enough runs the interval is that of
 * their medians.
 */
static void weigh_costs(struct finding *finding, struct costs *costs, double confidence) {
    bool by_run = costs->runs >= RUNS_MIN;
    double *values = by_run ? costs->medians : costs->values;
    finding->count = by_run ? costs->runs : costs->steps;
    finding->unit = by_run ? "runs" : "steps";
    finding->percent = ssreport_median_of(values, finding->count);
    finding->interval = ssreport_median_interval(values, finding->count, confidence);
    finding->told = finding->interval.low > 0 || finding->interval.high < 0;
}

static void tell_cost(struct finding *finding, const char *what) {
    double percent = finding->percent, low = finding->interval.low, high = finding->interval.high;
    append(finding, "%s", what);
    if (finding->count == 0)
        append(finding, ": what it costs cannot be told, as no step was also measured in none.");
    else if (!isfinite(low))
        append(finding, ": what it costs cannot be told from %zu %s; the median is %.1f %%.",
            finding->count, finding->unit, percent);
    else if (!finding->told)
        append(finding,
            ": no cost can be told, %.1f %% (%.1f to %.1f) of the foreground's throughput in none",
            percent, low, high);
    else if (percent < 0)
        append(finding,
            " costs nothing: the foreground's throughput is %.1f %% (%.1f to %.1f) higher than in "
            "none",
            -percent, -high, -low);
    else
        append(finding, " costs %.1f %% (%.1f to %.1f) of the foreground's throughput in none",
            percent, low, high);
    if (isfinite(low) && finding->count > 0)
        append(finding, "; median of %zu %s.", finding->count, finding->unit);
}

/* Of all pairs that are like this one in `what`. */
static int add_cost(
    struct ssreport_report *report, const struct ssreport_pair *pair, unsigned like) {
    struct finding finding = {.kind = "environment",
        .pair = pair,
        .is_general = !(like & SSREPORT_PAIR_PROGRAMS),
        .placement = like & SSREPORT_PAIR_PLACEMENT ? pair->placement : "",
        .against = "none"};
    struct costs costs;
    char what[256];
    if (open_costs(&costs, report) < 0)
        return -1;
    for (size_t i = 0; i < report->pair_count; i++) {
        if (ssreport_pair_is_like(pair, &report->pairs[i], like))
            add_costs(&costs, report, &report->pairs[i]);
    }
    weigh_costs(&finding, &costs, report->settings.confidence);
    free(costs.values);
    if (finding.is_general)
        snprintf(what, sizeof what, "%s", pair->environment);
    else
        snprintf(what, sizeof what, "%s, %.60s beside %.60s, %s", pair->environment, pair->program,
            pair->background_program, pair->placement);
    tell_cost(&finding, what);
    /* Without anything to compare with, the general finding says so once for all pairs. */
    if (finding.is_general || finding.count > 0)
        add_finding(report, &finding);
    return 0;
}

static int find_costs(struct ssreport_report *report, bool general) {
    unsigned like = SSREPORT_PAIR_ENVIRONMENT |
                    (general ? 0 : SSREPORT_PAIR_PLACEMENT | SSREPORT_PAIR_PROGRAMS);
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        if (strcmp(ssreport_run_environment(pair->foreground), "none") == 0 ||
            ssreport_pair_is_emulated(pair) || !ssreport_pair_is_first(report, i, like))
            continue;
        if (add_cost(report, pair, like) < 0)
            return -1;
    }
    return 0;
}

/* ---- what is left out ---- */

static void name_emulated(struct ssreport_report *report) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        if (!ssreport_pair_is_emulated(pair) ||
            !ssreport_pair_is_first(report, i, SSREPORT_PAIR_ENVIRONMENT))
            continue;
        struct finding finding = {.kind = "left-out",
            .pair = pair,
            .is_general = true,
            .percent = NAN,
            .interval = {NAN, NAN},
            .sentence = "tcg is left out of the findings: an emulated machine says nothing of a "
                        "real one."};
        for (size_t j = 0; j < report->pair_count; j++)
            finding.count +=
                ssreport_pair_is_like(pair, &report->pairs[j], SSREPORT_PAIR_ENVIRONMENT);
        finding.unit = "runs";
        add_finding(report, &finding);
    }
}

/* ---- runs that ended before their time ---- */

/* So many of them are named. */
#define EARLY_NAMED_MAX 4

/* Runs of a study have a length of their own, before which their programs should not be done. */
static void name_early(struct ssreport_report *report) {
    char names[EARLY_NAMED_MAX * 160] = "", more[40] = "", sentence[1000];
    size_t count = 0, of = 0;
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        size_t used = strlen(names);
        of += run->manifest > 0;
        if (run->manifest == 0 || !ssreport_is_word(run->record.ended_by, "workloads") ||
            count++ >= EARLY_NAMED_MAX)
            continue;
        snprintf(names + used, sizeof names - used, "%s%.120s (after %.1f s)", used > 0 ? ", " : "",
            ssreport_record_title(&run->record), ssreport_record_end(&run->record));
    }
    if (count > EARLY_NAMED_MAX)
        snprintf(more, sizeof more, ", and %zu more", count - EARLY_NAMED_MAX);
    snprintf(sentence, sizeof sentence,
        "%zu of %zu runs ended before their time, because their programs were done: %s%s. Repeat "
        "them with --repeat, which starts a program again.",
        count, of, names, more);
    if (count > 0)
        ssreport_findings_add(report, "early", sentence);
}

int ssreport_report_findings(struct ssreport_report *report) {
    report->sheets[SSREPORT_FINDINGS] = SSREPORT_SHEET("findings", "Findings", finding_columns);
    report->sheets[SSREPORT_CHANGES] = SSREPORT_SHEET(
        "changes", "Background loads at which the best placement changes", change_columns);
    name_early(report);
    if (ssreport_others_findings(report) < 0 || find_placements(report, true) < 0 ||
        find_costs(report, true) < 0)
        return -1;
    name_emulated(report);
    return find_placements(report, false) < 0 || find_costs(report, false) < 0 ? -1 : 0;
}
