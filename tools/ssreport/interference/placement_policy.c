/* SPDX-License-Identifier: Apache-2.0 */
#include "placement_policy.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "base/words.h"
#include "placement_crossings.h"

/*
 * Minimum distance of a rule from a change, as a part of all CPUs: even if the interval of the
 * change is narrow, noise of the load must not cause switches.
 */
#define GAP 0.01

/* Minimum range of a rule: loads are written with a tenth of a percent. */
#define LENGTH_MIN 0.001

#define ONE_POLICY (SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS)

/*
 * The placements that the knob `pin` of ssactuate has. All except free, which pins neither side,
 * give each side half of the CPUs.
 */
static const char *const schemes[] = {"free", "per-chip", "per-core", "per-thread"};

/* Returns whether the text names this pair; NULL names any. */
static bool is_named(const struct ssreport_pair *pair, const char *text) {
    const char *const words[] = {
        pair->program, pair->background_program, ssreport_run_environment(pair->foreground)};
    struct ss_words_part part;
    size_t i = 0;
    if (!text)
        return true;
    while (ss_words_next(&text, ',', &part)) {
        if (i == sizeof words / sizeof *words || !ss_words_is(&part, words[i++]))
            return false;
    }
    return i >= 2;
}

/* Fails with the reason why there is not exactly one pair. */
static int refuse(const struct ssreport_pair *first, size_t named, const char *pair,
    enum ssreport_measure measure, struct ss_error *error) {
    if (first)
        return ss_error_fail(error,
            "--policy is for one pair, but several have more than one placement: choose one, such "
            "as --pair %.100s,%.100s,%s",
            first->program, first->background_program, ssreport_run_environment(first->foreground));
    if (named == 0 && pair)
        return ss_error_fail(error,
            "--pair: there is no pair \"%s\": write FOREGROUND,BACKGROUND[,ENVIRONMENT]",
            ss_words_show(pair).text);
    return ss_error_fail(error,
        "--policy: no pair has two placements with three steps in common in which the %s of both "
        "sides is known",
        measure == SSREPORT_PER_WATT_HOUR ? "work per watt-hour" : "throughput");
}

/* Finds the pair and compares its placements. On success, free the result. */
static int find_pair(struct ssreport_placements *found, const struct ssreport_report *report,
    const char *pair, enum ssreport_measure measure, struct ss_error *error) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_pairs_group(report, ONE_POLICY);
    size_t named = 0, comparable = 0;
    bool failed = !groups.first;
    *found = (struct ssreport_placements){0};
    for (size_t i = 0; !failed && i < groups.count; i++) {
        const struct ssreport_pair *first = &report->pairs[groups.first[i]];
        struct ssreport_placements placements;
        if (first->foreground->set > 0 || !is_named(first, pair))
            continue;
        named++;
        failed = ssreport_placements_compare(&placements, report, first, measure) < 0;
        if (!failed && placements.count >= 2 && comparable++ == 0)
            *found = placements;
        else
            ssreport_placements_free(&placements);
    }
    if (!failed && comparable == 1)
        return 0;
    const struct ssreport_pair *first = found->pair;
    ssreport_placements_free(found);
    return failed ? ss_error_memory(error) : refuse(first, named, pair, measure, error);
}

/* The range of loads for a placement, relative to all CPUs. */
struct rule {
    size_t placement;
    double from, to;
};

/*
 * Fills the rules from the certain changes. Across an uncertain change, the previous placement
 * remains. Returns the number of rules.
 */
static size_t find_rules(struct rule rules[SSREPORT_CHANGES_MAX + 1],
    const struct ssreport_placements *placements, double share) {
    size_t count = 0;
    for (size_t i = 0; i < placements->change_count; i++) {
        const struct ssreport_change *change = &placements->changes[i];
        if (!change->is_clear)
            continue;
        if (count == 0)
            rules[count++] = (struct rule){.placement = change->below, .from = -INFINITY};
        if (rules[count - 1].placement == change->above)
            continue;
        rules[count - 1].to = fmin(share * change->interval.low, share * change->load - GAP);
        rules[count++] = (struct rule){.placement = change->above,
            .from = fmax(share * change->interval.high, share * change->load + GAP)};
    }
    if (count > 0)
        rules[count - 1].to = INFINITY;
    return count;
}

