/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/version.h"
#include "base/words.h"
#include "csv.h"
#include "json_document.h"
#include "record/folder.h"
#include "record_tables.h"

double ssreport_record_end(const struct ssreport_record *record) {
    return record->sample_count ? record->samples[record->sample_count - 1].end : 0;
}

double ssreport_record_counted_to(const struct ssreport_record *record) {
    return record->ended > 0 ? record->ended : ssreport_record_end(record);
}

double ssreport_record_run_time(const struct ssreport_record *record, double elapsed) {
    double run_time = elapsed;
    for (size_t i = 0; i < record->pause_count; i++) {
        const struct ssreport_pause *pause = &record->pauses[i];
        run_time -= fmax(fmin(elapsed, pause->end) - pause->begin, 0);
    }
    return run_time;
}

double ssreport_record_elapsed(const struct ssreport_record *record, double run_time) {
    double elapsed = run_time;
    for (size_t i = 0; i < record->pause_count; i++) {
        const struct ssreport_pause *pause = &record->pauses[i];
        elapsed += elapsed > pause->begin ? pause->end - pause->begin : 0;
    }
    return elapsed;
}

bool ssreport_record_is_paused(const struct ssreport_record *record, double elapsed) {
    for (size_t i = 0; i < record->pause_count; i++) {
        if (elapsed > record->pauses[i].begin && elapsed <= record->pauses[i].end)
            return true;
    }
    return false;
}

const char *ssreport_record_title(const struct ssreport_record *record) {
    return record->title ? record->title : record->name;
}

const char *ssreport_record_label(const struct ssreport_record *record, const char *name) {
    for (size_t i = 0; i < record->label_count; i++) {
        if (strcmp(record->labels[i].name, name) == 0)
            return record->labels[i].value;
    }
    return NULL;
}

void ssreport_record_free(struct ssreport_record *record) {
    free(record->folder);
    free(record->name);
    free(record->version);
    free(record->command);
    free(record->started);
    free(record->ended_by);
    ssreport_verdict_free(&record->verdict);
    for (size_t i = 0; i < record->label_count; i++) {
        free(record->labels[i].name);
        free(record->labels[i].value);
    }
    free(record->labels);
    free(record->pauses);
    free(record->samples);
    free(record->iterations);
    ss_histogram_close(&record->iteration_times);
    free(record->over);
    ssreport_counters_free(&record->counters);
    for (size_t i = 0; i < record->instance_room; i++)
        free(record->instances[i].parts);
    free(record->instances);
    *record = (struct ssreport_record){0};
}

static struct ssreport_label *find_column(
    const struct ssreport_columns *columns, const char *name) {
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->items[i].name, name) == 0)
            return &columns->items[i];
    }
    return NULL;
}

const char *ssreport_columns_get(const struct ssreport_columns *columns, const char *name) {
    const struct ssreport_label *column = find_column(columns, name);
    return column ? column->value : "";
}

int ssreport_columns_set(struct ssreport_columns *columns, const char *name, const char *value) {
    struct ssreport_label *column = find_column(columns, name);
    if (!column) {
        if (!SS_GROW(columns->items, columns->count + 1, columns->room))
            return -1;
        column = &columns->items[columns->count++];
        *column = (struct ssreport_label){.name = strdup(name)};
    }
    free(column->value);
    column->value = strdup(value);
    return column->name && column->value ? 0 : -1;
}

void ssreport_columns_free(struct ssreport_columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        free(columns->items[i].name);
        free(columns->items[i].value);
    }
    free(columns->items);
    *columns = (struct ssreport_columns){0};
}

static char *copy(const char *text) {
    return text ? strdup(text) : NULL;
}

/* Ignores labels whose value is not a text. */
static void read_labels(struct ssreport_record *record, struct json_object *labels) {
    if (!labels)
        return;
    json_object_object_foreach(labels, key, label) {
        char *value = copy(document_as_text(label));
        char *name = value ? strdup(key) : NULL;
        if (!name || !SS_GROW(record->labels, record->label_count + 1, record->label_capacity)) {
            free(name);
            free(value);
            continue;
        }
        record->labels[record->label_count++] =
            (struct ssreport_label){.name = name, .value = value};
    }
}

/*
 * Sets `open_loop` if the duty was fixed, so that errors were not corrected, and `never_stopped` if
 * it was fixed at 100 %.
 */
static void take_control(struct ssreport_record *record, struct json_object *plan) {
    struct json_object *modules = document_get(plan, "modules", json_type_object);
    struct json_object *control = document_get(modules, "control", json_type_object);
    struct json_object *options = document_get(control, "options", json_type_object);
    const char *name = document_text(control, "name");
    record->open_loop = name && (strcmp(name, "fixed") == 0 || strcmp(name, "null") == 0);
    record->never_stopped =
        name && strcmp(name, "fixed") == 0 && document_number(options, "duty") >= 1;
}

/* Part of showstopper's warning that the control module ignores the load. */
#define OPEN_LOOP "does not follow the load"

