/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_profile.h"

#include <math.h>

/* Rows with less running time than this, in seconds, are not representative. */
#define PERMITTED_MIN 0.01

/* Seconds by which a row may reach beyond the counted time. */
#define SLACK 0.02

/* Maximum number of threads that sssim accepts. */
#define THREADS_MAX 1e6

struct writer {
    FILE *stream;
    double at; /* running time of one instance so far, in seconds */
    bool knows_memory;
};

/* One instance's share of a row of counters. */
struct use {
    double seconds;  /* running time in seconds */
    double threads;  /* mean number of running threads */
    double accesses; /* accesses to the memory, per second of a running thread */
    double waiting;  /* part of the threads' time, 0 to 1 */
};

/*
 * Returns how long an instance was allowed to run, in seconds, from the duty in the samples; NaN if
 * unknown.
 */
static double permitted(const struct ssreport_record *record, double from, double to) {
    double sum = 0, known = 0;
    for (size_t i = 0; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        double common = fmin(to, sample->end) - fmax(from, sample->begin);
        if (!(common > 0) || isnan(sample->duty))
            continue;
        sum += sample->duty * common;
        known += common;
    }
    return sum / known * (to - from);
}

static double threads_of(const struct ssreport_second *second, double instance_seconds) {
    double length = second->end - second->begin;
    double cpu = second->counts[SSREPORT_TASK_CLOCK];
    if (isnan(cpu))
        cpu = second->runnable * length;
    return cpu / instance_seconds;
}

/* Returns events per second. A count covers the time since the counter was last known. */
static double rate(const struct ssreport_second *second, enum ssreport_counter counter) {
    return second->counts[counter] / (second->end - second->since[counter]);
}

/* Returns an instance's share of a row. Values that the row lacks come from `last`. */
static struct use use_of(const struct ssreport_record *record, const struct ssreport_second *second,
    double seconds, const struct use *last) {
    struct use use = {
        .seconds = seconds,
        .threads = threads_of(second, seconds * record->instance_count),
        .accesses = rate(second, SSREPORT_CACHE_MISSES) / rate(second, SSREPORT_TASK_CLOCK),
        .waiting = fmin(rate(second, SSREPORT_STALLED_BACKEND) / rate(second, SSREPORT_CYCLES), 1),
    };
    if (!isfinite(use.accesses))
        use.accesses = last->accesses;
    /* Without accesses there is no waiting. */
    if (use.accesses == 0)
        use.waiting = 0;
    else if (isnan(rate(second, SSREPORT_STALLED_BACKEND) / rate(second, SSREPORT_CYCLES)))
        use.waiting = last->waiting;
    return use;
}

static void write_line(struct writer *writer, const struct use *use, double threads) {
    fprintf(writer->stream, "%.6fs %.0f", writer->at, threads);
    if (writer->knows_memory)
        fprintf(writer->stream, " %.6g %.6f", use->accesses, use->waiting);
    fputc('\n', writer->stream);
}

/*
 * Writes a fractional number of threads as two lines: first the next larger number, then the next
 * smaller, each for its part of the time.
 */
static void write_use(struct writer *writer, const struct use *use) {
    double fewer = floor(use->threads), part = use->threads - fewer;
    double begin = writer->at;
    if (part > 0) {
        write_line(writer, use, fewer + 1);
        writer->at = begin + part * use->seconds;
    }
    write_line(writer, use, fewer);
    writer->at = begin + use->seconds;
}

/* Returns the shares of the first row with all counters, for use in earlier rows. */
static struct use first_use(const struct ssreport_record *record) {
    const struct use nothing = {.accesses = NAN, .waiting = NAN};
    for (size_t i = 0; i < record->counters.count; i++) {
        struct use use = use_of(record, &record->counters.seconds[i], 1, &nothing);
        if (isfinite(use.accesses) && isfinite(use.waiting))
            return use;
    }
    return nothing;
}

/* Writes the rows of the counted time with a known number of threads. Returns their number. */
static size_t write_seconds(struct writer *writer, const struct ssreport_record *record) {
    double from = record->counted_from, to = ssreport_record_counted_to(record);
    struct use last = first_use(record);
    size_t used = 0;
    writer->knows_memory = isfinite(last.accesses);
    for (size_t i = 0; i < record->counters.count; i++) {
        const struct ssreport_second *second = &record->counters.seconds[i];
        double seconds = permitted(record, second->begin, second->end);
        if (!(second->begin >= from - SLACK) || !(second->end <= to + SLACK) ||
            !(seconds >= PERMITTED_MIN))
            continue;
        struct use use = use_of(record, second, seconds, &last);
        if (!(use.threads >= 0) || use.threads > THREADS_MAX)
            continue;
        used++;
        last = use;
        write_use(writer, &use);
    }
    return used;
}

int ssreport_profile_write(FILE *stream, const struct ssreport_run *run, struct ss_error *error) {
    const struct ssreport_record *record = &run->record;
    struct writer writer = {.stream = stream};
    if (record->counters.count == 0)
        return ss_error_fail(error,
            "%s has no counters.csv, from which a profile is made: record with --counters",
            record->name);
    if (!(record->instance_count > 0))
        return ss_error_fail(
            error, "%s/plan.json does not say how many instances the run had", record->name);
    if (write_seconds(&writer, record) == 0)
        return ss_error_fail(error,
            "%s records neither the CPU time nor the runnable threads of any second in which its "
            "instances were allowed to run",
            record->name);
    fprintf(stream, "%.6fs 0%s\n", writer.at, writer.knows_memory ? " 0 0" : "");
    return 0;
}
