/* SPDX-License-Identifier: Apache-2.0 */
#include "record_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"
#include "csv.h"
#include "measure/unfinished.h"
#include "row_times.h"

#define INSTANCES_MAX 1000000

/* Maximum number of iterations in a bucket, so that sums do not overflow. */
#define COUNT_MAX 1e12

/*
 * Samples are usually USUAL_LENGTH seconds apart. A gap of more than LENGTH_MAX means that samples
 * were lost.
 */
#define USUAL_LENGTH 0.5
#define LENGTH_MAX   1.0

enum { TIME, ELAPSED, TARGET, LOAD, DUTY, COUNTED };

struct sample_reader {
    struct ssreport_record *record;
    bool was_free;
    double refused; /* see ssreport_row_follows() */
};

/*
 * Returns whether a sample is counted. For older records, which lack the column, excludes samples
 * next to a `free` section and those that ended when counting began.
 */
static bool is_counted(
    struct sample_reader *reader, const struct ssreport_sample *sample, double counted) {
    bool is_free = isnan(sample->target), was_free = reader->was_free;
    reader->was_free = is_free;
    if (!isnan(counted))
        return counted != 0;
    return !is_free && !was_free && sample->end > reader->record->counted_from + USUAL_LENGTH / 2;
}

static void set_wall(
    struct ssreport_record *record, const struct sstrace_field *time, double elapsed) {
    double at;
    if (isnan(record->wall) && ssreport_csv_time(time, &at))
        record->wall = at - elapsed;
}

/*
 * Returns when a sample began: at the end of the previous sample or of a pause, unless samples were
 * lost.
 */
static double find_begin(const struct ssreport_record *record, double last, double end) {
    double begin = end - last <= LENGTH_MAX ? last : end - USUAL_LENGTH;
    for (size_t i = 0; i < record->pause_count; i++) {
        double at = ssreport_record_run_time(record, record->pauses[i].begin);
        if (at > begin && at < end)
            begin = at;
    }
    return begin;
}

static bool take_sample(void *context, const struct sstrace_field *fields) {
    struct sample_reader *reader = context;
    struct ssreport_record *record = reader->record;
    struct ssreport_sample sample;
    double elapsed, counted;
    if (!sstrace_field_number(&fields[ELAPSED], false, &elapsed) ||
        !ssreport_csv_number(&fields[LOAD], &sample.load) ||
        !sstrace_field_number(&fields[TARGET], false, &sample.target) ||
        !sstrace_field_number(&fields[DUTY], false, &sample.duty) ||
        !sstrace_field_number(&fields[COUNTED], false, &counted))
        return false;
    sample.end = ssreport_record_run_time(record, elapsed);
    /* Skip the warm-up. Its last sample ends when control begins, and is stamped slightly later. */
    if (!(sample.end > USUAL_LENGTH / 2))
        return true;
    double last = ssreport_record_end(record);
    if ((record->sample_count > 0 && sample.end <= last) ||
        !ssreport_row_follows(&last, &reader->refused, sample.end))
        return false;
    sample.begin = find_begin(record, last, sample.end);
    sample.counted = is_counted(reader, &sample, counted);
    if (!SS_GROW(record->samples, record->sample_count + 1, record->sample_capacity))
        return false;
    set_wall(record, &fields[TIME], elapsed);
    record->samples[record->sample_count++] = sample;
    return true;
}

int ssreport_record_read_samples(struct ssreport_record *record, struct ss_error *error) {
    static const char *const columns[] = {
        "time", "elapsed_seconds", "target", "load", "duty", "counted", NULL};
    struct sample_reader reader = {.record = record};
    struct ssreport_csv csv = {.name = "samples.csv",
        .columns = columns,
        .optional = 1U << DUTY | 1U << COUNTED,
        .take = take_sample,
        .context = &reader};
    if (ssreport_csv_read(record->folder, &csv, &record->notes, error) < 0)
        return -1;
    if (record->sample_count == 0)
        return ss_error_fail(error, "samples.csv has no sample under control");
    return 0;
}

static struct ssreport_instance *find_instance(struct ssreport_record *record, double number) {
    double most = isnan(record->instance_count) ? INSTANCES_MAX : record->instance_count;
    if (!(number >= 0) || number >= most || number != floor(number))
        return NULL;
    size_t index = (size_t)number;
    size_t room = record->instance_room;
    if (index >= room) {
        size_t larger = index + 1 > 2 * room ? index + 1 : 2 * room;
        struct ssreport_instance *moved = reallocarray(record->instances, larger, sizeof *moved);
        if (!moved)
            return NULL;
        memset(moved + room, 0, (larger - room) * sizeof *moved);
        for (size_t i = room; i < larger; i++)
            moved[i].number = (uint32_t)i;
        record->instances = moved;
        record->instance_room = larger;
    }
    return &record->instances[index];
}

