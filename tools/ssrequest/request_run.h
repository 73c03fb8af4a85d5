/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_RUN_H
#define SSREQUEST_REQUEST_RUN_H

#include "http.h"
#include "request_loop.h"
#include "request_options.h"
#include "service_processes.h"

struct ssrequest_output;

/* A run. A zeroed part is not open. */
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
    struct ssrequest_course course;
    struct service service; /* with a load: the service that has it */
    int record;             /* the folder of --record; -1 if it is not open */
};

#endif
