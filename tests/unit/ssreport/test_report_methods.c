/* SPDX-License-Identifier: Apache-2.0 */

#include "findings.h"
#include "methods.h"
#include "report_make.h"

/* Adds a run with a single step. */
static struct ssreport_run *add_run(struct ssreport_report *report, const char *method,
    double target, double load, double throughput) {
    report->runs = reallocarray(report->runs, report->run_count + 1, sizeof *report->runs);
    struct ssreport_run *run = &report->runs[report->run_count++];
    *run = (struct ssreport_run){.target = target, .round = 1};
    run->record.name = strdup("made");
    run->record.has_iterations = true;
    run->record.first_end = INFINITY;
    run->experiment = strdup("throughput");
    run->workload = strdup("w");
    run->method = strdup(method);
    run->steps.items = calloc(1, sizeof *run->steps.items);
    run->steps.count = 1;
    run->steps.items[0] =
        (struct ssreport_step){.target = target, .load = {.mean = load}, .throughput = throughput};
    return run;
}

static size_t find(const struct ssreport_report *report, const char *method, double load) {
    for (size_t i = 0; i < table_rows(ssreport_table(report, "methods")); i++) {
        if (strcmp(cell(report, "methods", i, "method")->text, method) == 0 &&
            fabs(cell(report, "methods", i, "load")->number - load) < 1e-12)
            return i;
    }
    fail_msg("no row of %s at %g", method, load);
    return 0;
}

/* Without iterations, a run has a load but no throughput. */
static void each_run_has_a_row_of_loads(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct ssreport_run *run = add_run(&report, "nbench", 0.5, 0.6, 7);
    run->record.has_iterations = false;
    run->record.instance_count = 3;
    run->figures = (struct ssreport_figures){.load_mean = 0.61, .throughput = NAN};
    finish_report(&report);
    assert_rows(&report, "loads", 1);
    assert_text(&report, "loads", 0, "method", "nbench");
    assert_cell(&report, "loads", 0, "instances", 3);
    assert_cell(&report, "loads", 0, "step", NAN);
    assert_cell(&report, "loads", 0, "target", 0.5);
    assert_cell(&report, "loads", 0, "load", 0.61);
    assert_cell(&report, "loads", 0, "iterations_per_second", NAN);
    ssreport_report_free(&report);
}

static void each_step_of_stairs_has_a_row_of_loads(void **state) {
    (void)state;
    static const double targets[] = {0.8, 0.4, 0.4, 0.8};
    static const char *const halves[] = {"down", "down", "up", "up"};
    struct ssreport_report report = begin_report();
    struct ssreport_run *run = add_run(&report, "default", 0, 0, 0);
    run->steps.items = reallocarray(run->steps.items, 4, sizeof *run->steps.items);
    run->steps.count = 4;
    for (int i = 0; i < 4; i++)
        run->steps.items[i] = (struct ssreport_step){.target = targets[i],
            .half = 1 + i / 2,
            .load = {.mean = targets[i] + 0.01},
            .throughput = 10 * targets[i]};
    finish_report(&report);
    assert_rows(&report, "loads", 4);
    for (size_t i = 0; i < 4; i++) {
        assert_cell(&report, "loads", i, "step", (double)i + 1);
        assert_text(&report, "loads", i, "half", halves[i]);
        assert_cell(&report, "loads", i, "target", targets[i]);
        assert_cell(&report, "loads", i, "load", targets[i] + 0.01);
        assert_cell(&report, "loads", i, "iterations_per_second", 10 * targets[i]);
    }
    ssreport_report_free(&report);
}

/*
 * N-bench covers 20 and 60 %, the latter twice; 1-CDC covers only 30 to 50 %. At 40 % the baseline
 * is half way from 2 to (5 + 7) / 2.
 */
