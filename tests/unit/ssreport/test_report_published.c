/* SPDX-License-Identifier: Apache-2.0 */

#include "published_plots.h"
#include "report_manifest.h"

#define MEAN_ERROR "constant-load-mean-error"
#define MSE        "constant-load-mse"

static void assert_number(const struct published *published, const char *table, const char *first,
    const char *second, const char *column, double want) {
    double have = published_number(
        published_find(published, table, (const char *const[]){first, second, NULL}, column));
    if (have != want && !(isnan(have) && isnan(want)))
        fail_msg("%s %s %s: %g, not %g", first, second, column, have, want);
}

static bool is_probable(const struct published *published, const char *workload, const char *target,
    const char *method) {
    return published_has_word(published,
        published_find(published, MEAN_ERROR, (const char *const[]){workload, target}, "probable"),
        method);
}

static void published_figures_are_found_by_manifest_names(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    read_published(&report);
    const struct published *published = &report.published;
    assert_number(published, MEAN_ERROR, "serial", "33", "pi-even", -0.15);
    assert_number(published, MEAN_ERROR, "dacapo/fop", "33", "pi_even", -0.15);
    assert_number(published, MSE, "parallel", "75", "geom-uneven", 188);
    assert_number(published, MSE, "blocking", "25", "nbench", 433);
    assert_number(published, "replay-mse-range", "dacapo/h2", "", "geom-even_max", 9.39);
    assert_number(published, "interference-kvm", "per-thread", "blocking", "dacapo/luindex", 106.3);
    assert_number(
        published, "interference-lxc", "per-core", "scalabench/specs", "scalabench/scalac", 2.7);
    /* Combinations without a published figure. */
    assert_number(published, MSE, "serial", "33", "default", NAN);
    assert_number(published, MSE, "serial", "33", "pi", NAN);
    assert_number(published, MSE, "serial", "34", "cdc", NAN);
    assert_number(published, "interference-lxc", "neutral", "dacapo/h2", "dacapo/h2", NAN);
    assert_number(published, "replay-mse-range", "h2", "", "geom-even_max", NAN);
    assert_number(published, MSE, "fop", "33", "cdc", NAN);
    assert_number(published, MSE, NULL, "33", "cdc", NAN);
    assert_number(published, MSE, "serial", "33", NULL, NAN);
    assert_true(is_probable(published, "serial", "66", "pi-even"));
    assert_false(is_probable(published, "serial", "66", "pi-uneven"));
    assert_true(is_probable(published, "blocking", "25", "pi-even"));
    assert_false(is_probable(published, "serial", "50", "pi-uneven"));
    assert_false(is_probable(published, "serial", "66", "geom-even"));
    assert_false(is_probable(published, "serial", "66", NULL));
    struct ssreport_range range = published_range(published, "interference-lxc", "per-thread");
    assert_true(range.least == -16.2 && range.most == 45.6);
    assert_true(isnan(published_range(published, "interference-lxc", "sets").least));
    ssreport_report_free(&report);
}

static void unreadable_files_of_published_figures_are_noted(void **state) {
    (void)state;
    folder_open();
    folder_write("references.csv",
        "name,keys,program,source,tables,what,beside,note,tau_seconds\n"
        "constant-load-mean-error,2,ssreport,,,,,,\nconstant-load-mse,2,ssreport,,,,,,\n"
        "other,2,another,,,,,,\nmany-keys,4,ssreport,,,,,,\n");
    folder_write("names.csv", "ours,theirs\nserial,fop\n");
    folder_write("constant-load-mse.csv", "workload,target_percent,cdc\nfop,25,1\nfop,33\n");
    struct ssreport_notes notes = {0};
    struct published published = {0};
    published_read(&published, folder_path, "ssreport", &notes);
    assert_non_null(strstr(notes.text, "constant-load-mean-error.csv: No such file"));
    assert_non_null(strstr(notes.text, "constant-load-mse.csv:3:"));
    assert_non_null(strstr(notes.text, "references.csv:5:"));
    assert_null(strstr(notes.text, "other.csv"));
    assert_number(&published, MSE, "serial", "25", "cdc", 1);
    published_free(&published);
}

