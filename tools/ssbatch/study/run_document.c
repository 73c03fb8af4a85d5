/* SPDX-License-Identifier: Apache-2.0 */
#include "run_document.h"

#include <fcntl.h>
#include <math.h>

#include "base/input_file.h"
#include "base/words.h"

static const char *const status_names[SSBATCH_STATUSES] = {"to come", "done", "failed", "skipped"};

const char *ssbatch_status_name(enum ssbatch_status status) {
    return status_names[status];
}

struct json_object *ssbatch_run_document_read(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    const struct ssbatch_path folder = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path path = ssbatch_study_path(study, "%s/run.json", name);
    if (!ss_input_exists(AT_FDCWD, path.text))
        return NULL;

    struct json_object *document = document_read(folder.text, "run.json", "", error);
    double schema = document_number(document, "schema");
    if (!document || schema == SSBATCH_RUN_SCHEMA)
        return document;

    if (isnan(schema))
        ss_error_fail(error, "%s has no schema: remove %s to carry out the run again", path.text,
            folder.text);
    else
        ss_error_fail(error,
            "%s has schema %g, but this program reads only schema %d: use the ssbatch that wrote "
            "it",
            path.text, schema, SSBATCH_RUN_SCHEMA);
    json_object_put(document);
    return NULL;
}

enum ssbatch_status ssbatch_run_document_status(const struct json_object *document) {
    const char *name = document ? document_text(document, "status") : NULL;
    for (int status = SSBATCH_DONE; name && status < SSBATCH_STATUSES; status++) {
        if (strcmp(name, status_names[status]) == 0)
            return (enum ssbatch_status)status;
    }
    return SSBATCH_PENDING;
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

static void compare_program(
    void *context, const struct ssbatch_program *program, const char *word) {
    struct comparison *comparison = context;
    size_t count = comparison->programs ? json_object_array_length(comparison->programs) : 0;
    const char *other = NULL;

    for (size_t i = 0; i < count && !comparison->why->status; i++) {
        struct json_object *then = json_object_array_get_idx(comparison->programs, i);
        const char *path = document_text(then, "path");
        const char *digest = document_text(then, "sha256");
        if (!path || !digest)
            continue;
        /* A program that PATH finds may be in another folder now. */
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        if (strchr(word, '/') ? strcmp(path, program->path) != 0 : strcmp(name, word) != 0)
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
        return ss_error_fail(why, "its columns or commands differ in this plan");
    ssbatch_programs_of_run(programs, run, compare_program, &comparison);
    return why->status ? -1 : 0;
}