static void method_deviations_refer_to_the_wider_baseline(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_run(&report, "pi-even", 0.4, 0.4, 4.4);
    add_run(&report, "nbench", 0.6, 0.62, 7);
    add_run(&report, "1cdc", 0.3, 0.3, 1);
    add_run(&report, "nbench", 0.2, 0.2, 2);
    add_run(&report, "1cdc", 0.5, 0.5, 1);
    add_run(&report, "nbench", 0.6, 0.58, 5);
    add_run(&report, "pi-even", 0.7, 0.61, 9); /* beyond the baseline's loads, so not compared */
    add_run(&report, "pi-even", 0.1, 0.1, 9);
    add_run(&report, "pi-even", 0.2, 0.2, 1);
    finish_report(&report);
    assert_rows(&report, "methods", 9);
    size_t row = find(&report, "pi-even", 0.4);
    assert_text(&report, "methods", row, "baseline", "nbench");
    assert_cell(&report, "methods", row, "baseline_iterations_per_second", 4);
    assert_true(fabs(cell(&report, "methods", row, "deviation_percent")->number - 10) < 1e-9);
    assert_cell(&report, "methods", find(&report, "pi-even", 0.2), "deviation_percent", -50);
    row = find(&report, "pi-even", 0.61);
    assert_cell(&report, "methods", row, "deviation_percent", NAN);
    assert_text(&report, "methods", row, "note", "outside the loads of the baseline");
    assert_cell(&report, "methods", find(&report, "pi-even", 0.1), "deviation_percent", NAN);
    row = find(&report, "nbench", 0.58);
    assert_text(&report, "methods", row, "note", "the baseline itself");
    assert_cell(&report, "methods", row, "deviation_percent", NAN);
    /* Rows are sorted by method: 1cdc, nbench, pi-even. */
    assert_rows(&report, "methods-deviation", 3);
    assert_cell(&report, "methods-deviation", 0, "compared", 2);
    assert_text(&report, "methods-deviation", 1, "baseline", "itself");
    assert_cell(&report, "methods-deviation", 2, "points", 4);
    assert_cell(&report, "methods-deviation", 2, "compared", 2);
    assert_cell(&report, "methods-deviation", 2, "deviation_least_percent", -50);
    assert_true(
        fabs(cell(&report, "methods-deviation", 2, "deviation_mean_percent")->number + 20) < 1e-9);
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Methods</h2>");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* The second machine has eight times as many CPUs. */
static void methods_are_compared_on_machines_of_one_size(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int i = 0; i < 2; i++) {
        double faster = i == 0 ? 1 : 8;
        add_run(&report, "nbench", 0.2, 0.2, 2 * faster)->record.load_cpus = 4 * faster;
        add_run(&report, "nbench", 0.6, 0.6, 6 * faster)->record.load_cpus = 4 * faster;
        add_run(&report, "pi-even", 0.4, 0.4 + 0.01 * i, 4.4 * faster)->record.load_cpus =
            4 * faster;
    }
    finish_report(&report);
    assert_cell(&report, "methods", find(&report, "pi-even", 0.4), "deviation_percent", 10);
    assert_cell(&report, "methods", find(&report, "pi-even", 0.41),
        "baseline_iterations_per_second", 8 * 4.1);
    assert_rows(&report, "methods-deviation", 4);
    assert_cell(&report, "methods", find(&report, "pi-even", 0.4), "cpus", 4);
    assert_cell(&report, "methods", find(&report, "pi-even", 0.41), "cpus", 32);
    assert_cell(&report, "methods-deviation", 0, "cpus", 4);
    assert_cell(&report, "methods-deviation", 3, "cpus", 32);
    ssreport_report_free(&report);
}

