/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REPORT_H
#define SSREPORT_REPORT_H

/* All that is reported together. */

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
    SSREPORT_ERRORS,
    SSREPORT_DUTY,
    SSREPORT_THROUGHPUT,
    SSREPORT_COMPARISON,
    SSREPORT_RATIOS,
    SSREPORT_INTERFERENCE,
    SSREPORT_WHOLE_SYSTEM,
    SSREPORT_SHEETS,
};

struct ssreport_report {
    struct ssreport_settings settings;
    struct ssreport_run *runs;
    size_t run_count, run_capacity;
    struct ssreport_failure *failures;
    size_t failure_count;
    bool compares;                 /* there are two sets */
    struct ssreport_run *together; /* runs that make one curve, with nothing but their steps */
    size_t together_count;
    struct ssreport_sheet sheets[SSREPORT_SHEETS];
};

/*
 * Makes one of the runs of a set that a manifest gives the same workload and method, or neither.
 * -1: no memory.
 */
int ssreport_report_put_together(struct ssreport_report *report);

/* Fills the first six sheets. */
void ssreport_report_fill(struct ssreport_report *report);

/* The next two: what set 0 did for what set 1 did, step by step. */
void ssreport_report_compare(struct ssreport_report *report);

/* The last two: whatever ran side by side. -1: no memory. */
int ssreport_report_interference(struct ssreport_report *report);

#endif
