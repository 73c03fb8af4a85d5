/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define FOLDER_VERSION "9.8.7"
#include "record.h"
#include "report_folder.h"
#include "run.h"

static struct ssreport_record read_record(const char *name) {
    struct ssreport_record record;
    struct ss_error error = {0};
    if (ssreport_record_read(&record, folder_file(name), name, &error) < 0)
        fail_msg("%s", error.message);
    return record;
}

static void assert_noted(const struct ssreport_record *record, const char *part) {
    if (!strstr(record->notes.text, part))
        fail_msg("no '%s' in: %s", part, record->notes.text);
    assert_null(strchr(record->notes.text, '\n'));
}

static void assert_not_noted(const struct ssreport_record *record, const char *part) {
    if (strstr(record->notes.text, part))
        fail_msg("unexpected '%s' in: %s", part, record->notes.text);
}

static void complete_record_is_read(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_record record = read_record("a");
    assert_string_equal(record.command, "a <b>");
    assert_string_equal(record.ended_by, "duration");
    assert_false(record.interrupted);
    assert_int_equal(record.sample_count, 60);
    assert_true(record.samples[0].begin == 0 && record.samples[0].end == 0.5);
    assert_true(record.samples[59].counted && record.samples[59].duty == 0.6);
    assert_int_equal(record.iteration_count, 30);
    assert_true(record.has_iterations);
    assert_true(record.lateness_p99_us == 70);
    assert_true(fabs(record.wall - 1795168800.0) < 1e-3); /* 2026-11-20T10:00:00Z */
    assert_int_equal(record.instance_room, 2);
    assert_true(fabs(record.instances[0].all.running / record.instances[0].all.known - 0.3) < 1e-4);
    assert_true(fabs(record.instances[1].all.running / record.instances[1].all.known - 0.5) < 1e-4);
    assert_noted(&record, "recorded by version 9.8.7, but this is ");
    assert_not_noted(&record, ";");
    ssreport_record_free(&record);
}

static void record_of_a_later_schema_is_refused(void **state) {
    (void)state;
    struct ss_error error = {0};
    struct ssreport_record record;
    folder_open();
    folder_write_record("a");
    folder_change("a/plan.json", "{", "{\"schema\": 2, ");
    record = read_record("a");
    ssreport_record_free(&record);
    folder_change("a/plan.json", "\"schema\": 2", "\"schema\": 3");
    assert_int_equal(ssreport_record_read(&record, folder_file("a"), "a", &error), -1);
    assert_non_null(strstr(error.message, "the record has schema 3, and this version, "));
    assert_non_null(strstr(error.message,
        ", reads schemas up to 2: use version 9.8.7, which wrote it, or a later one"));
    ssreport_record_free(&record);
    unlink(folder_file("a/plan.json"));
    folder_change("a/summary.json", "{", "{\"schema\": 3, ");
    assert_int_equal(ssreport_record_read(&record, folder_file("a"), "a", &error), -1);
    ssreport_record_free(&record);
}

static void interrupted_record_is_read(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    unlink(folder_file("a/summary.json"));
    unlink(folder_file("a/events.jsonl"));
    unlink(folder_file("a/decisions.csv"));
    unlink(folder_file("a/iterations.csv"));
    struct ssreport_record record = read_record("a");
    assert_true(record.interrupted);
    assert_int_equal(record.sample_count, 60);
    assert_false(record.has_iterations);
    assert_null(record.instances);
    assert_noted(&record, "the run was interrupted: the record has no summary.json");
    assert_noted(&record, "iterations are unknown: iterations.csv: No such file");
    assert_noted(&record, "duties of instances are unknown: decisions were not recorded");
    ssreport_record_free(&record);
}