/* Both the baseline's step at 40 % and one step of the method are too short. */
static void steps_shorter_than_their_iterations_are_not_compared(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_run(&report, "nbench", 0.2, 0.2, 2);
    add_run(&report, "nbench", 0.4, 0.4, 40)->steps.items[0].is_exceeded = true;
    add_run(&report, "nbench", 0.6, 0.6, 6);
    add_run(&report, "cdc", 0.3, 0.3, 6);
    add_run(&report, "cdc", 0.5, 0.5, 9)->steps.items[0].is_exceeded = true;
    finish_report(&report);
    size_t row = find(&report, "cdc", 0.3);
    assert_true(fabs(cell(&report, "methods", row, "deviation_percent")->number - 100) < 1e-9);
    row = find(&report, "cdc", 0.5);
    assert_cell(&report, "methods", row, "deviation_percent", NAN);
    assert_text(
        &report, "methods", row, "note", "not compared: iterations take longer than the step");
    assert_cell(&report, "methods-deviation", 0, "compared", 1);
    ssreport_report_free(&report);
}

/* Only the baseline's run at 60 % was disturbed. */
static void methods_disturbed_unequally_by_other_processes_are_not_compared(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_run(&report, "nbench", 0.2, 0.2, 2)->others = 0.01;
    add_run(&report, "nbench", 0.4, 0.4, 4)->others = 0.02;
    add_run(&report, "nbench", 0.6, 0.6, 6)->others = 0.3;
    add_run(&report, "cdc", 0.3, 0.3, 6)->others = 0.39;
    add_run(&report, "cdc", 0.25, 0.25, 5)->others = 0.02;
    add_run(&report, "cdc", 0.35, 0.35, 7)->others = NAN;
    add_run(&report, "cdc", 0.5, 0.5, 10)->others = 0.02;
    finish_report(&report);
    size_t row = find(&report, "cdc", 0.3);
    assert_cell(&report, "methods", row, "deviation_percent", NAN);
    assert_cell(&report, "methods", row, "others", 0.39);
    assert_text(&report, "methods", row, "note",
        "not compared: other processes used a different share of the machine");
    row = find(&report, "cdc", 0.5);
    assert_cell(&report, "methods", row, "deviation_percent", NAN);
    row = find(&report, "cdc", 0.25);
    assert_true(fabs(cell(&report, "methods", row, "deviation_percent")->number - 100) < 1e-9);
    row = find(&report, "cdc", 0.35);
    assert_true(fabs(cell(&report, "methods", row, "deviation_percent")->number - 100) < 1e-9);
    assert_text(&report, "methods", find(&report, "nbench", 0.6), "note", "the baseline itself");
    assert_cell(&report, "methods-deviation", 0, "compared", 2);
    assert_cell(&report, "methods-deviation", 0, "others_most", 0.39);
    assert_string_equal(ssreport_finding_at(&report, 1).sentence,
        "w: cdc is not compared with nbench in 2 of 4 steps. Other processes used up to 39.0 % of "
        "the machine with this method and up to 30.0 % with the baseline, which may explain a "
        "difference in throughput.");
    ssreport_report_free(&report);
}

/* The baseline is chosen for each round length separately. */
static void one_cdc_is_the_baseline_if_it_covers_more_loads(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_run(&report, "nbench", 0.2, 0.2, 2);
    add_run(&report, "nbench", 0.6, 0.6, 6);
    add_run(&report, "1cdc", 0.1, 0.1, 2)->tau = 0.107;
    add_run(&report, "1cdc", 0.9, 0.9, 18)->tau = 0.107;
    add_run(&report, "1cdc", 0.5, 0.5, 10)->tau = 0.053;
    add_run(&report, "cdc", 0.5, 0.5, 5);
    finish_report(&report);
    size_t row = find(&report, "cdc", 0.5);
    assert_text(&report, "methods", row, "baseline", "1cdc, 107 ms");
    assert_cell(&report, "methods", row, "deviation_percent", -50);
    ssreport_report_free(&report);
}

