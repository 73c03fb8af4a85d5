/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "csv.h"
#include "json_document.h"

/*
 * Viewers show each record as a process, with the run as its main thread and the instances as
 * further threads. They require process and thread IDs to be unique, as on Linux.
 */
#define RUN                 0
#define INSTANCE_OF(number) ((unsigned)(number) + 1)

#define INSTANCES_MAX 1000000 /* as many as showstopper accepts */

/* Damaged records may contain any time. Seconds up to this can be converted and subtracted. */
#define SECONDS_MAX 1e12

struct timeline {
    FILE *stream;
    double origin;     /* time 0, in seconds since 1970 */
    double unknown;    /* start of records with an unknown start, in seconds since 1970 */
    double earliest;   /* time of the first event, in seconds after the origin */
    size_t events;     /* number of events written */
    size_t spans;      /* number of spans begun */
    size_t left_out;   /* number of events without a usable time */
    unsigned process;  /* ID of this record's process */
    double start;      /* start of this record, in seconds after the origin */
    double *state_end; /* end of the last state of each instance */
    size_t instances;
};

/* Rounds to nanoseconds, so that a slice's beginning and length add up to its end as printed. */
static double microseconds(double seconds) {
    return round(1e9 * seconds) / 1e3;
}

/* Returns whether an event can have these times; otherwise counts it as left out. */
static bool are_times(struct timeline *timeline, double from, double to) {
    bool are = fabs(from) <= SECONDS_MAX && fabs(to) <= SECONDS_MAX;
    timeline->left_out += !are;
    return are;
}

/* Begins an event at `at` seconds after the origin. The caller ends it with "}". */
static void begin_event(struct timeline *timeline, char phase, unsigned track, double at) {
    timeline->earliest = fmin(timeline->earliest, at);
    fprintf(timeline->stream, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
        timeline->events++ > 0 ? "," : "", phase, timeline->process, timeline->process + track,
        microseconds(at));
}

static void write_text(struct timeline *timeline, const char *name, const char *text) {
    char quoted[4096] = "";
    *ss_json_quote(quoted, quoted + sizeof quoted - 1, text) = '\0';
    fprintf(timeline->stream, "\"%s\":%s", name, quoted);
}

static void name_track(
    struct timeline *timeline, const char *kind, unsigned track, const char *name) {
    begin_event(timeline, 'M', track, 0);
    fprintf(timeline->stream, ",\"name\":\"%s\",\"args\":{", kind);
    write_text(timeline, "name", name);
    fputs("}}", timeline->stream);
}

static void write_slice(
    struct timeline *timeline, unsigned track, double from, double to, const char *name) {
    if (!are_times(timeline, from, to))
        return;
    begin_event(timeline, 'X', track, from);
    fprintf(timeline->stream, ",\"dur\":%.3f,\"name\":\"%s\"}",
        microseconds(to) - microseconds(from), name);
}

/* Unlike slices, spans of the same name may overlap. */
static void write_span(
    struct timeline *timeline, unsigned track, double from, double to, const char *name) {
    size_t id = timeline->spans;
    if (!are_times(timeline, from, to))
        return;
    timeline->spans++;
    begin_event(timeline, 'b', track, from);
    fprintf(timeline->stream, ",\"id2\":{\"local\":\"%zx\"},\"cat\":\"span\",\"name\":\"%s\"}", id,
        name);
    begin_event(timeline, 'e', track, to);
    fprintf(timeline->stream, ",\"id2\":{\"local\":\"%zx\"},\"cat\":\"span\",\"name\":\"%s\"}", id,
        name);
}

static void write_mark(struct timeline *timeline, unsigned track, double at, const char *name) {
    if (!are_times(timeline, at, at))
        return;
    begin_event(timeline, 'i', track, at);
    fprintf(timeline->stream, ",\"s\":\"%c\",", track == RUN ? 'p' : 't');
    write_text(timeline, "name", name);
    fputc('}', timeline->stream);
}

struct series {
    const char *name;
    double value; /* NaN: left out */
};

/* Writes a counter with several values, which viewers draw in one track. */
static void write_counter(struct timeline *timeline, double at, const char *name,
    const struct series *series, size_t count) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += isfinite(series[i].value);
    if (known == 0 || !are_times(timeline, at, at))
        return;
    begin_event(timeline, 'C', RUN, at);
    fprintf(timeline->stream, ",\"name\":\"%s\",\"args\":{", name);
    const char *separator = "";
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(series[i].value))
            continue;
        fprintf(timeline->stream, "%s\"%s\":%.6g", separator, series[i].name, series[i].value);
        separator = ",";
    }
    fputs("}}", timeline->stream);
}

