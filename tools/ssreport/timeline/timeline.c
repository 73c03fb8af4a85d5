/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "csv.h"
#include "json_document.h"

/* Each record is shown as a process. Its tracks are threads: 0 is the run, then two per instance.
 */
#define STATES_OF(instance)     (2 * (instance) + 1)
#define ITERATIONS_OF(instance) (2 * (instance) + 2)

struct timeline {
    FILE *stream;
    double origin; /* time 0, in seconds since 1970 */
    size_t events; /* written so far */
    unsigned process;
    double start; /* of this record, in seconds since 1970 */
    double instances;
};

/* ---- events ---- */

/* Begins an event of the current record, at seconds since 1970. The caller ends it with "}". */
static void begin_event(struct timeline *timeline, char phase, unsigned track, double at) {
    fprintf(timeline->stream, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
        timeline->events++ > 0 ? "," : "", phase, timeline->process, track,
        1e6 * (at - timeline->origin));
}

static void write_text(struct timeline *timeline, const char *name, const char *text) {
    char quoted[4096] = "";
    *ss_json_quote(quoted, quoted + sizeof quoted - 1, text) = '\0';
    fprintf(timeline->stream, "\"%s\":%s", name, quoted);
}

static void name_track(
    struct timeline *timeline, const char *kind, unsigned track, const char *name) {
    begin_event(timeline, 'M', track, timeline->origin);
    fprintf(timeline->stream, ",\"name\":\"%s\",\"args\":{", kind);
    write_text(timeline, "name", name);
    fputs("}}", timeline->stream);
}

static void write_slice(
    struct timeline *timeline, unsigned track, double from, double to, const char *name) {
    begin_event(timeline, 'X', track, from);
    fprintf(timeline->stream, ",\"dur\":%.3f,\"name\":\"%s\"}", 1e6 * (to - from), name);
}

static void write_mark(struct timeline *timeline, unsigned track, double at, const char *name) {
    begin_event(timeline, 'i', track, at);
    fprintf(timeline->stream, ",\"s\":\"%c\",", track == 0 ? 'p' : 't');
    write_text(timeline, "name", name);
    fputc('}', timeline->stream);
}

struct series {
    const char *name;
    double value; /* NaN: left out */
};

/* Writes a counter with several values, which are drawn in one track. */
static void write_counter(struct timeline *timeline, double at, const char *name,
    const struct series *series, size_t count) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += isfinite(series[i].value);
    if (known == 0)
        return;
    begin_event(timeline, 'C', 0, at);
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

/* ---- records of showstopper ---- */

/* Converts a time on the run's clock, which stops in pauses. */
static double wall_of(
    const struct timeline *timeline, const struct ssreport_record *record, double run_time) {
    return timeline->start + ssreport_record_elapsed(record, run_time);
}

static void write_samples(struct timeline *timeline, const struct ssreport_record *record) {
    for (size_t i = 0; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        double at = wall_of(timeline, record, sample->begin);
        write_counter(timeline, at, "load, %",
            (const struct series[]){{"target", 100 * sample->target}, {"load", 100 * sample->load}},
            2);
        write_counter(
            timeline, at, "duty, %", (const struct series[]){{"duty", 100 * sample->duty}}, 1);
    }
}

static void write_iterations(struct timeline *timeline, const struct ssreport_record *record) {
    for (size_t i = 0; i < record->iteration_count; i++) {
        const struct ssreport_iteration *iteration = &record->iterations[i];
        if (iteration->instance >= 0)
            write_slice(timeline, ITERATIONS_OF((unsigned)iteration->instance),
                wall_of(timeline, record, iteration->start),
                wall_of(timeline, record, iteration->end), "iteration");
    }
}

static bool take_state(void *context, const struct sstrace_field *fields) {
    struct timeline *timeline = context;
    double begin, instance, length;
    if (!ssreport_csv_number(&fields[1], &instance) || instance < 0 ||
        !ssreport_csv_number(&fields[3], &length) ||
        !sstrace_field_number(&fields[0], false, &begin))
        return false;
    timeline->instances = fmax(timeline->instances, instance + 1);
    double from = timeline->start + begin;
    write_slice(timeline, STATES_OF((unsigned)instance), from, from + length,
        sstrace_field_is(&fields[2], "running") ? "running" : "stopped");
    return true;
}

