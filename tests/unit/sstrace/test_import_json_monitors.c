/* SPDX-License-Identifier: Apache-2.0 */
#include "json_run.h"

#define ANSWER(series)                                                                             \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" series "]}}"
#define SERIES(metric, values)    "{\"metric\":{" metric "},\"values\":[" values "]}"
#define BACKWARDS(metric, values) "{\"values\":[" values "],\"metric\":{" metric "}}"
#define LINE(time, load)          "{\"time\":\"x\",\"elapsed_seconds\":" time ",\"load\":" load "}\n"

static const struct sstrace_format *prometheus(void) {
    return find_format("prometheus");
}

static const struct sstrace_format *ssload(void) {
    return find_format("ssload-json");
}

static void prometheus_values_are_fractions_by_default(void **state) {
    (void)state;
    struct import_run run = import_file(prometheus(), NULL, "prometheus.json");
    assert_levels(&run, 1,
        LEVELS(0.4538000000000001, 0.65379999999999995, 0.5691999999999999, 0.75000000000000015,
            0.4450378282153984));
}

static void prometheus_percentages_require_a_unit(void **state) {
    (void)state;
    static const char text[] = ANSWER(SERIES("", "[10.5,\"50\"],\n[20.5,\"75.5\"]"));
    char heard[1024];
    assert_blamed(prometheus(), NULL, text, "1:90",
        "the load is 5000 %, but must be between 0 and 100: --unit says");
    const import_options percent = {.unit = SSTRACE_UNIT_PERCENT};
    struct import_run run = import_heard(prometheus(), &percent, text, sizeof text - 1, heard);
    assert_levels(&run, 10, LEVELS(50, 75.5));
    assert_string_equal(heard, "");
    run = import_text(prometheus(), &(import_options){.unit = SSTRACE_UNIT_CORES, .cpus = 2}, text);
    assert_levels(&run, 10, LEVELS(25, 37.75));
    run = import_text(prometheus(), &(import_options){.unit = SSTRACE_UNIT_CORES}, text);
    assert_not_imported(&run, "--cpus");
    static const char low[] = ANSWER(SERIES("", "[1,\"0.5\"],[2,\"1\"]"));
    run = import_heard(prometheus(), &percent, low, sizeof low - 1, heard);
    assert_levels(&run, 1, LEVELS(0.5, 1));
    assert_non_null(strstr(heard, "no value is above 1: if 1 is full load, give --unit fraction"));
}

static void several_prometheus_series_require_select(void **state) {
    (void)state;
    static const char *const texts[] = {
        ANSWER(SERIES("\"__name__\":\"up\",\"a\":\"x\",\"b\":\"y\"",
            "[1,\"0.1\"],[2,\"0.2\"]") "," SERIES("\"a\":\"\\\"\\\\\"", "[1,\"0.3\"],[2,\"0.4\"]")),
        ANSWER(BACKWARDS("\"__name__\":\"up\",\"a\":\"x\",\"b\":\"y\"",
            "[1,\"0.1\"],[2,\"0.2\"]") "," BACKWARDS("\"a\":\"\\\"\\\\\"",
            "[1,\"0.3\"],[2,\"0.4\"]")),
    };
    for (size_t i = 0; i < 2; i++) {
        struct import_run run = import_text(prometheus(), NULL, texts[i]);
        assert_not_imported(
            &run, "in has 2 series (up{a=\"x\",b=\"y\"}, {a=\"\\\"\\\\\"}): choose one");
        run =
            import_text(prometheus(), &(import_options){.select = "up{a=\"x\",b=\"y\"}"}, texts[i]);
        assert_levels(&run, 1, LEVELS(10, 20));
        run = import_text(prometheus(), &(import_options){.select = "{a=\"\\\"\\\\\"}"}, texts[i]);
        assert_levels(&run, 1, LEVELS(30, 40));
        run = import_text(prometheus(), &(import_options){.select = "{}"}, texts[i]);
        assert_not_imported(&run, "in has no samples of '{}'");
    }
}

static void prometheus_values_before_the_metric_key_are_read(void **state) {
    (void)state;
    char *text = malloc(200000);
    assert_non_null(text);
    char *at = text + sprintf(text, "{\"data\":{\"result\":[{\"values\":[");
    for (int i = 0; i < 5000; i++)
        at += sprintf(at, "%s[%d.5,\"0.5\"]", i ? "," : "", i);
    sprintf(at, "],\"metric\":{}}]},\"status\":\"success\"}");
    struct import_run run = import_text(prometheus(), NULL, text);
    assert_imported(&run);
    assert_int_equal(run.used, 5000);
    import_free(&run);
    free(text);
}

