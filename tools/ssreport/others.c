/* SPDX-License-Identifier: Apache-2.0 */

/* The load of other processes: which runs it disturbed, and which comparisons it forbids. */

#include "others.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods.h"
#include "pair_findings.h"

/* A manifest has shares with three decimals. */
#define ROUNDING 1e-6

/* At most this many disturbed runs are named. */
#define NAMED_MAX 4

bool ssreport_others_disturb(double others) {
    return others > SSREPORT_OTHERS_MAX + ROUNDING;
}

bool ssreport_others_permit(double one, double other) {
    return !(fabs(one - other) > SSREPORT_OTHERS_DIFFERENCE_MAX + ROUNDING);
}

/* ---- disturbed runs ---- */

struct disturbed {
    size_t count, known;
    char names[NAMED_MAX * 160];
};

static void look_at(struct disturbed *disturbed, const char *name, double others) {
    size_t used = strlen(disturbed->names);
    disturbed->known += isfinite(others);
    if (!ssreport_others_disturb(others) || disturbed->count++ >= NAMED_MAX)
        return;
    snprintf(disturbed->names + used, sizeof disturbed->names - used, "%s%.120s (%.1f %%)",
        used > 0 ? ", " : "", name, 100 * others);
}

static void find_disturbed(struct ssreport_report *report) {
    struct disturbed disturbed = {0};
    char sentence[1000], more[40] = "";
    for (size_t i = 0; i < report->run_count; i++)
        look_at(&disturbed, ssreport_record_title(&report->runs[i].record), report->runs[i].others);
    for (size_t i = 0; i < report->response_count; i++)
        look_at(&disturbed, report->responses[i].title, report->responses[i].others);
    if (disturbed.count == 0)
        return;
    if (disturbed.count > NAMED_MAX)
        snprintf(more, sizeof more, ", and %zu more", disturbed.count - NAMED_MAX);
    snprintf(sentence, sizeof sentence,
        "Other processes used more than %g %% of the machine during %zu of %zu runs: %s%s. These "
        "figures are those of a disturbed machine: repeat these runs on a quiet one.",
        100 * SSREPORT_OTHERS_MAX, disturbed.count, disturbed.known, disturbed.names, more);
    ssreport_findings_add(report, "others", sentence);
}

/* ---- comparisons that are not made ---- */

/* One sentence for each method of which `first` is the first point. */
static void find_forbidden_methods(
    struct ssreport_report *report, const struct ssreport_methods *methods, size_t first) {
    const struct ssreport_run *run = methods->points[first].run;
    size_t count = 0, forbidden = 0;
    double most = 0, baseline = 0;
    char name[100], other[100], sentence[1000];
    for (size_t i = first;
         i < methods->count && ssreport_methods_is_one(methods->points[i].run, run); i++, count++) {
        if (!ssreport_methods_is_forbidden(methods, &methods->points[i]))
            continue;
        forbidden++;
        most = fmax(most, methods->points[i].run->others);
    }
    if (forbidden == 0)
        return;
    for (size_t i = 0; i < methods->knots; i++)
        baseline = fmax(baseline, methods->knot[i].others_most);
    ssreport_methods_name(name, sizeof name, run);
    ssreport_methods_name(other, sizeof other, methods->baseline);
    snprintf(sentence, sizeof sentence,
        "%.100s: %s is not compared with %s in %zu of %zu steps. Other processes used up to %.1f "
        "%% of the machine with it and up to %.1f %% with the baseline, so a difference in "
        "throughput may be theirs.",
        run->workload, name, other, forbidden, count, 100 * most, 100 * baseline);
    ssreport_findings_add(report, "others", sentence);
}

static int find_forbidden(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_methods methods;
        if (!ssreport_methods_is_first(report, i))
            continue;
        int result = ssreport_methods_of(&methods, report, &report->runs[i]);
        for (size_t j = 0; result == 0 && j < methods.count; j++) {
            if (j == 0 ||
                !ssreport_methods_is_one(methods.points[j - 1].run, methods.points[j].run))
                find_forbidden_methods(report, &methods, j);
        }
        ssreport_methods_free(&methods);
        if (result < 0)
            return -1;
    }
    return 0;
}

/* Counts pairs of runs that differ only in placement or environment: only these are compared. */
static void find_forbidden_pairs(struct ssreport_report *report) {
    size_t count = 0, forbidden = 0;
    char sentence[400];
    for (size_t i = 0; i < report->pair_count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct ssreport_pair *pair = &report->pairs[i], *other = &report->pairs[j];
            if (!ssreport_pair_is_like(pair, other, SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND))
                continue;
            count++;
            forbidden +=
                !ssreport_others_permit(pair->foreground->others, other->foreground->others);
        }
    }
    if (forbidden == 0)
        return;
    snprintf(sentence, sizeof sentence,
        "%zu of %zu comparisons of placements and environments are not made: what other processes "
        "used of the machine differs by more than %g points between the runs, so a difference in "
        "throughput may be theirs.",
        forbidden, count, 100 * SSREPORT_OTHERS_DIFFERENCE_MAX);
    ssreport_findings_add(report, "others", sentence);
}

int ssreport_others_findings(struct ssreport_report *report) {
    find_disturbed(report);
    find_forbidden_pairs(report);
    return find_forbidden(report);
}
