/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_HOST_H
#define SHOWSTOPPER_HOST_H

#include <stddef.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

struct ss_trace_records;

/*
 * Services for modules, available from prepare() to release(): parsers for quantities and load
 * traces. Each parser requires that the whole text is valid; otherwise it returns -1 with `error`
 * set.
 */
struct ss_host {
    double cpus; /* CPUs that make a load of 1, for loads given in CPUs; 0: unknown */

    int (*parse_time)(const char *text, ss_time *value, struct ss_error *error); /* 107ms, 2min */
    int (*parse_number)(const char *text, double *value, struct ss_error *error);

    /* 6/10, 60%, 0.5cpu */
    int (*parse_load)(
        const struct ss_host *host, const char *text, double *value, struct ss_error *error);

    /*
     * Parses exactly `count` loads separated by `separator`: "95%:5%:5%". The message names the
     * invalid one.
     */
    int (*parse_loads)(const struct ss_host *host, const char *text, char separator, double *values,
        size_t count, struct ss_error *error);

    /*
     * Reads a trace, in text or compiled; see <showstopper/trace.h>. Does not keep the file open.
     */
    int (*read_trace)(const char *path, struct ss_trace_records *records, struct ss_error *error);
    void (*free_trace)(struct ss_trace_records *records);
};

#endif
