/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STATISTICS_H
#define SSTRACE_STATISTICS_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "trace/record.h"

/* Length, number of records, mean, least and largest load of a trace; `free` stretches left out. */
struct sstrace_statistics {
    struct ss_trace_sink sink;
    struct ss_trace_record before;
    uint64_t count;
    bool any;              /* there is a load at all */
    double work, duration; /* seconds; the first one times load */
    double mean, min, largest;
};

struct sstrace_statistics sstrace_statistics_open(void);

SS_NONNULL()
void sstrace_statistics_print(FILE *stream, const struct sstrace_statistics *statistics);

#endif
