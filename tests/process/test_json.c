/* SPDX-License-Identifier: Apache-2.0 */

/* Everything that is written as JSON, read by a parser that is not ours: numbers are numbers. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "run.h"

#ifdef TEST_HAS_YAJL
#include <yajl/yajl_tree.h>

/* What holds text that may look like a number: lists of CPUs, words of commands, times. */
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

/* Whole numbers are written as such: only elapsed times and parts of 1 have fixed decimals. */
static void expect_number(const char *name, const char *text) {
    double value = strtod(text, NULL);
    bool whole = value == (double)(long long)value;
    if (strcmp(name, "value") == 0 || strcmp(name, "instance") == 0 || strcmp(name, "cpu") == 0)
        ck_assert_msg(!whole || !strchr(text, '.'), "%s: %s", name, text);
}

static void expect_types(const char *name, yajl_val value) {
    if (YAJL_IS_STRING(value)) {
        const char *text = YAJL_GET_STRING(value);
        char *end;
        strtod(text, &end);
        bool decimal = *text && !*end && !text[strspn(text, "0123456789+-.eE")];
        ck_assert_msg(!decimal || is_text(name), "%s is the text \"%s\"", name, text);
    } else if (YAJL_IS_NUMBER(value)) {
        expect_number(name, YAJL_GET_NUMBER(value));
    } else if (YAJL_IS_ARRAY(value)) {
        for (size_t i = 0; i < value->u.array.len; i++)
            expect_types(name, value->u.array.values[i]);
    } else if (YAJL_IS_OBJECT(value)) {
        for (size_t i = 0; i < value->u.object.len; i++)
            expect_types(value->u.object.keys[i], value->u.object.values[i]);
    }
}

static yajl_val parse(const char *text) {
    char why[512] = "";
    yajl_val value = yajl_tree_parse(text, why, sizeof why);
    ck_assert_msg(value != NULL, "%s in %s", why, text);
    return value;
}

static void expect_document(const char *text) {
    yajl_val value = parse(text);
    ck_assert(YAJL_IS_OBJECT(value));
    expect_types("", value);
    yajl_tree_free(value);
}

static yajl_val member(yajl_val object, const char *name, yajl_type type) {
    const char *path[] = {name, NULL};
    yajl_val value = yajl_tree_get(object, path, type);
    ck_assert_msg(value != NULL, "%s is missing or of another type", name);
    return value;
}

static void expect_event(const char *line, size_t seen[2]) {
    yajl_val event = parse(line);
    expect_types("", event);
    const char *name = YAJL_GET_STRING(member(event, "event", yajl_t_string));
    if (strcmp(name, "instance_started") == 0 || strcmp(name, "instance_ended") == 0) {
        yajl_val instance = member(event, "instance", yajl_t_number);
        ck_assert(YAJL_IS_INTEGER(instance));
        ck_assert(YAJL_IS_INTEGER(member(event, "value", yajl_t_number)));
        seen[YAJL_GET_INTEGER(instance)]++;
    }
    yajl_tree_free(event);
}

static void each_line(char *text, void (*expect)(const char *line, size_t *seen), size_t *seen) {
    for (char *line; *text && (line = strsep(&text, "\n"));)
        expect(line, seen);
}

START_TEST(numbers_of_a_record_are_numbers) {
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
    yajl_val plan = parse(run_read_file(run_path(record, "plan.json")).bytes);
    const char *path[] = {"modules", "trace", "options", "load", NULL};
    ck_assert_double_eq(YAJL_GET_DOUBLE(yajl_tree_get(plan, path, yajl_t_number)), 0.5);
    yajl_tree_free(plan);
    run_expect_nothing_left();
}
END_TEST

static void expect_sample(const char *line, size_t *seen) {
    expect_document(line);
    ++*seen;
}

START_TEST(numbers_of_ssload_are_numbers) {
    size_t seen = 0;
    struct run *run = run_wait(run_start(NULL,
        WORDS(TEST_BIN_DIR "/ssload", "-i", "20m", "-c", "3", "--per-cpu", "--format", "json")));
    run_expect(run, 0);
    each_line(run->out.bytes, expect_sample, &seen);
    ck_assert_uint_ge(seen, 3);
}
END_TEST

#else

START_TEST(numbers_of_a_record_are_numbers) {
    SKIP("left-out: built without yajl");
}
END_TEST

START_TEST(numbers_of_ssload_are_numbers) {
    SKIP("left-out: built without yajl");
}
END_TEST

#endif

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(numbers_of_a_record_are_numbers),
    SS_CASE(numbers_of_ssload_are_numbers))
/* clang-format on */
