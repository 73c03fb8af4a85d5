/* SPDX-License-Identifier: Apache-2.0 */

#include <stdlib.h>

#include "load_series.h"
#include "loadline_topic.h"
#define FOLDER_VERSION "9.8.7"
#include "report_folder.h"
#include "report_ladder.h"
#include "unit.h"

static void assert_answer(struct ssreport_run *runs, size_t count, const char *expected) {
    struct ssreport_report report = {
        .runs = runs, .run_count = count, .settings = {.confidence = 0.95}};
    char answer[1024];
    assert_int_equal(ssreport_load_series_find(&report), 0);
    assert_int_equal(report.load_series_count, 1);
    ssreport_load_series_answer(&report.load_series[0], answer, sizeof answer);
    ssreport_load_series_free(&report);
    assert_string_equal(answer, expected);
}

/* At a load of 60 %, 74.4 % of the maximum is done, not 60 %. */
static void answer_states_the_work_done_and_the_remaining_capacity(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 1);
    assert_answer(&ladder.run, 1,
        "At 60 % load it has done 74.4 % (74.1 to 74.7) of what it can do; 34.4 % more is "
        "left; two measurements of a level differ by about 0.2 %.");
}

/* The interval is narrower after four rounds, but single measurements differ as much as before. */
static void noise_does_not_depend_on_the_number_of_rounds(void **state) {
    (void)state;
    struct ladder ladders[4];
    struct ssreport_run runs[4];
    for (int i = 0; i < 4; i++) {
        climb(&ladders[i], overlap, 1);
        ladders[i].run.round = i + 1;
        runs[i] = ladders[i].run;
    }
    assert_answer(runs, 4,
        "At 60 % load it has done 74.4 % (74.3 to 74.5) of what it can do; 34.4 % more is "
        "left; two measurements of a level differ by about 0.2 %.");
}

/* The rounds of both studies have the same numbers. */
static void studies_and_variants_have_lines_of_their_own(void **state) {
    (void)state;
    struct ladder ladders[3];
    struct ssreport_run runs[3];
    for (int i = 0; i < 3; i++) {
        climb(&ladders[i], i == 0 ? overlap : bent, i == 0 ? 1 : 0.8);
        runs[i] = ladders[i].run;
        runs[i].manifest = i == 0 ? 1 : 2;
    }
    runs[2].variant = (char *)(uintptr_t) "size=large";
    struct ssreport_report report = {
        .runs = runs, .run_count = 3, .settings = {.confidence = 0.95}};
    assert_int_equal(ssreport_load_series_find(&report), 0);
    assert_int_equal(report.load_series_count, 3);
    const struct ssreport_load_series *series = report.load_series;
    assert_near(series[0].done.y, 0.744, 1e-9);
    assert_near(series[0].full_load, 1, 1e-9);
    assert_near(series[1].full_load, 0.8, 1e-9);
    assert_string_equal(series[0].label, "made");
    assert_string_equal(series[1].label, "made (2)");
    assert_string_equal(series[2].label, "made, size=large");
    ssreport_load_series_free(&report);
}

static void load_above_the_highest_level_has_no_answer(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 0.5);
    assert_answer(&ladder.run, 1,
        "What is left at 60 % load is unknown: loads from 5 to 50 % were measured.");
}

/* Other processes kept the machine busy, so no level is near the load in question. */
static void load_far_below_all_levels_has_no_answer(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 1);
    for (int i = 0; i < 2 * LEVELS; i++)
        ladder.steps[i].load.mean = 0.9 + 0.1 * ladder.steps[i].target;
    assert_answer(&ladder.run, 1,
        "What is left at 60 % load is unknown: loads from 91 to 100 % were measured.");
    ladder.run.predict = 0.8;
    assert_answer(&ladder.run, 1,
        "What is left at 60 % load is unknown: loads from 91 to 100 % were measured. There is no "
        "prediction: no level is near this load.");
}

