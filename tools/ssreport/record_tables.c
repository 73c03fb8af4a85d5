/* SPDX-License-Identifier: Apache-2.0 */
#include "record_tables.h"

#include <math.h>
#include <stdlib.h>

#include "csv.h"

#define INSTANCES_MOST 1000000

/* From one sample to the next, in seconds, unless one was lost. */
#define USUAL_LENGTH 0.5
#define LENGTH_MOST  1.0

/* A sample that comes so many seconds after the last one was not taken then: its time is wrong. */
#define SILENCE_MOST 86400.0

/* ---- samples ---- */

enum { TIME, ELAPSED, TARGET, LOAD, DUTY };

struct sample_reader {
    struct ssreport_record *record;
    bool was_free;
};

static void set_wall(
    struct ssreport_record *record, const struct sstrace_field *time, double elapsed) {
    double at;
    if (isnan(record->wall) && ssreport_csv_time(time, &at))
        record->wall = at - elapsed;
}

static bool take_sample(void *context, const struct sstrace_field *fields) {
    struct sample_reader *reader = context;
    struct ssreport_record *record = reader->record;
    struct ssreport_sample sample;
    if (!sstrace_field_number(&fields[ELAPSED], false, &sample.end) ||
        !ssreport_csv_number(&fields[LOAD], &sample.load) ||
        !sstrace_field_number(&fields[TARGET], false, &sample.target) ||
        !sstrace_field_number(&fields[DUTY], false, &sample.duty))
        return false;
    if (!(sample.end > 0))
        return true; /* of the warm-up, whose times are known with --start-at */
    double last = ssreport_record_end(record);
    if ((record->sample_count > 0 && sample.end <= last) || sample.end - last > SILENCE_MOST)
        return false;
    sample.begin = sample.end - last <= LENGTH_MOST ? last : sample.end - USUAL_LENGTH;
    bool is_free = isnan(sample.target);
    sample.counted = !is_free && !reader->was_free && sample.end > record->counted_from;
    if (!ssreport_csv_make_room((void **)&record->samples, record->sample_count,
            &record->sample_capacity, sizeof sample))
        return false;
    reader->was_free = is_free;
    set_wall(record, &fields[TIME], sample.end);
    record->samples[record->sample_count++] = sample;
    return true;
}

int ssreport_record_read_samples(struct ssreport_record *record, struct ss_error *error) {
    static const char *const columns[] = {
        "time", "elapsed_seconds", "target", "load", "duty", NULL};
    struct sample_reader reader = {.record = record};
    struct ssreport_csv csv = {.name = "samples.csv",
        .columns = columns,
        .optional = 1U << DUTY,
        .take = take_sample,
        .context = &reader};
    if (ssreport_csv_read(record->path, &csv, &record->notes, error) < 0)
        return -1;
    if (record->sample_count == 0)
        return ss_error_set(
            error, SS_ERROR_FAILED, "it is empty: samples.csv has no sample under control");
    return 0;
}

/* ---- decisions ---- */

static struct ssreport_instance *find_instance(struct ssreport_record *record, double number) {
    double most = isnan(record->instance_count) ? INSTANCES_MOST : record->instance_count;
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

/* Parts it where it crosses from one part of the run into the next. */
static bool add_stretch(const struct ssreport_record *record, struct ssreport_instance *instance,
    double begin, double end, bool running) {
    double part_length = ssreport_record_end(record) / SSREPORT_DUTY_PARTS;
    begin = fmax(begin, record->counted_from);
    end = fmin(end, ssreport_record_end(record));
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
    return add_stretch(record, instance, begin, begin + length, running);
}

void ssreport_record_read_decisions(struct ssreport_record *record) {
    static const char *const columns[] = {
        "elapsed_seconds", "executor", "state", "real_seconds", NULL};
    struct ss_error error = {0};
    struct ssreport_csv csv = {
        .name = "decisions.csv", .columns = columns, .take = take_decision, .context = record};
    if (ssreport_csv_read(record->path, &csv, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "no duties: %s", error.message);
}

/* ---- iterations ---- */

static bool take_iteration(void *context, const struct sstrace_field *fields) {
    struct ssreport_record *record = context;
    struct ssreport_iteration iteration;
    if (!sstrace_field_number(&fields[0], false, &iteration.start) ||
        !sstrace_field_number(&fields[1], false, &iteration.end))
        return false;
    if (isnan(iteration.start) || isnan(iteration.end))
        return true; /* of the warm-up */
    if (iteration.end < iteration.start ||
        !ssreport_csv_make_room((void **)&record->iterations, record->iteration_count,
            &record->iteration_capacity, sizeof iteration))
        return false;
    record->iterations[record->iteration_count++] = iteration;
    return true;
}

void ssreport_record_read_iterations(struct ssreport_record *record) {
    static const char *const columns[] = {"start", "end", NULL};
    struct ss_error error = {0};
    struct ssreport_csv csv = {
        .name = "iterations.csv", .columns = columns, .take = take_iteration, .context = record};
    if (ssreport_csv_read(record->path, &csv, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "no iterations: %s", error.message);
    /* A run that counted none, and one that does not count, look the same but in the summary. */
    record->has_iterations = record->iteration_count > 0 || record->iterations_done >= 0;
}
