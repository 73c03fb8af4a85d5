/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "json_document.h"
#include "report_make.h"
#include "timeline.h"

static struct json_object *document;

/* Writes the timeline of a report and parses it. */
static struct json_object *write_timeline(const struct ssreport_report *report) {
    char *text = NULL, why[256];
    size_t size = 0;
    struct ss_error error = {0};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(ssreport_timeline_write(stream, report, &error), 0);
    fclose(stream);
    document = document_parse(text, why, sizeof why);
    if (!document)
        fail_msg("%s: %.300s", why, text);
    free(text);
    return document_get(document, "traceEvents", json_type_array);
}

struct sum {
    size_t count;
    double length; /* of slices, in microseconds */
    double first;  /* when the first begins */
};

/* Adds up events of this phase and name; a negative track stands for all. */
static struct sum add_up(
    const struct json_object *events, const char *phase, const char *name, int track) {
    struct sum sum = {.first = NAN};
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        if (strcmp(document_text(event, "ph"), phase) != 0 ||
            strcmp(document_text(event, "name"), name) != 0 ||
            (track >= 0 && document_number(event, "tid") != track))
            continue;
        if (sum.count++ == 0)
            sum.first = document_number(event, "ts");
        sum.length += strcmp(phase, "X") == 0 ? document_number(event, "dur") : 0;
    }
    return sum;
}

static void run_is_shown_over_time(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    const struct json_object *events = write_timeline(&report);
    assert_int_equal(add_up(events, "C", "load, %", 0).count, report.runs[0].record.sample_count);
    assert_int_equal(add_up(events, "C", "duty, %", 0).count, report.runs[0].record.sample_count);
    assert_int_equal(add_up(events, "X", "iteration", -1).count, 30);
    assert_int_equal(add_up(events, "i", "counting", 0).count, 1);
    assert_int_equal(add_up(events, "M", "process_name", -1).count, 1);
    /* Instances are permitted to run for 30 and 50 % of the time: see report_folder.h. */
    for (int instance = 0; instance < 2; instance++) {
        double running = add_up(events, "X", "running", 2 * instance + 1).length;
        double stopped = add_up(events, "X", "stopped", 2 * instance + 1).length;
        double duty = running / (running + stopped);
        if (fabs(duty - (instance ? 0.5 : 0.3)) > 1e-4)
            fail_msg("duty of instance %d: %g", instance, duty);
    }
    json_object_put(document);
    ssreport_report_free(&report);
}

/* 2026-11-20T10:00:00Z is the start of the record; the origin is a whole second. */
static void records_keep_their_distance_in_time(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    report.runs[1].record.wall = report.runs[0].record.wall + 7;
    finish_report(&report);
    const struct json_object *events = write_timeline(&report);
    double starts[2] = {NAN, NAN};
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        size_t process = (size_t)document_number(event, "pid") - 1;
        if (strcmp(document_text(event, "ph"), "C") == 0 && isnan(starts[process]))
            starts[process] = document_number(event, "ts");
    }
    assert_true(starts[0] >= 0 && starts[0] < 1e6);
    assert_true(fabs(starts[1] - starts[0] - 7e6) < 1);
    json_object_put(document);
    ssreport_report_free(&report);
}

static void names_are_quoted(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a\"b");
    struct ssreport_report report = make_report(folder_file("a\"b"));
    const struct json_object *events = write_timeline(&report);
    assert_true(json_object_array_length(events) > 0);
    json_object_put(document);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(run_is_shown_over_time),
    cmocka_unit_test(records_keep_their_distance_in_time),
    cmocka_unit_test(names_are_quoted))