static void answer_without_full_load_refers_to_the_highest_level(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 0.8);
    assert_answer(&ladder.run, 1,
        "At 60 % load it has done 83.0 % (82.8 to 83.3) of what it can do at the highest load "
        "measured; 20.4 % more is left; two measurements of a level differ by about 0.2 %.");
}

static void prediction_without_bursts_warns_of_unseen_knees(void **state) {
    (void)state;
    struct ladder ladder;
    char knees[] = "0.75";
    climb(&ladder, bent, 0.6);
    ladder.run.predict = 0.9;
    ladder.run.knees = knees;
    assert_answer(&ladder.run, 1,
        "At 60 % load it has done 100.0 % (100.0 to 100.0) of what it can do at the highest load "
        "measured; 0.0 % more is left; two measurements of a level differ by about 0.2 %. At 90 % "
        "load it would do 900 (598.7 to 909.9) "
        "iterations per second, but 890.1 to 909.9 if nothing limits it above the measured 60 %: "
        "the knee at 75 % is not identified without bursts.");
    ladder.run.knees = NULL;
    assert_answer(&ladder.run, 1,
        "At 60 % load it has done 100.0 % (100.0 to 100.0) of what it can do at the highest load "
        "measured; 0.0 % more is left; two measurements of a level differ by about 0.2 %. At 90 % "
        "load it would do 900 (598.7 to 909.9) "
        "iterations per second, but 890.1 to 909.9 if nothing limits it above the measured 60 %, "
        "which only bursts can show.");
}

/*
 * Bursts at full load reach 812.5; a load of 60 % reaches 73.8 % of that, and 90 % reaches 787.5.
 */
static void bursts_at_full_load_set_the_maximum(void **state) {
    (void)state;
    struct ladder ladders[2];
    climb(&ladders[0], bent, 0.6);
    climb(&ladders[1], bent, 1);
    ladders[0].run.predict = ladders[1].run.predict = 0.9;
    ladders[1].run.bursts = 5;
    for (int i = 0; i < 2 * LEVELS; i++) {
        struct ssreport_step *step = &ladders[1].steps[i];
        step->target = i % 2 ? 1 : 0.6;
        step->load.mean = step->target;
        step->throughput = i % 2 ? bent(1) : bent(0.6);
    }
    struct ssreport_run runs[] = {ladders[0].run, ladders[1].run};
    struct ssreport_report report = {
        .runs = runs, .run_count = 2, .settings = {.confidence = 0.95}};
    assert_int_equal(ssreport_load_series_find(&report), 0);
    const struct ssreport_load_series *series = &report.load_series[0];
    assert_near(series->full_load, 1, 1e-9);
    assert_near(series->full_throughput, bent(1), 1e-6);
    assert_near(ssreport_load_series_done_at(series, series->line.count - 1, 0.95).y,
        bent(0.6) / bent(1), 1e-3);
    ssreport_load_series_free(&report);
    assert_answer(runs, 2,
        "At 60 % load it has done 73.8 % (73.7 to 74.0) of what it can do; 35.4 % more is "
        "left; two measurements of a level differ by about 0.2 %. At 90 % load it would do 785.3 "
        "(757.6 to 814.3) iterations per second, judging "
        "from the levels below and bursts at full load.");
}

static double falling(double load) {
    return 1000 * (fmin(load, 0.65) - 0.5 * fmax(load - 0.65, 0));
}

/* As with locks: bursts at full load reach less than a level below. */
static void prediction_uses_bursts_below_the_maximum(void **state) {
    (void)state;
    char text[800];
    struct ladder ladders[2];
    climb(&ladders[0], falling, 0.8);
    climb(&ladders[1], falling, 1);
    ladders[0].run.predict = ladders[1].run.predict = 0.9;
    ladders[1].run.bursts = 5;
    for (int i = 0; i < 2 * LEVELS; i++) {
        struct ssreport_step *step = &ladders[1].steps[i];
        step->target = i % 2 ? 1 : 0.8;
        step->load.mean = step->target;
        step->throughput = falling(step->target);
    }
    struct ssreport_run runs[] = {ladders[0].run, ladders[1].run};
    struct ssreport_report report = {
        .runs = runs, .run_count = 2, .settings = {.confidence = 0.95}};
    assert_int_equal(ssreport_load_series_find(&report), 0);
    assert_false(report.load_series[0].has_bursts);
    ssreport_load_series_answer(&report.load_series[0], text, sizeof text);
    if (!strstr(text, "judging from the levels below and bursts at full load."))
        fail_msg("%s", text);
    ssreport_load_series_free(&report);
}

