/* SPDX-License-Identifier: Apache-2.0 */

/* What was published, beside what an experiment has measured. */

#include "report_manifest.h"

static void assert_number(const struct ssreport_published *published, int table, const char *first,
    const char *second, const char *column, double want) {
    double have = ssreport_published_number(published, table, first, second, column);
    if (have != want && !(isnan(have) && isnan(want)))
        fail_msg("%s %s %s: %g, not %g", first, second, column, have, want);
}

static void our_names_find_published_figures(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    read_published(&report);
    const struct ssreport_published *published = &report.published;
    assert_number(published, SSREPORT_PUBLISHED_MEAN_ERROR, "serial", "33", "pi-even", -0.15);
    assert_number(published, SSREPORT_PUBLISHED_MEAN_ERROR, "fop", "33", "pi_even", -0.15);
    assert_number(published, SSREPORT_PUBLISHED_MSE, "parallel", "75", "geom-uneven", 188);
    assert_number(published, SSREPORT_PUBLISHED_MSE, "blocking", "25", "nbench", 433);
    assert_number(published, SSREPORT_PUBLISHED_REPLAY, "h2", "", "geom-even_max", 9.39);
    assert_number(published, SSREPORT_PUBLISHED_KVM, "per-thread", "blocking", "luindex", 106.3);
    assert_number(published, SSREPORT_PUBLISHED_LXC, "per-core", "specs", "scalac", 2.7);
    /* What was not measured. */
    assert_number(published, SSREPORT_PUBLISHED_MSE, "serial", "33", "default", NAN);
    assert_number(published, SSREPORT_PUBLISHED_MSE, "serial", "33", "pi", NAN);
    assert_number(published, SSREPORT_PUBLISHED_MSE, "serial", "34", "cdc", NAN);
    assert_number(published, SSREPORT_PUBLISHED_LXC, "neutral", "h2", "h2", NAN);
    assert_number(published, SSREPORT_PUBLISHED_MSE, NULL, "33", "cdc", NAN);
    assert_number(published, SSREPORT_PUBLISHED_MSE, "serial", "33", NULL, NAN);
    assert_true(ssreport_published_is_probable(published, "serial", "66", "pi-uneven"));
    assert_true(ssreport_published_is_probable(published, "blocking", "25", "pi-even"));
    assert_false(ssreport_published_is_probable(published, "serial", "50", "pi-uneven"));
    assert_false(ssreport_published_is_probable(published, "serial", "66", "geom-even"));
    assert_false(ssreport_published_is_probable(published, "serial", "66", NULL));
    struct ssreport_range range =
        ssreport_published_range(published, SSREPORT_PUBLISHED_LXC, "per-thread");
    assert_true(range.least == -16.2 && range.most == 45.6);
    assert_true(isnan(ssreport_published_range(published, SSREPORT_PUBLISHED_LXC, "sets").least));
    ssreport_report_free(&report);
}

static void unreadable_published_files_are_noted(void **state) {
    (void)state;
    folder_open();
    folder_write("constant-load-mse.csv", "workload,target_percent,cdc\nfop,25,1\nfop,33\n");
    struct ssreport_notes notes = {0};
    struct ssreport_published published = {0};
    ssreport_published_read(&published, folder_path, &notes);
    assert_non_null(strstr(notes.text, "constant-load-mean-error.csv: No such file"));
    assert_non_null(strstr(notes.text, "constant-load-mse.csv:3:"));
    assert_number(&published, SSREPORT_PUBLISHED_MSE, "serial", "25", "cdc", 1);
    ssreport_published_free(&published);
}

static void published_constant_loads_stand_beside_ours(void **state) {
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
    assert_rows(&report, SSREPORT_CONSTANT_LOAD, 3);
    assert_text(&report, SSREPORT_CONSTANT_LOAD, 0, "workload", "blocking");
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 0, "tau_seconds", NAN);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 0, "error_mean_percent", 2);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 0, "error_mean_percent_published", -20.8);
    assert_text(&report, SSREPORT_CONSTANT_LOAD, 0, "published_is", "certain");
    /* Rounds of another length are not what was published. */
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 1, "tau_seconds", 0.053);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 1, "error_mse_e4", 4);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 1, "error_mse_e4_published", NAN);
    assert_text(&report, SSREPORT_CONSTANT_LOAD, 1, "published_is", "");
    /* The mean of two. */
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 2, "runs", 2);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 2, "error_mean_percent", (2 + 1) / 2.0);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 2, "error_mean_percent_published", 0.05);
    assert_cell(&report, SSREPORT_CONSTANT_LOAD, 2, "error_mse_e4_published", 2.74);
    assert_text(&report, SSREPORT_CONSTANT_LOAD, 2, "published_is", "probable");
    struct text text = print_report(&report);
    assert_has(&text, "<caption>Constant load: errors, and those that were published</caption>");
    assert_has(&text, "<td>2.000</td><td>\u221220.800</td><td class=\"text\">certain</td>");
    assert_has(&text, "blocking  nbench            -      25   48.00   2.000 -20.800");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void published_interference_stands_beside_ours(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    folder_write_stairs("b");
    struct ssreport_report report =
        gather_rows("a,interference,blocking,uncontrolled,foreground,g,per-core,,,,1,\n"
                    "b,interference,h2,default,background,g,per-core,,,,1,\n");
    assert_rows(&report, SSREPORT_INTERFERENCE_PUBLISHED, 1);
    assert_cell(&report, SSREPORT_INTERFERENCE_PUBLISHED, 0, "kvm_percent", 6.5);
    assert_cell(&report, SSREPORT_INTERFERENCE_PUBLISHED, 0, "lxc_percent", -4.9);
    assert_cell(&report, SSREPORT_INTERFERENCE_PUBLISHED, 0, "kvm_least", 0.2);
    assert_cell(&report, SSREPORT_INTERFERENCE_PUBLISHED, 0, "lxc_most", 6);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(our_names_find_published_figures),
    cmocka_unit_test(unreadable_published_files_are_noted),
    cmocka_unit_test(published_constant_loads_stand_beside_ours),
    cmocka_unit_test(published_interference_stands_beside_ours))