/*
 * Adds a warning of the run to the notes. Drops the warning about an open loop if the run was never
 * stopped: such a run is a reference without a target.
 */
static void note_warning(struct ssreport_record *record, const char *warning) {
    if (!record->never_stopped || !warning || !strstr(warning, OPEN_LOOP))
        ssreport_notes_add(&record->notes, "warning: %s", warning ? warning : "?");
}

static void take_plan(struct ssreport_record *record, struct json_object *plan) {
    record->version = copy(document_text(plan, "version"));
    record->started = copy(document_text(plan, "started"));
    record->command = document_join(document_get(plan, "command", json_type_array));
    record->instance_count = document_number(plan, "instances");
    record->cpu_count = document_number(plan, "cpu_count");
    record->load_cpus =
        document_number(document_get(plan, "measured", json_type_object), "capacity_cpus");
    if (!(record->load_cpus > 0))
        record->load_cpus = record->cpu_count;
    take_control(record, plan);
    read_labels(record, document_get(plan, "labels", json_type_object));
    if (record->version && strcmp(record->version, ss_version()) != 0)
        ssreport_notes_add(&record->notes, "recorded by version %s, but this is %s",
            ss_words_show(record->version).text, ss_version());
}

static void take_summary(struct ssreport_record *record, struct json_object *summary) {
    ssreport_verdict_take(&record->verdict, summary);
    record->ended_by = copy(document_text(summary, "ended_by"));
    record->settling = document_number(summary, "settling_seconds");
    record->switches = document_number(summary, "switches_per_second");
    record->iterations_done = document_number(summary, "iterations");
    record->is_bursty = document_number(summary, "iterations_in_bursts") > 0 &&
                        isnan(document_number(summary, "iterations_per_second"));
    record->iterations_left = document_number(summary, "iterations_left_out");
    struct json_object *times = document_get(summary, "iteration_seconds", json_type_object);
    record->iteration_mean = document_number(times, "mean");
    record->iteration_deviation = document_number(times, "deviation");
    record->own_cpu = document_number(summary, "own_cpu");
    record->error_mean_percent = document_number(summary, "error_mean_percent");
    record->steal = document_number(summary, "steal_mean");
    struct json_object *lateness = document_get(summary, "wake_lateness_us", json_type_object);
    record->lateness_p99_us = document_number(lateness, "p99");
    struct json_object *warnings = document_get(summary, "warnings", json_type_array);
    for (size_t i = 0; warnings && i < json_object_array_length(warnings); i++)
        note_warning(record, document_as_text(json_object_array_get_idx(warnings, i)));
}

/* Reads a summary. Every version writes `ended_by`, so a summary without it is damaged. */
static void take_whole_summary(struct ssreport_record *record, struct json_object *summary) {
    take_summary(record, summary);
    record->is_damaged = !record->ended_by;
    if (summary && record->is_damaged)
        ssreport_notes_add(&record->notes, "summary.json is not the summary of a run");
}

/* Fails only if the document has a later schema; adds a note if it is missing or damaged. */
static int read_document(struct ssreport_record *record, const char *name,
    void take(struct ssreport_record *, struct json_object *), struct ss_error *error) {
    struct ss_error missing = {0};
    struct json_object *document = document_read(record->folder, name, "", &missing);
    if (!document)
        ssreport_notes_add(&record->notes, "%s", missing.message);
    int status = document_check_record(document, error);
    if (status == 0)
        take(record, document);
    json_object_put(document);
    return status;
}

static int read_summary(struct ssreport_record *record, struct ss_error *error) {
    record->interrupted = !ssreport_has_file(record->folder, "summary.json");
    if (!record->interrupted)
        return read_document(record, "summary.json", take_whole_summary, error);
    record->running = ss_record_writer(record->folder) != 0;
    ssreport_notes_add(&record->notes,
        record->running ? "the run is in progress: the record is incomplete"
                        : "the run was interrupted: the record has no summary.json");
    take_summary(record, NULL);
    return 0;
}

int ssreport_record_read(
    struct ssreport_record *record, const char *path, const char *name, struct ss_error *error) {
    *record = (struct ssreport_record){
        .folder = strdup(path), .name = strdup(name), .wall = NAN, .first_end = INFINITY};
    if (!record->folder || !record->name)
        return ss_error_memory(error);
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        return ss_error_fail(error,
            "not a folder: name a folder that --record created, or a file of ssrequest --json");
    if (access(path, R_OK | X_OK) < 0)
        return ss_error_fail(error, "the record cannot be read: %s", strerror(errno));
    if (read_document(record, "plan.json", take_plan, error) < 0 || read_summary(record, error) < 0)
        return -1;
    ssreport_record_read_events(record);
    if (ssreport_record_read_samples(record, error) < 0)
        return -1;
    ssreport_record_read_decisions(record);
    ssreport_record_read_iteration_times(record);
    ssreport_record_read_iterations(record);
    ssreport_record_read_counters(record);
    /* If counting never began, the counted time is empty. */
    record->counted_from = fmin(record->counted_from, ssreport_record_counted_to(record));
    return 0;
}
