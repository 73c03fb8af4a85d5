/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of tables, headline and page of load lines; test_report_loadline.c tests the lines. */

#include "report_ladder.h"
#include "report_make.h"

static struct ladder ladder;

static struct ssreport_report report_on_ladder(void) {
    struct ssreport_report report = begin_report();
    report.runs = &ladder.run;
    report.run_count = 1;
    finish_report(&report);
    return report;
}

static void close_report(struct ssreport_report *report) {
    report->runs = NULL; /* not allocated */
    report->responses = NULL;
    report->run_count = report->response_count = 0;
    ssreport_report_free(report);
}

static void headline_asks_about_the_capacity(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    struct ssreport_report report = report_on_ladder();
    assert_headline(&report,
        "How much of its maximum throughput does made reach at 60 % load, and what is left?",
        "At 60 % load it has done 74.4 % (74.1 to 74.7) of what it can do; 34.4 % more is left; "
        "two measurements of a level differ by about 0.2 %.");
    assert_rows(&report, "loadline-answers", 1);
    assert_text(&report, "loadline-answers", 0, "answer", ssreport_findings_answer(&report));
    close_report(&report);
}

static void answer_of_an_invalid_record_says_why(void **state) {
    (void)state;
    struct ss_evidence evidence;
    climb(&ladder, overlap, 1);
    ss_evidence_clear(&evidence);
    evidence.figures[SS_CHECK_STEAL] = 30;
    ssreport_verdict_reach(&ladder.run.record.verdict, &evidence);
    struct ssreport_report report = report_on_ladder();
    assert_text(&report, "loadline-answers", 0, "answer",
        "The record is invalid because of steal 30 % (invalid above 5). Remove the cause and "
        "repeat it.");
    assert_text(&report, "loadline-answers", 0, "answer", ssreport_findings_answer(&report));
    ssreport_verdict_free(&ladder.run.record.verdict);
    close_report(&report);
}

/* Noise has opposite signs on both ways, so it does not change the mean. */
static void answer_and_levels_are_in_tables(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    struct ssreport_report report = report_on_ladder();
    assert_cell(&report, "loadline-answers", 0, "at", 0.6);
    assert_cell(&report, "loadline-answers", 0, "done", overlap(0.6) / overlap(1));
    assert_cell(&report, "loadline-answers", 0, "left", overlap(1) / overlap(0.6) - 1);
    assert_cell(&report, "loadline-answers", 0, "rounds", 1);
    assert_cell(&report, "loadline-answers", 0, "left_out", 0);
    assert_cell(&report, "loadline-answers", 0, "full_load", 1);
    assert_cell(&report, "loadline-answers", 0, "full_throughput", overlap(1));
    assert_cell(&report, "loadline-answers", 0, "per_joule", NAN);
    assert_rows(&report, "loadline", LEVELS - 1);
    for (size_t i = 0; i < LEVELS - 1; i++) {
        double load = (double)(i + 1) / (LEVELS - 1);
        assert_cell(&report, "loadline", i, "target", load);
        assert_cell(&report, "loadline", i, "load", load);
        assert_cell(&report, "loadline", i, "visits", 2);
        assert_cell(&report, "loadline", i, "throughput", overlap(load));
        assert_cell(&report, "loadline", i, "done", overlap(load) / overlap(1));
        assert_cell(&report, "loadline", i, "up_to_down", expm1(i % 2 == 0 ? 0.002 : -0.002));
        assert_cell(&report, "loadline", i, "response_p95_seconds", NAN);
        assert_cell(&report, "loadline", i, "watts", NAN);
    }
    assert_rows(&report, "loadline-predictions", 0);
    assert_rows(&report, "loadline-fits", 0);
    assert_rows(&report, "loadline-power", 0);
    close_report(&report);
}

static void series_without_a_line_has_only_an_answer(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    for (int i = 0; i < 2 * LEVELS; i++)
        ladder.steps[i].throughput = NAN;
    struct ssreport_report report = report_on_ladder();
    assert_rows(&report, "loadline-answers", 1);
    assert_text(&report, "loadline-answers", 0, "answer",
        "What is left is unknown: fewer than four levels above idle have a throughput.");
    assert_cell(&report, "loadline-answers", 0, "full_throughput", NAN);
    assert_rows(&report, "loadline", 0);
    close_report(&report);
}

/* Levels up to 60 % do not show a bend at 75 %. */
static void prediction_is_listed_with_its_shapes(void **state) {
    (void)state;
    char knees[] = "0.75";
    climb(&ladder, bent, 0.6);
    ladder.run.predict = 0.9;
    ladder.run.knees = knees;
    struct ssreport_report report = report_on_ladder();
    assert_rows(&report, "loadline-predictions", 1);
    assert_cell(&report, "loadline-predictions", 0, "load", 0.9);
    assert_cell(&report, "loadline-predictions", 0, "throughput", 900);
    assert_cell(&report, "loadline-predictions", 0, "knee_above", 0.75);
    double low = cell(&report, "loadline-predictions", 0, "low")->number;
    double unlimited = cell(&report, "loadline-predictions", 0, "unlimited_low")->number;
    assert_near(low, 598.7, 0.1);
    assert_near(unlimited, 890.1, 0.1);
    size_t fits = table_rows(ssreport_table(&report, "loadline-fits"));
    assert_that(fits, >=, 3);
    assert_text(&report, "loadline-fits", 0, "shape", "work per load is linear");
    assert_cell(&report, "loadline-fits", 0, "predicted", 900);
    close_report(&report);
}

