/* SPDX-License-Identifier: Apache-2.0 */

#include "report_make.h"

#define STEPS 6

/* Adds a staircase run with 10 s steps and these throughputs. */
static struct ssreport_run *add_run(
    struct ssreport_report *report, int set, const double throughputs[STEPS]) {
    report->runs = reallocarray(report->runs, report->run_count + 1, sizeof *report->runs);
    struct ssreport_run *run = &report->runs[report->run_count++];
    *run = (struct ssreport_run){.set = set};
    run->record.name = strdup("made");
    run->record.has_iterations = true;
    run->record.first_end = INFINITY;
    run->record.samples = calloc(1, sizeof *run->record.samples);
    run->record.samples[0].end = 10 * STEPS;
    run->record.sample_count = 1;
    run->steps.items = calloc(STEPS, sizeof *run->steps.items);
    run->steps.count = STEPS;
    for (size_t i = 0; i < STEPS; i++) {
        double load = i < STEPS / 2 ? 0.9 - 0.3 * (double)i : 0.3 * (double)i - 0.6;
        run->steps.items[i] = (struct ssreport_step){.from = 10 * (double)i,
            .to = 10 * (double)i + 10,
            .target = load,
            .load = {.mean = load},
            .half = i < STEPS / 2 ? 1 : 2,
            .throughput = throughputs[i]};
    }
    return run;
}

static struct ssreport_run *set_place(struct ssreport_run *run, const char *group,
    const char *placement, const char *role, const char *workload) {
    run->group = strdup(group);
    run->placement = strdup(placement);
    run->role = strdup(role);
    run->workload = strdup(workload);
    return run;
}

/* Adds a foreground that began 5 s before its background, with one iteration per step. */
static void add_pair(
    struct ssreport_report *report, const char *group, const char *placement, const char *work) {
    struct ssreport_run *run = add_run(report, 0, (double[STEPS]){1, 1, 1, 1, 1, 1});
    set_place(run, group, placement, "background", work)->record.wall = 1000;
    run = add_run(report, 0, (double[STEPS]){0});
    set_place(run, group, placement, "foreground", "a<b")->record.wall = 995;
    run->record.samples[0].end = 10 * STEPS + 5;
    run->record.iterations = calloc(STEPS, sizeof *run->record.iterations);
    run->record.iteration_count = STEPS;
    for (size_t i = 0; i < STEPS; i++)
        run->record.iterations[i] =
            (struct ssreport_iteration){10 * (double)i + 5, 10 * (double)i + 6 + (double)i};
}

static void foreground_steps_are_aligned_by_its_clock(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    /* Backgrounds of another group and of another placement must be ignored. */
    set_place(add_run(&report, 0, (double[STEPS]){0}), "2", "per-thread", "background", "c");
    set_place(add_run(&report, 0, (double[STEPS]){0}), "1", "per-core", "background", "c");
    add_pair(&report, "1", "per-thread", "b");
    finish_report(&report);
    assert_int_equal(table_rows(ssreport_table(&report, "interference")), 1);
    assert_string_equal(cell(&report, "interference", 0, "background")->text, "b");
    assert_cell(&report, "interference", 0, "first_points", 3);
    assert_cell(&report, "interference", 0, "second_points", 3);
    assert_cell(&report, "interference", 0, "first_intercept", 0.1);
    assert_true(fabs(cell(&report, "interference", 0, "metric_percent")->number) < 1e-9);
    assert_string_equal(cell(&report, "interference", 0, "agree")->text, "yes");
    ssreport_report_free(&report);
    /* A wrong clock would move parts of iterations to other steps. */
    report = begin_report();
    add_pair(&report, "1", "per-thread", "b");
    report.runs[1].record.wall -= 3;
    finish_report(&report);
    assert_true(fabs(cell(&report, "interference", 0, "first_slope")->number) > 1e-3);
    /* The last step is after the foreground's end, and two points make no line. */
    assert_cell(&report, "interference", 0, "second_points", 2);
    assert_cell(&report, "interference", 0, "metric_percent", NAN);
    ssreport_report_free(&report);
}