/* Copies the decisions from their file: they may exceed the memory. */
static void write_states(struct timeline *timeline, const char *folder) {
    static const char *const columns[] = {
        "elapsed_seconds", "executor", "state", "real_seconds", NULL};
    struct ssreport_csv csv = {
        .name = "decisions.csv", .columns = columns, .take = take_state, .context = timeline};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    if (ssreport_csv_read(folder, &csv, &notes, &error) < 0)
        return; /* without decisions, as was noted when the record was read */
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
        if (name && isfinite(at))
            write_mark(timeline, instance >= 0 ? STATES_OF((unsigned)instance) : 0,
                timeline->start + at, name);
        json_object_put(event);
    }
    free(line);
    if (events)
        fclose(events);
}

static void name_instances(struct timeline *timeline, bool iterate) {
    for (unsigned i = 0; i < timeline->instances; i++) {
        char name[48];
        snprintf(name, sizeof name, "instance %u", i);
        name_track(timeline, "thread_name", STATES_OF(i), name);
        snprintf(name, sizeof name, "instance %u: iterations", i);
        if (iterate)
            name_track(timeline, "thread_name", ITERATIONS_OF(i), name);
    }
}

static void write_run(struct timeline *timeline, const struct ssreport_record *record) {
    timeline->start = isnan(record->wall) ? timeline->origin : record->wall;
    timeline->instances = record->instance_count > 0 ? record->instance_count : 0;
    name_track(timeline, "process_name", 0, ssreport_record_title(record));
    name_track(timeline, "thread_name", 0, "run");
    write_samples(timeline, record);
    write_states(timeline, record->name);
    write_iterations(timeline, record);
    write_stages(timeline, record->name);
    name_instances(timeline, record->iteration_count > 0);
}

/* ---- records of ssrequest ---- */

static void write_requests(struct timeline *timeline, const struct ssreport_responses *responses) {
    timeline->start = isnan(responses->begin) ? timeline->origin : responses->begin;
    name_track(timeline, "process_name", 0, responses->title);
    for (size_t i = 0; i < responses->count; i++) {
        const struct ssreport_response_second *second = &responses->seconds[i];
        const struct ssreport_response *response = &second->response[SSREPORT_INTENDED];
        double at = timeline->start + second->begin;
        write_counter(timeline, at, "requests, /s",
            (const struct series[]){{"sent", second->sent}, {"completed", second->completed},
                {"failed", second->failed}},
            3);
        write_counter(timeline, at, "response time, ms",
            (const struct series[]){{"mean", 1e3 * response->mean}, {"95 %", 1e3 * response->p95}},
            2);
        write_counter(timeline, at, "unfinished requests",
            (const struct series[]){{"unfinished", second->unfinished}}, 1);
    }
}

/* ---- all ---- */

/* Times of today in microseconds since 1970 have too many digits for viewers that keep doubles. */
static double find_origin(const struct ssreport_report *report) {
    double origin = INFINITY;
    for (size_t i = 0; i < report->run_count; i++)
        origin = fmin(origin, report->runs[i].record.wall); /* fmin() ignores NaN */
    for (size_t i = 0; i < report->response_count; i++)
        origin = fmin(origin, report->responses[i].begin);
    return isfinite(origin) ? floor(origin) : 0;
}

int ssreport_timeline_write(
    FILE *stream, const struct ssreport_report *report, struct ss_error *error) {
    struct timeline timeline = {.stream = stream, .origin = find_origin(report)};
    if (report->run_count + report->response_count == 0)
        return ss_error_fail(error, "there is no record to draw over time");
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", stream);
    for (size_t i = 0; i < report->run_count; i++) {
        timeline.process++;
        write_run(&timeline, &report->runs[i].record);
    }
    for (size_t i = 0; i < report->response_count; i++) {
        timeline.process++;
        write_requests(&timeline, &report->responses[i]);
    }
    fputs("\n]}\n", stream);
    return 0;
}
