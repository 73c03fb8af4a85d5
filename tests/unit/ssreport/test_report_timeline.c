/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "json_document.h"
#include "report_make.h"
#include "timeline.h"

static struct json_object *document;
static size_t left_out;

static struct json_object *write_timeline(const struct ssreport_report *report) {
    char *text = NULL, why[256];
    size_t size = 0;
    struct ss_error error = {0};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(ssreport_timeline_write(stream, report, &left_out, &error), 0);
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

/* Adds up events of this phase and name; a negative track means all tracks. */
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

static void timeline_contains_load_states_and_iterations(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    const struct json_object *events = write_timeline(&report);
    size_t values = report.runs[0].record.sample_count + 1; /* one more at the end */
    assert_int_equal(add_up(events, "C", "load, %", 1).count, values);
    assert_int_equal(add_up(events, "C", "duty, %", 1).count, values);
    for (int instance = 0; instance < 2; instance++) {
        const char *name = instance ? "instance 1: iteration" : "instance 0: iteration";
        assert_int_equal(add_up(events, "b", name, 2 + instance).count, 15);
        assert_int_equal(add_up(events, "e", name, 2 + instance).count, 15);
    }
    assert_int_equal(add_up(events, "i", "counting", 1).count, 1);
    assert_int_equal(add_up(events, "M", "process_name", -1).count, 1);
    /* Instances may run for 30 and 50 % of the time: see report_folder.h. */
    for (int instance = 0; instance < 2; instance++) {
        double running = add_up(events, "X", "running", 2 + instance).length;
        double stopped = add_up(events, "X", "stopped", 2 + instance).length;
        double duty = running / (running + stopped);
        if (fabs(duty - (instance ? 0.5 : 0.3)) > 1e-4)
            fail_msg("duty of instance %d: %g", instance, duty);
    }
    json_object_put(document);
    ssreport_report_free(&report);
}

static void states_of_an_instance_do_not_overlap(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/decisions.csv", "elapsed_seconds,executor,state,real_seconds\n"
                                    "1.000000,0,running,0.051532\n"
                                    "1.051531,0,stopped,0.048470\n"
                                    "1.100000,0,running,0.000001\n"
                                    "1.100000,0,stopped,0.100000\n");
    struct ssreport_report report = make_report(folder_file("a"));
    const struct json_object *events = write_timeline(&report);
    double end = -INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        if (strcmp(document_text(event, "ph"), "X") != 0)
            continue;
        double begin = document_number(event, "ts");
        if (begin < end)
            fail_msg("slice %zu begins %g us before the last one ends", count, end - begin);
        end = begin + document_number(event, "dur");
        count++;
    }
    assert_int_equal(count, 4);
    json_object_put(document);
    ssreport_report_free(&report);
}

/* Times are unknown during the warm-up. */
static void states_without_a_time_or_a_known_name_are_left_out(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/decisions.csv", "elapsed_seconds,executor,state,real_seconds\n"
                                    ",0,running,0.5\n"
                                    "1.000000,0,running,0.25\n"
                                    "1.250000,0,waiting,0.25\n");
    struct ssreport_report report = make_report(folder_file("a"));
    const struct json_object *events = write_timeline(&report);
    struct sum running = add_up(events, "X", "running", 2);
    assert_int_equal(running.count, 1);
    assert_near(running.length, 0.25e6, 1);
    assert_int_equal(add_up(events, "X", "stopped", 2).count, 0);
    json_object_put(document);
    ssreport_report_free(&report);
}

static void instance_that_is_left_running_has_a_mark(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/events.jsonl", "}\n",
        "}\n{\"time\":\"\",\"elapsed_seconds\":30.000000,"
        "\"event\":\"instance_left\",\"instance\":1}\n");
    struct ssreport_report report = make_report(folder_file("a"));
    const struct json_object *events = write_timeline(&report);
    assert_int_equal(add_up(events, "i", "instance_left", 3).count, 1);
    json_object_put(document);
    ssreport_report_free(&report);
}

/* The last row covers 0.1 s. Its values are written twice. */
static void requests_are_counted_per_second(void **state) {
    (void)state;
    static const double rates[] = {100, 200, 200};
    size_t count = 0;
    folder_open();
    folder_write("a/requests.csv",
        "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"
        "timeouts,bytes,lateness_most_seconds,intended_mean_seconds,intended_p50_seconds,"
        "intended_p95_seconds,intended_p99_seconds,intended_most_seconds,actual_mean_seconds,"
        "actual_p50_seconds,actual_p95_seconds,actual_p99_seconds,actual_most_seconds\n"
        "1795168801,1.000000,100,100,100,0,0,0,100,0,0,1000,0.001,,,,,,,,,,\n"
        "1795168801.1,1.100000,200,20,20,0,0,0,10,10,0,1000,0.001,,,,,,,,,,\n");
    struct ssreport_report report = make_report(folder_file("a"));
    const struct json_object *events = write_timeline(&report);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        struct json_object *values = document_get(event, "args", json_type_object);
        if (strcmp(document_text(event, "name"), "requests, /s") != 0)
            continue;
        assert_that(count, <, 3);
        assert_near(document_number(values, "sent"), rates[count], 1e-3);
        assert_near(document_number(values, "completed"), 100, 1e-3);
        assert_near(document_number(values, "failed"), count == 0 ? 0 : 100, 1e-3);
        count++;
    }
    assert_int_equal(count, 3);
    json_object_put(document);
    ssreport_report_free(&report);
}