static void published_load_errors_are_listed_next_to_measured_errors(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_record(names[i]);
    folder_change("b/samples.csv", "Z,0.500000,0.500000,0.480000", "Z,0.500000,0.500000,1.080000");
    struct ssreport_report report = gather_rows("a,accuracy,serial,pi-even,,,,0.66,0.107,,1,\n"
                                                "b,accuracy,serial,pi-even,,,,0.66,0.107,,2,\n"
                                                "c,accuracy,serial,pi-even,,,,0.66,0.053,,1,\n"
                                                "d,accuracy,blocking,nbench,,,,0.25,,,1,\n"
                                                "e,throughput,blocking,nbench,,,,0.25,,,1,\n");
    assert_rows(&report, "constant-load", 3);
    assert_text(&report, "constant-load", 0, "workload", "blocking");
    assert_cell(&report, "constant-load", 0, "tau_seconds", NAN);
    assert_cell(&report, "constant-load", 0, "error_mean_percent", 2);
    assert_cell(&report, "constant-load", 0, "error_mean_percent_published", -20.8);
    assert_text(&report, "constant-load", 0, "published_is", "certain");
    /* Published figures are for another round length. */
    assert_cell(&report, "constant-load", 1, "tau_seconds", 0.053);
    assert_cell(&report, "constant-load", 1, "error_mse_e4", 4);
    assert_cell(&report, "constant-load", 1, "error_mse_e4_published", NAN);
    assert_text(&report, "constant-load", 1, "published_is", "");
    /* Mean of two runs. */
    assert_cell(&report, "constant-load", 2, "runs", 2);
    assert_cell(&report, "constant-load", 2, "error_mean_percent", (2 + 1) / 2.0);
    assert_cell(&report, "constant-load", 2, "error_mean_percent_published", 0.05);
    assert_cell(&report, "constant-load", 2, "error_mse_e4_published", 2.74);
    assert_text(&report, "constant-load", 2, "published_is", "probable");
    struct text text = print_report(&report);
    assert_has(&text, "<caption>Constant load: errors, and those that were published</caption>");
    assert_has(&text, "<td>2.000</td><td>\u221220.800</td><td class=\"text\">certain</td>");
    assert_has(&text, "blocking  nbench            -      25   48.00   2.000 -20.800");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* Table 6 has no values. */
static void sources_of_published_figures_are_listed(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = gather_rows("a,accuracy,serial,nbench-fit,,,,0.5,,,1,\n");
    assert_rows(&report, "published", 10);
    assert_text(&report, "published", 0, "tables", "1");
    assert_text(&report, "published", 0, "file", "constant-load-mean-error.csv");
    assert_cell(&report, "published", 0, "values", 15 * 6);
    assert_cell(&report, "published", 1, "values", 15 * 6);
    assert_text(&report, "published", 1, "tables", "1");
    assert_text(&report, "published", 2, "tables", "2");
    assert_cell(&report, "published", 2, "values", 4 * 8);
    /* All 24 mean errors of fop and of avrora are legible; of the others 18, 12, 6 and 6. */
    assert_text(&report, "published", 3, "tables", "2");
    assert_cell(&report, "published", 3, "values", 2 * 24 + 18 + 12 + 6 + 6);
    assert_cell(&report, "published", 4, "values", 5);
    assert_text(&report, "published", 5, "tables", "3");
    assert_cell(&report, "published", 5, "values", 6 * 6 * 4 * 2);
    assert_text(&report, "published", 6, "tables", "4 (I)");
    assert_cell(&report, "published", 6, "values", 20 * 5);
    assert_text(&report, "published", 7, "tables", "5 (II)");
    assert_cell(&report, "published", 7, "values", 15 * 5);
    assert_text(&report, "published", 8, "tables", "6");
    assert_text(&report, "published", 8, "what",
        "throughput with KVM as a fraction of that with LXC: minimum, median and maximum");
    assert_cell(&report, "published", 8, "values", 0);
    /* nbench-fit, corrected for the load of one instance, is not the published method nbench. */
    assert_cell(&report, "constant-load", 0, "error_mean_percent_published", NAN);
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Published figures</h2>");
    free(text.bytes);
    ssreport_report_free(&report);
    report = gather_rows("a,accuracy,serial,nbench,,,,0.5,,,1,\n");
    assert_cell(&report, "constant-load", 0, "error_mean_percent_published", -9.47);
    ssreport_report_free(&report);
    /* Without a comparison, no published table is listed. */
    report = make_report(folder_file("a"));
    assert_rows(&report, "published", 0);
    ssreport_report_free(&report);
}

/*
 * The load that ssload recorded during the counted time is compared with the target in ssload's
 * record.
 */
static void load_recorded_by_ssload_is_listed_with_the_record(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("time,elapsed_seconds,load,load_ticks,target,error\n", stream);
    for (int i = -4; i <= 35; i++)
        fprintf(stream, "2026-11-20T%s:%02d.000Z,%d.000000,%s,0.4,0.5,0.1\n",
            i < 0 ? "09:59" : "10:00", i < 0 ? 60 + i : i, i + 4,
            i <= 0 || i > 30 ? "0.9"
            : i % 2          ? "0.47"
                             : "0.49");
    fclose(stream);
    folder_write("a/beside.csv", text);
    free(text);
    struct ssreport_report report = gather_rows("a,accuracy,serial,pi-even,,,,0.5,0.107,,1,\n"
                                                "b,accuracy,serial,pi-even,,,,0.5,0.107,,2,\n");
    assert_cell(&report, "constant-load", 0, "runs", 2);
    assert_cell(&report, "constant-load", 0, "beside_runs", 1);
    assert_cell(&report, "constant-load", 0, "beside_load_mean", 0.48);
    assert_cell(&report, "constant-load", 0, "beside_error_mean_percent", 2);
    assert_cell(&report, "constant-load", 0, "beside_error_mse_e4", (9 + 1) / 2.0);
    assert_rows(&report, "constant-load-runs", 2);
    assert_text(&report, "constant-load-runs", 0, "method", "pi-even");
    assert_cell(&report, "constant-load-runs", 0, "target", 0.5);
    assert_cell(&report, "constant-load-runs", 0, "beside_load_mean", 0.48);
    ssreport_report_free(&report);
    /* Without a target in ssload's record, the target of the run is used. */
    folder_write("a/beside.csv", "time,load\n2026-11-20T10:00:09.000Z,0.4\n"
                                 "2026-11-20T10:00:10.000Z,0.4\n");
    report = gather_rows("a,accuracy,serial,pi-even,,,,0.5,0.107,,1,\n");
    assert_cell(&report, "constant-load", 0, "beside_error_mean_percent", 10);
    ssreport_report_free(&report);
    folder_write("a/beside.csv", "time\n");
    report = gather_rows("a,accuracy,serial,pi-even,,,,0.5,0.107,,1,\n");
    assert_cell(&report, "constant-load", 0, "beside_load_mean", NAN);
    assert_non_null(
        strstr(report.runs[0].record.notes.text, "the load in beside.csv is unknown: beside.csv"));
    ssreport_report_free(&report);
}

static void published_interference_is_listed_next_to_measured_interference(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    folder_write_stairs("b");
    struct ssreport_report report =
        gather_rows("a,interference,blocking,uncontrolled,foreground,g,per-core,,,,1,\n"
                    "b,interference,dacapo/h2,default,background,g,per-core,,,,1,\n");
    assert_rows(&report, "interference-published", 1);
    assert_cell(&report, "interference-published", 0, "kvm_percent", 6.5);
    assert_cell(&report, "interference-published", 0, "lxc_percent", -4.9);
    assert_cell(&report, "interference-published", 0, "kvm_least", 0.2);
    assert_cell(&report, "interference-published", 0, "lxc_most", 6);
    ssreport_report_free(&report);
    report = gather_rows("a,interference,blocking,uncontrolled,foreground,g,per-core,,,,1,\n"
                         "b,interference,h2,default,background,g,per-core,,,,1,\n");
    assert_cell(&report, "interference-published", 0, "kvm_percent", NAN);
    ssreport_report_free(&report);
}

/* A rounded target such as 33 % matches the published 1/3; 34 % matches no published target. */
static void rounded_targets_match_published_thirds(void **state) {
    (void)state;
    static const struct {
        const char *target;
        double published;
    } cases[] = {{"0.333333333333", 6.26}, {"0.33", 6.26}, {"0.333", 6.26}, {"0.333333", 6.26},
        {"0.66", 6.41}, {"0.666667", 6.41}, {"0.67", 6.41}, {"0.255", 4.67}, {"0.34", NAN},
        {"0.26", NAN}};
    folder_open();
    folder_write_record("a");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char row[100];
        snprintf(row, sizeof row, "a,accuracy,dacapo/fop,cdc,,,,%s,0.107,,1,\n", cases[i].target);
        struct ssreport_report report = gather_rows(row);
        assert_cell(&report, "constant-load", 0, "error_mse_e4_published", cases[i].published);
        ssreport_report_free(&report);
    }
}