/* Full load takes 150 W on the way up, 158 W on the way down. */
static void power_is_listed_by_parts_of_the_maximum(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    use_power(&ladder, 8);
    struct ssreport_report report = report_on_ladder();
    assert_cell(&report, "loadline-power", 0, "part", 1);
    assert_cell(&report, "loadline-power", 0, "throughput", overlap(1));
    assert_cell(&report, "loadline-power", 0, "watts", 154);
    assert_cell(&report, "loadline-power", 0, "per_joule", overlap(1) / 154);
    assert_cell(&report, "loadline", LEVELS - 2, "watts", 154);
    assert_cell(&report, "loadline", LEVELS - 2, "watts_least", 150);
    assert_cell(&report, "loadline", LEVELS - 2, "watts_most", 158);
    close_report(&report);
}

static void response_times_of_a_service_are_listed_by_level(void **state) {
    (void)state;
    static struct service_record records[2];
    struct ssreport_responses responses[2];
    for (int down = 0; down < 2; down++) {
        request_levels(&records[down], 50, down);
        for (int i = 0; i < LEVELS * SECONDS; i++)
            records[down].seconds[i].response[SSREPORT_INTENDED] = (struct ssreport_response){
                .mean = 0.1, .p50 = 0.08, .p95 = down ? 0.3 : 0.2, .p99 = 0.3, .most = 0.4};
        responses[down] = records[down].responses;
    }
    struct ssreport_report report = begin_report();
    report.responses = responses;
    report.response_count = 2;
    finish_report(&report);
    assert_cell(&report, "loadline", 0, "response_mean_seconds", 0.1);
    assert_cell(&report, "loadline", 0, "response_p50_seconds", 0.08);
    assert_cell(&report, "loadline", 0, "response_p95_seconds", 0.25);
    assert_cell(&report, "loadline", 0, "response_p95_least_seconds", 0.2);
    assert_cell(&report, "loadline", 0, "response_p95_most_seconds", 0.3);
    struct text text = print_report(&report);
    assert_has(&text, "<p>serve: loaded by the rate of requests.</p>");
    free(text.bytes);
    close_report(&report);
}

static void levels_are_shown_with_fewer_digits(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    struct ssreport_report report = report_on_ladder();
    struct text text = print_report(&report);
    assert_has(&text, "<td>60.0</td><td>60.00</td><td>2</td><td>465.0000</td><td>463.8209</td>"
                      "<td>466.1821</td><td>74.40</td><td>74.13</td><td>74.67</td><td>−0.20</td>");
    assert_has(&text, "<td>60.0</td><td>74.40</td><td>74.13</td><td>74.67</td><td>34.41</td>"
                      "<td>1</td><td>0</td><td>0.156</td>");
    assert_has(&text, "load line; throughput at each load, relative to the maximum\n"
                      "workload  method       load, %         /s done, %   from     to\n");
    assert_has(&text, "\nmade      independent    60.00   465.0000   74.40  74.13  74.67\n");
    free(text.bytes);
    close_report(&report);
}

static void page_says_how_instances_overlapped(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    struct ssreport_report report = report_on_ladder();
    struct text text = print_report(&report);
    assert_has(&text, "<p>made: method <code>independent</code>: instances run and stop in rounds");
    free(text.bytes);
    close_report(&report);
    char method[] = "stagger";
    ladder.run.method = method;
    report = report_on_ladder();
    text = print_report(&report);
    assert_has(&text, "<p>made: method <code>stagger</code>, which overlaps instances in its own");
    free(text.bytes);
    close_report(&report);
    ladder.run.method = NULL;
    report = report_on_ladder();
    text = print_report(&report);
    assert_has(&text, "<p>made: method <code>unknown</code>, which overlaps");
    free(text.bytes);
    close_report(&report);
}

static void report_without_load_lines_has_no_section(void **state) {
    (void)state;
    climb(&ladder, overlap, 1);
    ladder.run.experiment = NULL;
    struct ssreport_report report = report_on_ladder();
    struct text text = print_report(&report);
    assert_has_not(&text, "What is left");
    free(text.bytes);
    close_report(&report);
}

UNIT_MAIN(cmocka_unit_test(headline_asks_about_the_capacity),
    cmocka_unit_test(answer_of_an_invalid_record_says_why),
    cmocka_unit_test(answer_and_levels_are_in_tables),
    cmocka_unit_test(series_without_a_line_has_only_an_answer),
    cmocka_unit_test(prediction_is_listed_with_its_shapes),
    cmocka_unit_test(power_is_listed_by_parts_of_the_maximum),
    cmocka_unit_test(response_times_of_a_service_are_listed_by_level),
    cmocka_unit_test(levels_are_shown_with_fewer_digits),
    cmocka_unit_test(page_says_how_instances_overlapped),
    cmocka_unit_test(report_without_load_lines_has_no_section))
