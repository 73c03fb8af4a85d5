/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REPORT_OPTIONS_H
#define SSREPORT_REPORT_OPTIONS_H

#include <stdbool.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "options/option.h"

enum ssreport_format { SSREPORT_FORMAT_CSV, SSREPORT_FORMAT_MARKDOWN, SSREPORT_FORMAT_JSON };

/* The command line. Texts are NULL if not given. */
struct ssreport_request {
    const char *output;
    const char *published;
    const char *names;    /* names of both sets, "A/B" */
    const char *predict;  /* path of a trace */
    const char *profile;  /* path of the profile for sssim */
    const char *perfetto; /* path of the timeline for Perfetto */
    const char *policy;   /* path of the policy for ssactuate */
    const char *pair;     /* pair that the policy is for */
    int best_by;          /* measure of the policy: 0 throughput, 1 energy; negative if not given */
    const char *table;    /* name of a table, printed instead of the summary */
    int format;           /* format of the table; negative if not given */
    const char *column;   /* name of the only column of the table that is printed */
    int test;             /* enum hypothesis; negative: report records */
    const char *value;    /* column of the values to test */
    const char *group;    /* column of their groups */
    const char *run;      /* column that identifies their runs, whose means are tested */
    int of;               /* the arguments are groups, "[NAME=]MEAN,SD,N" */
    ss_time edge;         /* SS_TIME_NEVER if not given */
    ss_time interval;
    double confidence; /* 0 to 1 */
    double deviation;  /* tolerated deviation of a replay's throughput, 0 to 1 */
    int check;         /* print verdicts instead of a report */
    int decide;        /* print the decision of a study of two commands instead of a report */
    int leave_out;     /* 0: doubtful and invalid records, 1: invalid ones; negative: none */
    int help, version, quiet;
    bool against;
    char **folders;   /* folders of both sets; with --test, the file or the groups */
    size_t first_set; /* number of folders in the first set */
    size_t count;     /* number of folders in both sets */
    struct ss_option_store store;
};

/*
 * Parses the command line. The request points into `argv`, whose words are reordered, and owns its
 * store.
 */
int ssreport_request_parse(struct ssreport_request *request, char **argv, struct ss_error *error);
void ssreport_request_print_help(void);

#endif
