/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PLATFORM_REPORT_H
#define SHOWSTOPPER_TESTS_PLATFORM_REPORT_H

#include "base/cpus.h"
#include "machine_tree.h"
#include "platform_document.h"

/* The parsed report: "topology.sockets" is "2", "models[0].vendor" is "\"GenuineIntel\"". */

struct report {
    char *text;
    const char *at;
    struct {
        char path[128];
        char value[512]; /* as in the text; "[]" for an empty list */
    } * values;
    size_t count, room;
};

static inline void report_fail(const struct report *report, const char *wanted) {
    fail_msg("invalid JSON: %s expected at: %.60s", wanted, report->at);
}

static inline void report_skip(struct report *report) {
    report->at += strspn(report->at, " \n");
}

/* Skips this byte if it is next; returns whether it was. */
static inline bool report_takes(struct report *report, char byte) {
    report_skip(report);
    if (*report->at != byte)
        return false;
    report->at++;
    return true;
}

static inline void report_need(struct report *report, char byte) {
    if (!report_takes(report, byte))
        report_fail(report, (char[]){byte, '\0'});
}

/* Reads up to the closing quote and stops after it. */
static inline void report_text(struct report *report) {
    report_need(report, '"');
    for (; *report->at != '"'; report->at++) {
        if ((unsigned char)*report->at < ' ')
            report_fail(report, "no control character");
        if (*report->at == '\\' && !strchr("\"\\u", *++report->at))
            report_fail(report, "an escape");
    }
    report->at++;
}

static inline void report_number(struct report *report) {
    char *end;
    if (!strchr("-0123456789", *report->at))
        report_fail(report, "a value");
    strtod(report->at, &end);
    report->at = end;
}

static inline void report_keep(
    struct report *report, const char *path, const char *value, size_t length) {
    if (report->count == report->room) {
        report->room = 2 * report->room + 64;
        report->values = realloc(report->values, report->room * sizeof *report->values);
        assert_non_null(report->values);
    }
    assert_that(strlen(path), <, sizeof report->values->path);
    assert_that(length, <, sizeof report->values->value);
    strcpy(report->values[report->count].path, path);
    snprintf(report->values[report->count++].value, length + 1, "%s", value);
}

static inline void report_value(struct report *report, const char *path);

static inline void report_members(struct report *report, const char *path, char end) {
    size_t index = 0;
    if (report_takes(report, end))
        report_keep(report, path, end == ']' ? "[]" : "{}", 2);
    else
        do {
            char inner[128];
            report_skip(report);
            const char *key = report->at + 1;
            if (end == '}') {
                report_text(report);
                snprintf(inner, sizeof inner, "%s%s%.*s", path, *path ? "." : "",
                    (int)(report->at - key - 1), key);
                report_need(report, ':');
            } else {
                snprintf(inner, sizeof inner, "%s[%zu]", path, index++);
            }
            report_value(report, inner);
        } while (report_takes(report, ',') || (report_need(report, end), false));
}

static inline void report_value(struct report *report, const char *path) {
    report_skip(report);
    const char *start = report->at;
    if (report_takes(report, '{')) {
        report_members(report, path, '}');
        return;
    }
    if (report_takes(report, '[')) {
        report_members(report, path, ']');
        return;
    }
    if (*report->at == '"')
        report_text(report);
    else if (strncmp(report->at, "null", 4) == 0)
        report->at += 4;
    else
        report_number(report);
    report_keep(report, path, start, (size_t)(report->at - start));
}

/* Reports on a tree, or on this machine if NULL. The output must be valid JSON and nothing else. */
static inline struct report report_take(const char *root) {
    struct report report = {0};
    struct ss_error error = {0};
    size_t size;
    FILE *stream = open_memstream(&report.text, &size);
    assert_non_null(stream);
    if (ssplatform_report(stream, root, &error) != 0)
        fail_msg("%s", error.message);
    assert_int_equal(fclose(stream), 0);
    report.at = report.text;
    report_value(&report, "");
    report_skip(&report);
    if (*report.at)
        report_fail(&report, "the end");
    return report;
}

static inline void report_free(struct report *report) {
    free(report->text);
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

#endif
