/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REQUEST_H
#define SSREPORT_REQUEST_H

#include <stdbool.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "options/option.h"

enum ssreport_format { SSREPORT_FORMAT_CSV, SSREPORT_FORMAT_MARKDOWN, SSREPORT_FORMAT_JSON };

/* The command line. Texts are NULL if not given. */
struct ssreport_request {
    const char *output;
    const char *published;
    const char *names;   /* of both sets, "A/B" */
    const char *predict; /* a trace */
    const char *profile; /* a file, for sssim */
    const char *table;   /* instead of the summary */
    int format;          /* of the table; negative: not given */
    ss_time edge;        /* SS_TIME_NEVER: not given */
    ss_time interval;
    double confidence; /* 0 to 1 */
    double deviation;  /* part of 1 */
    int help, version, quiet;
    bool against;
    char **folders; /* of both sets */
    size_t first_set;
    size_t count;
    struct ss_option_store store;
};

/* The request points into `argv`, whose words it sorts, and owns its store. */
int ssreport_request_parse(struct ssreport_request *request, char **argv, struct ss_error *error);
void ssreport_request_print_help(void);

#endif