static void broken_record_lines_are_skipped(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/samples.csv", "10:00:02.000Z,2.000000,0.5", "10:00:02.000Z,2.000000,oops");
    folder_change("a/samples.csv", "10:00:04.000Z,4.000000,0.500000,0.480000", "10:00");
    folder_change("a/samples.csv", "10:00:05.000Z,5.000000",
        "10:00:05.000Z,1.000000"); /* time goes backward */
    folder_change("a/iterations.csv", "00,4.000000,5.000000\n", "00,4.000000\n");
    folder_change("a/decisions.csv", "x,9,0,stopped", "x,9,7777777,stopped");
    folder_change("a/events.jsonl", "}\n", "}\n{\"time\":\n\n");
    struct ssreport_record record = read_record("a");
    assert_int_equal(record.sample_count, 57);
    assert_int_equal(record.iteration_count, 29);
    assert_int_equal(record.instance_room, 2);
    assert_noted(&record, "samples.csv:5: invalid row");
    assert_noted(&record, "(and 2 more)");
    assert_noted(&record, "iterations.csv:6:12: the row has 2 fields, but 3 are expected");
    assert_noted(&record, "decisions.csv:3: invalid row");
    assert_noted(&record, "events.jsonl:2: invalid event (and more)");
    ssreport_record_free(&record);
}

/* The last field may be incomplete: "0.4" may have been 0.48. */
static void truncated_last_line_of_a_record_is_skipped(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    FILE *stream = fopen(folder_file("a/samples.csv"), "a");
    fputs("2026-11-20T10:00:30.500Z,30.500000,0.500000,0.480000,0.020000,0.48,0.6", stream);
    fclose(stream);
    struct ssreport_record record = read_record("a");
    assert_int_equal(record.sample_count, 60);
    assert_noted(&record, "samples.csv:62:");
    assert_noted(&record, "the last line has no newline");
    ssreport_record_free(&record);
}

/* A single wrong time must not make a run appear years long. */
static void absurd_times_in_a_record_are_skipped(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/samples.csv", "Z,10.000000", "Z,1e8");
    folder_change("a/decisions.csv", "x,9,0,stopped", "x,9,1e6,stopped");
    unlink(folder_file("a/plan.json"));
    struct ssreport_record record = read_record("a");
    assert_int_equal(record.sample_count, 59);
    assert_true(ssreport_record_end(&record) == 30);
    assert_noted(&record, "samples.csv:21: invalid row");
    assert_int_equal(record.instance_room, 2);
    assert_noted(&record, "decisions.csv:3: invalid row");
    ssreport_record_free(&record);
}

/* showstopper accepts this many instances; memory is allocated only for those with figures. */
static void instances_with_high_indexes_are_read(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/plan.json", "{\"instances\": 1000000}");
    folder_change("a/decisions.csv", "x,9,0,stopped", "x,9,999999,stopped");
    struct ssreport_record record = read_record("a");
    assert_int_equal(record.instance_room, 1000000);
    assert_true(record.instances[999999].all.known > 20);
    assert_null(record.instances[999998].parts);
    assert_null(strchr(record.notes.text, ';'));
    ssreport_record_free(&record);
}

/* This applies only if nothing else kept the run from its target. */
static void full_duty_run_is_not_reported_as_missing_its_target(void **state) {
    (void)state;
    static const char *const duties[] = {"1", "0.5", "null"};
    for (size_t i = 0; i < 3; i++) {
        char plan[256];
        folder_open();
        folder_write_record("a");
        snprintf(plan, sizeof plan,
            "{\"instances\": 2, \"modules\": {\"control\": {\"name\": \"fixed\", "
            "\"options\": {\"duty\": %s}}}}",
            duties[i]);
        folder_write("a/plan.json", plan);
        folder_change("a/summary.json", "\"warnings\": []",
            "\"warnings\": [\"the target could not be reached: the control module 'fixed' does "
            "not follow the load\", \"the target could not be reached: a CPU quota\"]");
        struct ssreport_record record = read_record("a");
        assert_noted(&record, "a CPU quota");
        if (i == 0)
            assert_not_noted(&record, "does not follow the load");
        else
            assert_noted(&record, "does not follow the load");
        ssreport_record_free(&record);
    }
}

static void broken_json_in_a_record_is_noted(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/summary.json", "{\"samples\": ");
    folder_write("a/plan.json", "[]");
    struct ssreport_record record = read_record("a");
    assert_noted(&record, "summary.json: invalid JSON");
    assert_null(record.version);
    assert_null(record.command);
    assert_int_equal(record.sample_count, 60);
    ssreport_record_free(&record);
}

static void zero_iterations_differ_from_uncounted_iterations(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/iterations.csv", "instance,start,end\n");
    struct ssreport_record record = read_record("a");
    assert_true(record.has_iterations);
    ssreport_record_free(&record);
    folder_change("a/summary.json", "\"iterations\": 30", "\"iterations\": null");
    record = read_record("a");
    assert_false(record.has_iterations);
    ssreport_record_free(&record);
}