/* Converts a time on the run's clock, which stops in pauses, to seconds after the origin. */
static double wall_of(
    const struct timeline *timeline, const struct ssreport_record *record, double run_time) {
    return timeline->start + ssreport_record_elapsed(record, run_time);
}

/* The last values are written twice, so that viewers draw them up to the end. */
static void write_samples(struct timeline *timeline, const struct ssreport_record *record) {
    for (size_t i = 0; i <= record->sample_count && record->sample_count > 0; i++) {
        bool last = i == record->sample_count;
        const struct ssreport_sample *sample = &record->samples[last ? i - 1 : i];
        double at = wall_of(timeline, record, last ? sample->end : sample->begin);
        write_counter(timeline, at, "load, %",
            (const struct series[]){{"target", 100 * sample->target}, {"load", 100 * sample->load}},
            2);
        write_counter(
            timeline, at, "duty, %", (const struct series[]){{"duty", 100 * sample->duty}}, 1);
    }
}

/* Extends `state_end` to at least `count` instances. Returns false if memory is exhausted. */
static bool extend_instances(struct timeline *timeline, size_t count) {
    if (count <= timeline->instances)
        return true;
    double *ends = realloc(timeline->state_end, count * sizeof *ends);
    if (!ends)
        return false;
    timeline->state_end = ends;
    while (timeline->instances < count)
        ends[timeline->instances++] = -INFINITY;
    return true;
}

static void write_iterations(struct timeline *timeline, const struct ssreport_record *record) {
    char name[48];
    for (size_t i = 0; i < record->iteration_count; i++) {
        const struct ssreport_iteration *iteration = &record->iterations[i];
        if (!(iteration->instance >= 0) ||
            !extend_instances(timeline, (size_t)iteration->instance + 1))
            continue;
        snprintf(name, sizeof name, "instance %.0f: iteration", iteration->instance);
        write_span(timeline, INSTANCE_OF(iteration->instance),
            wall_of(timeline, record, iteration->start), wall_of(timeline, record, iteration->end),
            name);
    }
}

static bool take_state(void *context, const struct sstrace_field *fields) {
    struct timeline *timeline = context;
    double begin, instance, length;
    bool running = sstrace_field_is(&fields[2], "running");
    if (!ssreport_csv_number(&fields[1], &instance) ||
        !(instance >= 0 && instance < INSTANCES_MAX) || !ssreport_csv_number(&fields[3], &length) ||
        !(running || sstrace_field_is(&fields[2], "stopped")) ||
        !sstrace_field_number(&fields[0], false, &begin) ||
        !extend_instances(timeline, (size_t)instance + 1))
        return false;
    if (isnan(begin))
        return true; /* unknown during the warm-up */
    /*
     * Recorded times are rounded, so a state may begin before the previous one ends. Viewers drop
     * overlapping slices.
     */
    double *end = &timeline->state_end[(size_t)instance];
    double from = fmax(timeline->start + begin, *end);
    *end = fmax(timeline->start + begin + length, from);
    write_slice(timeline, INSTANCE_OF(instance), from, *end, running ? "running" : "stopped");
    return true;
}

/* Reads states line by line, because the file may not fit into memory. */
static void write_states(struct timeline *timeline, const char *folder) {
    static const char *const columns[] = {
        "elapsed_seconds", "executor", "state", "real_seconds", NULL};
    struct ssreport_csv csv = {
        .name = "decisions.csv", .columns = columns, .take = take_state, .context = timeline};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    if (ssreport_csv_read(folder, &csv, &notes, &error) < 0)
        return; /* reading the record has already noted this */
}

static void write_stages(struct timeline *timeline, const char *folder) {
    char path[4400], why[128], *line = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%.4300s/events.jsonl", folder);
    FILE *events = fopen(path, "re");
    while (events && getline(&line, &size, events) >= 0) {
        struct json_object *event = document_parse(line, why, sizeof why);
        const char *name = document_text(event, "event");
        double at = document_number(event, "elapsed_seconds");
        double instance = document_number(event, "instance");
        bool has_track = instance >= 0 && instance < INSTANCES_MAX &&
                         extend_instances(timeline, (size_t)instance + 1);
        if (name && isfinite(at))
            write_mark(
                timeline, has_track ? INSTANCE_OF(instance) : RUN, timeline->start + at, name);
        json_object_put(event);
    }
    free(line);
    if (events)
        fclose(events);
}