/* Runs that are meant to start together differ by a few milliseconds. */
static void late_foreground_loses_its_first_step(void **state) {
    (void)state;
    const struct { double wall, points; } cases[] = {{1000.003, 3}, {1000.1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ssreport_report report = begin_report();
        add_pair(&report, "1", "per-thread", "b");
        report.runs[1].record.wall = cases[i].wall;
        finish_report(&report);
        assert_cell(&report, "interference", 0, "first_points", cases[i].points);
        ssreport_report_free(&report);
    }
}

static void too_short_background_steps_are_noted(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_pair(&report, "1", "per-thread", "b");
    report.runs[0].steps.too_short = 2;
    finish_report(&report);
    if (!strstr(
            report.runs[1].record.notes.text, "2 of the 8 steps of the background do not count"))
        fail_msg("notes: %s", report.runs[1].record.notes.text);
    ssreport_report_free(&report);
}

/* Steps are ignored from the one in which the foreground died. */
static void steps_after_the_foreground_died_are_ignored(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_pair(&report, "1", "per-thread", "b");
    report.runs[1].record.first_end = 42; /* on its own clock, in the fourth step */
    add_pair(&report, "2", "per-thread", "b");
    finish_report(&report);
    assert_rows(&report, "interference", 2);
    assert_cell(&report, "interference", 0, "first_points", 3);
    assert_cell(&report, "interference", 0, "second_points", 0);
    assert_cell(&report, "interference", 0, "metric_percent", NAN);
    assert_text(&report, "interference", 0, "agree", "no");
    if (!strstr(report.runs[1].record.notes.text,
            "3 of the 6 steps of the background do not count: the foreground did not run"))
        fail_msg("notes: %s", report.runs[1].record.notes.text);
    /* The other pair is unaffected. */
    assert_cell(&report, "interference", 1, "second_points", 3);
    assert_string_equal(report.runs[3].record.notes.text, "");
    ssreport_report_free(&report);
}

/* Throughputs of different commands, numbers of instances and machines are not comparable. */
static void curves_do_not_mix_commands_instances_or_machines(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int i = 0; i < 16; i++) {
        struct ssreport_run *run = add_run(&report, 0, (double[STEPS]){i + 1});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.05 * (i + 1);
        run->record.command = strdup(i % 4 == 1 ? "b" : "a");
        run->record.instance_count = i % 4 == 2 ? 1 : 2;
        run->record.load_cpus = i % 4 == 3 ? 64 : 4;
    }
    finish_report(&report);
    assert_int_equal(report.pooled_count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(report.pooled[i].steps.count, 4);
    assert_string_equal(report.pooled[0].record.name, "all runs: a, 2 instances, 4 CPUs");
    assert_string_equal(report.pooled[1].record.name, "all runs: b, 2 instances, 4 CPUs");
    assert_string_equal(report.pooled[2].record.name, "all runs: a, 1 instance, 4 CPUs");
    assert_string_equal(report.pooled[3].record.name, "all runs: a, 2 instances, 64 CPUs");
    ssreport_report_free(&report);
}

static void curves_do_not_mix_placements_or_lengths_of_rounds(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int i = 0; i < 12; i++) {
        struct ssreport_run *run = add_run(&report, 0, (double[STEPS]){i + 1});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.05 * (i + 1);
        run->workload = strdup("w");
        run->placement = strdup(i % 3 == 0 ? "pinned" : "free");
        run->tau = i % 3 == 2 ? 0.2 : 0.053;
    }
    finish_report(&report);
    assert_int_equal(report.pooled_count, 3);
    assert_string_equal(report.pooled[0].record.name, "all runs: w, pinned, tau 53 ms");
    assert_string_equal(report.pooled[1].record.name, "all runs: w, free, tau 53 ms");
    assert_string_equal(report.pooled[2].record.name, "all runs: w, free, tau 200 ms");
    ssreport_report_free(&report);
}

/* Whichever run is the first, no two curves have the same name. */
static void curves_of_commands_beside_a_workload_have_names(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int i = 0; i < 9; i++) {
        struct ssreport_run *run = add_run(&report, 0, (double[STEPS]){i + 1});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.1 * (i + 1);
        run->workload = i % 3 == 0 ? strdup("w") : NULL;
        run->record.command = strdup(i % 3 == 1 ? "a" : "b");
        run->record.instance_count = 1;
    }
    finish_report(&report);
    assert_int_equal(report.pooled_count, 3);
    assert_string_equal(report.pooled[0].record.name, "all runs: w");
    assert_string_equal(report.pooled[1].record.name, "all runs: a, 1 instance");
    assert_string_equal(report.pooled[2].record.name, "all runs: b, 1 instance");
    ssreport_report_free(&report);
}

/* The name has all parts, although they are long. */
static void curve_has_a_long_name(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    char word[81], want[1024];
    memset(word, 'x', 80);
    word[80] = '\0';
    for (int i = 0; i < 3; i++) {
        struct ssreport_run *run = add_run(&report, 1, (double[STEPS]){i + 1});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.1 * (i + 1);
        char **const texts[] = {&run->workload, &run->variant, &run->method, &run->trace,
            &run->environment, &run->measured_in, &run->experiment};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            *texts[j] = strdup(word);
    }
    finish_report(&report);
    strcpy(want, "all runs:");
    for (int i = 0; i < 7; i++)
        sprintf(want + strlen(want), "%s %s", i > 0 ? "," : "", word);
    strcat(want, " (second set)");
    assert_int_equal(report.pooled_count, 1);
    assert_string_equal(report.pooled[0].record.name, want);
    ssreport_report_free(&report);
}