/* Adds a time in one state to all parts of the run that it overlaps. */
static bool add_stretch(const struct ssreport_record *record, struct ssreport_instance *instance,
    double begin, double end, bool running) {
    double part_length = ssreport_record_end(record) / SSREPORT_DUTY_PARTS;
    begin = fmax(begin, record->counted_from);
    end = fmin(end, ssreport_record_counted_to(record));
    if (!(begin < end))
        return true;
    if (!instance->parts)
        instance->parts = calloc(SSREPORT_DUTY_PARTS, sizeof *instance->parts);
    if (!instance->parts)
        return false;
    instance->all.known += end - begin;
    instance->all.running += running ? end - begin : 0;
    for (size_t part = (size_t)(begin / part_length); part < SSREPORT_DUTY_PARTS; part++) {
        double from = fmax(begin, (double)part * part_length);
        double to = fmin(end, (double)(part + 1) * part_length);
        if (to <= from && from >= end)
            break;
        instance->parts[part].known += fmax(to - from, 0);
        instance->parts[part].running += running ? fmax(to - from, 0) : 0;
    }
    return true;
}

static bool take_decision(void *context, const struct sstrace_field *fields) {
    struct ssreport_record *record = context;
    double begin, number, length;
    bool running = sstrace_field_is(&fields[2], "running");
    if (!sstrace_field_number(&fields[0], false, &begin) ||
        !ssreport_csv_number(&fields[1], &number) || !ssreport_csv_number(&fields[3], &length) ||
        !(running || sstrace_field_is(&fields[2], "stopped")) || length < 0)
        return false;
    struct ssreport_instance *instance = find_instance(record, number);
    if (!instance || isnan(begin))
        return instance;
    return add_stretch(record, instance, ssreport_record_run_time(record, begin),
        ssreport_record_run_time(record, begin + length), running);
}

