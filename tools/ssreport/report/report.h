/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REPORT_H
#define SSREPORT_REPORT_H

/* The report: records, the tables that topics make of them, and helpers that topics share. */

#include <stdint.h>

#include <showstopper/contract.h>

#include "others.h"
#include "published.h"
#include "responses.h"
#include "run.h"
#include "sheet.h"

/* A record that cannot be reported. */
struct ssreport_failure {
    char *name, *why;
};

#define SSREPORT_NO_ROW SIZE_MAX

/* What the whole report is about: its title and its first sentence. */
struct ssreport_headline {
    char question[320]; /* empty if no topic asks one */
    char answer[1024];  /* empty: a finding answers, or nothing does */
    size_t finding;     /* row of the findings that answers, or SSREPORT_NO_ROW */
};

struct ssreport_report {
    struct ssreport_settings settings;
    const char *trace; /* to predict the throughput over it; NULL: none */
    struct ssreport_run *runs;
    size_t run_count, run_capacity;
    struct ssreport_responses *responses; /* records of ssrequest */
    size_t response_count, response_capacity;
    struct ssreport_failure *failures;
    size_t failure_count, failure_capacity;
    size_t manifest_count; /* read so far */
    char *prefix;          /* of all absolute paths, hidden from readers; NULL if absent. Tables
                              point to it, so it does not move with the report */
    bool compares;         /* there are two sets */
    char names[2][128];    /* of the sets; empty: unnamed */
    struct published published;
    struct ssreport_notes notes; /* on no single run */
    struct ssreport_headline headline;
    struct table_sheet *tables; /* of all topics */
    size_t table_count;

    /* ---- what topics find in the records; each frees its own ---- */

    struct ssreport_run *pooled; /* runs: several that make one curve, with nothing but steps */
    size_t pooled_count;
    struct ssreport_pair *pairs; /* interference: of `runs`, in the order of tables */
    size_t pair_count, pair_capacity;
    struct ssreport_rate_point *points; /* requests: of `responses`, in their order */
    size_t point_count, point_capacity;
};

/* The table of this name, of whatever topic. A name without a table aborts the program. */
SS_NONNULL(1, 2)
struct table_sheet *ssreport_table(const struct ssreport_report *report, const char *name);

/* The name of a set or, without one, its number in words. */
const char *ssreport_report_set_name(const struct ssreport_report *report, int set);

/* Makes titles of names, without their common prefix. Call it after all records are read. */
void ssreport_report_choose_titles(struct ssreport_report *report);

/* ---- comparisons of runs ---- */

/* Whether both are present and equal; ssreport_is_same(): or both are NULL. */
bool ssreport_is_word(const char *left, const char *right);
bool ssreport_is_same(const char *left, const char *right);

/* Orders words by strcmp(); NULL is the empty word. */
int ssreport_compare_words(const char *left, const char *right);

/* Orders numbers; those that differ by less than a manifest can express are equal, as are NaNs. */
int ssreport_compare_numbers(double left, double right);

/* ---- runs side by side ---- */

/* The run of this role that ran beside another one; NULL if it is not reported. */
const struct ssreport_run *ssreport_report_beside(
    const struct ssreport_report *report, const struct ssreport_run *run, const char *role);

/*
 * Iterations per second of a foreground while its background was between two times; their clocks
 * begin at different times. NaN: not all of its instances ran.
 */
double ssreport_report_throughput_beside(const struct ssreport_run *foreground,
    const struct ssreport_run *background, double from, double to);

#endif
