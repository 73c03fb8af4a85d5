/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PLATFORM_REPORT_H
#define SHOWSTOPPER_TESTS_PLATFORM_REPORT_H

#include "json_document.h"
#include "machine_tree.h"
#include "platform_document.h"
#include "text.h"
#include "topology_document.h"

/*
 * The parsed report as paths and values: "topology.sockets" is "2", "models[0].vendor" is
 * "\"GenuineIntel\"". Empty lists are "[]".
 */
struct report {
    struct {
        char path[128];
        char value[512];
    } * values;
    size_t count, room;
};

static inline void report_keep(struct report *report, const char *path, const char *value) {
    if (report->count == report->room) {
        report->room = 2 * report->room + 64;
        report->values = realloc(report->values, report->room * sizeof *report->values);
        assert_non_null(report->values);
    }
    assert_that(strlen(path), <, sizeof report->values->path);
    assert_that(strlen(value), <, sizeof report->values->value);
    strcpy(report->values[report->count].path, path);
    strcpy(report->values[report->count++].value, value);
}

static inline void report_flatten(
    struct report *report, const char *path, struct json_object *value) {
    char inner[128];
    if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, name, member) {
            snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", name);
            report_flatten(report, inner, member);
        }
    } else if (json_object_is_type(value, json_type_array) && json_object_array_length(value) > 0) {
        for (size_t i = 0; i < json_object_array_length(value); i++) {
            snprintf(inner, sizeof inner, "%s[%zu]", path, i);
            report_flatten(report, inner, json_object_array_get_idx(value, i));
        }
    } else {
        report_keep(report, path,
            json_object_to_json_string_ext(
                value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    }
}

/* Reports on a tree, or on this machine if NULL. The output must be valid JSON and nothing else. */
static inline struct report report_take(const char *root) {
    struct report report = {0};
    struct ss_error error = {0};
    assert_succeeds(
        ssplatform_report(text_begin(), root, ssplatform_write_topology, &error), error);
    const char *text = text_end();

    char why[128];
    struct json_object *document = document_parse(text, why, sizeof why);
    if (!document)
        fail_msg("%s: %s", why, text);
    report_flatten(&report, "", document);
    json_object_put(document);
    return report;
}

static inline void report_free(struct report *report) {
    free(report->values);
    *report = (struct report){0};
}

/* Returns a value, or NULL if absent. */
static inline const char *report_find(const struct report *report, const char *path) {
    for (size_t i = 0; i < report->count; i++) {
        if (strcmp(report->values[i].path, path) == 0)
            return report->values[i].value;
    }
    return NULL;
}

/* Compares by value because numbers may be written in several ways. */
static inline bool report_same(const char *left, const char *right) {
    char *left_end, *right_end;
    double left_number = strtod(left, &left_end), right_number = strtod(right, &right_end);
    bool numbers = left_end != left && right_end != right && !*left_end && !*right_end;
    return numbers ? left_number == right_number : strcmp(left, right) == 0;
}

/* Expects `value` as written in JSON, or NULL if the key must be absent. */
static inline void report_expect(const struct report *report, const char *path, const char *value) {
    const char *found = report_find(report, path);
    if (!report_same(found ? found : "missing", value ? value : "missing"))
        fail_msg("%s is %s, not %s", path, found ? found : "missing", value ? value : "missing");
}

struct report_row {
    const char *path, *value;
};

/* Reports on a tree and expects these rows, up to one without a path. */
static inline void report_expect_rows(const char *root, const struct report_row *rows) {
    struct report report = report_take(root);
    for (; rows->path; rows++)
        report_expect(&report, rows->path, rows->value);
    report_free(&report);
}

#define REPORT_EXPECT(root, ...)                                                                   \
    report_expect_rows(root, (const struct report_row[]){__VA_ARGS__, {NULL, NULL}})

#endif
