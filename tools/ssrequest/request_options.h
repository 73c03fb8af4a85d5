/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_OPTIONS_H
#define SSREQUEST_REQUEST_OPTIONS_H

#include <signal.h>

#include <showstopper/contract.h>

#include "base/cpus.h"
#include "capacity.h"
#include "messages.h"
#include "platform/platform.h"
#include "rate_options.h"
#include "service_control.h"

/* In the order of the choices of --connections. */
enum ssrequest_connections {
    SSREQUEST_REUSE,
    SSREQUEST_FRESH,
};

struct ssrequest_options {
    const char *urls[REQUEST_TARGETS_MAX];
    uint32_t url_count;
    struct request_rate_options given; /* `shape` and `duration` are set after parsing */
    struct service_options service;    /* the load to hold, see service_is_held() */
    const char *of;                    /* whose load: "machine", "group:PATH" or "pid:PID"; NULL for
                                          the processes that serve the URLs */
    double cpus;                       /* number of CPUs that make a load of 1; 0 for all */
    ss_time settle;                    /* uncounted time at the start of each episode of control */
    ss_time held_for;                  /* --duration; SS_TIME_NEVER if not given */
    struct ss_cpus measured;           /* CPUs that `--of machine` measures */
    sigset_t mask;                     /* signal mask of our caller */
    struct ss_scheduling *scheduling;  /* scheduling of our caller */
    ss_time wait_for;          /* how long to wait for the service to start; 0 to not wait */
    const char *start_at_text; /* NULL to begin at once */
    int64_t start_at;          /* wall clock, nanoseconds since 1970 */
    const char *capacity;      /* the criterion of a search, as given; NULL without a search */
    struct request_criterion criterion; /* parsed `capacity` */
    int connections;                    /* enum ssrequest_connections */
    int http2;
    int insecure;
    const char *authorities;   /* file of certificates; NULL for the system's */
    const char *method, *data; /* NULL if not given */
    const char *requests_file; /* NULL if not given */
    struct request_messages messages;
    const char *socket;               /* socket for all URLs; NULL for TCP */
    const char *own_cpus;             /* NULL for the inherited affinity */
    const char *record, *each, *json; /* paths of output; NULL if not given */
    const char *control;              /* path of a socket; NULL if not given */
    int quiet;
    int dry_run;
    int help;
    int version;
    struct ss_option_store store;
};

SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_options_parse(
    struct ssrequest_options *options, char **argv, struct ss_error *error);

/* Returns the rules of a run with this profile. */
SS_NONNULL()
struct request_rules ssrequest_options_rules(
    const struct ssrequest_options *options, const struct request_profile *profile);

SS_NONNULL() void ssrequest_options_close(struct ssrequest_options *options);

void ssrequest_options_print_help(void);

#endif
