/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REPORT_H
#define SSREPORT_REPORT_H

/* All that is reported together. */

#include <showstopper/contract.h>

#include "others.h"
#include "pairs.h"
#include "points.h"
#include "published.h"
#include "run.h"
#include "sheet.h"

/* A record of which nothing can be said but why. */
struct ssreport_failure {
    char *name, *why;
};

enum {
    SSREPORT_RUNS,
    SSREPORT_STEPS,
    SSREPORT_FITS,
    SSREPORT_CURVE,
    SSREPORT_PREDICTION,
    SSREPORT_METHODS,
    SSREPORT_METHODS_DEVIATION,
    SSREPORT_ERRORS,
    SSREPORT_DUTY,
    SSREPORT_THROUGHPUT,
    SSREPORT_COMPARISON,
    SSREPORT_RATIOS,
    SSREPORT_UNMATCHED,
    SSREPORT_INTERFERENCE,
    SSREPORT_WHOLE_SYSTEM,
    SSREPORT_INTERFERENCE_PUBLISHED,
    SSREPORT_FINDINGS,
    SSREPORT_CHANGES,
    SSREPORT_ENVIRONMENTS,
    SSREPORT_CPUS,
    SSREPORT_CONSTANT_LOAD,
    SSREPORT_PUBLISHED,
    SSREPORT_REPLAY,
    SSREPORT_ENERGY,
    SSREPORT_ENERGY_STEPS,
    SSREPORT_COUNTERS_RUNS,
    SSREPORT_COUNTERS_STEPS,
    SSREPORT_REQUESTS,
    SSREPORT_REQUESTS_RATES,
    SSREPORT_REQUESTS_SECONDS,
    SSREPORT_REQUESTS_CAPACITY,
    SSREPORT_SHEETS,
};

struct ssreport_report {
    struct ssreport_settings settings;
    struct ssreport_run *runs;
    size_t run_count, run_capacity;
    struct ssreport_responses *responses; /* what ssrequest has recorded */
    size_t response_count, response_capacity;
    struct ssreport_rate_point *points; /* of `responses`, in their order */
    size_t point_count, point_capacity;
    struct ssreport_failure *failures;
    size_t failure_count, failure_capacity;
    size_t manifest_count;       /* read so far */
    struct ssreport_pair *pairs; /* of `runs`, in their order */
    size_t pair_count, pair_capacity;
    char *prefix;                  /* of all absolute paths: not shown; NULL: none. Sheets have it,
                                      so it does not move with the report */
    bool compares;                 /* there are two sets */
    char names[2][128];            /* of the sets; empty: they have none */
    struct ssreport_run *together; /* runs that make one curve, with nothing but their steps */
    size_t together_count;
    struct published published;
    struct ssreport_notes notes; /* of no run in particular */
    struct ssreport_sheet sheets[SSREPORT_SHEETS];
};

/*
 * Makes one of the runs of a set that a manifest gives the same workload and method, or neither.
 * -1: no memory.
 */
int ssreport_report_put_together(struct ssreport_report *report);

/* Both sheets of methods. -1: no memory. */
int ssreport_report_methods(struct ssreport_report *report);

/* The sheet of local curves, after ssreport_report_put_together(). */
void ssreport_report_curves(struct ssreport_report *report);

/* Fills the first six sheets but the curve and the methods; the last thing to do, as notes are in
 * them. */
void ssreport_report_fill(struct ssreport_report *report);

/*
 * The next three sheets: the throughput of set 0 divided by that of set 1, step by step, and the
 * steps without a counterpart. -1: no memory.
 */
int ssreport_report_compare(struct ssreport_report *report);

/* What a set is called: its name, or else its number in words. */
const char *ssreport_report_set_name(const struct ssreport_report *report, int set);

/* Once all records are there: titles are the parts of paths in which these differ. */
void ssreport_report_choose_titles(struct ssreport_report *report);

/* All sheets of pairs: from interference to changes. -1: no memory. */
int ssreport_report_interference(struct ssreport_report *report);

/* Parts of the above, which need the pairs. -1: no memory. */
void ssreport_report_whole_system(struct ssreport_report *report);
int ssreport_report_findings(struct ssreport_report *report);

/* What was measured beside runs, by their hosts and of each CPU. */
void ssreport_report_environments(struct ssreport_report *report);

/* Names the published tables that were read, and those of which there are no values. */
void ssreport_report_published(struct ssreport_report *report);

/* What held a constant load, with the published figures. -1: no memory. */
int ssreport_report_constant_load(struct ssreport_report *report);

/*
 * A trace at several speeds. A run that did not do its iterations in proportion to its time gets a
 * note. -1: no memory.
 */
int ssreport_report_replay(struct ssreport_report *report);

/* The next two: what was counted of the instances, in all and step by step. */
void ssreport_report_counters(struct ssreport_report *report);

/* The next two: what the iterations have cost, in all and step by step. */
void ssreport_report_energy(struct ssreport_report *report);

/* The sheets of requests and what is found of them. -1: no memory. */
int ssreport_report_requests(struct ssreport_report *report);

/* Whether power was sampled beside any run. */
bool ssreport_report_has_energy(const struct ssreport_report *report);

/* The tables that have no row: "a.csv, b.csv"; empty where all have one. */
SS_WRITES(2, 3)
void ssreport_report_name_empty(const struct ssreport_report *report, char *text, size_t size);

/* ---- for those above ---- */

/* Whether both are there and the same, or, the second one, neither is. */
bool ssreport_is_word(const char *left, const char *right);
bool ssreport_is_same(const char *left, const char *right);

/* Whether both ran in the same environment; one that is not named is none. */
bool ssreport_is_one_environment(const struct ssreport_run *left, const struct ssreport_run *right);

/* The run of this role that ran beside another one; NULL: none is reported. */
const struct ssreport_run *ssreport_report_beside(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *role);

/*
 * What a foreground did in iterations per second while its background was between two times; their
 * clocks begin at other times. NaN: it was not there, or no longer with all of its instances.
 */
double ssreport_report_throughput_beside(const struct ssreport_run *foreground,
    const struct ssreport_run *background, double from, double to);

#endif
