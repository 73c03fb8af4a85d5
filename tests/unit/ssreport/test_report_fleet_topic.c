/* SPDX-License-Identifier: Apache-2.0 */

#include "fleet.h"
#include "report_make.h"

#define NODES_MAX 120

static struct ssreport_fleet_node nodes[2][NODES_MAX];
static struct ssreport_fleet fleets[2]; /* too large for the stack */
static char names[NODES_MAX][24], trace[] = "x.trace", none[] = "", lost[] = "lost";
static char fleet_names[2][16] = {"rehearsal", "replay"};

/*
 * Makes a fleet whose node i has 1 CPU, one second of samples, and a load of 50 % minus `error` *
 * i; the first two nodes start 1 s apart.
 */
static struct ssreport_fleet *make_fleet(int set, size_t count, double error) {
    struct ssreport_fleet *fleet = &fleets[set];
    *fleet = (struct ssreport_fleet){.name = fleet_names[set],
        .set = set,
        .nodes = nodes[set],
        .count = count,
        .rows = count < SSREPORT_FLEET_ROWS ? count : SSREPORT_FLEET_ROWS,
        .width = 1};
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        nodes[set][i] = (struct ssreport_fleet_node){.name = names[i],
            .record = names[i],
            .trace = trace,
            .reason = none,
            .clock = none,
            .offset = NAN,
            .offset_error = NAN,
            .clock_error = NAN,
            .late = i == 1 ? 1 : 0,
            .cpus = 1,
            .covered = 1,
            .load = 0.5 - error * (double)i,
            .target = 0.5,
            .error = error * (double)i,
            .error_abs = fabs(error) * (double)i,
            .apart = 0.1};
        struct ssreport_fleet_sum sum = {1, nodes[set][i].load, 0.5};
        struct ssreport_fleet_sum *row = &fleet->map[i * fleet->rows / count][0];
        fleet->bins[0] = (struct ssreport_fleet_sum){fleet->bins[0].cpu + sum.cpu,
            fleet->bins[0].load + sum.load, fleet->bins[0].target + sum.target};
        *row = (struct ssreport_fleet_sum){
            row->cpu + sum.cpu, row->load + sum.load, row->target + sum.target};
    }
    return fleet;
}

static void fail_node(size_t set, size_t index) {
    nodes[set][index].failed = true;
    nodes[set][index].reason = lost;
    nodes[set][index].covered = 0;
    nodes[set][index].error = NAN;
}