/* A sweep has one run for each load. */
static void runs_at_different_loads_form_one_curve(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int i = 0; i < 4; i++) {
        struct ssreport_run *run = add_run(&report, i == 3, (double[STEPS]){7 - i});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.1 * (i + 1);
    }
    finish_report(&report);
    assert_int_equal(table_rows(ssreport_table(&report, "fits")), 5);
    assert_string_equal(cell(&report, "fits", 4, "record")->text, "all runs");
    assert_cell(&report, "fits", 4, "points", 3);
    assert_cell(&report, "fits", 4, "slope", -10);
    assert_cell(&report, "fits", 4, "intercept", 8);
    ssreport_report_free(&report);
    /* Runs with another method or workload form a separate curve. */
    report = begin_report();
    for (int i = 0; i < 9; i++) {
        struct ssreport_run *run = add_run(&report, 0, (double[STEPS]){i});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.1 * i;
        run->workload = strdup(i % 3 == 0 ? "a" : "b");
        run->method = strdup(i % 3 == 1 ? "c" : "d");
    }
    finish_report(&report);
    assert_int_equal(report.pooled_count, 3);
    assert_string_equal(report.pooled[1].record.name, "all runs: b, c");
    assert_int_equal(report.pooled[1].steps.count, 3);
    ssreport_report_free(&report);
    /* Runs in another environment or experiment form a separate curve, too. */
    report = begin_report();
    for (int i = 0; i < 9; i++) {
        struct ssreport_run *run = add_run(&report, 0, (double[STEPS]){i});
        run->steps.count = 1;
        run->steps.items[0].load.mean = 0.1 * i;
        run->environment = strdup(i % 3 == 0 ? "lxc" : "none");
        run->experiment = strdup(i % 3 == 1 ? "throughput" : "replay");
    }
    finish_report(&report);
    assert_int_equal(report.pooled_count, 3);
    assert_string_equal(report.pooled[0].record.name, "all runs: lxc, replay");
    assert_string_equal(report.pooled[1].record.name, "all runs: none");
    ssreport_report_free(&report);
    /* A single staircase run forms its own curve. */
    report = begin_report();
    add_run(&report, 0, (double[STEPS]){1, 2, 3, 4, 5, 6});
    finish_report(&report);
    assert_int_equal(report.pooled_count, 0);
    ssreport_report_free(&report);
    /* Foregrounds and backgrounds run at each other's loads. */
    report = begin_report();
    add_pair(&report, "1", "per-core", "b");
    finish_report(&report);
    assert_int_equal(report.pooled_count, 0);
    ssreport_report_free(&report);
}

static void manifest_assigns_roles_and_reports_bad_rows(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_write("manifest.csv", "run,role,group,reason,extra,placement,workload\n"
                                 "a,foreground,g1,,1,per-chip,x\n"
                                 "b,background,g1,,1,per-chip,x\n"
                                 "c,background,g1,,1,per-chip,x\n"
                                 ",,,one chip only,1,per-core,y\n"
                                 "broken\n");
    struct ssreport_report report = make_report(folder_path);
    assert_int_equal(report.run_count, 2);
    assert_string_equal(report.runs[0].role, "foreground");
    assert_string_equal(report.runs[1].workload, "x");
    assert_int_equal(report.failure_count, 3);
    assert_string_equal(report.failures[1].why, "one chip only");
    assert_non_null(strstr(report.failures[1].name, ": y per-core"));
    assert_non_null(strstr(report.failures[2].why, "manifest.csv:6:"));
    /* Both runs have one load: no line, so no metric; but a combined throughput. */
    assert_cell(&report, "interference", 0, "metric_percent", NAN);
    assert_cell(&report, "interference-steps", 0, "iterations_per_second", 2);
    assert_cell(&report, "interference-steps", 0, "relative_to_per_chip", 1);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(foreground_steps_are_aligned_by_its_clock),
    cmocka_unit_test(late_foreground_loses_its_first_step),
    cmocka_unit_test(too_short_background_steps_are_noted),
    cmocka_unit_test(steps_after_the_foreground_died_are_ignored),
    cmocka_unit_test(curves_do_not_mix_commands_instances_or_machines),
    cmocka_unit_test(curves_do_not_mix_placements_or_lengths_of_rounds),
    cmocka_unit_test(curves_of_commands_beside_a_workload_have_names),
    cmocka_unit_test(curve_has_a_long_name),
    cmocka_unit_test(runs_at_different_loads_form_one_curve),
    cmocka_unit_test(manifest_assigns_roles_and_reports_bad_rows))
