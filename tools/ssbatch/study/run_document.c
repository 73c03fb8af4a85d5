/* SPDX-License-Identifier: Apache-2.0 */
#include "run_document.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "base/wallclock.h"
#include "base/words.h"

static const char *const status_names[SSBATCH_STATUSES] = {"to come", "done", "failed", "skipped"};

const char *ssbatch_status_name(enum ssbatch_status status) {
    return status_names[status];
}

static void write_columns(struct ss_json *json, const struct ssbatch_columns *columns) {
    ss_json_open(json, "columns", '{');
    for (size_t i = 0; i < columns->count; i++)
        ss_json_text(json, columns->items[i].key, columns->items[i].value);
    ss_json_close(json, '}');
}

static void write_line(struct ss_json *json, const struct ssbatch_done_line *done) {
    ss_json_open(json, NULL, '{');
    ss_json_text(json, "kind", ssbatch_kind_name(done->line->kind));
    ss_json_text(json, "role", done->line->role);
    write_columns(json, &done->line->columns);
    ss_json_text(json, "record", done->record);
    ss_json_open(json, "words", '[');
    for (char *const *word = done->words; word && *word; word++)
        ss_json_text(json, NULL, *word);
    ss_json_close(json, ']');
    ss_json_number(json, "status", done->status < 0 ? (double)NAN : done->status);
    ss_json_close(json, '}');
}

static void write_time(struct ss_json *json, const char *name, int64_t time) {
    char text[64];
    ss_wallclock_print(text, sizeof text, time);
    ss_json_text(json, name, time ? text : NULL);
}

struct program_list {
    struct ss_json *json;
    const char **seen; /* paths seen so far: a program that appears twice is written once */
    size_t count, room;
    bool failed; /* memory is exhausted */
};

static void write_program(void *context, const struct ssbatch_program *program, const char *word) {
    struct program_list *list = context;
    (void)word;
    for (size_t i = 0; i < list->count; i++) {
        if (list->seen[i] == program->path)
            return;
    }
    if (!SS_GROW(list->seen, list->count + 1, list->room)) {
        list->failed = true;
        return;
    }
    list->seen[list->count++] = program->path;
    ss_json_open(list->json, NULL, '{');
    ss_json_text(list->json, "path", program->path);
    ss_json_text(list->json, "sha256", program->digest);
    ss_json_close(list->json, '}');
}

char *ssbatch_run_document_write(const struct ssbatch_study *study, const struct ssbatch_done *done,
    struct ssbatch_programs *programs, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    struct ss_json json = {.stream = text.stream};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSBATCH_RUN_SCHEMA);
    ss_json_text(&json, "name", done->run->name);
    ss_json_text(&json, "status", ssbatch_status_name(done->status));
    ss_json_text(&json, "reason", done->reason);
    write_columns(&json, &done->run->columns);
    ss_json_open(&json, "commands", '[');
    for (size_t i = 0; i < done->line_count; i++)
        write_line(&json, &done->lines[i]);
    ss_json_close(&json, ']');
    write_time(&json, "begin", done->begin);
    write_time(&json, "end", done->end);
    ss_json_number(&json, "seconds", done->seconds);
    ss_json_number(&json, "attempts", (double)done->attempts);
    ss_json_number(&json, "others", done->others);
    ss_json_number(&json, "waited", done->waited);
    ss_json_text(&json, "host", study->host);
    ss_json_text(&json, "version", ss_version());
    ss_json_text(&json, "identity", done->identity);
    struct program_list list = {.json = &json};
    ss_json_open(&json, "programs", '[');
    ssbatch_programs_of_run(programs, done->run, write_program, &list);
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    free(list.seen);
    char *document = ss_text_close(&text, error);
    if (!list.failed)
        return document;
    free(document);
    ss_error_memory(error);
    return NULL;
}

struct json_object *ssbatch_run_document_read(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    char folder[SSBATCH_PATH], path[SSBATCH_PATH];
    ssbatch_study_path(study, folder, "%s", name);
    ssbatch_study_path(study, path, "%s/run.json", name);
    if (access(path, F_OK) < 0)
        return NULL;
    struct json_object *document = document_read(folder, "run.json", "", error);
    double schema = document_number(document, "schema");
    if (!document || schema == SSBATCH_RUN_SCHEMA)
        return document;
    if (isnan(schema))
        ss_error_fail(
            error, "%s has no schema: remove %s to carry out the run again", path, folder);
    else
        ss_error_fail(error,
            "%s has schema %g, but this program reads only schema %d: use the ssbatch that wrote "
            "it",
            path, schema, SSBATCH_RUN_SCHEMA);
    json_object_put(document);
    return NULL;
}

enum ssbatch_status ssbatch_run_document_status(const struct json_object *document) {
    const char *name = document ? document_text(document, "status") : NULL;
    for (int status = SSBATCH_DONE; name && status < SSBATCH_STATUSES; status++) {
        if (strcmp(name, status_names[status]) == 0)
            return (enum ssbatch_status)status;
    }
    return SSBATCH_TO_COME;
}

int ssbatch_run_status(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    struct ss_error failure = {0};
    struct json_object *document = ssbatch_run_document_read(study, name, &failure);
    enum ssbatch_status status = ssbatch_run_document_status(document);
    json_object_put(document);
    if (failure.status)
        return ss_error_set(error, failure.status, "%s", failure.message);
    return (int)status;
}

struct comparison {
    struct json_object *programs; /* programs of the document */
    struct ss_error *why;
};

/*
 * Returns whether a program was then found at this path. One that PATH finds may be in another
 * folder now.
 */
static bool is_path_of(const char *path, const struct ssbatch_program *program, const char *word) {
    const char *slash = strrchr(path, '/');
    return strchr(word, '/') ? strcmp(path, program->path) == 0
                             : strcmp(slash ? slash + 1 : path, word) == 0;
}

static void compare_program(
    void *context, const struct ssbatch_program *program, const char *word) {
    struct comparison *comparison = context;
    size_t count = comparison->programs ? json_object_array_length(comparison->programs) : 0;
    const char *other = NULL;
    for (size_t i = 0; i < count && !comparison->why->status; i++) {
        struct json_object *then = json_object_array_get_idx(comparison->programs, i);
        const char *path = document_text(then, "path");
        const char *digest = document_text(then, "sha256");
        if (!path || !digest || !is_path_of(path, program, word))
            continue;
        if (strcmp(digest, program->digest) == 0)
            return;
        other = path;
    }
    if (!other)
        return;
    if (strcmp(other, program->path) == 0)
        ss_error_fail(comparison->why, "the program %s has changed", ss_words_show(other).text);
    else
        ss_error_fail(comparison->why, "the program %s differs from %s, which it used",
            ss_words_show(program->path).text, ss_words_show(other).text);
}

int ssbatch_run_document_compare(const struct json_object *document, const char *identity,
    const struct ssbatch_run *run, struct ssbatch_programs *programs, struct ss_error *why) {
    const char *then = document_text(document, "identity");
    struct comparison comparison = {
        .programs = document_get(document, "programs", json_type_array),
        .why = why,
    };
    if (!then || strcmp(then, identity) != 0)
        return ss_error_fail(why, "its columns or commands are different in this plan");
    ssbatch_programs_of_run(programs, run, compare_program, &comparison);
    return why->status ? -1 : 0;
}
