/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_question.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "findings.h"
#include "round_means.h"

static size_t count_groups(const struct ssreport_report *report, unsigned what) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_pairs_group(report, what);
    return groups.first ? groups.count : 0;
}

static void ask_where(const struct ssreport_report *report, struct ssreport_headline *headline) {
    const struct ssreport_pair *pair = report->pairs;
    bool is_one = count_groups(report, SSREPORT_PAIR_PROGRAMS) == 1;
    if (!is_one)
        strcpy(headline->question, "Where should these programs run?");
    else if (strcmp(pair->program, pair->background_program) == 0)
        snprintf(headline->question, sizeof headline->question,
            "Where should two copies of %.120s run?", pair->program);
    else
        snprintf(headline->question, sizeof headline->question,
            "Where should %.120s and %.120s run?", pair->program, pair->background_program);
    headline->finding = ssreport_findings_first(report, "placement", !is_one);
}

/* Requires several environments, one of which therefore is not the host. */
static void ask_cost(const struct ssreport_report *report, struct ssreport_headline *headline) {
    const char *environment = NULL;
    bool several = false;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_run *run = report->pairs[i].foreground;
        if (ssreport_run_is_on_host(run))
            continue;
        several |= environment && strcmp(environment, ssreport_run_environment(run)) != 0;
        environment = ssreport_run_environment(run);
    }
    snprintf(headline->question, sizeof headline->question, "What %s %.120s cost?",
        several ? "do" : "does", several ? "these environments" : environment);
    headline->finding = ssreport_findings_first(report, "environment", true);
}

static void name_pair(char text[300], const struct ssreport_round_mean *loss) {
    snprintf(
        text, 300, "%.120s beside %.120s", loss->pair->program, loss->pair->background_program);
}

/* Writes " (LOW to HIGH)"; nothing if an end is unknown. */
static void write_range(char text[40], double low, double high) {
    *text = '\0';
    if (isfinite(low) && isfinite(high))
        snprintf(text, 40, " (%.1f to %.1f)", low, high);
}

static void answer_one(struct ssreport_headline *headline, const struct ssreport_round_mean *loss) {
    char pair[300], range[40], rounds[40] = "";
    bool is_gain = loss->percent < 0;
    if (!isfinite(loss->percent))
        return;
    name_pair(pair, loss);
    if (loss->rounds > 1)
        snprintf(rounds, sizeof rounds, ", mean of %zu rounds", loss->rounds);
    write_range(range, is_gain ? -loss->interval.high : loss->interval.low,
        is_gain ? -loss->interval.low : loss->interval.high);
    snprintf(headline->answer, sizeof headline->answer,
        "%s: beside a background at full load, the foreground's throughput is %.1f %%%s %s%s%s.",
        pair, fabs(loss->percent), range, is_gain ? "higher" : "lower",
        loss->significant ? "" : " than alone, which is within the uncertainty", rounds);
}

static void answer_several(struct ssreport_headline *headline,
    const struct ssreport_round_mean *least, const struct ssreport_round_mean *most) {
    char first[300], last[300], least_range[40], most_range[40];
    if (!isfinite(most->percent))
        return;
    name_pair(first, least);
    name_pair(last, most);
    write_range(least_range, least->interval.low, least->interval.high);
    write_range(most_range, most->interval.low, most->interval.high);
    snprintf(headline->answer, sizeof headline->answer,
        "Beside a background at full load the foreground loses most in %s: %.1f %%%s of its "
        "throughput, and least in %s: %.1f %%%s.",
        last, most->percent, most_range, first, least->percent, least_range);
}

static void ask_who(const struct ssreport_report *report, struct ssreport_headline *headline) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_round_groups(report);
    struct ssreport_round_mean least = {.percent = NAN}, most = least;
    const struct ssreport_pair *pair = report->pairs;
    for (size_t group = 0; groups.first && group < groups.count; group++) {
        struct ssreport_round_mean loss = ssreport_round_mean_of(report, &groups, group);
        if (!(loss.percent >= least.percent))
            least = loss;
        if (!(loss.percent <= most.percent))
            most = loss;
    }
    if (groups.count == 1) {
        snprintf(headline->question, sizeof headline->question, "How much does %.120s disturb %s?",
            pair->background_program,
            strcmp(pair->program, pair->background_program) == 0 ? "another copy of itself"
                                                                 : pair->program);
        answer_one(headline, &most);
    } else {
        strcpy(headline->question, "How much do these programs disturb each other?");
        answer_several(headline, &least, &most);
    }
}

bool ssreport_pair_question(
    const struct ssreport_report *report, struct ssreport_headline *headline) {
    if (report->pair_count == 0)
        return false;
    if (count_groups(report, SSREPORT_PAIR_PLACEMENT) > 1)
        ask_where(report, headline);
    else if (count_groups(report, SSREPORT_PAIR_ENVIRONMENT) > 1)
        ask_cost(report, headline);
    else
        ask_who(report, headline);
    return true;
}