static struct ssreport_report gather_two_records(void) {
    static const char *const names[] = {"a", "b"};
    folder_open();
    struct ssreport_report report = begin_report();
    for (size_t i = 0; i < 2; i++) {
        folder_write_record(names[i]);
        assert_int_equal(ssreport_gather(&report, folder_file(names[i]), 0), 0);
    }
    return report;
}

static void processes_and_threads_have_different_ids(void **state) {
    (void)state;
    struct ssreport_report report = gather_two_records();
    finish_report(&report);
    const struct json_object *events = write_timeline(&report);
    static const double ids[][2] = {{1, 1}, {1, 2}, {1, 3}, {4, 4}, {4, 5}, {4, 6}};
    for (size_t id = 0; id < sizeof ids / sizeof *ids; id++) {
        size_t found = 0;
        for (size_t i = 0; i < json_object_array_length(events); i++) {
            struct json_object *event = json_object_array_get_idx(events, i);
            found += strcmp(document_text(event, "name"), "thread_name") == 0 &&
                     document_number(event, "pid") == ids[id][0] &&
                     document_number(event, "tid") == ids[id][1];
        }
        if (found != 1)
            fail_msg("thread %g of process %g has %zu names", ids[id][1], ids[id][0], found);
    }
    json_object_put(document);
    ssreport_report_free(&report);
}

static void record_that_is_given_twice_has_its_states_twice(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    folder_open();
    folder_write_record("a");
    for (int set = 0; set < 2; set++)
        assert_int_equal(ssreport_gather(&report, folder_file("a"), set), 0);
    finish_report(&report);
    const struct json_object *events = write_timeline(&report);
    assert_int_equal(add_up(events, "X", "stopped", 2).count, 1);
    assert_int_equal(add_up(events, "X", "stopped", 5).count, 1);
    assert_int_equal(add_up(events, "i", "counting", -1).count, 2);
    json_object_put(document);
    ssreport_report_free(&report);
}

/* The plan has two instances. */
static void unplanned_instances_have_tracks_of_their_own(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_change("a/iterations.csv", "00,0.000000", "05,0.000000");
    for (int i = 0; i < 2; i++)
        assert_int_equal(ssreport_gather(&report, folder_file(i == 0 ? "a" : "b"), 0), 0);
    finish_report(&report);
    const struct json_object *events = write_timeline(&report);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        assert_true(
            (document_number(event, "pid") == 1) == (document_number(event, "tid") <= 1 + 6));
    }
    json_object_put(document);
    ssreport_report_free(&report);
}

/* 2026-11-20T10:00:00Z is the start of the record; the origin is a whole second. */
static void timeline_keeps_the_time_between_records(void **state) {
    (void)state;
    struct ssreport_report report = gather_two_records();
    report.runs[1].record.wall = report.runs[0].record.wall + 7;
    finish_report(&report);
    const struct json_object *events = write_timeline(&report);
    double starts[2] = {NAN, NAN};
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        size_t process = document_number(event, "pid") > 1;
        if (strcmp(document_text(event, "ph"), "C") == 0 && isnan(starts[process]))
            starts[process] = document_number(event, "ts");
    }
    assert_true(starts[0] >= 0 && starts[0] < 1e6);
    assert_true(fabs(starts[1] - starts[0] - 7e6) < 1);
    json_object_put(document);
    ssreport_report_free(&report);
}

/* Perfetto drops events before time 0. A warm-up comes before the time that records count from. */
static void no_event_is_before_time_0(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    report.runs[0].record.iterations[0].start = -2.5;
    const struct json_object *events = write_timeline(&report);
    for (size_t i = 0; i < json_object_array_length(events); i++)
        assert_true(document_number(json_object_array_get_idx(events, i), "ts") >= 0);
    double iteration = add_up(events, "b", "instance 0: iteration", -1).first;
    double load = add_up(events, "C", "load, %", -1).first;
    assert_true(fabs(load - iteration - 2.5e6) < 1);
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

/* Nanoseconds of these times overflow, and so does 100 % of this load. */
static void impossible_times_and_loads_are_left_out(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/decisions.csv", "x,9,0,stopped,21,21", "x,9,0,stopped,21,1e300");
    folder_change("a/events.jsonl", "0.000000", "1e302");
    folder_change("a/iterations.csv", "01,1.000000,2.000000", "01,1.000000,1e305");
    folder_change("a/samples.csv", "0.480000", "1e308");
    struct ssreport_report report = make_report(folder_file("a"));
    report.runs[0].record.samples[1].begin = INFINITY;
    const struct json_object *events = write_timeline(&report);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        assert_true(isfinite(document_number(event, "ts")));
        assert_false(isinf(document_number(event, "dur")));
    }
    assert_int_equal(left_out, 5); /* a state, an event, an iteration, load and duty of a sample */
    json_object_put(document);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(timeline_contains_load_states_and_iterations),
    cmocka_unit_test(states_of_an_instance_do_not_overlap),
    cmocka_unit_test(states_without_a_time_or_a_known_name_are_left_out),
    cmocka_unit_test(instance_that_is_left_running_has_a_mark),
    cmocka_unit_test(requests_are_counted_per_second),
    cmocka_unit_test(processes_and_threads_have_different_ids),
    cmocka_unit_test(record_that_is_given_twice_has_its_states_twice),
    cmocka_unit_test(unplanned_instances_have_tracks_of_their_own),
    cmocka_unit_test(timeline_keeps_the_time_between_records),
    cmocka_unit_test(no_event_is_before_time_0),
    cmocka_unit_test(names_are_quoted),
    cmocka_unit_test(impossible_times_and_loads_are_left_out))
