/* SPDX-License-Identifier: Apache-2.0 */

#include "findings.h"
#include "report_make.h"

static const char heading[] = "run,experiment,workload,method,placement,role,group,speed,others\n";

static struct ssreport_report gather_others(const char *rows) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s", heading, rows);
    folder_write("manifest.csv", text);
    return make_report(folder_path);
}

static void disturbed_runs_are_the_first_findings(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_write_record("c");
    struct ssreport_report report = gather_others("a,throughput,w,cdc,,,,,0.387\n"
                                                  "b,throughput,w,nbench,,,,,0.020\n"
                                                  "c,throughput,w,nbench,,,,,\n");
    assert_cell(&report, "runs", 0, "others", 0.387);
    assert_cell(&report, "runs", 1, "others", 0.02);
    assert_cell(&report, "runs", 2, "others", NAN);
    assert_cell(&report, "steps", 0, "others", 0.387);
    assert_non_null(strstr(ssreport_finding_at(&report, 0).sentence,
        "Other processes used more than 2 % of the machine during 1 of 2 runs: "));
    assert_non_null(strstr(ssreport_finding_at(&report, 0).sentence, "a (38.7 %). These runs"));
    assert_true(ssreport_finding_at(&report, 0).is_general);
    assert_text(&report, "findings", 0, "kind", "others");
    struct text text = print_report(&report);
    assert_has(&text, "disturbed: other processes used 38.7 % of the machine during this run");
    assert_has(&text, "\n* disturbed: other processes used more than 2 % of the machine\n");
    assert_has(&text, " *\n");
    assert_true(strstr(text.bytes, "Other processes") < strstr(text.bytes, "<table>"));
    free(text.bytes);
    ssreport_report_free(&report);
}

static void runs_with_different_foreign_load_are_not_compared(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    struct ssreport_report report =
        gather_others("a,replay,w,cdc,,,,1,0.010\nb,replay,w,cdc,,,,2,0.031\n");
    assert_rows(&report, "replay", 2);
    assert_cell(&report, "replay", 0, "ratio", 1);
    assert_cell(&report, "replay", 1, "ratio", NAN);
    assert_text(&report, "replay", 1, "note",
        "not compared: other processes used a different share of the machine");
    ssreport_report_free(&report);
    report = gather_others("a,replay,w,cdc,,,,1,0.010\nb,replay,w,cdc,,,,2,0.030\n");
    assert_cell(&report, "replay", 1, "ratio", 1);
    ssreport_report_free(&report);
}

static void sets_with_different_foreign_load_are_not_compared(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    char text[400];
    snprintf(text, sizeof text, "%sa,throughput,w,cdc,,,,,0.400\n", heading);
    struct ssreport_report report = begin_report();
    folder_write("manifest.csv", text);
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    folder_change("manifest.csv", "0.400", "0.010");
    assert_int_equal(ssreport_gather(&report, folder_path, 1), 0);
    report.compares = true;
    finish_report(&report);
    assert_cell(&report, "ratios", 0, "ratio", NAN);
    assert_cell(&report, "ratios", 0, "others_a", 0.4);
    assert_cell(&report, "ratios", 0, "others_b", 0.01);
    assert_non_null(strstr(report.notes.text, "1 of 1 steps are not compared"));
    ssreport_report_free(&report);
}

static void record_that_is_repeated_in_a_set_is_noted(void **state) {
    (void)state;
    static const char note[] = "this record is given more than once, and counts each time";
    struct ssreport_report report = begin_report();
    folder_open();
    folder_write_record("a");
    for (int i = 0; i < 3; i++)
        assert_int_equal(ssreport_gather(&report, folder_file("a"), i == 1), 0);
    assert_null(strstr(report.runs[0].record.notes.text, note));
    assert_null(strstr(report.runs[1].record.notes.text, note));
    assert_non_null(strstr(report.runs[2].record.notes.text, note));
    /* Also by another path. */
    folder_write_record("b");
    assert_int_equal(symlink("a", folder_file("link")), 0);
    static const char *const others[] = {"b", "./a", "link"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ssreport_gather(&report, folder_file(others[i]), 0), 0);
        assert_int_equal(strstr(report.runs[3 + i].record.notes.text, note) != NULL, i > 0);
    }
    ssreport_report_free(&report);
}

static void skipped_runs_are_no_invalid_records(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("manifest.csv", "run,method,status,reason\na,nbench,done,\n"
                                 ",cdc,skipped,no cpulimit here\n,pi-even,failed,it crashed\n");
    struct ssreport_report report = make_report(folder_path);
    assert_int_equal(report.failure_count, 2);
    assert_string_equal(report.failures[0].why, "no cpulimit here");
    assert_rows(&report, "verdicts", 2);
    assert_text(&report, "verdicts", 0, "verdict", "doubtful");
    assert_text(&report, "verdicts", 1, "reasons", "it crashed");
    ssreport_report_free(&report);
}