static void name_instances(struct timeline *timeline) {
    for (size_t i = 0; i < timeline->instances; i++) {
        char name[48];
        snprintf(name, sizeof name, "instance %zu", i);
        name_track(timeline, "thread_name", INSTANCE_OF(i), name);
    }
}

/* Begins the process of a record. `wall` is its start in seconds since 1970; NaN if unknown. */
static void begin_process(struct timeline *timeline, double wall, const char *title) {
    timeline->process += 1 + (unsigned)timeline->instances;
    timeline->instances = 0;
    timeline->start = (isnan(wall) ? timeline->unknown : wall) - timeline->origin;
    name_track(timeline, "process_name", RUN, title);
    name_track(timeline, "thread_name", RUN, "run");
}

static void write_run(struct timeline *timeline, const struct ssreport_record *record) {
    begin_process(timeline, record->wall, ssreport_record_title(record));
    if (record->instance_count <= INSTANCES_MAX)
        extend_instances(timeline, (size_t)fmax(record->instance_count, 0));
    write_samples(timeline, record);
    write_states(timeline, record->folder);
    write_iterations(timeline, record);
    write_stages(timeline, record->folder);
    name_instances(timeline);
}

static void write_requests(struct timeline *timeline, const struct ssreport_responses *responses) {
    begin_process(timeline, responses->begin, responses->title);
    for (size_t i = 0; i <= responses->count && responses->count > 0; i++) {
        bool last = i == responses->count;
        const struct ssreport_response_second *second = &responses->seconds[last ? i - 1 : i];
        const struct ssreport_response *response = &second->response[SSREPORT_INTENDED];
        double at = timeline->start + (last ? second->end : second->begin);
        double length = second->end - second->begin; /* the last one may be shorter */
        write_counter(timeline, at, "requests, /s",
            (const struct series[]){{"sent", second->sent / length},
                {"completed", second->completed / length}, {"failed", second->failed / length}},
            3);
        write_counter(timeline, at, "response time, ms",
            (const struct series[]){{"mean", 1e3 * response->mean}, {"95 %", 1e3 * response->p95}},
            2);
        write_counter(timeline, at, "unfinished requests",
            (const struct series[]){{"unfinished", second->unfinished}}, 1);
    }
}

/*
 * Returns the start of the first record, in whole seconds since 1970. Times are relative to it,
 * because viewers store microseconds as doubles, which cannot represent those since 1970 exactly.
 */
static double find_origin(const struct ssreport_report *report) {
    double origin = INFINITY;
    for (size_t i = 0; i < report->run_count; i++)
        origin = fmin(origin, report->runs[i].record.wall); /* fmin() ignores NaN */
    for (size_t i = 0; i < report->response_count; i++)
        origin = fmin(origin, report->responses[i].begin);
    return isfinite(origin) ? floor(origin) : 0;
}

/*
 * Writes all records, with times relative to `origin`. Returns the time of the first event if it is
 * before the origin, otherwise 0.
 */
static double write_records(FILE *stream, const struct ssreport_report *report, double origin,
    double unknown, size_t *left_out) {
    struct timeline timeline = {.stream = stream, .origin = origin, .unknown = unknown};
    for (size_t i = 0; i < report->run_count; i++)
        write_run(&timeline, &report->runs[i].record);
    for (size_t i = 0; i < report->response_count; i++)
        write_requests(&timeline, &report->responses[i]);
    free(timeline.state_end);
    *left_out = timeline.left_out;
    return timeline.earliest;
}

int ssreport_timeline_write(
    FILE *stream, const struct ssreport_report *report, size_t *left_out, struct ss_error *error) {
    double origin = find_origin(report);
    if (report->run_count + report->response_count == 0)
        return ss_error_fail(error, "--perfetto needs a record of showstopper or ssrequest: none "
                                    "of the given folders holds one");
    /*
     * Perfetto drops events before time 0, such as the warm-up, which precedes the start of
     * control. Find the first event in a first pass.
     */
    FILE *nowhere = fopen("/dev/null", "we");
    if (!nowhere)
        return ss_error_fail(error, "/dev/null: %s", strerror(errno));
    double earliest = write_records(nowhere, report, origin, origin, left_out);
    fclose(nowhere);
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", stream);
    write_records(stream, report, origin + floor(earliest), origin, left_out);
    fputs("\n]}\n", stream);
    return 0;
}