/* Rates computed from a part of the iterations would be wrong. */
static void incomplete_iterations_give_no_rates(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change(
        "a/summary.json", "\"iterations\": 30", "\"iterations\": 30, \"iterations_left_out\": 7");
    struct ssreport_record record = read_record("a");
    assert_false(record.has_iterations);
    assert_noted(&record, "rates of iterations are unknown: iterations.csv lacks 7 iterations");
    ssreport_record_free(&record);
}

static struct ssreport_run read_run(const char *name) {
    const struct ssreport_settings settings = {.interval = 10, .confidence = 0.95};
    struct ssreport_run run;
    struct ss_error error = {0};
    if (ssreport_run_read(&run, folder_file(name), name, &settings, &error) < 0)
        fail_msg("%s", error.message);
    return run;
}

/*
 * 90 iterations of 1 s and 10 of 4 s; iterations.csv has only 30 of the short ones, as if the rest
 * were dropped.
 */
#define TIMES                                                                                      \
    "elapsed_seconds,command,bucket_seconds,iterations\n"                                          \
    "1.000000,0,0.999817216,90\n2.000000,1,3.999268864,10\n"

static void iteration_times_are_computed_from_buckets(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/iteration-times.csv", TIMES ",0,0.999817216,90\n,1,3.999268864,10\n");
    folder_change("a/summary.json", "\"iterations\": 30",
        "\"iterations\": 100, \"iterations_left_out\": 70, "
        "\"iteration_seconds\": {\"mean\": 1.3, \"deviation\": 0.905}");
    struct ssreport_run run = read_run("a");
    assert_true(run.figures.iteration.mean == 1.3 && run.figures.iteration.deviation == 0.905);
    assert_near(run.figures.iteration.median, 1, 0.0005 * (1));
    assert_near(run.figures.iteration.p95, 4, 0.0005 * (4));
    assert_near(run.figures.iteration.p99, 4, 0.0005 * (4));
    assert_int_equal(run.record.iteration_times.count, 100);
    ssreport_run_free(&run);
}

/* A killed run has no rows for the whole run. */
static void iteration_times_of_a_killed_run_use_per_second_buckets(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    unlink(folder_file("a/summary.json"));
    folder_write("a/iteration-times.csv", TIMES "3.000000,0,0.99");
    struct ssreport_run run = read_run("a");
    assert_int_equal(run.record.iteration_times.count, 100);
    assert_near(run.figures.iteration.mean, 1.3, 0.0005 * (1.3));
    assert_true(isnan(run.figures.iteration.deviation));
    assert_near(run.figures.iteration.p95, 4, 0.0005 * (4));
    ssreport_run_free(&run);
}

/* The table lacks rows, as if the disk were full. */
static void complete_iterations_are_preferred_to_incomplete_buckets(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/iteration-times.csv",
        "elapsed_seconds,command,bucket_seconds,iterations\n1.000000,0,3.999268864,29\n");
    struct ssreport_run run = read_run("a");
    assert_true(fabs(run.figures.iteration.p95 - 1) < 1e-9);
    ssreport_run_free(&run);
}

static void iterations_in_bursts_have_no_iteration_times(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/iteration-times.csv", TIMES);
    folder_change("a/summary.json", "\"iterations\": 30",
        "\"iterations\": 100, \"iterations_in_bursts\": 90, \"iterations_per_second\": null");
    struct ssreport_run run = read_run("a");
    assert_true(isnan(run.figures.iteration.median) && isnan(run.figures.iteration.mean));
    ssreport_run_free(&run);
}

static void summary_that_contradicts_its_samples_is_noted(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/summary.json", "\"error_mean_percent\": 2", "\"error_mean_percent\": 1.9");
    struct ssreport_run run = read_run("a");
    assert_noted(
        &run.record, "the mean error is 1.900 % in the summary and 2.000 % in the samples");
    ssreport_run_free(&run);
}

/*
 * Samples of the warm-up have no time and free sections have no target; neither counts, nor does
 * settling.
 */