static void runs_of_a_study_that_ended_early_are_reported(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_change("b/summary.json", "\"duration\"", "\"workloads\"");
    struct ssreport_report report =
        gather_others("a,throughput,w,cdc,,,,,\nb,throughput,w,cdc,,,,,\n");
    assert_string_equal(ssreport_finding_at(&report, 0).sentence,
        "1 of 2 runs ended early, because their programs ended: b (after 30.0 s). "
        "Repeat these runs with --repeat, which starts a program again.");
    ssreport_report_free(&report);
    /* Outside of a study, a program may exit whenever it is done. */
    report = make_report(folder_file("b"));
    assert_that(ssreport_findings_first(&report, "early", true), ==, SSREPORT_NO_ROW);
    ssreport_report_free(&report);
}

static void launches_that_are_timed_do_not_end_early(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    folder_open();
    folder_write_record("b");
    folder_change("b/summary.json", "\"duration\"", "\"workloads\"");
    folder_write("manifest.csv", "run,experiment,workload\nb,duet,w\n");
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    assert_int_equal(report.run_count, 1);
    assert_int_equal(ssreport_columns_set(&report.runs[0].columns, "metric", "time"), 0);
    finish_report(&report);
    assert_that(ssreport_findings_first(&report, "early", true), ==, SSREPORT_NO_ROW);
    ssreport_report_free(&report);
}

static void run_without_iterations_reports_an_upper_bound(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_write("a/iterations.csv", "instance,start,end\n");
    folder_change("a/summary.json", "\"iterations\": 30", "\"iterations\": 0");
    struct ssreport_report report = gather_others("a,replay,w,cdc,,,,2,\nb,replay,w,cdc,,,,1,\n");
    /* Each of 2 instances did less than one iteration in 30 s. */
    assert_cell(&report, "runs", 0, "iterations_per_second", NAN);
    assert_cell(&report, "runs", 0, "iterations_per_second_bound", 2 / 30.0);
    assert_cell(&report, "runs", 1, "iterations_per_second_bound", NAN);
    assert_cell(&report, "steps", 0, "iterations_per_second", NAN);
    assert_cell(&report, "steps", 0, "iterations_per_second_bound", 2 / 20.0);
    assert_cell(&report, "replay", 1, "ratio", NAN);
    assert_text(&report, "replay", 1, "in_proportion", "no");
    assert_non_null(strstr(report.runs[0].record.notes.text, "none ended, so at most 6.67 % of"));
    struct text text = print_report(&report);
    assert_has(&text, " <= 0.0667\n");
    assert_has(&text, "\n<= no iteration ended: the throughput is at most this\n");
    assert_has_not(&text, "0.000");
    assert_has_not(&text, "nan");
    assert_has_not(&text, "100.00");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* Steps last 10 s; by default a sixth is left out at both ends. */
static void step_edges_come_from_the_manifest(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    folder_write("manifest.csv", "run,edge_seconds\na,3\n");
    struct ssreport_report report = make_report(folder_path);
    assert_cell(&report, "steps", 0, "from_seconds", 3);
    assert_cell(&report, "steps", 0, "to_seconds", 7);
    ssreport_report_free(&report);
    folder_change("manifest.csv", "a,3", "a,0");
    report = make_report(folder_path);
    assert_cell(&report, "steps", 1, "from_seconds", 10);
    assert_cell(&report, "steps", 1, "to_seconds", 20);
    ssreport_report_free(&report);
    /* Missing and invalid edges. */
    static const char *const rows[] = {"a,", "a,x", "a,-1"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        folder_change("manifest.csv", i == 0 ? "a,0" : rows[i - 1], rows[i]);
        report = make_report(folder_path);
        assert_cell(&report, "steps", 0, "from_seconds", 2);
        ssreport_report_free(&report);
    }
    /* The command line overrides the manifest. */
    folder_change("manifest.csv", "a,-1", "a,3");
    report = begin_report();
    report.settings.edge = 1;
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    finish_report(&report);
    assert_cell(&report, "steps", 0, "from_seconds", 1);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(disturbed_runs_are_the_first_findings),
    cmocka_unit_test(runs_with_different_foreign_load_are_not_compared),
    cmocka_unit_test(sets_with_different_foreign_load_are_not_compared),
    cmocka_unit_test(record_that_is_repeated_in_a_set_is_noted),
    cmocka_unit_test(skipped_runs_are_no_invalid_records),
    cmocka_unit_test(runs_of_a_study_that_ended_early_are_reported),
    cmocka_unit_test(launches_that_are_timed_do_not_end_early),
    cmocka_unit_test(run_without_iterations_reports_an_upper_bound),
    cmocka_unit_test(step_edges_come_from_the_manifest))
