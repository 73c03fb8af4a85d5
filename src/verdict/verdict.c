/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"

const char *const ss_finding_names[] = {"not checked", "passed", "doubtful", "invalid"};

#define LOAD       (1U << SS_SUBJECT_LOAD)
#define THROUGHPUT (1U << SS_SUBJECT_THROUGHPUT)
#define BOTH       (LOAD | THROUGHPUT)

const char *const ss_subject_names[] = {"load", "throughput"};

/*
 * Checks of control and of its samples belong to the load. Checks of the speed of programs belong
 * to the throughput alone: control keeps the load.
 */
const struct ss_check ss_checks[SS_CHECKS] = {
    [SS_CHECK_MEAN_ERROR] = {"mean_error", "mean error", "points", LOAD, 1, 3},
    [SS_CHECK_MEAN_SQUARED_ERROR] = {"mean_squared_error", "mean squared error", "%^2", LOAD, 25,
        100},
    [SS_CHECK_SAMPLES_OFF] = {"samples_off", "samples more than 5 points off target", "%", LOAD, 10,
        30},
    [SS_CHECK_LATE_WAKE_UPS] = {"late_wake_ups", "late wake-ups (99 %), part of a round", "%", LOAD,
        5, 20},
    [SS_CHECK_SAMPLES_LOST] = {"samples_lost", "samples lost or late", "%", LOAD, 0.5, 5},
    [SS_CHECK_STEAL] = {"steal", "steal", "%", BOTH, 1, 5},
    [SS_CHECK_OTHERS] = {"others", "other processes used", "%", THROUGHPUT, 2, 10},
    [SS_CHECK_FREQUENCY] = {"frequency", "change of the CPUs' frequency", "%", THROUGHPUT, 2, 5},
    [SS_CHECK_THROUGHPUT] = {"throughput", "change of throughput", "%", THROUGHPUT, 1, 5},
    [SS_CHECK_RESPONSE] = {"response", "change of response times", "%", THROUGHPUT, 1, 5},
    [SS_CHECK_COST] = {"cost", "change of the CPU time of a request", "%", THROUGHPUT, 2, 10},
    [SS_CHECK_BACKGROUND] = {"background", "load before the first request", "%", THROUGHPUT, 5,
        NAN},
    [SS_CHECK_LATE_REQUESTS] = {"late_requests",
        "late requests (99 %), part of the median response", "%", THROUGHPUT, 10, 100},
    [SS_CHECK_CLOCK] = {"clock", "wall clock set by", "ms", BOTH, 50, NAN},
    [SS_CHECK_SUSPENDED] = {"suspended", "machine suspended for", "s", BOTH, 1, NAN},
    [SS_CHECK_FAILED_INSTANCES] = {"failed_instances", "instances that failed", "%", BOTH, 0, 50},
    [SS_CHECK_FAILED_REQUESTS] = {"failed_requests", "requests that failed", "%", THROUGHPUT, 1,
        10},
    [SS_CHECK_UNANSWERED_REQUESTS] = {"unanswered_requests",
        "requests dropped, never sent or unfinished", "%", THROUGHPUT, 1, 10},
    [SS_CHECK_ENDED_EARLY] = {"ended_early", "instances that ended early", "%", BOTH, 0, NAN},
    [SS_CHECK_LINES_LOST] = {"lines_lost", "lines lost", "", BOTH, 0, NAN},
    [SS_CHECK_INTERRUPTED] = {"interrupted", "interrupted", "", BOTH, 0, 1},
    [SS_CHECK_SAMPLES] = {"samples", "samples", "", LOAD, NAN, 1, .at_least = true},
    [SS_CHECK_ITERATIONS] = {"iterations", "iterations", "", THROUGHPUT, 30, 1, .at_least = true},
    [SS_CHECK_SUCCESSES] = {"successes", "successful requests", "", THROUGHPUT, 30, 1,
        .at_least = true},
};

void ss_evidence_clear(struct ss_evidence *evidence) {
    *evidence = (struct ss_evidence){0};
    for (size_t i = 0; i < SS_CHECKS; i++)
        evidence->figures[i] = NAN;
}

static bool is_beyond(const struct ss_check *check, double figure, double limit) {
    return check->at_least ? figure < limit : fabs(figure) > limit;
}

static enum ss_finding check_figure(const struct ss_check *check, double figure) {
    if (isnan(figure))
        return SS_NOT_CHECKED;
    if (is_beyond(check, figure, check->invalid))
        return SS_INVALID;
    return is_beyond(check, figure, check->doubtful) ? SS_DOUBTFUL : SS_PASSED;
}