/* Sets, environments and workloads must never be mixed. */
static void each_environment_has_its_own_baseline(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_run(&report, "nbench", 0.2, 0.2, 2);
    add_run(&report, "nbench", 0.6, 0.6, 6);
    add_run(&report, "cdc", 0.4, 0.4, 2)->environment = strdup("lxc");
    struct ssreport_run *run = add_run(&report, "cdc", 0.5, 0.5, 2);
    free(run->workload);
    run->workload = strdup("v");
    add_run(&report, "cdc", 0.3, 0.3, 2)->set = 1;
    finish_report(&report);
    for (double load = 0.3; load < 0.55; load += 0.1) {
        size_t row = find(&report, "cdc", load);
        assert_text(&report, "methods", row, "baseline", "");
        assert_text(&report, "methods", row, "note", "no baseline");
    }
    ssreport_report_free(&report);
    /* Runs of other experiments are ignored. */
    report = begin_report();
    free(add_run(&report, "cdc", 0.3, 0.3, 2)->experiment);
    report.runs[0].experiment = strdup("accuracy");
    finish_report(&report);
    assert_rows(&report, "methods", 0);
    ssreport_report_free(&report);
}

/* The sign of a range is that of its sentence: 20 to 40 % lower. */
static void answer_names_the_workload_that_differs_most(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int i = 1; i <= 2; i++) {
        add_run(&report, "nbench", i / 2.0, i / 2.0, 10 * i);
        add_run(&report, "default", i / 2.0, i / 2.0, i == 1 ? 8 : 12);
    }
    finish_report(&report);
    assert_headline(&report, "Do all methods give the same throughput at the same load?",
        "default differs most: at the same load its throughput is 30.0 % lower than that of nbench "
        "(20.0 to 40.0 %; steps compared: 2).");
    ssreport_report_free(&report);
    report = begin_report();
    for (int i = 1; i <= 4; i++) {
        double load = i % 2 ? 0.5 : 1;
        add_run(&report, "nbench", load, load, 10 * load);
        add_run(&report, "default", load, load, (i <= 2 ? 9 : 11.1) * load);
        for (size_t j = 2; j > 0; j--)
            *report.runs[report.run_count - j].workload = i <= 2 ? 'v' : 'w';
    }
    finish_report(&report);
    assert_headline(&report, "Do all methods give the same throughput at the same load?",
        "w: default differs most: at the same load its throughput is 11.0 % higher than that of "
        "nbench (11.0 to 11.0 %; steps compared: 2).");
    ssreport_report_free(&report);
    /* It depends on all that separates the rows; sets have the names that were given. */
    report = begin_report();
    strcpy(report.names[1], "old");
    for (int i = 1; i <= 8; i++) {
        double load = i % 2 ? 0.5 : 1;
        add_run(&report, "nbench", load, load, 10 * load);
        add_run(&report, "default", load, load, (i == 5 || i == 6 ? 8 : 9) * load);
        for (size_t j = 2; j > 0; j--) {
            struct ssreport_run *run = &report.runs[report.run_count - j];
            run->set = i > 4;
            run->environment = strdup(i > 6 ? "vm" : "lxc");
            run->record.load_cpus = i > 2 ? 32 : 4;
        }
    }
    finish_report(&report);
    assert_headline(&report, "Do all methods give the same throughput at the same load?",
        "lxc, 32 CPUs, old: default differs most: at the same load its throughput is 20.0 % lower "
        "than that of nbench (20.0 to 20.0 %; steps compared: 2).");
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(each_run_has_a_row_of_loads),
    cmocka_unit_test(each_step_of_stairs_has_a_row_of_loads),
    cmocka_unit_test(method_deviations_refer_to_the_wider_baseline),
    cmocka_unit_test(methods_are_compared_on_machines_of_one_size),
    cmocka_unit_test(steps_shorter_than_their_iterations_are_not_compared),
    cmocka_unit_test(methods_disturbed_unequally_by_other_processes_are_not_compared),
    cmocka_unit_test(one_cdc_is_the_baseline_if_it_covers_more_loads),
    cmocka_unit_test(answer_names_the_workload_that_differs_most),
    cmocka_unit_test(each_environment_has_its_own_baseline))