/* The same names occur in several suites, and a user's workload may have any name. */
static void published_figures_are_matched_by_suite_and_program(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = gather_rows("a,replay,dacapo/h2,pi-even,,,,,0.107,1,1,\n");
    assert_cell(&report, "replay", 0, "error_mse_e4_published_most", 4.67);
    ssreport_report_free(&report);
    report = gather_rows("a,replay,h2,pi-even,,,,,0.107,1,1,\n");
    assert_cell(&report, "replay", 0, "error_mse_e4_published_most", NAN);
    ssreport_report_free(&report);
    report = gather_rows("a,replay,renaissance/h2,pi-even,,,,,0.107,1,1,\n");
    assert_cell(&report, "replay", 0, "error_mse_e4_published_most", NAN);
    ssreport_report_free(&report);
    folder_write("manifest.csv", "run,experiment,workload,published,method,target\n"
                                 "a,accuracy,mine,dacapo/fop,nbench,0.5\n");
    report = begin_report();
    read_published(&report);
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    finish_report(&report);
    assert_text(&report, "constant-load", 0, "workload", "mine");
    assert_cell(&report, "constant-load", 0, "error_mse_e4_published", 95.2);
    ssreport_report_free(&report);
}

/*
 * Errors of 2, -13, 2 and -13 %. Published: 5 % in 80 and 90 % of the experiments; 60 mean errors
 * of Showstopper are legible, the largest is -2.21 %. The published baselines do not count.
 */
