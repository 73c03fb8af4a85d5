/* SPDX-License-Identifier: Apache-2.0 */

/* All JSON output, read by an independent parser: numbers are numbers. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "run.h"

#ifdef TEST_HAS_JSON
#include <json-c/json.h>

/* Text fields that may look like numbers: lists of CPUs, words of commands, times. */
static const char *const texts[] = {"command", "arguments", "cpus", "version", "kernel", "tau",
    "offset", "horizon", "rotate", "min", "period", "memory", "text", "online", "offline",
    "possible", "affinity", "cpuset"};

static bool is_text(const char *name) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(name, texts[i]) == 0)
            return true;
    }
    return false;
}

/* Whole numbers have no decimals; elapsed times and fractions have a fixed number of decimals. */
static void expect_number(const char *name, const char *text) {
    double value = strtod(text, NULL);
    bool whole = value == (double)(long long)value;
    if (strcmp(name, "value") == 0 || strcmp(name, "instance") == 0 || strcmp(name, "cpu") == 0)
        ck_assert_msg(!whole || !strchr(text, '.'), "%s: %s", name, text);
}

static void expect_types(const char *name, struct json_object *value) {
    const char *text = value ? json_object_get_string(value) : NULL;
    char *end;
    switch (json_object_get_type(value)) {
    case json_type_string:
        strtod(text, &end);
        bool decimal = *text && !*end && !text[strspn(text, "0123456789+-.eE")];
        ck_assert_msg(!decimal || is_text(name), "%s is the text \"%s\"", name, text);
        break;
    case json_type_int:
    case json_type_double:
        expect_number(name, text);
        break;
    case json_type_array:
        for (size_t i = 0; i < json_object_array_length(value); i++)
            expect_types(name, json_object_array_get_idx(value, i));
        break;
    case json_type_object: {
        json_object_object_foreach(value, key, inner) {
            expect_types(key, inner);
        }
        break;
    }
    default:
        break;
    }
}

static struct json_object *parse(const char *text) {
    enum json_tokener_error error;
    struct json_object *value = json_tokener_parse_verbose(text, &error);
    ck_assert_msg(value != NULL, "%s in %s", json_tokener_error_desc(error), text);
    return value;
}

static void expect_document(const char *text) {
    struct json_object *value = parse(text);
    ck_assert(json_object_is_type(value, json_type_object));
    expect_types("", value);
    json_object_put(value);
}

static struct json_object *member(
    struct json_object *object, const char *name, enum json_type type) {
    struct json_object *value = json_object_object_get(object, name);
    ck_assert_msg(json_object_is_type(value, type), "%s is missing or of another type", name);
    return value;
}

static void expect_event(const char *line, size_t seen[2]) {
    struct json_object *event = parse(line);
    expect_types("", event);
    const char *name = json_object_get_string(member(event, "event", json_type_string));
    if (strcmp(name, "instance_started") == 0 || strcmp(name, "instance_ended") == 0) {
        member(event, "value", json_type_int);
        seen[json_object_get_int(member(event, "instance", json_type_int))]++;
    }
    json_object_put(event);
}

static void each_line(char *text, void (*expect)(const char *line, size_t *seen), size_t *seen) {
    for (char *line; *text && (line = strsep(&text, "\n"));)
        expect(line, seen);
}

START_TEST(numbers_in_a_record_are_json_numbers) {
    static const char *const documents[] = {"plan.json", "summary.json", "platform.json"};
    const char *record = run_path(run_make_folder(), "record");
    size_t seen[2] = {0};
    struct run *run = RUN("-q", "-n", "2", "-l", "50%", "-f", "realtime", "-c", "rbpid", "-d",
        "averageq", "--duration", "600m", "--record", record, PAYLOAD, "spin");
    run_expect(run, 0);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        if (run_exists(run_path(record, documents[i])) || i < 2)
            expect_document(run_read_file(run_path(record, documents[i])).bytes);
    }
    each_line(run_read_file(run_path(record, "events.jsonl")).bytes, expect_event, seen);
    ck_assert_uint_eq(seen[0], 2);
    ck_assert_uint_eq(seen[1], 2);
    struct json_object *plan = parse(run_read_file(run_path(record, "plan.json")).bytes);
    struct json_object *load = NULL;
    ck_assert_int_eq(json_pointer_get(plan, "/modules/trace/options/load", &load), 0);
    ck_assert_double_eq(json_object_get_double(load), 0.5);
    json_object_put(plan);
    run_expect_nothing_left();
}
END_TEST

static void expect_sample(const char *line, size_t *seen) {
    expect_document(line);
    ++*seen;
}

START_TEST(numbers_from_ssload_are_json_numbers) {
    size_t seen = 0;
    struct run *run = run_wait(run_start(NULL,
        WORDS(TEST_BIN_DIR "/ssload", "-i", "20m", "-c", "3", "--per-cpu", "--format", "json")));
    run_expect(run, 0);
    each_line(run->out.bytes, expect_sample, &seen);
    ck_assert_uint_ge(seen, 3);
}
END_TEST

#else

START_TEST(numbers_in_a_record_are_json_numbers) {
    SKIP("left-out: built without json-c");
}
END_TEST

START_TEST(numbers_from_ssload_are_json_numbers) {
    SKIP("left-out: built without json-c");
}
END_TEST

#endif

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(numbers_in_a_record_are_json_numbers),
    SS_CASE(numbers_from_ssload_are_json_numbers))
/* clang-format on */
