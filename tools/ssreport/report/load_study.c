/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"
#include "load_inputs.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "json_document.h"

#define RUN_DOCUMENT "run.json"

/* The latest schema of run.json that this version reads. */
#define RUN_SCHEMA 1

/* Hidden folders contain unfinished runs. */
static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

struct names {
    struct dirent **items;
    int count; /* -1: the folder cannot be read */
};

static void free_names(const struct names *names) {
    for (int i = 0; i < names->count; i++)
        free(names->items[i]);
    if (names->count >= 0)
        free(names->items);
}

/* Lists visible folders in natural order: load-40 precedes load-100. */
static struct names list(const char *folder) {
    struct names names;
    names.count = scandir(folder, &names.items, is_visible, versionsort);
    return names;
}

static bool is_run(const char *folder, const char *name) {
    char path[8200];
    snprintf(path, sizeof path, "%.4000s/%.4000s", folder, name);
    return ssreport_has_file(path, RUN_DOCUMENT);
}

bool ssreport_study_is_in(const char *folder) {
    if (ssreport_has_file(folder, RUN_DOCUMENT) || ssreport_has_file(folder, ".study/plan"))
        return true;
    struct names names = list(folder);
    bool found = false;
    for (int i = 0; i < names.count && !found; i++)
        found = is_run(folder, names.items[i]->d_name);
    free_names(&names);
    return found;
}

struct run {
    struct ssreport_report *report;
    const char *folder;
    const char *name; /* name of the folder */
    int set;
    struct json_object *document;
    size_t records; /* number of commands with a record */
};

static size_t count_records(struct json_object *commands) {
    size_t count = 0;
    for (size_t i = 0; commands && i < json_object_array_length(commands); i++)
        count += document_text(json_object_array_get_idx(commands, i), "record") != NULL;
    return count;
}

static int add_columns(struct ssreport_columns *columns, const struct json_object *object) {
    struct json_object *values = document_get(object, "columns", json_type_object);
    if (!values)
        return 0;
    json_object_object_foreach(values, name, value) {
        const char *text = document_as_text(value);
        if (ssreport_columns_set(columns, name, text ? text : "") < 0)
            return -1;
    }
    return 0;
}

static void set_field(struct sstrace_field *fields, const char *column, const char *text) {
    size_t number = ssreport_source_column(column);
    if (number != SIZE_MAX && text)
        fields[number] = (struct sstrace_field){.text = text, .length = strlen(text)};
}

/*
 * Loads the record of a command. Records of one run that were made at the same time differ in their
 * role; the name of the run is their group.
 */
static int load_command(
    const struct run *run, const struct json_object *command, struct ssreport_columns *columns) {
    const char *record = document_text(command, "record");
    const char *role = document_text(command, "role");
    if (run->records == 1 && !ssreport_is_word(role, SSREPORT_ALONE))
        role = NULL;
    double others = document_number(run->document, "others");
    char path[8200], share[32] = "";
    struct sstrace_field fields[SSREPORT_SOURCE_MAX];
    if (add_columns(columns, run->document) < 0 || add_columns(columns, command) < 0 ||
        (role && ssreport_columns_set(columns, "role", role) < 0))
        return -1;
    for (size_t i = 0; i < SSREPORT_SOURCE_MAX; i++)
        fields[i] = (struct sstrace_field){.text = ""};
    if (role)
        set_field(fields, "group", run->name);
    for (size_t i = 0; i < columns->count; i++)
        set_field(fields, columns->items[i].name, columns->items[i].value);
    if (isfinite(others))
        snprintf(share, sizeof share, "%.9g", others);
    set_field(fields, "others", share);
    snprintf(path, sizeof path, "%.4000s/%.4000s", run->folder, record);
    const struct ssreport_source source = {
        .path = path, .set = run->set, .fields = fields, .columns = columns};
    return ssreport_load_record(run->report, &source);
}

static int load_commands(struct run *run) {
    struct json_object *commands = document_get(run->document, "commands", json_type_array);
    run->records = count_records(commands);
    if (run->records == 0)
        return ssreport_add_failure(run->report, run->folder,
            "no command of this run has a record: see showstopper --record", SS_INVALID);
    for (size_t i = 0; i < json_object_array_length(commands); i++) {
        const struct json_object *command = json_object_array_get_idx(commands, i);
        struct ssreport_columns columns = {0};
        int result = document_text(command, "record") ? load_command(run, command, &columns) : 0;
        ssreport_columns_free(&columns);
        if (result < 0)
            return -1;
    }
    return 0;
}

/* Returns why the records of a run are not read; NULL if the run is done. */
static const char *describe_absence(const struct json_object *document, char text[512]) {
    const char *status = document_text(document, "status");
    const char *reason = document_text(document, "reason");
    double schema = document_number(document, "schema");
    if (isnan(schema))
        return "its " RUN_DOCUMENT " has no schema, so ssbatch did not write it";
    if (!(schema >= 1 && schema <= RUN_SCHEMA)) {
        snprintf(text, 512,
            "its " RUN_DOCUMENT " has schema %g, but this program reads only schema %d: use a "
            "later version",
            schema, RUN_SCHEMA);
        return text;
    }
    if (status && strcmp(status, "done") == 0)
        return NULL;
    snprintf(text, 512, "%.40s%s%.400s", status ? status : "status unknown", reason ? ": " : "",
        reason ? reason : "");
    return text;
}

static int load_run(struct ssreport_report *report, const char *folder, int set) {
    struct ss_error error = {0};
    const char *slash = strrchr(folder, '/');
    struct run run = {.report = report,
        .folder = folder,
        .name = slash && slash[1] ? slash + 1 : folder,
        .set = set,
        .document = document_read(folder, RUN_DOCUMENT, "", &error)};
    char text[512];
    if (!run.document)
        return ssreport_add_failure(report, folder, error.message, SS_INVALID);
    const char *absence = describe_absence(run.document, text);
    const char *status = document_text(run.document, "status");
    bool is_skipped = ssreport_is_word(status, "skipped");
    int result = absence ? ssreport_add_failure(
                               report, folder, absence, is_skipped ? SS_NOT_CHECKED : SS_INVALID)
                         : load_commands(&run);
    json_object_put(run.document);
    return result;
}

/* Runs of one study that are named one after the other are numbered like the whole study. */
static void number_study(struct ssreport_report *report, const char *folder) {
    char path[8200];
    snprintf(path, sizeof path, "%.4000s/..", folder);
    char *study = realpath(path, NULL);
    bool continues =
        report->manifest_count == report->study_number && ssreport_is_word(report->study, study);
    if (!continues)
        report->study_number = ++report->manifest_count;
    free(report->study);
    report->study = study;
}

int ssreport_study_load(struct ssreport_report *report, const char *folder, int set) {
    if (ssreport_has_file(folder, RUN_DOCUMENT)) {
        number_study(report, folder);
        return load_run(report, folder, set);
    }
    report->manifest_count++;
    struct names names = list(folder);
    int result = 0;
    for (int i = 0; result == 0 && i < names.count; i++) {
        char path[8200];
        snprintf(path, sizeof path, "%.4000s/%.4000s", folder, names.items[i]->d_name);
        if (is_run(folder, names.items[i]->d_name))
            result = load_run(report, path, set);
    }
    free_names(&names);
    return result;
}