static void warm_up_free_time_and_settling_do_not_count(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/samples.csv", "2026-11-20T10:00:00.500Z,0.500000,0.500000",
        "2026-11-20T10:00:00.500Z,,");
    folder_change("a/samples.csv", "20.000000,0.500000", "20.000000,");
    folder_change("a/events.jsonl", "0.000000", "5.000012");
    struct ssreport_record record = read_record("a");
    size_t counted = 0;
    for (size_t i = 0; i < record.sample_count; i++)
        counted += record.samples[i].counted;
    assert_int_equal(record.sample_count, 59);
    assert_int_equal(counted, 50 - 2); /* the free sample and the one in which settling ended */
    assert_true(record.instances[0].all.known < 25.1);
    ssreport_record_free(&record);
}

/* With --start-at all times are known from the beginning, and the first sample counts. */
static void warm_up_samples_with_times_do_not_count(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/samples.csv", "load_ticks,duty\n",
        "load_ticks,duty\n2026-11-20T09:59:59.300Z,-0.700000,,0.990000,,0.99,\n"
        "2026-11-20T09:59:59.800Z,-0.200000,,0.990000,,0.99,\n");
    struct ssreport_record record = read_record("a");
    assert_int_equal(record.sample_count, 60);
    assert_true(record.samples[0].begin == 0 && record.samples[0].counted);
    assert_true(fabs(record.wall - 1795168800.0) < 1e-3);
    assert_not_noted(&record, ";");
    ssreport_record_free(&record);
}

/* The last warm-up sample ends when control begins; all samples are stamped slightly later. */
static void warm_up_without_settling_does_not_count(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/samples.csv", "load_ticks,duty\n",
        "load_ticks,duty\n2026-11-20T09:59:59.500Z,-0.499941,,0.990000,,0.99,\n"
        "2026-11-20T10:00:00.000Z,0.000184,,0.990000,,0.99,\n");
    folder_change("a/events.jsonl", "0.000000", "0.000241");
    struct ssreport_record record = read_record("a");
    assert_int_equal(record.sample_count, 60);
    assert_true(record.samples[0].begin == 0 && record.samples[0].counted);
    ssreport_record_free(&record);
}

/* The column `counted` takes precedence over time stamps and targets. */
static void counted_column_selects_the_counted_samples(void **state) {
    (void)state;
    static const char heading[] = "time,elapsed_seconds,target,load,duty,counted\n";
    char samples[1024];
    folder_open();
    folder_write_record("a");
    int used = snprintf(samples, sizeof samples, "%s", heading);
    for (int i = 1; i <= 6; i++)
        used += snprintf(samples + used, sizeof samples - (size_t)used,
            "2026-11-20T10:00:00.000Z,%d.000000,0.5,0.48,0.6,%d\n", i, i > 2 && i != 5);
    folder_write("a/samples.csv", samples);
    struct ssreport_record record = read_record("a");
    for (int i = 1; i <= 6; i++)
        assert_true(record.samples[i - 1].counted == (i > 2 && i != 5));
    ssreport_record_free(&record);
}

/* Events bound the counted time; a run that ended while settling has counted no time. */
static void counted_time_is_bounded_by_exact_event_times(void **state) {
    (void)state;
    static const char event[] = "{\"elapsed_seconds\":%s,\"event\":\"%s\"}\n";
    char events[512];
    folder_open();
    folder_write_record("a");
    int used = snprintf(events, sizeof events, event, "0.000000", "settling");
    used += snprintf(events + used, sizeof events - (size_t)used, event, "6.000000", "counting");
    snprintf(events + used, sizeof events - (size_t)used, event, "30.250001", "ending");
    folder_write("a/events.jsonl", events);
    struct ssreport_record record = read_record("a");
    assert_true(record.counted_from == 6 && ssreport_record_counted_to(&record) == 30.250001);
    ssreport_record_free(&record);
    snprintf(events, sizeof events, event, "0.000000", "settling");
    folder_write("a/events.jsonl", events);
    record = read_record("a");
    assert_true(record.counted_from == 30 && ssreport_record_counted_to(&record) == 30);
    assert_false(record.samples[59].counted);
    ssreport_record_free(&record);
}