/* Requests may be sent without a load, and a load may be held without counting any work. */
static unsigned find_subjects(const double *figures) {
    bool has_load = !isnan(figures[SS_CHECK_SAMPLES]) || !isnan(figures[SS_CHECK_MEAN_ERROR]);
    bool has_requests = !isnan(figures[SS_CHECK_SUCCESSES]);
    bool has_work = has_requests || !isnan(figures[SS_CHECK_ITERATIONS]);
    return (has_load || !has_requests ? LOAD : 0) | (has_work ? THROUGHPUT : 0);
}

/* If errors are not judged, only the CPU use of other processes shows that the load was wrong. */
static unsigned subjects_of(size_t check, const double *figures) {
    bool also_load = check == SS_CHECK_OTHERS && isnan(figures[SS_CHECK_MEAN_ERROR]);
    return ss_checks[check].subjects | (also_load ? LOAD : 0);
}

static enum ss_finding worse(enum ss_finding one, enum ss_finding other) {
    return one > other ? one : other;
}

/* Returns the worst finding for a subject. */
static enum ss_finding judge(const struct ss_verdict *verdict, unsigned subject) {
    enum ss_finding worst = SS_PASSED;
    for (size_t i = 0; i < SS_CHECKS; i++) {
        if (verdict->subjects[i] & subject)
            worst = worse(worst, verdict->findings[i]);
    }
    return worst;
}

struct ss_verdict ss_verdict_reach(const struct ss_evidence *evidence) {
    struct ss_verdict verdict = {.evidence = *evidence};
    unsigned subjects = find_subjects(evidence->figures);

    for (size_t i = 0; i < SS_CHECKS; i++) {
        verdict.findings[i] = check_figure(&ss_checks[i], evidence->figures[i]);
        verdict.subjects[i] = subjects_of(i, evidence->figures) & subjects;
    }

    enum ss_finding load = subjects & LOAD ? judge(&verdict, LOAD) : SS_NOT_CHECKED;
    enum ss_finding throughput =
        subjects & THROUGHPUT ? judge(&verdict, THROUGHPUT) : SS_NOT_CHECKED;

    /* Throughput was measured at the load, so it is not valid at a wrong one. */
    if (subjects & THROUGHPUT && load == SS_INVALID)
        throughput = SS_INVALID;
    verdict.judgments[SS_SUBJECT_LOAD] = load;
    verdict.judgments[SS_SUBJECT_THROUGHPUT] = throughput;
    verdict.finding = worse(load, throughput);

    return verdict;
}

static const char *word_for(enum ss_finding finding) {
    return finding == SS_PASSED ? "valid" : ss_finding_names[finding];
}

const char *ss_verdict_word(const struct ss_verdict *verdict) {
    return word_for(verdict->finding);
}

const char *ss_verdict_word_of(const struct ss_verdict *verdict, enum ss_subject subject) {
    enum ss_finding judgment = verdict->judgments[subject];
    return judgment == SS_NOT_CHECKED ? NULL : word_for(judgment);
}

/* Room for one reason. */
#define REASON_SIZE 240

static const char *describe_interruption(const struct ss_verdict *verdict, double figure) {
    if (figure >= SS_INTERRUPTED_BY_FAILURE)
        return "ended by a failed instance";
    if (figure >= SS_INTERRUPTED_BY_ERROR)
        return "ended by an error";
    return verdict->evidence.interruption ? verdict->evidence.interruption : "ended by a signal";
}

/* Returns the change whose size is the figure of this check; NULL for other checks. */
static const struct ss_change *change_of(const struct ss_evidence *evidence, size_t check) {
    if (check == SS_CHECK_THROUGHPUT)
        return &evidence->throughput;
    return check == SS_CHECK_RESPONSE ? &evidence->response : NULL;
}