void ssreport_record_read_decisions(struct ssreport_record *record) {
    static const char *const columns[] = {
        "elapsed_seconds", "executor", "state", "real_seconds", NULL};
    struct ss_error error = {0};
    struct ssreport_csv csv = {
        .name = "decisions.csv", .columns = columns, .take = take_decision, .context = record};
    char path[4400];
    snprintf(path, sizeof path, "%.4300s/%s", record->folder, csv.name);
    if (access(path, F_OK) < 0 && errno == ENOENT)
        ssreport_notes_add(
            &record->notes, "duties of instances are unknown: decisions were not recorded");
    else if (ssreport_csv_read(record->folder, &csv, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "duties are unknown: %s", error.message);
}

struct times_reader {
    struct ss_histogram whole, seconds;
};

/* Rows of the whole run have no elapsed time. */
static bool take_times(void *context, const struct sstrace_field *fields) {
    struct times_reader *reader = context;
    double end, bucket, count;
    if (!sstrace_field_number(&fields[0], false, &end) ||
        !ssreport_csv_number(&fields[1], &bucket) || bucket < 0 ||
        !ssreport_csv_number(&fields[2], &count) || count != floor(count) || count < 0 ||
        count > COUNT_MAX)
        return false;
    ss_histogram_add_bucket(isnan(end) ? &reader->whole : &reader->seconds,
        ss_histogram_bucket(ss_time_from_double(round(bucket * 1e9)), SS_HISTOGRAM_FINE),
        SS_HISTOGRAM_FINE, (uint64_t)count);
    return true;
}

static void read_times(struct ssreport_record *record, struct times_reader *reader) {
    static const char *const columns[] = {"elapsed_seconds", "bucket_seconds", "iterations", NULL};
    struct ss_error error = {0};
    struct ssreport_csv csv = {
        .name = "iteration-times.csv", .columns = columns, .take = take_times, .context = reader};
    if (ssreport_csv_read(record->folder, &csv, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "%s", error.message);
    /* A killed run lacks the rows of the whole run; after a full disk, any row may be missing. */
    bool is_whole = reader->whole.count >= reader->seconds.count;
    ss_histogram_merge(&record->iteration_times, is_whole ? &reader->whole : &reader->seconds);
}

void ssreport_record_read_iteration_times(struct ssreport_record *record) {
    struct times_reader reader = {0};
    if (!ssreport_has_file(record->folder, "iteration-times.csv"))
        return;
    if (ss_histogram_open(&record->iteration_times, SS_HISTOGRAM_FINE) == 0 &&
        ss_histogram_open(&reader.whole, SS_HISTOGRAM_FINE) == 0 &&
        ss_histogram_open(&reader.seconds, SS_HISTOGRAM_FINE) == 0)
        read_times(record, &reader);
    ss_histogram_close(&reader.whole);
    ss_histogram_close(&reader.seconds);
}

static bool take_iteration(void *context, const struct sstrace_field *fields) {
    struct ssreport_record *record = context;
    struct ssreport_iteration iteration;
    if (!sstrace_field_number(&fields[0], false, &iteration.start) ||
        !sstrace_field_number(&fields[1], false, &iteration.end))
        return false;
    if (!sstrace_field_number(&fields[2], false, &iteration.instance) ||
        !(iteration.instance >= 0 && iteration.instance < INSTANCES_MAX) ||
        iteration.instance != floor(iteration.instance))
        iteration.instance = NAN;
    if (isnan(iteration.start) || isnan(iteration.end))
        return true; /* the row belongs to the warm-up */
    if (iteration.end < iteration.start ||
        !SS_GROW(record->iterations, record->iteration_count + 1, record->iteration_capacity))
        return false;
    iteration.start = ssreport_record_run_time(record, iteration.start);
    iteration.end = ssreport_record_run_time(record, iteration.end);
    record->iterations[record->iteration_count++] = iteration;
    return true;
}

/* The iterations of one instance. Times are in seconds. */
struct course {
    size_t count; /* iterations that ended in the counted time */
    double sum;   /* sum of their lengths */
    double last_end, last_length;
    bool begun, over;
    size_t gap_count; /* number of gaps before counted iterations */
    double gaps;      /* sum of the times from the end of one to the start of the next */
};

static struct course *sum_up(const struct ssreport_record *record, size_t count, double to) {
    struct course *courses = calloc(count, sizeof *courses);
    for (size_t i = 0; courses && i < record->iteration_count; i++) {
        const struct ssreport_iteration *iteration = &record->iterations[i];
        if (!(iteration->instance >= 0))
            continue;
        struct course *course = &courses[(size_t)iteration->instance];
        double gap = course->begun ? fmax(iteration->start - course->last_end, 0) : NAN;
        course->begun = true;
        course->last_end = iteration->end;
        course->last_length = iteration->end - iteration->start;
        if (iteration->end < record->counted_from || iteration->end > to)
            continue;
        course->count++;
        course->sum += iteration->end - iteration->start;
        if (isnan(gap))
            continue;
        course->gap_count++;
        course->gaps += gap;
    }
    for (size_t i = 0; courses && i < record->over_count; i++) {
        if (record->over[i] < (double)count)
            courses[(size_t)record->over[i]].over = true;
    }
    return courses;
}

static void add(
    struct ssreport_record *record, size_t instance, const struct course *course, double to) {
    /* Assume that the unfinished iteration began after the mean gap. */
    double gap = course->gap_count ? course->gaps / (double)course->gap_count : 0;
    struct ss_unfinished unfinished = {
        .elapsed = to - course->last_end - gap,
        .mean = course->count ? course->sum / (double)course->count : course->last_length,
        .deviation = NAN,
    };
    double length = ss_unfinished_length(&unfinished);
    if (!course->begun || course->over || !(unfinished.elapsed > 0) ||
        !SS_GROW(record->iterations, record->iteration_count + 1, record->iteration_capacity))
        return;
    double start = course->last_end + gap;
    record->iterations[record->iteration_count++] = (struct ssreport_iteration){
        .instance = (double)instance, .start = start, .end = start + length};
}

/*
 * Adds the iterations that were in progress when counting ended, with an estimated end. The run's
 * own summary uses the same estimate.
 */
static void add_unfinished(struct ssreport_record *record) {
    double to = ssreport_record_counted_to(record);
    double most = -1;
    for (size_t i = 0; i < record->iteration_count; i++)
        most = fmax(most, record->iterations[i].instance);
    size_t count = (size_t)(most + 1);
    struct course *courses = count > 0 ? sum_up(record, count, to) : NULL;
    for (size_t i = 0; courses && i < count; i++)
        add(record, i, &courses[i], to);
    free(courses);
}

void ssreport_record_read_iterations(struct ssreport_record *record) {
    static const char *const columns[] = {"start", "end", "instance", NULL};
    struct ss_error error = {0};
    struct ssreport_csv csv = {.name = "iterations.csv",
        .columns = columns,
        .optional = 1U << 2,
        .take = take_iteration,
        .context = record};
    if (ssreport_csv_read(record->folder, &csv, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "iterations are unknown: %s", error.message);
    /*
     * Only the summary distinguishes a run in which no iteration ended from one that did not count
     * iterations.
     */
    record->has_iterations = record->iteration_count > 0 || record->iterations_done >= 0;
    add_unfinished(record);
    if (record->is_bursty) {
        record->has_iterations = false;
        record->iteration_count = 0;
        ss_histogram_clear(&record->iteration_times);
        ssreport_notes_add(
            &record->notes, "rates of iterations are unknown: iterations ended in bursts");
    }
    if (record->iterations_left > 0) {
        record->has_iterations = false;
        ssreport_notes_add(&record->notes,
            "rates of iterations are unknown: iterations.csv lacks %.0f iterations",
            record->iterations_left);
    }
}

void ssreport_record_read_counters(struct ssreport_record *record) {
    struct ss_error error = {0};
    if (ssreport_has_file(record->folder, "counters.csv") &&
        ssreport_counters_read(record, &error) < 0)
        ssreport_notes_add(&record->notes, "counters are unknown: %s", error.message);
}