/* The run pauses at 10.25 s for a hundred seconds; samples and iterations continue afterwards. */
static void pauses_are_excluded_from_the_run(void **state) {
    (void)state;
    static const char event[] = "{\"elapsed_seconds\":%s,\"event\":\"%s\"}\n";
    char events[512], from[64], to[64];
    folder_open();
    folder_write_record("a");
    int used = snprintf(events, sizeof events, event, "10.250000", "paused");
    used += snprintf(events + used, sizeof events - (size_t)used, event, "110.250000", "continued");
    snprintf(events + used, sizeof events - (size_t)used, event, "130.250000", "ending");
    folder_write("a/events.jsonl", events);
    for (int i = 60; i > 20; i--) {
        snprintf(from, sizeof from, "Z,%.6f,0.5", i * 0.5);
        snprintf(to, sizeof to, "Z,%.6f,0.5", i * 0.5 + 100.25);
        folder_change("a/samples.csv", from, to);
    }
    folder_change("a/iterations.csv", "00,10.000000,11.000000", "00,10.000000,111.000000");
    folder_change("a/decisions.csv", "x,15,1,running,15,15", "x,115,1,running,15,15");
    struct ssreport_record record = read_record("a");
    assert_true(ssreport_record_counted_to(&record) == 30.25);
    assert_true(record.samples[20].begin == 10.25 && record.samples[20].end == 10.75);
    assert_true(record.samples[59].counted && ssreport_record_end(&record) == 30.25);
    assert_true(record.iterations[10].start == 10 && record.iterations[10].end == 11);
    assert_true(fabs(record.instances[1].all.running - 15) < 1e-9);
    assert_true(ssreport_record_elapsed(&record, 10.25) == 10.25);
    assert_true(ssreport_record_elapsed(&record, 10.5) == 110.5);
    assert_true(ssreport_record_run_time(&record, 60) == 10.25);
    assert_true(ssreport_record_is_paused(&record, 110.25));
    assert_false(ssreport_record_is_paused(&record, 110.5));
    ssreport_record_free(&record);
}

static void instances_that_ended_early_are_noted(void **state) {
    (void)state;
    static const char end[] = "{\"elapsed_seconds\":%s,\"event\":\"instance_ended\","
                              "\"instance\":%d%s,\"value\":%d}\n";
    char events[1024];
    folder_open();
    folder_write_record("a");
    size_t used = (size_t)snprintf(events, sizeof events, end, "7.5", 1, "", 0);
    folder_write("a/events.jsonl", events);
    struct ssreport_record record = read_record("a");
    assert_true(record.first_end == 7.5);
    assert_not_noted(&record, "instance"); /* completed */
    ssreport_record_free(&record);
    used += (size_t)snprintf(events + used, sizeof events - used, end, "9.25", 0, "", 139);
    used += (size_t)snprintf(events + used, sizeof events - used, end, "9.5", 2, "", 1);
    folder_write("a/events.jsonl", events);
    record = read_record("a");
    assert_true(record.first_end == 7.5);
    assert_noted(&record, "instance 0 ended after 9.2 s: status 139, instance 2 ended after 9.5 s: "
                          "status 1");
    ssreport_record_free(&record);
    /* The note quotes how each instance ended; several are counted. */
    used = 0;
    for (int i = 0; i < 5; i++)
        used += (size_t)snprintf(events + used, sizeof events - used, end, "9.5", i,
            i == 0 ? ",\"text\":\"killed by SIGSEGV (core dumped)\""
                   : ",\"text\":\"exit status 1\"",
            1);
    folder_write("a/events.jsonl", events);
    record = read_record("a");
    assert_true(record.first_end == 9.5);
    assert_noted(&record,
        "instance 0 ended after 9.5 s: killed by SIGSEGV (core dumped), instance 1 "
        "ended after 9.5 s: exit status 1, instance 2 ended after 9.5 s: exit "
        "status 1, and 2 more failed");
    ssreport_record_free(&record);
    /* Instances that ended in the warm-up, on request, or with the run are not noted. */
    snprintf(events, sizeof events, end, "null", 0, "", 0);
    folder_write("a/events.jsonl", events);
    record = read_record("a");
    assert_true(record.first_end == 0);
    ssreport_record_free(&record);
    used = (size_t)snprintf(
        events, sizeof events, end, "3.0", 0, ",\"text\":\"ended by the run\"", 143);
    used += (size_t)snprintf(events + used, sizeof events - used, end, "3.1", 1,
        ",\"text\":\"as it was told to\"", 143); /* as in earlier records */
    used += (size_t)snprintf(events + used, sizeof events - used,
        "{\"elapsed_seconds\":3.2,\"event\":\"instance_left\",\"instance\":2}\n");
    used += (size_t)snprintf(events + used, sizeof events - used,
        "{\"elapsed_seconds\":30,\"event\":\"ending\",\"text\":\"duration\"}\n");
    snprintf(events + used, sizeof events - used, end, "30.1", 1, "", 9);
    folder_write("a/events.jsonl", events);
    record = read_record("a");
    assert_true(isinf(record.first_end));
    assert_not_noted(&record, "instance");
    ssreport_record_free(&record);
}