static void nan_and_infinity_in_prometheus_are_missing_samples(void **state) {
    (void)state;
    struct import_run run = import_text(prometheus(), NULL,
        ANSWER(SERIES(
            "", "[1,\"0.1\"],[2,\"0.2\"],[3,\"NaN\"],[4,\"+Inf\"],[5,\"-Inf\"],[6,\"0.3\"]")));
    assert_int_equal(run.bad, 3);
    assert_int_equal(run.gaps, 1);
    assert_imported_record(&run, 4, 5, 20);
    assert_imported_record(&run, 6, 6, 30);
    import_free(&run);
}

/*
 * A value covers the time since the previous timestamp; the first value covers the usual interval.
 */
static void monitor_timestamps_are_ends_of_samples(void **state) {
    (void)state;
    static const double seconds[] = {0, 10, 20, 24};
    struct import_run run = import_text(
        prometheus(), NULL, ANSWER(SERIES("", "[100,\"0.1\"],[110,\"0.2\"],[114,\"0.3\"]")));
    assert_steps(&run, seconds, LEVELS(10, 20, 30));
    run = import_text(ssload(), NULL, LINE("100", "0.1") LINE("110", "0.2") LINE("114", "0.3"));
    assert_steps(&run, seconds, LEVELS(10, 20, 30));
}

/* A JSON string may contain \u0000. */
static void zero_byte_does_not_truncate_a_json_string(void **state) {
    (void)state;
    struct import_run run = import_text(prometheus(), NULL,
        ANSWER(SERIES("\"a\":\"x\\u00001\"", "[1,\"0.1\"],[2,\"0.2\"]") "," SERIES(
            "\"a\":\"x\\u00002\"", "[1,\"0.1\"],[2,\"0.2\"]")));
    assert_not_imported(&run, "in has 2 series ({a=\"x?1\"}, {a=\"x?2\"})");
    run = import_text(prometheus(), NULL, ANSWER(SERIES("", "[1,\"1\\u0000\"]")));
    assert_not_imported(&run, "'1?' is not a number");
}

static void long_prometheus_labels_are_kept_or_refused(void **state) {
    (void)state;
    static const size_t lengths[] = {1023, 1024, 5000};
    for (size_t i = 0; i < 3; i++) {
        char *text =
            around("{\"status\":\"success\",\"data\":{\"result\":[{\n\"metric\":{\"label\":\"",
                lengths[i], "\"},\"values\":[[1,\"0.5\"],[2,\"0.5\"]]}]}}");
        struct import_run run = import_text(prometheus(), NULL, text);
        if (lengths[i] > 1023)
            assert_not_imported(&run, "in:2:19: the labels of a series are too long");
        else
            assert_levels(&run, 1, LEVELS(50, 50));
        free(text);
    }
    /* Each label alone is short enough; together they are too long. */
    char *text = malloc(20000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"data\":{\"result\":[{\"metric\":{");
    for (int i = 0; i < 10; i++)
        at += sprintf(at, "%s\n\"a%d\":\"%0900d\"", i ? "," : "", i, i);
    strcpy(at, "}}]}}");
    struct import_run run = import_text(prometheus(), NULL, text);
    assert_not_imported(&run, "in:5:6: the labels of a series are too long");
    free(text);
}

static void prometheus_values_that_go_backward_are_skipped(void **state) {
    (void)state;
    struct import_run run = import_text(prometheus(), NULL,
        ANSWER(SERIES("", "[1,\"0.1\"],[2,\"0.2\"],[2,\"0.9\"],[1.5,\"0.9\"],[3,\"0.3\"]")));
    assert_int_equal(run.late, 2);
    assert_levels(&run, 1, LEVELS(10, 20, 30));
}

static void prometheus_errors_state_the_expected_input(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *part;
    } cases[] = {
        // clang-format off
        {"{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"unclosed left parenthesis\"}", "1:50", "Prometheus refused the query: unclosed left parenthesis"},
        {"{\"status\":\"error\",\"data\":null}", "1:11", "Prometheus refused the query and does not say why"},
        {"{\"status\":\"success\"}", "1:21", "expected data.result[] of a query_range"},
        {"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{},\"value\":[1,\"1\"]}]}}", "1:42", "the result is a vector: expected a matrix"},
        {ANSWER(""), "2:1", "the file has no samples"},
        {ANSWER("7"), "1:61", "expected an object, not a number"},
        {ANSWER("{\"metric\":[]}"), "1:71", "'metric' must be an object, but it is a list"},
        {ANSWER("{\"values\":[[1,\"1\"]]}"), "1:80", "'metric' is missing in this object"},
        {ANSWER(SERIES("\"a\":1", "")), "1:76", "'a' must be a string, but it is a number"},
        {ANSWER(SERIES("", "1")), "1:84", "expected a list, not a number"},
        {ANSWER(SERIES("", "[1]")), "1:86", "expected [TIME, \"VALUE\"]"},
        {ANSWER(SERIES("", "[1,\"1\",1]")), "1:91", "expected [TIME, \"VALUE\"]"},
        {ANSWER(SERIES("", "[1,1]")), "1:87", "expected a string, not a number"},
        {ANSWER(SERIES("", "[\"1\",\"1\"]")), "1:85", "expected a number, not a string"},
        {ANSWER(SERIES("", "[1,\"half\"]")), "1:87", "'half' is not a number"},
        {ANSWER(SERIES("", "[1,\"\"]")), "1:87", "'' is not a number"},
        {ANSWER(SERIES("", "[1,\"1e999\"]")), "1:87", "'1e999' is not a number"},
        {ANSWER(SERIES("", "[1e99,\"1\"]")), "1:85", "'1e99' is not a time: expected seconds since 1970"},
        {ANSWER(SERIES("", "[1,\"0\"],[2,\"-1\"]")), "1:95", "the load is -100 %"},
        // clang-format on
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_blamed(prometheus(), NULL, cases[i].text, cases[i].place, cases[i].part);
}

