/* SPDX-License-Identifier: Apache-2.0 */

#include "pairs.h"
#include "report_manifest.h"
#include "report_pairs.h"

/* Writes labels as `showstopper --label` does. */
static void set_labels(const char *name, const char *labels) {
    char path[64], text[512];
    snprintf(path, sizeof path, "%s/plan.json", name);
    snprintf(text, sizeof text, "{\"labels\": {%s}, \"version\"", labels);
    folder_change(path, "{\"version\"", text);
}

static void labels_replace_missing_manifest_columns(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    set_labels("a",
        "\"environment\": \"lxc\", \"measured_in\": \"inside\", \"role\": \"foreground\","
        "\"group\": \"1\", \"workload\": \"x\", \"round\": \"3\", \"mine\": \"y\"");
    set_labels("b", "\"environment\": \"lxc\", \"role\": \"background\", \"group\": \"1\"");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    finish_report(&report);
    assert_string_equal(ssreport_record_label(&report.runs[0].record, "mine"), "y");
    assert_null(ssreport_record_label(&report.runs[0].record, "other"));
    assert_rows(&report, "interference", 1);
    assert_text(&report, "interference", 0, "environment", "lxc");
    assert_text(&report, "interference", 0, "measured_in", "inside");
    assert_text(&report, "interference", 0, "foreground", "x");
    assert_cell(&report, "interference", 0, "round", 3);
    assert_cell(&report, "interference", 0, "set", 1);
    ssreport_report_free(&report);
    /* The manifest overrides labels; empty fields fall back to them. */
    folder_write("manifest.csv", "run,role,group,environment,workload,round\n"
                                 "a,foreground,2,kvm,,7\nb,background,2,kvm,,\n");
    report = make_report(folder_path);
    assert_rows(&report, "interference", 1);
    assert_text(&report, "interference", 0, "environment", "kvm");
    assert_text(&report, "interference", 0, "foreground", "x");
    assert_cell(&report, "interference", 0, "round", 7);
    ssreport_report_free(&report);
}

/* The published pairs were repeated with rounds of 53 ms: they are no further rounds of the others.
 */
static void pairs_with_other_rounds_are_separate(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++)
        folder_write_record(names[i]);
    folder_write("manifest.csv", "run,role,group,environment,workload,round,tau_seconds\n"
                                 "a,foreground,1,kvm,f,1,\nb,background,1,kvm,f,1,0.107\n"
                                 "c,foreground,2,kvm,f,1,\nd,background,2,kvm,f,1,0.053\n");
    struct ssreport_report report = make_report(folder_path);
    assert_rows(&report, "interference", 2);
    assert_cell(&report, "interference", 0, "tau_seconds", 0.107);
    assert_cell(&report, "interference", 1, "tau_seconds", 0.053);
    assert_string_equal(report.pairs[1].environment, "kvm, 53 ms");
    assert_false(
        ssreport_pair_is_like(&report.pairs[0], &report.pairs[1], SSREPORT_PAIR_ENVIRONMENT));
    ssreport_report_free(&report);
}

/* Groups in other environments and folders may have the same name. */
static void pairs_do_not_span_environments_or_folders(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++)
        folder_write_record(names[i]);
    folder_write("manifest.csv", "run,role,group,environment,workload,round\n"
                                 "a,foreground,1,,f,1\nb,background,1,lxc,of lxc,1\n"
                                 "c,background,1,none,of none,1\nd,foreground,1,lxc,f,1\n");
    struct ssreport_report report = make_report(folder_path);
    assert_rows(&report, "interference", 2);
    assert_text(&report, "interference", 0, "environment", "host");
    assert_text(&report, "interference", 0, "background", "of none");
    assert_text(&report, "interference", 1, "environment", "lxc");
    assert_text(&report, "interference", 1, "background", "of lxc");
    ssreport_report_free(&report);
    folder_write("other/manifest.csv", "run,role,group\n../a,foreground,1\n");
    folder_write("manifest.csv", "run,role,group\nb,background,1\n");
    report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("other"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    finish_report(&report);
    assert_rows(&report, "interference", 0);
    ssreport_report_free(&report);
}

static void metric_without_interval_bounds_is_noted(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    folder_write_stairs("b");
    folder_write("manifest.csv", "run,role,group\na,foreground,1\nb,background,1\n");
    struct ssreport_report report = make_report(folder_path);
    assert_rows(&report, "interference", 1);
    assert_cell(&report, "interference", 0, "low_percent", NAN);
    assert_text(&report, "interference", 0, "note", "no fit through the first half");
    assert_cell(&report, "interference", 0, "round", NAN);
    ssreport_report_free(&report);
}

static void each_step_of_a_pair_has_a_row(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    const struct made_pair pair = {.environment = "lxc",
        .placement = "per-core",
        .foreground = "h2",
        .background = "xz",
        .round = 2,
        .throughputs = {3, 4, 5, 5, 4, 3},
        .background_throughput = 7};
    add_made_pair(&report, &pair);
    finish_report(&report);
    assert_rows(&report, "interference-steps", STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        assert_cell(&report, "interference-steps", i, "step", (double)i + 1);
        assert_text(&report, "interference-steps", i, "half", i < STEPS / 2 ? "down" : "up");
        assert_cell(&report, "interference-steps", i, "target", made_load(i));
        assert_cell(&report, "interference-steps", i, "background_load", made_load(i));
        assert_cell(&report, "interference-steps", i, "foreground_iterations_per_second",
            pair.throughputs[i]);
        assert_cell(&report, "interference-steps", i, "background_iterations_per_second", 7);
    }
    assert_text(&report, "interference-steps", 0, "environment", "lxc");
    assert_text(&report, "interference-steps", 0, "foreground", "h2");
    assert_text(&report, "interference-steps", 0, "background", "xz");
    assert_cell(&report, "interference-steps", 0, "round", 2);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(labels_replace_missing_manifest_columns),
    cmocka_unit_test(pairs_with_other_rounds_are_separate),
    cmocka_unit_test(pairs_do_not_span_environments_or_folders),
    cmocka_unit_test(metric_without_interval_bounds_is_noted),
    cmocka_unit_test(each_step_of_a_pair_has_a_row))
