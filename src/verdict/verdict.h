/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_VERDICT_VERDICT_H
#define SHOWSTOPPER_VERDICT_VERDICT_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "verdict/stationarity.h"

/*
 * Judges a run: each check compares a figure with two limits, beyond which the subject of the check
 * is doubtful or invalid. A figure that was not measured is not checked. "Valid" means that these
 * checks found nothing.
 */
enum ss_finding {
    SS_NOT_CHECKED,
    SS_PASSED,
    SS_DOUBTFUL,
    SS_INVALID,
};

/* Indexed by enum ss_finding. */
extern const char *const ss_finding_names[];

enum ss_check_name {
    SS_CHECK_MEAN_ERROR,
    SS_CHECK_MEAN_SQUARED_ERROR,
    SS_CHECK_SAMPLES_OFF,
    SS_CHECK_LATE_WAKE_UPS,
    SS_CHECK_SAMPLES_LOST,
    SS_CHECK_STEAL,
    SS_CHECK_OTHERS,
    SS_CHECK_FREQUENCY,
    SS_CHECK_THROUGHPUT,
    SS_CHECK_RESPONSE,
    SS_CHECK_COST,
    SS_CHECK_BACKGROUND,
    SS_CHECK_LATE_REQUESTS,
    SS_CHECK_CLOCK,
    SS_CHECK_SUSPENDED,
    SS_CHECK_FAILED_INSTANCES,
    SS_CHECK_FAILED_REQUESTS,
    SS_CHECK_UNANSWERED_REQUESTS,
    SS_CHECK_ENDED_EARLY,
    SS_CHECK_LINES_LOST,
    SS_CHECK_INTERRUPTED,
    SS_CHECK_SAMPLES,
    SS_CHECK_ITERATIONS,
    SS_CHECK_SUCCESSES,
    SS_CHECKS,
};

/* SS_CHECK_SAMPLES_OFF: a sample is off target if its error exceeds this; 1 is the full load. */
#define SS_OFF_TARGET 0.05

/* `interruption` of struct ss_evidence if sending requests was stopped. */
#define SS_STOPPED_EARLY "ended before the planned time"

/* Figures of SS_CHECK_INTERRUPTED. */
#define SS_INTERRUPTED_BY_SIGNAL  1
#define SS_INTERRUPTED_BY_ERROR   2
#define SS_INTERRUPTED_BY_FAILURE 3 /* of an instance */

/* Figures to check, in the units of ss_checks; NaN if unknown. */
struct ss_evidence {
    double figures[SS_CHECKS];
    struct ss_change throughput; /* describes the figure of SS_CHECK_THROUGHPUT, if checked */
    struct ss_change response;   /* likewise for SS_CHECK_RESPONSE */
    const char *interruption; /* words for SS_INTERRUPTED_BY_SIGNAL; NULL for "ended by a signal" */
};

enum ss_subject {
    SS_SUBJECT_LOAD,
    SS_SUBJECT_THROUGHPUT, /* of iterations or requests, if they were counted */
    SS_SUBJECTS,
};

/* "load", "throughput" */
extern const char *const ss_subject_names[];

struct ss_check {
    const char *key;   /* "mean_error" */
    const char *name;  /* "mean error" */
    const char *unit;  /* "points" */
    unsigned subjects; /* bits of enum ss_subject: what it counts for */
    double doubtful;   /* limit; NaN if no figure of this check is doubtful */
    double invalid;    /* limit; NaN if no figure of this check is invalid */
    bool at_least;     /* figures below a limit fail; otherwise, figures above it */
};

extern const struct ss_check ss_checks[SS_CHECKS];

struct ss_verdict {
    struct ss_evidence evidence;
    enum ss_finding findings[SS_CHECKS];
    unsigned subjects[SS_CHECKS];           /* bits of what each check counts for in this run */
    enum ss_finding judgments[SS_SUBJECTS]; /* SS_NOT_CHECKED if this is not judged */
    enum ss_finding finding;                /* the worst of them: passed, doubtful or invalid */
};

/* Sets all figures to NaN. */
SS_NONNULL() void ss_evidence_clear(struct ss_evidence *evidence);

SS_NONNULL() struct ss_verdict ss_verdict_reach(const struct ss_evidence *evidence);

/* Returns "valid", "doubtful" or "invalid". */
SS_NONNULL() const char *ss_verdict_word(const struct ss_verdict *verdict);

/* Returns the word for one subject; NULL if it is not judged. */
SS_NONNULL()
const char *ss_verdict_word_of(const struct ss_verdict *verdict, enum ss_subject subject);

/*
 * Writes the reasons in one line: "steal 6 % (invalid above 5); other processes used 4.2 %
 * (doubtful above 2)", or "nothing found in 9 checks".
 */
#define SS_VERDICT_TEXT_SIZE 1024
SS_NONNULL()
void ss_verdict_print(char text[SS_VERDICT_TEXT_SIZE], const struct ss_verdict *verdict);

/* Writes the words and the reasons: "load valid; throughput invalid: other processes used ...". */
#define SS_VERDICT_LINE_SIZE (SS_VERDICT_TEXT_SIZE + 64)
SS_NONNULL()
void ss_verdict_describe(char text[SS_VERDICT_LINE_SIZE], const struct ss_verdict *verdict);

struct ss_json;

/* Writes the verdict as a member `verdict`: its words, and each check. */
SS_NONNULL() void ss_verdict_print_json(struct ss_json *json, const struct ss_verdict *verdict);

#endif