/* Both runs of the first round failed. */
static void a_round_without_runs_is_not_missed(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 1);
    ladder.run.round = 2;
    assert_answer(&ladder.run, 1,
        "At 60 % load it has done 74.4 % (74.1 to 74.7) of what it can do; 34.4 % more is "
        "left; two measurements of a level differ by about 0.2 %.");
}

/* With a fused multiply-add the part done at the highest level can be 1 + 2e-16. */
static void remaining_capacity_is_never_negative(void **state) {
    (void)state;
    struct ssreport_load_series series = {.done = {.y = nextafter(1, 2)}};
    assert_false(signbit(ssreport_load_series_left(&series)));
    series.done.y = NAN;
    assert_true(isnan(ssreport_load_series_left(&series)));
}

static void assert_service_answer(double capacity, const char *expected) {
    static struct service_record records[2];
    char answer[1024];
    request_levels(&records[0], capacity, false);
    request_levels(&records[1], capacity, true);
    struct ssreport_responses responses[] = {records[0].responses, records[1].responses};
    struct ssreport_report report = {
        .responses = responses, .response_count = 2, .settings = {.confidence = 0.95}};
    assert_int_equal(ssreport_load_series_find(&report), 0);
    assert_int_equal(report.load_series_count, 1);
    ssreport_load_series_answer(&report.load_series[0], answer, sizeof answer);
    ssreport_load_series_free(&report);
    assert_string_equal(answer, expected);
}

static void answer_of_a_saturated_service_refers_to_its_capacity(void **state) {
    (void)state;
    assert_service_answer(50,
        "At 60 % load it has done 60.0 % (59.8 to 60.2) of what it can "
        "do; 66.7 % more is left; two measurements of a level differ by about 0.2 %.");
}

static void answer_of_an_unsaturated_service_refers_to_the_highest_rate(void **state) {
    (void)state;
    assert_service_answer(125,
        "At 60 % load it has done 75.0 % (74.7 to 75.3) of what it can do at the highest rate "
        "measured; 33.3 % more is left; two measurements of a level differ by about 0.2 %.");
}

#define TEN 1795168800 /* 2026-11-20T10:00:00Z, when records begin */

static FILE *create(const char *record, const char *file, const char *heading) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", record, file);
    folder_write(path, heading);
    FILE *stream = fopen(folder_file(path), "a");
    assert_non_null(stream);
    return stream;
}

/*
 * Writes the record of a service that needs 50 W when idle, with the rates of request_levels() and
 * `drain` more seconds at 150 W until the last answer.
 */
static void write_service(const char *record, bool down, double drain) {
    mkdir(folder_file(record), 0777);
    FILE *requests = create(record, "requests.csv",
        "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"
        "timeouts,bytes,lateness_most_seconds,intended_mean_seconds,intended_p50_seconds,"
        "intended_p95_seconds,intended_p99_seconds,intended_most_seconds,actual_mean_seconds,"
        "actual_p50_seconds,actual_p95_seconds,actual_p99_seconds,actual_most_seconds\n");
    FILE *energy = create(record, "energy.csv", "time,elapsed_seconds,watts\n");
    FILE *beside = create(record, "beside.csv", "time,load\n");
    FILE *document = create(record, "requests.json", "");
    double length = LEVELS * SECONDS, end = length + drain;
    for (int i = 0; i < end; i++) {
        int level = down ? LEVELS - 1 - i / SECONDS : i / SECONDS, at = i + 1;
        double rate = i < length ? 10 * level : 0, until = fmin(at, end);
        fprintf(requests, "%.6f,%.6f,%g,%g,%g,0,0,0,%g,0,0,1000,0.001,,,,,,,,,,\n", TEN + until,
            until, rate, rate, rate, i < length ? rate : 1);
        if (at > end)
            break;
        fprintf(energy, "2026-11-20T10:%02d:%02d.000Z,%d,%g\n", at / 60, at % 60, at,
            i < length ? 50 + rate : 150);
        fprintf(beside, "2026-11-20T10:%02d:%02d.000Z,%g\n", at / 60, at % 60, rate / 125);
    }
    fprintf(document,
        "{\"program\": \"ssrequest\", \"schema\": 1, \"succeeded\": 1, "
        "\"profile\": {\"kind\": \"trace\", \"length_seconds\": %g}}",
        length);
    fclose(requests);
    fclose(energy);
    fclose(beside);
    fclose(document);
}

