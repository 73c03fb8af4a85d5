/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_RUN_H
#define SSREQUEST_REQUEST_RUN_H

#include "http.h"
#include "request_loop.h"
#include "request_options.h"
#include "service_processes.h"

struct ssrequest_output;

/* A run. Zeroed parts are not open. */
struct ssrequest_run {
    const struct ssrequest_options *options;
    struct request_profile profile;
    struct request_schedule schedule;
    struct request_tally tally;
    struct ssrequest_loop *loop;
    struct ssrequest_http *http;
    struct request_generator *generator;
    struct request_rules rules;
    struct ssrequest_output *output;
    struct ssrequest_loop_stats stats;
    struct service service; /* the service whose load is held, if any */
    int record;             /* the folder of --record; -1 if not open */
};

#endif
