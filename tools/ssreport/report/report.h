/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REPORT_H
#define SSREPORT_REPORT_H

/* The report: records, the tables that topics make from them, and helpers that topics share. */

#include <stdint.h>

#include <showstopper/contract.h>

#include "fleet.h"
#include "published.h"
#include "responses.h"
#include "run.h"
#include "sheet.h"

/* A record that cannot be reported, or that was left out. */
struct ssreport_failure {
    char *name, *why;
    enum ss_finding finding; /* SS_NOT_CHECKED: skipped; if left out for its verdict: that verdict;
                                otherwise SS_INVALID */
};

/* The verdict on a record of which nothing else is kept. */
struct ssreport_checked {
    char *name;
    struct ssreport_verdict verdict;
};

#define SSREPORT_NO_ROW SIZE_MAX

/* The title and the first sentence of the report. */
struct ssreport_headline {
    char question[320]; /* the title; empty if no topic asks a question */
    char answer[1024];  /* empty if a finding has the answer, or if it is unknown */
    size_t finding;     /* row of the finding that has the answer, or SSREPORT_NO_ROW */
};

/* Columns of plans in which the records differ, in the order of the plans, except `round`. */
struct ssreport_differences {
    const char **names; /* the list is owned; the texts belong to runs */
    size_t count, room;
    /* for each, whether it follows from known columns (workload, method, target and so on), so that
       it distinguishes no series: the number of instances of nbench follows from the target */
    bool *follows;
    size_t axis; /* index of the numeric column along which figures are compared; `count` if none */
};

struct ssreport_report {
    struct ssreport_settings settings;
    /* leave out records with this finding or a worse one; SS_NOT_CHECKED: none */
    enum ss_finding leave_out;
    const char *trace; /* trace over which the throughput is predicted; NULL if not given */
    struct ssreport_run *runs;
    size_t run_count, run_capacity;
    struct ssreport_responses *responses; /* records of ssrequest */
    size_t response_count, response_capacity;
    struct ssreport_fleet *fleets; /* replays on many nodes */
    size_t fleet_count, fleet_capacity;
    bool checks;                      /* records of the nodes of fleets get a verdict */
    struct ssreport_checked *checked; /* these records */
    size_t checked_count, checked_capacity;
    struct ssreport_failure *failures;
    size_t failure_count, failure_capacity;
    size_t manifest_count; /* number of manifests and studies read so far */
    char *study;           /* study of the last run that was named by itself; NULL if absent */
    size_t study_number;   /* number of that study */
    char *prefix;  /* common prefix of all absolute paths, which readers do not see; NULL if absent.
                      Allocated, because tables point to it */
    bool compares; /* two sets are compared */
    char names[2][128]; /* names of the sets; empty if unnamed */
    struct published published;
    struct ssreport_notes notes; /* notes that belong to no single run */
    struct ssreport_differences differences;
    struct ssreport_headline headline;
    struct table_sheet *tables; /* tables of all topics */
    size_t table_count;

    struct table_column *study_columns; /* topic study: columns of its table */
    char **study_names;                 /* names of those that come from plans; ends with NULL */
    /* topic runs: pools of runs that share a curve; only `steps` of each is valid */
    struct ssreport_run *pooled;
    size_t pooled_count;
    struct ssreport_pair *pairs; /* topic interference: pairs of `runs`, in the order of tables */
    size_t pair_count, pair_capacity;
    /* topic requests: points of `responses`, in the same order */
    struct ssreport_rate_point *points;
    size_t point_count, point_capacity;
    struct ssreport_load_series *load_series; /* topic loadline: load lines by workload */
    size_t load_series_count, load_series_room;
};

/* Returns the table of this name, whichever topic has it. Aborts if no topic does. */
SS_NONNULL(1, 2)
struct table_sheet *ssreport_table(const struct ssreport_report *report, const char *name);

/* Returns the name of a set; without a name, "first set" or "second set". */
const char *ssreport_report_set_name(const struct ssreport_report *report, int set);

/* Makes titles from names, without their common prefix. Call this after all records are read. */
void ssreport_report_choose_titles(struct ssreport_report *report);

/*
 * Return whether both words are present and equal; ssreport_is_same() also returns true if both are
 * NULL.
 */
bool ssreport_is_word(const char *left, const char *right);
bool ssreport_is_same(const char *left, const char *right);

/* Orders words by strcmp(); NULL counts as the empty word. */
int ssreport_compare_words(const char *left, const char *right);

/* Orders numbers, NaN first. Numbers whose difference a manifest cannot express are equal. */
int ssreport_compare_numbers(double left, double right);

/* Compares what separates the series of one service. */
SS_NONNULL()
int ssreport_compare_levels(
    const struct ssreport_responses *one, const struct ssreport_responses *other);

/* Returns whether the end of the program is the result, as in a comparison of run times. */
SS_NONNULL() bool ssreport_run_is_launch(const struct ssreport_run *run);

/* Returns whether two runs are of one study. */
SS_NONNULL(1, 2)
bool ssreport_run_is_of_study(const struct ssreport_run *run, const struct ssreport_run *other);

/*
 * Returns whether `other` is a better counterpart of a run than `found`, which may be NULL: the
 * first one, unless only a later one is of the same study. Rounds of several studies have the same
 * numbers.
 */
SS_NONNULL(1, 2)
bool ssreport_run_is_closer(const struct ssreport_run *run, const struct ssreport_run *other,
    const struct ssreport_run *found);

/* The role of a run of a program without a neighbor. */
#define SSREPORT_ALONE "alone"

/*
 * Returns the run that had this role in the same group, placement and environment as `run`; NULL if
 * the report does not contain it.
 */
const struct ssreport_run *ssreport_report_beside(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *role);

/*
 * Returns the iterations per second of a foreground between two times on the clock of its
 * background. NaN unless all instances of the foreground were running then.
 */
double ssreport_report_throughput_beside(const struct ssreport_run *foreground,
    const struct ssreport_run *background, double from, double to);

/*
 * A run is disturbed if other processes used more than this part of the machine. Even on a quiet
 * machine it is up to 0.01, because kernel threads and interrupts that serve the run count as other
 * processes.
 */
#define SSREPORT_OTHERS_MAX 0.02

/* Two runs are not compared if their parts differ by more than this. */
#define SSREPORT_OTHERS_DIFFERENCE_MAX 0.02

/* An unknown part, NaN, does not disturb a run. */
bool ssreport_others_disturb(double others);

/* Returns whether two runs may be compared. An unknown part does not forbid the comparison. */
bool ssreport_others_permit(double one, double other);

#endif