static struct ssreport_responses read_service(const char *record) {
    struct ssreport_responses responses;
    struct ss_error error = {0};
    if (ssreport_responses_read(&responses, folder_file(record), record, &error) < 0)
        fail_msg("%s", error.message);
    ssreport_responses_read_beside(&responses);
    responses.experiment = strdup("loadline");
    responses.workload = strdup("serve");
    responses.edge = SSREPORT_EDGE_DEFAULT;
    responses.round = 1;
    return responses;
}

/* The last answers come after the profile, at a planned rate of 0. */
static void idle_power_excludes_the_time_of_the_last_answers(void **state) {
    (void)state;
    static const double drains[] = {0.2, 3.5};
    for (int i = 0; i < 2; i++) {
        folder_open();
        write_service("up", false, drains[i]);
        write_service("down", true, 0.2);
        struct ssreport_responses responses[] = {read_service("up"), read_service("down")};
        struct ssreport_report report = {
            .responses = responses, .response_count = 2, .settings = {.confidence = 0.95}};
        assert_int_equal(ssreport_load_series_find(&report), 0);
        assert_int_equal(report.load_series_count, 1);
        const struct ssreport_load_series *series = &report.load_series[0];
        assert_null(series->failure);
        assert_near(series->line.idle_watts, 50, 1e-9);
        assert_true(series->has_power);
        ssreport_load_series_free(&report);
        ssreport_responses_free(&responses[0]);
        ssreport_responses_free(&responses[1]);
    }
}

static void runs_without_throughput_have_no_line(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 1);
    for (int i = 0; i < 2 * LEVELS; i++)
        ladder.steps[i].throughput = NAN;
    assert_answer(&ladder.run, 1,
        "What is left is unknown: fewer than four levels above idle have a throughput.");
}

static void runs_of_other_experiments_form_no_load_line(void **state) {
    (void)state;
    struct ladder ladder;
    struct ssreport_report report = {.runs = &ladder.run, .run_count = 1};
    climb(&ladder, overlap, 1);
    ladder.run.experiment = NULL;
    assert_int_equal(ssreport_load_series_find(&report), 0);
    assert_int_equal(report.load_series_count, 0);
}

/* Draws the pictures of the only series. Returns the page, which the test frees. */
static char *draw(struct ssreport_report *report) {
    char *text = NULL;
    size_t size = 0;
    report->settings.confidence = 0.95;
    assert_int_equal(ssreport_load_series_find(report), 0);
    assert_int_equal(report->load_series_count, 1);
    struct ssreport_page page = {.stream = open_memstream(&text, &size)};
    ssreport_loadline_plot(&page, report, &report->load_series[0]);
    fclose(page.stream);
    bool is_failed = report->load_series[0].failure;
    ssreport_load_series_free(report);
    if (page.pictures == 0 && !is_failed) {
        free(text);
        SKIP("gnuplot: no picture can be drawn");
    }
    return text;
}

static void assert_drawn(const char *page, const char *part, bool drawn) {
    if ((strstr(page, part) != NULL) != drawn)
        fail_msg("'%s' is %s", part, drawn ? "missing" : "drawn");
}

/* Bands are the only shaded areas. */
static int count_bands(const char *page) {
    int count = 0;
    for (const char *at = page; (at = strstr(at, "fill-opacity")) != NULL; at++)
        count++;
    return count;
}