static void statements_about_mean_errors_count_controlled_runs(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_record(names[i]);
    for (size_t i = 1; i < 4; i += 2) {
        char path[32];
        snprintf(path, sizeof path, "%s/samples.csv", names[i]);
        folder_change(path, "Z,0.500000,0.500000,0.480000", "Z,0.500000,0.500000,9.480000");
    }
    struct ssreport_report report = gather_rows("a,accuracy,serial,pi-even,,,,0.5,0.107,,1,\n"
                                                "b,accuracy,serial,pi-even,,,,0.5,0.107,,2,\n"
                                                "c,accuracy,serial,default,,,,0.5,,,1,\n"
                                                "d,accuracy,serial,cpulimit,,,,0.5,,,1,\n"
                                                "e,replay,serial,geom-even,,,,,0.107,18,1,\n");
    const char *table = "constant-load-within";
    assert_rows(&report, table, 4);
    assert_text(&report, table, 0, "method", "showstopper");
    assert_cell(&report, table, 0, "runs", 3);
    assert_cell(&report, table, 0, "within_percent", 200 / 3.0);
    assert_cell(&report, table, 0, "all_platforms_percent", 80);
    assert_cell(&report, table, 0, "linux_percent", 90);
    assert_cell(&report, table, 0, "published_values", 60);
    assert_cell(&report, table, 0, "published_within_percent", 100);
    assert_cell(&report, table, 0, "published_most_percent", 2.21);
    assert_text(&report, table, 1, "method", "pi-even");
    assert_cell(&report, table, 1, "within_runs", 1);
    assert_text(&report, table, 3, "method", "cpulimit");
    assert_cell(&report, table, 3, "published_values", 0);
    /* The mean error of fop in 90 s, and the largest of Table 2. */
    assert_cell(&report, "replay", 0, "error_mean_percent_published", 0.12);
    assert_cell(&report, "replay-within", 0, "within_percent", 100);
    assert_cell(&report, "replay-within", 0, "published_most_percent", 1.73);
    struct text text = print_report(&report);
    assert_has(&text, "<p>The mean error is at most 5 % in 67 % of 3 runs of Showstopper. "
                      "Published: in 80 % on all "
                      "platforms, in 90 % on physical machines with Linux, by another measure: all "
                      "published mean "
                      "errors that are legible are at most 2.21 %.\n");
    assert_has(&text, "<p>The mean error is at most 3 % in 100 % of 1 run of Showstopper. "
                      "Published: in 100 % on all platforms.");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * Two methods at 25 and 50 %: bars are 0.4 wide and centered 0.2 to the left and right of their
 * target. The error is 2 %.
 */
static void errors_are_drawn_as_bars_by_target_and_method(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_record(names[i]);
    struct ssreport_report report = gather_rows("a,accuracy,fop,nbench,,,,0.25,,,1,\n"
                                                "b,accuracy,fop,nbench,,,,0.5,,,1,\n"
                                                "c,accuracy,fop,pi-even,,,,0.5,0.107,,1,\n"
                                                "d,accuracy,sunflow,pi-even,,,,0.5,0.107,,1,\n");
    const struct table_sheet *sheet = ssreport_table(&report, "constant-load");
    struct text text;
    begin(&text);
    assert_true(ssreport_error_plots_write(text.stream, sheet, 0, SSREPORT_MEAN_ERROR));
    end(&text);
    assert_has(&text, "set xtics (\"25\" 0, \"50\" 1, \"50\" 1) scale 0");
    assert_has(&text, "$m0 << END\n-0.2 2\n0.8 2\nNaN NaN\nEND\n");
    assert_has(&text, "$m1 << END\n1.2 2\nNaN NaN\nEND\n");
    assert_has(&text, "set boxwidth 0.36\n");
    assert_has_not(&text, "$m2");
    free(text.bytes);
    begin(&text);
    assert_true(ssreport_error_plots_write(text.stream, sheet, 3, SSREPORT_SQUARED_ERROR));
    end(&text);
    assert_has(&text, "$m2 << END\n0 4\n");
    assert_has(&text, "set logscale y");
    free(text.bytes);
    /* Loads of all programs at 50 %, next to the target: fop has two methods, sunflow one. */
    begin(&text);
    assert_true(ssreport_error_plots_write(text.stream, sheet, 1, SSREPORT_LOAD));
    end(&text);
    assert_has(&text, "set arrow from graph 0, first 50 to graph 1, first 50 nohead");
    assert_has(&text, "set xtics (\"\\146\\157\\160\" 0, ");
    assert_has(&text, "$m1 << END\n-0.2 48\n");
    assert_has(&text, "$m2 << END\n0.2 48\n1.2 48\n");
    assert_has_not(&text, "$m0");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * A picture shows all methods at one target, or all speeds of one method over the time of the
 * trace.
 */
static void runs_of_one_target_or_trace_share_a_picture(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_record(names[i]);
    struct ssreport_report report = gather_rows("a,accuracy,x,nbench,,,,0.5,,,1,\n"
                                                "b,accuracy,x,pi-even,,,,0.5,0.107,,1,\n"
                                                "c,accuracy,x,pi-even,,,,0.25,0.107,,1,\n"
                                                "d,replay,x,pi-even,,,,,0.107,1,1,\n"
                                                "e,replay,x,pi-even,,,,,0.107,10,1,\n");
    struct text text;
    begin(&text);
    assert_true(ssreport_overlay_plots_write(text.stream, &report, &report.runs[0]));
    end(&text);
    assert_has(&text, "$line0_0 << END\n0.25 48 50 48 48\n0.75 48 50 48 48\n");
    assert_has(&text, "$line0_1 << END\n");
    assert_has_not(&text, "$line0_2");
    assert_has(&text, "$line1_1 << END\n3 1\n9 1\n");
    assert_has(
        &text, "plot $line0_0 using 1:3 with lines lw 4 lc rgb \"#80868b\" title \"target\", ");
    free(text.bytes);
    begin(&text);
    assert_true(ssreport_overlay_plots_write(text.stream, &report, &report.runs[4]));
    end(&text);
    assert_has(&text, "$line0_0 << END\n0.25 48 50 48 48\n");
    assert_has(&text, "$line0_1 << END\n2.5 48 50 48 48\n7.5 48 50 48 48\n");
    assert_has(&text, "title \"target\"");
    assert_has(&text, "time of the trace in seconds");
    free(text.bytes);
    begin(&text);
    assert_false(ssreport_overlay_plots_write(text.stream, &report, &report.runs[2]));
    end(&text);
    assert_string_equal(text.bytes, "");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* More lines could not be distinguished, and the picture says that some are missing. */
static void picture_of_many_methods_counts_the_omitted_ones(void **state) {
    (void)state;
    folder_open();
    for (size_t more = 0; more < 2; more++) {
        char rows[1024] = "";
        for (size_t i = 0; i < 8 + 2 * more; i++) {
            char name[] = {(char)('a' + (char)i), '\0'};
            folder_write_record(name);
            sprintf(rows + strlen(rows), "%s,accuracy,x,m%zu,,,,0.5,,,1,\n", name, i);
        }
        struct ssreport_report report = gather_rows(rows);
        struct text text;
        begin(&text);
        assert_true(ssreport_overlay_plots_write(text.stream, &report, &report.runs[0]));
        end(&text);
        assert_has(&text, "$line0_7 << END\n");
        assert_has_not(&text, "$line0_8");
        if (more)
            assert_has(&text, "set title \"the first 8 of 10 runs\"\n");
        else
            assert_has_not(&text, "the first");
        free(text.bytes);
        ssreport_report_free(&report);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(errors_are_drawn_as_bars_by_target_and_method),
    cmocka_unit_test(runs_of_one_target_or_trace_share_a_picture),
    cmocka_unit_test(published_figures_are_found_by_manifest_names),
    cmocka_unit_test(unreadable_files_of_published_figures_are_noted),
    cmocka_unit_test(published_load_errors_are_listed_next_to_measured_errors),
    cmocka_unit_test(sources_of_published_figures_are_listed),
    cmocka_unit_test(load_recorded_by_ssload_is_listed_with_the_record),
    cmocka_unit_test(published_interference_is_listed_next_to_measured_interference),
    cmocka_unit_test(statements_about_mean_errors_count_controlled_runs),
    cmocka_unit_test(rounded_targets_match_published_thirds),
    cmocka_unit_test(picture_of_many_methods_counts_the_omitted_ones),
    cmocka_unit_test(published_figures_are_matched_by_suite_and_program))
