/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_RUN_H
#define SSREQUEST_REQUEST_RUN_H

#include "http.h"
#include "request_loop.h"
#include "request_options.h"
#include "service_processes.h"

struct ssrequest_output;

/* The state of a run. Members that are zero are not open; closing them does nothing. */
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
    struct service service; /* the service whose load is held; zeroed if none */
    int record;             /* descriptor of the folder of --record; -1 if not open */
};

#endif