static void assert_has_part(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

/* Returns a report on the first `count` fleets. close_report() frees it. */
static struct ssreport_report report_on(size_t count) {
    struct ssreport_report report = begin_report();
    report.fleets = fleets;
    report.fleet_count = count;
    report.compares = count > 1;
    finish_report(&report);
    return report;
}

static void close_report(struct ssreport_report *report) {
    report->fleets = NULL; /* not allocated */
    report->fleet_count = 0;
    ssreport_report_free(report);
}

static void answer_compares_the_load_of_all_nodes_with_their_targets(void **state) {
    (void)state;
    make_fleet(0, 5, 0.01);
    struct ssreport_report report = report_on(1);
    assert_headline(&report, "How well do 5 nodes together follow their traces?",
        "The load of 5 of 5 nodes was 48.00 %, for a target of 50.00 %; it was 2.00 points from "
        "the target on average over time. The mean error (target minus load) of 90 % of these "
        "nodes "
        "was between 0.20 and 3.80 points. They started within 1 s.");
    assert_rows(&report, "fleet-nodes", 5);
    assert_rows(&report, "fleet-prediction", 0);
    assert_cell(&report, "fleet", 0, "error_mean", 0.02);
    assert_cell(&report, "fleet-nodes", 1, "error_mean", 0.01);
    close_report(&report);
}

static void answer_counts_invalid_nodes(void **state) {
    (void)state;
    make_fleet(0, 5, 0.01);
    for (size_t i = 0; i < 2; i++)
        nodes[0][i].verdict.verdict.finding = SS_INVALID;
    struct ssreport_report report = report_on(1);
    assert_has_part(
        ssreport_findings_answer(&report), "Of 5 records 2 are invalid. The load of 5 of 5 nodes");
    close_report(&report);
}

static void starts_are_compared_in_milliseconds(void **state) {
    (void)state;
    static const struct {
        double late;
        const char *words;
    } rows[] = {
        {1.18e-5, "They started within 1 ms."},
        {0.0121, "They started within 13 ms."},
        {0.9999, "They started within 1 s."},
        {1234.5678, "They started within 1234.568 s."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_fleet(0, 5, 0.01);
        nodes[0][1].late = rows[i].late;
        struct ssreport_report report = report_on(1);
        assert_has_part(report.headline.answer, rows[i].words);
        close_report(&report);
    }
}

static void unknown_starts_are_not_compared(void **state) {
    (void)state;
    make_fleet(0, 5, 0.01);
    for (size_t i = 0; i < 5; i++)
        nodes[0][i].late = NAN;
    struct ssreport_report report = report_on(1);
    assert_has_part(report.headline.answer, " was between 0.20 and 3.80 points.");
    assert_null(strstr(report.headline.answer, "started"));
    close_report(&report);
}

static void answer_names_three_failures_and_counts_the_others(void **state) {
    (void)state;
    make_fleet(0, 6, 0);
    for (size_t i = 0; i < 5; i++)
        fail_node(0, i);
    struct ssreport_report report = report_on(1);
    assert_has_part(
        report.headline.answer, " These nodes failed: n0 (lost), n1 (lost), n2 (lost) and 2 more.");
    close_report(&report);
    make_fleet(0, 3, 0);
    for (size_t i = 0; i < 3; i++)
        fail_node(0, i);
    report = report_on(1);
    assert_headline(&report, "How well do 3 nodes together follow their traces?",
        "No node has a sample. These nodes failed: n0 (lost), n1 (lost), n2 (lost).");
    assert_text(&report, "fleet-nodes", 2, "status", "failed");
    assert_text(&report, "fleet-nodes", 2, "reason", "lost");
    close_report(&report);
}

static void answer_names_three_untrusted_clocks_and_counts_the_others(void **state) {
    (void)state;
    make_fleet(0, 5, 0);
    for (size_t i = 1; i < 5; i++) {
        nodes[0][i].offset = i == 1 ? -0.25 : 2;
        nodes[0][i].offset_error = 0.001;
    }
    struct ssreport_report report = report_on(1);
    assert_has_part(report.headline.answer,
        " These clocks are not trusted: n1 (0.250 s behind, known within 0.001 s), n2 (2.000 s "
        "ahead, known within 0.001 s), n3 (2.000 s ahead, known within 0.001 s) and 1 more.");
    assert_cell(&report, "fleet", 0, "untrusted_clocks", 4);
    close_report(&report);
}

/* The intervals of 19 nodes are from their smallest to their largest error, 0 to 18 points. */
static void second_fleet_is_compared_with_the_prediction_of_the_first(void **state) {
    (void)state;
    make_fleet(0, 19, 0.01);
    make_fleet(1, 20, 0.0095);
    nodes[1][19].apart = 0.2;
    fail_node(1, 0);
    struct ssreport_report report = report_on(2);
    assert_headline(&report, "Do 20 nodes follow their traces as 19 nodes predict?",
        "18 of 19 nodes are in the interval that first set predicts for the mean error of 90 % of "
        "the nodes, and 18 in that for the absolute error over 10 s. If the prediction is right, "
        "each interval contains at least 13 nodes in 97.5 % of all cases. These nodes failed: n0 "
        "(lost).");
    assert_rows(&report, "fleet-prediction", 19);
    assert_text(&report, "fleet-prediction", 0, "node", "n1");
    assert_cell(&report, "fleet-prediction", 0, "error_high", 0.18);
    assert_text(&report, "fleet-prediction", 17, "error_within", "yes");
    assert_text(&report, "fleet-prediction", 18, "error_within", "no");
    struct text text = print_report(&report);
    assert_has(&text, "Predicted and measured nodes");
    free(text.bytes);
    close_report(&report);
}

static void few_nodes_predict_nothing(void **state) {
    (void)state;
    make_fleet(0, 18, 0.01);
    make_fleet(1, 2, 0.01);
    struct ssreport_report report = report_on(2);
    assert_headline(&report, "Do 2 nodes follow their traces as 18 nodes predict?",
        "Unknown: at least 19 nodes of the first fleet and one node of the second must have "
        "samples.");
    struct text text = print_report(&report);
    assert_has_not(&text, "Predicted and measured nodes");
    free(text.bytes);
    close_report(&report);
}

static void long_tables_of_nodes_are_left_to_their_files(void **state) {
    (void)state;
    make_fleet(0, 100, 0);
    struct ssreport_report report = report_on(1);
    struct text text = print_report(&report);
    assert_has(&text, ">n99</td>");
    assert_has_not(&text, "<code>fleet-nodes.csv");
    free(text.bytes);
    close_report(&report);
    make_fleet(0, 101, 0);
    report = report_on(1);
    text = print_report(&report);
    assert_has(&text, "<code>fleet-nodes.csv</code> has all nodes.");
    assert_has_not(&text, ">n99</td>");
    free(text.bytes);
    close_report(&report);
}

static void page_shows_each_fleet_and_the_predictions(void **state) {
    (void)state;
    struct ss_error without = {0};
    struct text text;
    make_fleet(0, 19, 0.01);
    make_fleet(1, 20, 0.0095);
    struct ssreport_report report = report_on(2);
    begin(&text);
    ssreport_page_print(text.stream, &report, &without);
    end(&text);
    bool is_drawn = strstr(text.bytes, "<svg") != NULL;
    assert_has(&text, "<h3>rehearsal</h3>");
    assert_has(&text, "<h3>replay</h3>");
    close_report(&report);
    if (!is_drawn) {
        free(text.bytes);
        SKIP("gnuplot: no picture can be drawn");
    }
    assert_has(&text, "absolute error over 10 s, points");
    assert_has(&text, "predicted for 90 % of the nodes");
    free(text.bytes);
}

static void page_counts_all_kinds_of_records(void **state) {
    (void)state;
    static const char *const headings[] = {
        "1 run and 1 fleet reported.", "2 runs and 1 fleet reported."};
    folder_open();
    folder_write_record("a");
    for (int i = 0; i < 2; i++) {
        make_fleet(0, 5, 0.01);
        struct ssreport_report report = begin_report();
        for (int j = 0; j <= i; j++)
            assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
        report.fleets = fleets;
        report.fleet_count = 1;
        finish_report(&report);
        struct text text = print_report(&report);
        assert_has(&text, headings[i]);
        free(text.bytes);
        close_report(&report);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(page_counts_all_kinds_of_records),
    cmocka_unit_test(answer_compares_the_load_of_all_nodes_with_their_targets),
    cmocka_unit_test(answer_counts_invalid_nodes),
    cmocka_unit_test(starts_are_compared_in_milliseconds),
    cmocka_unit_test(unknown_starts_are_not_compared),
    cmocka_unit_test(answer_names_three_failures_and_counts_the_others),
    cmocka_unit_test(answer_names_three_untrusted_clocks_and_counts_the_others),
    cmocka_unit_test(second_fleet_is_compared_with_the_prediction_of_the_first),
    cmocka_unit_test(few_nodes_predict_nothing),
    cmocka_unit_test(long_tables_of_nodes_are_left_to_their_files),
    cmocka_unit_test(page_shows_each_fleet_and_the_predictions))
// clang-format on