static void json_lines_have_one_object_per_line(void **state) {
    (void)state;
    struct import_run run =
        import_text(ssload(), NULL, LINE("1", "0.1") LINE("2.0", "0.2") LINE("3", "1.005"));
    assert_levels(&run, 1, LEVELS(10, 20, 100));
    run = import_text(
        ssload(), NULL, LINE("1", "0.1") LINE("2", "0.2") LINE("3", "null") LINE("4", "0.4"));
    assert_int_equal(run.bad, 1);
    assert_int_equal(run.gaps, 1);
    assert_imported(&run);
    import_free(&run);
    run = import_text(ssload(), &(import_options){.gaps = SSTRACE_GAPS_REFUSE},
        LINE("1", "0.1") LINE("2", "0.2") LINE("4", "0.4"));
    assert_not_imported(&run, "in:3:1: no samples for 1 s before this one");
    run = import_text(
        ssload(), &(import_options){.unit = SSTRACE_UNIT_PERCENT}, LINE("1", "50") LINE("2", "60"));
    assert_levels(&run, 1, LEVELS(50, 60));
}

static void json_lines_errors_state_the_expected_input(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *part;
    } cases[] = {
        // clang-format off
        {LINE("1", "0") LINE("2", "1.02"), "2:40", "the load is 102 %"},
        {LINE("1", "0") LINE("2", "true"), "2:40", "'load' must be a number, but it is true or false"},
        {LINE("1", "0") LINE("2", "-1e9999"), "2:40", "the number '-1e9999' is out of range"},
        {LINE("1", "0") LINE("1e30", "0"), "2:31", "'elapsed_seconds' must be a number of seconds"},
        {LINE("\"1\"", "0"), "1:31", "'elapsed_seconds' must be a number, but it is a string"},
        {"{\"load\":1}", "1:10", "'elapsed_seconds' is missing in this object"},
        {"{\"elapsed_seconds\":1}", "1:21", "'load' is missing in this object"},
        {LINE("1", "0") "{\"elapsed_seconds\":2}", "2:21", "'load' is missing in this object"},
        {LINE("1", "0") "{\"load\":1}", "2:10", "'elapsed_seconds' is missing in this object"},
        {LINE("1", "0") "[]", "2:1", "expected an object, not a list"},
        {LINE("1", "0") "x", "2:1", "invalid JSON"},
        {"", "1:1", "expected JSON, found nothing"},
        // clang-format on
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_blamed(ssload(), NULL, cases[i].text, cases[i].place, cases[i].part);
}

#define DATED(date, time, load)                                                                    \
    "{\"elapsed_seconds\":" time ",\"load\":" load ",\"time\":\"2026-11-20T14:50:" date "Z\"}\n"

static void json_lines_in_several_files_are_placed_by_their_dates(void **state) {
    (void)state;
    static const char first[] = DATED("01", "1", "0.1") DATED("02", "2", "0.2");
    struct import_run run =
        import_pair(ssload(), NULL, first, DATED("33", "1", "0.3") DATED("34", "2", "0.4"));
    assert_int_equal(run.late, 0);
    assert_imported(&run);
    assert_int_equal(run.records.count, 9);
    assert_imported_record(&run, 4, 32, 20);
    assert_imported_record(&run, 5, 32, 30);
    assert_imported_record(&run, 8, 34, 40);
    import_free(&run);
    run = import_pair(ssload(), NULL, first, first);
    assert_not_imported(&run, "all samples are before the end of the previous file");
    run = import_pair(ssload(), NULL, first, LINE("3", "0.3"));
    assert_not_imported(&run, "has no date in a known form");
    run = import_pair(ssload(), NULL, first, "{\"elapsed_seconds\":3,\"load\":0.5}\n");
    assert_not_imported(&run, "has no date in a known form");
}

