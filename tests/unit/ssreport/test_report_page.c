/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"
#include "page.h"
#include "report_make.h"
#include "report_plot.h"

/* Replaces the C library's strdup() with one that fails on demand. */
static bool out_of_memory;

char *strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = out_of_memory ? NULL : malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static const struct table_column columns[] = {
    {"name", "name<"}, {"load", "load, %", 1, true}, {"hidden", NULL}};

static void table_cells_are_escaped_in_every_format(void **state) {
    (void)state;
    struct table_sheet sheet = TABLE_SHEET("file", "T&T", columns);
    TABLE_ROW(&sheet, CELL("name", "a,\"b\"\x01<i>\xc3\xa4\xff"), CELL("load", 0.12345678901234));
    TABLE_ROW(&sheet, CELL("name", "plain"), CELL("load", -1e-9), CELL("hidden", ""));
    struct text text;
    begin(&text);
    table_print_csv(text.stream, &sheet);
    end(&text);
    assert_string_equal(text.bytes, "name,load,hidden\n\"a,\"\"b\"\"\x01<i>\xc3\xa4\xff\","
                                    "0.123456789012,\nplain,-1e-09,\n");
    free(text.bytes);
    begin(&text);
    table_print_html(text.stream, &sheet, NULL);
    end(&text);
    assert_has(&text, "<caption>T&amp;T</caption>");
    assert_has(&text,
        "<th scope=\"col\" class=\"text\">name&lt;</th><th scope=\"col\">load,\u00a0%</th></tr>");
    assert_has(
        &text, "<td class=\"text\">a,&quot;b&quot;?&lt;i&gt;\xc3\xa4?</td><td>12.3</td></tr>");
    assert_has(&text, "<td>\u22121.0e-07</td>");
    free(text.bytes);
    begin(&text);
    table_print_html(text.stream, &sheet, "plain");
    end(&text);
    assert_has_not(&text, "name&lt;");
    assert_has_not(&text, "12.3");
    assert_has(&text, "1.0e-07");
    free(text.bytes);
    table_free(&sheet);
}