/*
 * Leaves out rules whose range no load can be in, because changes are close to each other, to idle
 * or to full load. Around them, the previous placement remains. Returns the number of rules left.
 */
static size_t drop_empty(struct rule *rules, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_empty = rules[i].to - rules[i].from < LENGTH_MIN || rules[i].to < LENGTH_MIN ||
                        rules[i].from > 1 - LENGTH_MIN;
        if (is_empty)
            continue;
        if (kept > 0 && rules[kept - 1].placement == rules[i].placement)
            rules[kept - 1].to = rules[i].to;
        else
            rules[kept++] = rules[i];
    }
    return kept;
}

/* Fails if a rule has a placement that ssactuate cannot set, or if there are no rules. */
static int check_rules(const struct ssreport_placements *placements, const struct rule *rules,
    size_t count, struct ss_error *error) {
    if (count < 2)
        return ss_error_fail(error,
            "--policy: no change of the best placement is certain and leaves loads on both sides "
            "of it; %s is the best one on average",
            placements->placed[placements->best].name);
    for (size_t i = 0; i < count; i++) {
        const char *name = placements->placed[rules[i].placement].name;
        bool known = false;
        for (size_t j = 0; j < sizeof schemes / sizeof *schemes; j++)
            known |= strcmp(name, schemes[j]) == 0;
        if (!known)
            return ss_error_fail(error,
                "--policy: %s is the best placement at some loads, but pin of ssactuate(1) has "
                "only free, per-chip, per-core and per-thread",
                name);
    }
    return 0;
}

/*
 * Returns the background's part of all CPUs. Loads in a study are relative to this part, loads in a
 * policy to all CPUs.
 */
static double find_share(const struct ssreport_pair *pair) {
    double foreground = pair->foreground->record.load_cpus;
    double background = pair->background->record.load_cpus;
    return foreground > 0 && background > 0 ? background / (foreground + background) : 0.5;
}

static void write_rule(FILE *stream, const struct rule *rule, const char *placement) {
    double from = 100 * rule->from, to = 100 * rule->to;
    if (isinf(rule->from))
        fprintf(stream, "below %.1f%%", to);
    else if (isinf(rule->to))
        fprintf(stream, "above %.1f%%", from);
    else
        fprintf(stream, "between %.1f%% %.1f%%", from, to);
    fprintf(stream, " pin=%s\n", placement);
}

int ssreport_policy_write(FILE *stream, const struct ssreport_report *report, const char *pair,
    bool by_energy, struct ss_error *error) {
    struct rule rules[SSREPORT_CHANGES_MAX + 1];
    struct ssreport_placements placements;
    enum ssreport_measure measure = by_energy ? SSREPORT_PER_WATT_HOUR : SSREPORT_OF_SYSTEM;
    if (find_pair(&placements, report, pair, measure, error) < 0)
        return -1;
    double share = find_share(placements.pair);
    size_t count = drop_empty(rules, find_rules(rules, &placements, share));
    int result = check_rules(&placements, rules, count, error);
    if (result == 0)
        fprintf(stream,
            "# %s of both sides: %s beside %s (%s), %zu steps, confidence %g %%.\n"
            "# The load is that of the background, relative to all CPUs; it has %.3g %% of them.\n"
            "load side\n",
            by_energy ? "Work per watt-hour" : "Throughput", placements.pair->program,
            placements.pair->background_program, placements.pair->environment, placements.steps,
            100 * report->settings.confidence, 100 * share);
    for (size_t i = 0; result == 0 && i < count; i++)
        write_rule(stream, &rules[i], placements.placed[rules[i].placement].name);
    ssreport_placements_free(&placements);
    return result;
}
