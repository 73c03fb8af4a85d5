/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_statistics.h"

#include "base/units.h"

static void add_line(struct sstrace_statistics *statistics, const struct ss_trace_record *record) {
    struct ss_trace_record first = *record;
    first.time = 0; /* the first load also holds before its record */
    const struct ss_trace_record *before = statistics->count > 0 ? &statistics->before : &first;
    if (before->free)
        return;

    double length = ss_time_seconds(record->time - before->time);
    double end = record->free ? before->load : record->load;
    statistics->work += length * (before->load + end) / 2;
    statistics->duration += length;
}

static int take(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_statistics *statistics = (struct sstrace_statistics *)sink;
    (void)error;

    add_line(statistics, record);
    if (!record->free) {
        double load = record->load;
        statistics->min = !statistics->any || load < statistics->min ? load : statistics->min;
        statistics->max = !statistics->any || load > statistics->max ? load : statistics->max;
        statistics->mean = load;
        statistics->any = true;
    }

    statistics->before = *record;
    statistics->count++;
    return 0;
}

/* Computes the mean over controlled time; in a trace of length 0 the mean is the last load. */
static int end(struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_statistics *statistics = (struct sstrace_statistics *)sink;
    (void)error;
    if (statistics->duration > 0)
        statistics->mean = statistics->work / statistics->duration;
    return 0;
}

struct sstrace_statistics sstrace_statistics_open(void) {
    return (struct sstrace_statistics){.sink = {.take = take, .end = end}};
}

void sstrace_statistics_print(FILE *stream, const struct sstrace_statistics *statistics) {
    char length[SS_UNITS_TEXT_SIZE];
    ss_units_show_time(length, statistics->before.time);
    fprintf(stream, "length   %s\nrecords  %llu\n", length, (unsigned long long)statistics->count);
    if (statistics->any)
        fprintf(stream, "mean     %.6g\nminimum  %.6g\nmaximum  %.6g\n", statistics->mean,
            statistics->min, statistics->max);
    else
        fprintf(stream, "mean     none\nminimum  none\nmaximum  none\n");
}
