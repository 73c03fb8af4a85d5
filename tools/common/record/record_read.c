/* SPDX-License-Identifier: Apache-2.0 */
#include "record_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "base/words.h"
#include "csv.h"
#include "json_document.h"
#include "record_tables.h"

static char *copy(const char *text) {
    return text ? strdup(text) : NULL;
}

/* ---- plan and summary ---- */

/* Words with a blank between them; a shell need not understand it. */
static char *join(yajl_val list) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = list ? open_memstream(&text, &size) : NULL;
    if (!stream)
        return NULL;
    for (size_t i = 0; i < list->u.array.len; i++) {
        const char *word = YAJL_GET_STRING(list->u.array.values[i]);
        fprintf(stream, "%s%s", i > 0 ? " " : "", word ? word : "?");
    }
    fclose(stream);
    return text;
}

/* Values that are not texts are ignored. */
static void read_labels(struct ssreport_record *record, yajl_val labels) {
    for (size_t i = 0; labels && i < labels->u.object.len; i++) {
        char *value = copy(YAJL_GET_STRING(labels->u.object.values[i]));
        char *name = value ? strdup(labels->u.object.keys[i]) : NULL;
        if (!name || !ssreport_csv_make_room((void **)&record->labels, record->label_count,
                         &record->label_capacity, sizeof *record->labels)) {
            free(name);
            free(value);
            continue;
        }
        record->labels[record->label_count++] =
            (struct ssreport_label){.name = name, .value = value};
    }
}

/* A given duty of 100 %: nothing is ever stopped, whatever the target is. */
static bool is_never_stopped(yajl_val plan) {
    yajl_val modules = ssreplay_document_get(plan, "modules", yajl_t_object);
    yajl_val control = ssreplay_document_get(modules, "control", yajl_t_object);
    yajl_val options = ssreplay_document_get(control, "options", yajl_t_object);
    const char *name = ssreplay_document_text(control, "name");
    return name && strcmp(name, "fixed") == 0 && ssreplay_document_number(options, "duty") >= 1;
}

/* The words that name the control module as what keeps a target from being reached. */
#define OPEN_LOOP "does not follow the load"

/* A run that is never stopped is there to be compared with: it is to reach no target. */
static void note_warning(struct ssreport_record *record, const char *warning) {
    if (!record->never_stopped || !warning || !strstr(warning, OPEN_LOOP))
        ssreport_notes_add(&record->notes, "warning: %s", warning ? warning : "?");
}

static void read_plan(struct ssreport_record *record) {
    struct ss_error error = {0};
    yajl_val plan = ssreplay_document_read(record->path, "plan.json", "", &error);
    if (!plan)
        ssreport_notes_add(&record->notes, "%s", error.message);
    record->version = copy(ssreplay_document_text(plan, "version"));
    record->started = copy(ssreplay_document_text(plan, "started"));
    record->command = join(ssreplay_document_get(plan, "command", yajl_t_array));
    record->instance_count = ssreplay_document_number(plan, "instances");
    record->cpu_count = ssreplay_document_number(plan, "cpu_count");
    record->never_stopped = is_never_stopped(plan);
    read_labels(record, ssreplay_document_get(plan, "labels", yajl_t_object));
    if (record->version && strcmp(record->version, ss_version()) != 0)
        ssreport_notes_add(&record->notes, "recorded by version %s, this is %s",
            ss_words_show(record->version).text, ss_version());
    yajl_tree_free(plan);
}

static void read_summary(struct ssreport_record *record) {
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/summary.json", record->path);
    record->interrupted = access(path, F_OK) < 0;
    struct ss_error error = {0};
    yajl_val summary = NULL;
    if (record->interrupted)
        ss_error_fail(&error, "interrupted: there is no summary.json");
    else
        summary = ssreplay_document_read(record->path, "summary.json", "", &error);
    if (!summary)
        ssreport_notes_add(&record->notes, "%s", error.message);
    record->ended_by = copy(ssreplay_document_text(summary, "ended_by"));
    record->settling = ssreplay_document_number(summary, "settling_seconds");
    record->switches = ssreplay_document_number(summary, "switches_per_second");
    record->iterations_done = ssreplay_document_number(summary, "iterations");
    record->is_bursty = ssreplay_document_number(summary, "iterations_in_bursts") > 0 &&
                        isnan(ssreplay_document_number(summary, "iterations_per_second"));
    record->iterations_left = ssreplay_document_number(summary, "iterations_left_out");
    record->own_cpu = ssreplay_document_number(summary, "own_cpu");
    record->error_mean_percent = ssreplay_document_number(summary, "error_mean_percent");
    record->steal = ssreplay_document_number(summary, "steal_mean");
    yajl_val lateness = ssreplay_document_get(summary, "wake_lateness_us", yajl_t_object);
    record->lateness_p99_us = ssreplay_document_number(lateness, "p99");
    yajl_val warnings = ssreplay_document_get(summary, "warnings", yajl_t_array);
    for (size_t i = 0; warnings && i < warnings->u.array.len; i++)
        note_warning(record, YAJL_GET_STRING(warnings->u.array.values[i]));
    yajl_tree_free(summary);
}

int ssreport_record_read(
    struct ssreport_record *record, const char *path, const char *name, struct ss_error *error) {
    *record = (struct ssreport_record){
        .path = path, .name = strdup(name), .wall = NAN, .first_end = INFINITY};
    if (!record->name)
        return ss_error_memory(error);
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        return ss_error_fail(error, "not a folder: name the folder that --record has made");
    if (access(path, R_OK | X_OK) < 0)
        return ss_error_fail(error, "it cannot be read: %s", strerror(errno));
    read_plan(record);
    read_summary(record);
    ssreport_record_read_events(record);
    if (ssreport_record_read_samples(record, error) < 0)
        return -1;
    ssreport_record_read_decisions(record);
    ssreport_record_read_iterations(record);
    ssreport_record_read_counters(record);
    /* What never came to be counted has no length. */
    record->counted_from = fmin(record->counted_from, ssreport_record_counted_to(record));
    return 0;
}