#define OF_CPU(time, load, cpu) "{\"elapsed_seconds\":" time ",\"load\":" load ",\"cpu\":" cpu "}\n"
#define PER_CPU(time, all, first)                                                                  \
    OF_CPU(time, all, "\"all\"")                                                                   \
    OF_CPU(time, first, "0")

static void json_lines_of_cpus_are_selected(void **state) {
    (void)state;
    static const char text[] = PER_CPU("1", "0.5", "0.25") PER_CPU("2", "0.25", "0.75");
    struct import_run run = import_text(ssload(), NULL, text);
    assert_int_equal(run.late, 0);
    assert_levels(&run, 1, LEVELS(50, 25));
    run = import_text(ssload(), &(import_options){.select = "0"}, text);
    assert_levels(&run, 1, LEVELS(25, 75));
    run = import_text(ssload(), &(import_options){.select = "7"}, text);
    assert_not_imported(&run, "no samples of '7': it has 2 series (all, 0)");
    run = import_text(ssload(), NULL, OF_CPU("1", "1", "0") OF_CPU("1", "0", "1"));
    assert_not_imported(&run, "a single sample");
    run = import_text(ssload(), NULL,
        OF_CPU("1", "1", "0") OF_CPU("1", "0", "1") OF_CPU("2", "1", "0") OF_CPU("2", "0", "1"));
    assert_not_imported(&run, "has 2 series (0, 1): choose one with --select");
    assert_blamed(ssload(), &(import_options){.select = "0"}, LINE("1", "0"), "1:41",
        "'cpu' is missing in this object: remove --select");
    assert_blamed(ssload(), NULL, OF_CPU("1", "0", "null"), "1:37",
        "'cpu' must be \"all\" or the number of a CPU");
}

/* JSON Lines may end after any line. */
static void truncated_monitor_files_are_refused_unless_cut_after_a_line(void **state) {
    (void)state;
    static const char lines[] = LINE("1", "0.11") LINE("2", "0.22") LINE("3", "0.33");
    size_t size;
    char *text = read_data("prometheus.json", &size);
    for (size_t length = 0; length < size; length++) {
        struct import_run run = import_named(prometheus(), NULL, "in", text, length);
        assert_not_imported(
            &run, length ? "unexpected end of file" : "expected JSON, found nothing");
    }
    free(text);
    size_t whole = 0;
    for (size_t length = 1; length < sizeof lines - 1; length++) {
        if (lines[length - 1] == '}')
            whole++;
        bool at_end = lines[length - 1] == '}' || lines[length - 1] == '\n';
        struct import_run run = import_named(ssload(), NULL, "in", lines, length);
        if (!at_end)
            assert_not_imported(&run, "unexpected end of file");
        else if (whole == 1)
            assert_not_imported(&run, "a single sample");
        else
            assert_int_equal(run.used, whole);
        import_free(&run);
    }
}

static void prometheus_and_json_lines_are_detected(void **state) {
    (void)state;
    size_t size;
    char *text = read_data("prometheus.json", &size);
    assert_true(prometheus()->detect(text));
    assert_true(prometheus()->detect("{\"status\":\"error\",\"errorType\":\"timeout\"}"));
    assert_true(ssload()->detect(LINE("1", "0.5")));
    assert_false(ssload()->detect(text));
    assert_false(prometheus()->detect(LINE("1", "0.5")));
    assert_false(ssload()->detect("time,elapsed_seconds,target,load\n"));
    assert_false(prometheus()->detect(""));
    free(text);
}

// clang-format off
JSON_MAIN(
    cmocka_unit_test(prometheus_values_are_fractions_by_default),
    cmocka_unit_test(prometheus_percentages_require_a_unit),
    cmocka_unit_test(several_prometheus_series_require_select),
    cmocka_unit_test(prometheus_values_before_the_metric_key_are_read),
    cmocka_unit_test(nan_and_infinity_in_prometheus_are_missing_samples),
    cmocka_unit_test(monitor_timestamps_are_ends_of_samples),
    cmocka_unit_test(zero_byte_does_not_truncate_a_json_string),
    cmocka_unit_test(long_prometheus_labels_are_kept_or_refused),
    cmocka_unit_test(prometheus_values_that_go_backward_are_skipped),
    cmocka_unit_test(prometheus_errors_state_the_expected_input),
    cmocka_unit_test(json_lines_of_cpus_are_selected),
    cmocka_unit_test(json_lines_in_several_files_are_placed_by_their_dates),
    cmocka_unit_test(json_lines_have_one_object_per_line),
    cmocka_unit_test(json_lines_errors_state_the_expected_input),
    cmocka_unit_test(truncated_monitor_files_are_refused_unless_cut_after_a_line),
    cmocka_unit_test(prometheus_and_json_lines_are_detected))
