/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_LOAD_OPTIONS_H
#define SSLOAD_LOAD_OPTIONS_H

#include "options/arguments.h"

/* In the order of the choices of --format. */
enum ssload_format {
    SSLOAD_TABLE,
    SSLOAD_CSV,
    SSLOAD_JSON,
    SSLOAD_AUTO, /* the default: a table on a terminal, otherwise CSV */
};

struct ssload_request {
    ss_time interval;
    uint64_t count;   /* 0: no limit */
    ss_time duration; /* SS_TIME_NEVER: no limit */
    const char *cpus; /* NULL: all CPUs that ssload may use */
    const char *group;
    const char *target;
    const char *output;  /* NULL: standard output */
    const char *metrics; /* NULL if not given */
    int format;          /* enum ssload_format */
    int per_cpu;
    int quiet;
    int help;
    int version;
    char **command; /* NULL if absent */
    struct ss_option_store store;
};

/* Parses the command line; the words after `--` are the command. */
int ssload_request_parse(struct ssload_request *request, char **argv, struct ss_error *error);

void ssload_request_print_help(void);

#endif