static void assert_fails(const char *name, const char *part) {
    struct ssreport_record record;
    struct ss_error error = {0};
    assert_int_equal(ssreport_record_read(&record, folder_file(name), name, &error), -1);
    if (!strstr(error.message, part))
        fail_msg("no '%s' in: %s", part, error.message);
    ssreport_record_free(&record);
}

static void paths_without_a_record_are_refused(void **state) {
    (void)state;
    folder_open();
    assert_fails("absent", "No such file or directory");
    folder_write("file", "");
    assert_fails(
        "file", "not a folder: name a folder that --record created, or a file of ssrequest --json");
    folder_write("empty/other", "");
    assert_fails("empty", "samples.csv: No such file or directory");
    folder_write("bare/samples.csv", "");
    assert_fails("bare", "samples.csv is empty");
    folder_write("heading/samples.csv", "time,elapsed_seconds,target,load\n");
    assert_fails("heading", "no sample under control");
    folder_write("strange/samples.csv", "time,seconds,target,load\n1,2,3,4\n");
    assert_fails("strange", "samples.csv:1:1: no column 'elapsed_seconds'");
    folder_write_record("a");
    unlink(folder_file("a/samples.csv"));
    mkdir(folder_file("a/samples.csv"), 0777);
    assert_fails("a", "samples.csv");
}

static void iterations_in_bursts_give_no_rates(void **state) {
    (void)state;
    struct ssreport_record record;
    struct ss_error error = {0};
    folder_open();
    folder_write_record("a");
    folder_change("a/summary.json", "\"iterations\": 30",
        "\"iterations\": 30, \"iterations_per_second\": null, \"iterations_in_bursts\": 30");
    assert_int_equal(ssreport_record_read(&record, folder_file("a"), "a", &error), 0);
    assert_false(record.has_iterations);
    assert_int_equal(record.iteration_count, 0);
    assert_noted(&record, "rates of iterations are unknown: iterations ended in bursts");
    ssreport_record_free(&record);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(complete_record_is_read),
    cmocka_unit_test(record_of_a_later_schema_is_refused),
    cmocka_unit_test(interrupted_record_is_read),
    cmocka_unit_test(broken_record_lines_are_skipped),
    cmocka_unit_test(truncated_last_line_of_a_record_is_skipped),
    cmocka_unit_test(absurd_times_in_a_record_are_skipped),
    cmocka_unit_test(instances_with_high_indexes_are_read),
    cmocka_unit_test(full_duty_run_is_not_reported_as_missing_its_target),
    cmocka_unit_test(broken_json_in_a_record_is_noted),
    cmocka_unit_test(zero_iterations_differ_from_uncounted_iterations),
    cmocka_unit_test(incomplete_iterations_give_no_rates),
    cmocka_unit_test(iteration_times_are_computed_from_buckets),
    cmocka_unit_test(iteration_times_of_a_killed_run_use_per_second_buckets),
    cmocka_unit_test(complete_iterations_are_preferred_to_incomplete_buckets),
    cmocka_unit_test(iterations_in_bursts_have_no_iteration_times),
    cmocka_unit_test(summary_that_contradicts_its_samples_is_noted),
    cmocka_unit_test(warm_up_free_time_and_settling_do_not_count),
    cmocka_unit_test(warm_up_samples_with_times_do_not_count),
    cmocka_unit_test(warm_up_without_settling_does_not_count),
    cmocka_unit_test(counted_column_selects_the_counted_samples),
    cmocka_unit_test(counted_time_is_bounded_by_exact_event_times),
    cmocka_unit_test(pauses_are_excluded_from_the_run),
    cmocka_unit_test(instances_that_ended_early_are_noted),
    cmocka_unit_test(paths_without_a_record_are_refused),
    cmocka_unit_test(iterations_in_bursts_give_no_rates))