static char *draw_run(struct ladder *ladder) {
    struct ssreport_report report = {.runs = &ladder->run, .run_count = 1};
    return draw(&report);
}

static void prediction_is_drawn_only_if_requested(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 0.6);
    for (int predicts = 0; predicts < 2; predicts++) {
        ladder.run.predict = predicts ? 0.9 : 0;
        if (predicts)
            ladder.run.record.verdict.verdict.finding = SS_INVALID;
        char *page = draw_run(&ladder);
        assert_drawn(page, "Throughput against load, with its interval", true);
        assert_drawn(page, "iterations/s", true);
        assert_drawn(page, "predicted", predicts);
        assert_drawn(page, "invalid runs", predicts);
        assert_drawn(page, "power, W", false);
        assert_drawn(page, "response time, s", false);
        free(page);
    }
}

static void power_is_drawn_with_a_band_around_all_visits(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 1);
    use_power(&ladder, 8);
    char *page = draw_run(&ladder);
    assert_drawn(page, "power, W", true);
    assert_int_equal(count_bands(page), 2); /* of power and of throughput */
    free(page);
}

static void response_times_of_a_service_are_drawn(void **state) {
    (void)state;
    static struct service_record records[2];
    for (int down = 0; down < 2; down++) {
        request_levels(&records[down], 50, down);
        for (int i = 0; i < LEVELS * SECONDS; i++)
            records[down].seconds[i].response[SSREPORT_INTENDED] = (struct ssreport_response){
                .mean = 0.1, .p50 = 0.08, .p95 = 0.2, .p99 = 0.3, .most = 0.4};
    }
    struct ssreport_responses responses[] = {records[0].responses, records[1].responses};
    struct ssreport_report report = {.responses = responses, .response_count = 2};
    char *page = draw(&report);
    assert_drawn(page, "requests/s", true);
    assert_drawn(page, "response time, s", true);
    assert_drawn(page, "95th percentile of each visit", true);
    assert_int_equal(count_bands(page), 2);
    assert_drawn(page, "iterations/s", false);
    free(page);
}

static void series_without_a_line_has_no_pictures(void **state) {
    (void)state;
    struct ladder ladder;
    climb(&ladder, overlap, 1);
    for (int i = 0; i < 2 * LEVELS; i++)
        ladder.steps[i].throughput = NAN;
    char *page = draw_run(&ladder);
    assert_string_equal(page, "");
    free(page);
}

UNIT_MAIN(cmocka_unit_test(answer_states_the_work_done_and_the_remaining_capacity),
    cmocka_unit_test(noise_does_not_depend_on_the_number_of_rounds),
    cmocka_unit_test(studies_and_variants_have_lines_of_their_own),
    cmocka_unit_test(load_above_the_highest_level_has_no_answer),
    cmocka_unit_test(load_far_below_all_levels_has_no_answer),
    cmocka_unit_test(answer_without_full_load_refers_to_the_highest_level),
    cmocka_unit_test(prediction_without_bursts_warns_of_unseen_knees),
    cmocka_unit_test(bursts_at_full_load_set_the_maximum),
    cmocka_unit_test(prediction_uses_bursts_below_the_maximum),
    cmocka_unit_test(a_round_without_runs_is_not_missed),
    cmocka_unit_test(remaining_capacity_is_never_negative),
    cmocka_unit_test(answer_of_a_saturated_service_refers_to_its_capacity),
    cmocka_unit_test(answer_of_an_unsaturated_service_refers_to_the_highest_rate),
    cmocka_unit_test(idle_power_excludes_the_time_of_the_last_answers),
    cmocka_unit_test(runs_without_throughput_have_no_line),
    cmocka_unit_test(runs_of_other_experiments_form_no_load_line),
    cmocka_unit_test(prediction_is_drawn_only_if_requested),
    cmocka_unit_test(power_is_drawn_with_a_band_around_all_visits),
    cmocka_unit_test(response_times_of_a_service_are_drawn),
    cmocka_unit_test(series_without_a_line_has_no_pictures))