static void print_reason(char *to, size_t size, const struct ss_verdict *verdict, size_t which) {
    const struct ss_check *check = &ss_checks[which];
    const struct ss_change *change = change_of(&verdict->evidence, which);
    char shape[SS_CHANGE_TEXT_SIZE], limit[60], number[40];
    double figure = verdict->evidence.figures[which];
    enum ss_finding finding = verdict->findings[which];

    snprintf(limit, sizeof limit, "%s %s %g", ss_finding_names[finding],
        check->at_least ? "below" : "above",
        finding == SS_INVALID ? check->invalid : check->doubtful);
    if (which == SS_CHECK_INTERRUPTED) {
        snprintf(to, size, "%s", describe_interruption(verdict, figure));
    } else if (change && change->checked) {
        ss_stationarity_print(shape, change);
        snprintf(to, size, "%s: %s (%s %%)", check->name, shape, limit);
    } else {
        /* Counts, and figures that are too large to need decimals, are whole. */
        bool is_whole = !*check->unit || fabs(figure) >= 1000;
        snprintf(number, sizeof number, is_whole ? "%.0f" : "%.3g", figure);
        snprintf(to, size, "%s %s%s%s (%s)", check->name, number, *check->unit ? " " : "",
            check->unit, limit);
    }
}

void ss_verdict_print(char text[SS_VERDICT_TEXT_SIZE], const struct ss_verdict *verdict) {
    size_t used = 0, passed = 0;

    for (size_t i = 0; i < SS_CHECKS; i++)
        passed += verdict->findings[i] == SS_PASSED && verdict->subjects[i] != 0;
    snprintf(text, SS_VERDICT_TEXT_SIZE, "nothing found in %zu checks", passed);

    /* Begin with the reasons for the verdict's word. */
    for (enum ss_finding finding = SS_INVALID; finding >= SS_DOUBTFUL; finding--) {
        for (size_t i = 0; i < SS_CHECKS; i++) {
            char reason[REASON_SIZE];
            if (verdict->findings[i] != finding || verdict->subjects[i] == 0)
                continue;
            print_reason(reason, sizeof reason, verdict, i);
            used += (size_t)snprintf(
                text + used, SS_VERDICT_TEXT_SIZE - used, "%s%s", used > 0 ? "; " : "", reason);
            if (used >= SS_VERDICT_TEXT_SIZE)
                return;
        }
    }
}

void ss_verdict_describe(char text[SS_VERDICT_LINE_SIZE], const struct ss_verdict *verdict) {
    size_t used = 0;
    char reasons[SS_VERDICT_TEXT_SIZE];
    ss_verdict_print(reasons, verdict);
    for (enum ss_subject i = 0; i < SS_SUBJECTS; i++) {
        const char *word = ss_verdict_word_of(verdict, i);
        if (word)
            used += (size_t)snprintf(text + used, SS_VERDICT_LINE_SIZE - used, "%s%s %s",
                used > 0 ? "; " : "", ss_subject_names[i], word);
    }
    snprintf(text + used, SS_VERDICT_LINE_SIZE - used, ": %s", reasons);
}

static void print_subjects(struct ss_json *json, unsigned subjects) {
    ss_json_open(json, "of", '[');
    for (enum ss_subject i = 0; i < SS_SUBJECTS; i++) {
        if (subjects & 1U << i)
            ss_json_text(json, NULL, ss_subject_names[i]);
    }
    ss_json_close(json, ']');
}

static void print_checks(struct ss_json *json, const struct ss_verdict *verdict) {
    ss_json_open(json, "checks", '[');
    for (size_t i = 0; i < SS_CHECKS; i++) {
        const struct ss_check *check = &ss_checks[i];
        char reason[REASON_SIZE];
        print_reason(reason, sizeof reason, verdict, i);
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "check", check->key);
        ss_json_text(json, "result", ss_finding_names[verdict->findings[i]]);
        ss_json_number(json, "figure", verdict->evidence.figures[i]);
        ss_json_text(json, "unit", *check->unit ? check->unit : NULL);
        ss_json_number(json, "doubtful", check->doubtful);
        ss_json_number(json, "invalid", check->invalid);
        ss_json_text(json, "reason", verdict->findings[i] >= SS_DOUBTFUL ? reason : NULL);
        print_subjects(json, verdict->subjects[i]);
        ss_json_close(json, '}');
    }

    ss_json_close(json, ']');
}

void ss_verdict_print_json(struct ss_json *json, const struct ss_verdict *verdict) {
    char text[SS_VERDICT_TEXT_SIZE];
    ss_verdict_print(text, verdict);
    ss_json_open(json, "verdict", '{');
    ss_json_text(json, "result", ss_verdict_word(verdict));
    for (enum ss_subject i = 0; i < SS_SUBJECTS; i++)
        ss_json_text(json, ss_subject_names[i], ss_verdict_word_of(verdict, i));
    ss_json_text(json, "reasons", text);
    print_checks(json, verdict);
    ss_json_close(json, '}');
}
