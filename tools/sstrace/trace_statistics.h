/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TRACE_STATISTICS_H
#define SSTRACE_TRACE_STATISTICS_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "trace/record.h"

/*
 * The length of a trace, its number of records, and the mean, smallest and largest load outside of
 * `free` sections.
 */
struct sstrace_statistics {
    struct ss_trace_sink sink;
    struct ss_trace_record before;
    uint64_t count;
    bool any;              /* at least one record has a load */
    double work, duration; /* `work` is the integral of the load over `duration`, seconds */
    double mean, min, max;
};

struct sstrace_statistics sstrace_statistics_open(void);

SS_NONNULL()
void sstrace_statistics_print(FILE *stream, const struct sstrace_statistics *statistics);

#endif