static void section_of_a_run_says_how_it_was_made(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/plan.json", "{",
        "{\"started\": \"2026-11-20T10:00:00Z\", \"arguments\": [\"-l\", \"<50%\", \"a\"], "
        "\"modules\": {\"trace\": {\"name\": \"constant\", \"options\": {\"load\": 0.5}}}, ");
    folder_write("a/platform.json",
        "{\"kernel\": {\"release\": \"6.1\"}, \"cpus\": {\"count\": 4}, \"models\": "
        "[{\"model\": \"Z80\"}]}");
    struct ssreport_report report = make_report(folder_file("a"));
    struct text text = print_report(&report);
    assert_has(&text, "<code>showstopper -l &lt;50% a</code>");
    assert_has(&text, "started: 2026-11-20T10:00:00Z; CPU: Z80; CPUs: 4; kernel: 6.1; Showstopper: "
                      "9.8.7; trace: constant, load=0.5<");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void report_titles_do_not_show_absolute_paths(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    char path[300];
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    finish_report(&report);
    /* CSV is for programs, so it keeps the full path. */
    assert_text(&report, "runs", 0, "record", folder_file("a"));
    struct text text = print_report(&report);
    assert_has(&text, "<h2>a</h2>");
    assert_has(&text, "<td class=\"text\">b</td>");
    assert_has(&text, "\nb  ");
    assert_has_not(&text, folder_path);
    free(text.bytes);
    ssreport_report_free(&report);
    /* A single record is called by its own name. */
    snprintf(path, sizeof path, "%s/", folder_file("a"));
    report = make_report(path);
    text = print_report(&report);
    assert_has(&text, "<h2>a</h2>");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void failed_text_allocation_marks_the_table_as_failed(void **state) {
    (void)state;
    struct table_sheet sheet = TABLE_SHEET("file", "T", columns);
    TABLE_ROW(&sheet, CELL("name", "a"));
    assert_false(sheet.failed);
    out_of_memory = true;
    TABLE_ROW(&sheet, CELL("name", "b"));
    out_of_memory = false;
    assert_true(sheet.failed);
    TABLE_ROW(&sheet, CELL("load", 1));
    assert_true(sheet.failed);
    table_free(&sheet);
}

static void long_sentences_are_not_truncated(void **state) {
    (void)state;
    char sentence[2000];
    struct ssreport_report report = begin_report();
    folder_open();
    folder_write_record("a");
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    finish_report(&report);
    memset(sentence, 'x', sizeof sentence);
    strcpy(sentence + 1500, "<end> 5 % of it");
    ssreport_findings_add(&report, "others", "%s", sentence);
    struct text text = print_report(&report);
    assert_has(&text, "xxx&lt;end&gt; 5\u00a0% of it</li>");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void unreadable_record_does_not_prevent_the_report(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("b/other", "");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("a//"), 0), 0);
    finish_report(&report);
    assert_int_equal(report.run_count, 2);
    assert_int_equal(report.failure_count, 1);
    assert_string_not_equal(report.runs[0].record.name, report.runs[1].record.name);
    assert_null(strstr(report.runs[1].record.name, "//"));
    assert_cell(&report, "runs", 0, "samples", 60);
    assert_cell(&report, "runs", 0, "error_mean_percent", 2);
    assert_cell(&report, "runs", 0, "error_mse_e4", 4);
    assert_cell(&report, "runs", 0, "error_p95_percent", 2);
    assert_cell(&report, "runs", 0, "iterations_per_second", 1);
    assert_string_equal(cell(&report, "runs", 2, "state")->text, "not reported");
    size_t sum = 0;
    for (size_t i = 0; i < SSREPORT_BINS; i++)
        sum += report.runs[0].errors.counts[i];
    assert_int_equal(sum, 60);
    struct text text;
    begin(&text);
    ssreport_text_print(text.stream, &report);
    end(&text);
    for (char *line = strtok(text.bytes, "\n"); line; line = strtok(NULL, "\n"))
        assert_fits(line, 80);
    free(text.bytes);
    ssreport_report_free(&report);
}

static void assert_named(const struct ssreport_report *report, const struct text *page, size_t row,
    const char *state, const char *part) {
    assert_string_equal(cell(report, "runs", row, "state")->text, state);
    const char *notes = cell(report, "runs", row, "notes")->text;
    if (!strstr(notes, part))
        fail_msg("no '%s' in: %s", part, notes);
    assert_has(page, part);
}

/* An experiment in which every run but one is faulty. */
static void faults_are_reported_with_their_run(void **state) {
    (void)state;
    static const char died[] =
        "{\"elapsed_seconds\":12.500000,\"event\":\"instance_ended\",\"instance\":\"1\","
        "\"value\":137.000000}\n";
    folder_open();
    const char *const names[] = {"whole", "cut", "old", "other", "front", "back"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_stairs(names[i]);
    folder_write("empty/other", "");
    unlink(folder_file("cut/summary.json"));
    folder_change("old/plan.json", FOLDER_VERSION, "0.0.1");
    folder_change("other/plan.json", FOLDER_VERSION, "7.7.7");
    folder_write("front/events.jsonl", died);
    folder_write("manifest.csv", "run,role,group,reason\nwhole,,,\ncut,,,\nold,,,\nother,,,\n"
                                 "front,foreground,1,\nback,background,1,\nempty,,,\n"
                                 ",,,it failed with status 3\n");
    struct ssreport_report report = make_report(folder_path);
    assert_int_equal(report.run_count, 6);
    assert_int_equal(report.failure_count, 2);
    struct text page;
    struct ss_error without = {.status = 1};
    begin(&page);
    ssreport_page_print(page.stream, &report, &without);
    end(&page);
    assert_named(&report, &page, 1, "interrupted",
        "the run was interrupted: the record has no summary.json");
    assert_named(&report, &page, 2, "whole", "recorded by version 0.0.1, but this is ");
    assert_named(&report, &page, 3, "whole", "recorded by version 7.7.7, but this is ");
    assert_named(&report, &page, 4, "whole", "instance 1 ended after 12.5 s: status 137");
    assert_named(&report, &page, 4, "whole",
        "2 of the 3 steps of the background do not count: the foreground did not run");
    assert_named(&report, &page, 6, "not reported", "samples.csv: No such file or directory");
    assert_named(&report, &page, 7, "not reported", "it failed with status 3");
    for (size_t i = 0; i < 6; i++) {
        assert_cell(&report, "runs", i, "samples", 60);
        assert_cell(&report, "runs", i, "iterations_per_second", 1);
    }
    free(page.bytes);
    ssreport_report_free(&report);
}

static void figures_cover_only_the_counted_time(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/events.jsonl", "0.000000", "5.000012");
    folder_change(
        "a/samples.csv", "Z,20.000000,0.500000,0.480000", "Z,20.000000,0.500000,0.980000");
    folder_write_stairs("b");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    finish_report(&report);
    assert_cell(&report, "runs", 0, "samples", 50);
    assert_cell(&report, "runs", 0, "duty_mean", 0.6);
    assert_cell(&report, "runs", 0, "error_mean_percent", (49 * 2 - 48) / 50.0);
    assert_int_equal(report.runs[0].errors.counts[0], 1); /* far from the target */
    assert_string_equal(cell(&report, "fits", 0, "over")->text, "intervals");
    assert_string_equal(cell(&report, "fits", 1, "over")->text, "steps");
    assert_cell(&report, "steps", 1, "target", 0.3);
    assert_cell(&report, "steps", 3, "iterations_per_second", 1);
    ssreport_report_free(&report);
}

static void pictures_show_recorded_loads_duties_and_steps(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    struct text text = write_plot(&report.runs[0], "Target and load");
    assert_has(&text, "time in seconds");
    assert_has(&text, "set xrange [0:30]");
    assert_has(&text, "$line0_0 << END\n0.25 48 30 48 48\n0.75 48 30 48 48\n");
    assert_has(&text, "\n9.75 48 30 48 48\n10.25 48 40 48 48\n");
    assert_has(&text, "title \"target\"");
    free(text.bytes);
    /*
     * The plot has 120 parts of 0.25 s. One instance runs for 9 s, the other from 15 s to the end.
     */
    text = write_plot(&report.runs[0], "Duty of each instance over time");
    assert_has(&text, "$fields << END\n0 0.25 -0.5 0.5 100\n");
    assert_has(&text, "\n8.75 9 -0.5 0.5 100\n9 9.25 -0.5 0.5 0\n");
    assert_has(&text, "\n14.75 15 0.5 1.5 0\n15 15.25 0.5 1.5 100\n");
    assert_has(&text, "set yrange [-0.5:1.5]");
    free(text.bytes);
    text = write_plot(&report.runs[0], "Throughput over time");
    assert_has(&text, "$line1_0 << END\n3 1\n9 1\n");
    assert_has(&text, "$mean1_0 << END\n2 1\n8 1\n\n12 1\n18 1\n");
    assert_has(&text, "title \"mean of a step\"");
    free(text.bytes);
    text = write_plot(&report.runs[0], "Errors of the samples");
    assert_has(&text, "set xrange [-22.5:5]");
    assert_has(&text, "\n-18.75 33.3333333\n");
    free(text.bytes);
    /* All steps have the same load: points, but no line. */
    text = write_plot(&report.runs[0], "Throughput against load");
    assert_has(&text, "$points << END\n48 1\n48 1\n48 1\nEND\n");
    assert_has_not(&text, "least squares");
    free(text.bytes);
    report.runs[0].fit = ssreport_fit_line((double[]){0.1, 0.5, 0.8}, (double[]){1, 3, 4}, 3);
    text = write_plot(&report.runs[0], "Throughput against load");
    assert_has(&text, "title \"95 % band\", $line using 1:2 with lines");
    assert_has(&text, "title \"least squares\"");
    free(text.bytes);
    /* From ten minutes on, the time axis uses minutes. */
    report.runs[0].record.samples[59].end = 1200;
    text = write_plot(&report.runs[0], "Target and load");
    assert_has(&text, "time in minutes");
    assert_has(&text, "set xrange [0:20]");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void page_without_gnuplot_reports_missing_pictures(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    char *path = strdup(getenv("PATH"));
    setenv("PATH", folder_path, 1);
    struct ss_error without = {0};
    struct text text;
    begin(&text);
    ssreport_page_print(text.stream, &report, &without);
    end(&text);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(without.message, "install gnuplot"));
    assert_has(&text, "No pictures");
    assert_has(&text, "<code>a &lt;b&gt;</code>");
    assert_has(&text, "</html>");
    assert_has_not(&text, "<svg");
    free(text.bytes);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(table_cells_are_escaped_in_every_format),
    cmocka_unit_test(section_of_a_run_says_how_it_was_made),
    cmocka_unit_test(report_titles_do_not_show_absolute_paths),
    cmocka_unit_test(failed_text_allocation_marks_the_table_as_failed),
    cmocka_unit_test(long_sentences_are_not_truncated),
    cmocka_unit_test(unreadable_record_does_not_prevent_the_report),
    cmocka_unit_test(faults_are_reported_with_their_run),
    cmocka_unit_test(figures_cover_only_the_counted_time),
    cmocka_unit_test(pictures_show_recorded_loads_duties_and_steps),
    cmocka_unit_test(page_without_gnuplot_reports_missing_pictures))
