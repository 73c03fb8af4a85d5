/* SPDX-License-Identifier: Apache-2.0 */

#include "predict.h"
#include "report_make.h"

static struct ssreport_run *add_run(struct ssreport_report *report, const char *experiment) {
    report->runs = reallocarray(report->runs, report->run_count + 1, sizeof *report->runs);
    struct ssreport_run *run = &report->runs[report->run_count++];
    *run = (struct ssreport_run){0};
    run->record.name = strdup(experiment);
    run->record.has_iterations = true;
    run->record.first_end = INFINITY;
    run->experiment = strdup(experiment);
    run->workload = strdup("w");
    run->method = strdup("default");
    return run;
}

/*
 * Adds runs at `from` to `to` percent in steps of ten, with ten iterations per second at full load.
 */
static void add_loads(struct ssreport_report *report, int from, int to) {
    for (int percent = from; percent <= to; percent += 10) {
        struct ssreport_run *run = add_run(report, "throughput");
        double load = percent / 100.0;
        run->steps.items = calloc(1, sizeof *run->steps.items);
        run->steps.count = 1;
        run->steps.items[0] =
            (struct ssreport_step){.target = load, .load = {.mean = load}, .throughput = 10 * load};
    }
}

static void write_trace(void) {
    static char path[256];
    folder_open();
    folder_write("trace", "0 20%\n10s 20%\n10s 60%\n20s 60%\n30s 80%\n");
    snprintf(path, sizeof path, "%s", folder_file("trace"));
    report_trace = path;
}

/* Adds a replay of the trace at double speed: 2, 6 and 8 iterations per second for 5 s each. */
static struct ssreport_run *add_replay(struct ssreport_report *report) {
    struct ssreport_run *run = add_run(report, "replay");
    const int rates[] = {2, 6, 8};
    run->speed = 2;
    run->record.samples = calloc(30, sizeof *run->record.samples);
    run->record.sample_count = 30;
    for (int i = 0; i < 30; i++) {
        double end = 0.5 * (i + 1);
        run->record.samples[i] = (struct ssreport_sample){.begin = end - 0.5,
            .end = end,
            .target = end <= 5    ? 0.2
                      : end <= 10 ? 0.6
                                  : 0.6 + 0.2 * (end - 10) / 5,
            .counted = true};
    }
    run->record.iterations = calloc(80, sizeof *run->record.iterations);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 5 * rates[i]; j++)
            run->record.iterations[run->record.iteration_count++] = (struct ssreport_iteration){
                5 * i + (double)j / rates[i], 5 * i + (j + 1.0) / rates[i]};
    }
    return run;
}

static void assert_about(
    const struct ssreport_report *report, size_t row, const char *name, double want) {
    double have = cell(report, "prediction", row, name)->number;
    if (!(fabs(have - want) <= 1e-6))
        fail_msg("%s is %.12g, not %.12g", name, have, want);
}

/*
 * Prediction: 10 s at 2, 10 s at 6 and 10 s from 6 to 8 make a mean of 5 per second. The replay did
 * 10, 30 and 40 in 15 s.
 */
static void predicted_throughput_is_listed_with_its_replay(void **state) {
    (void)state;
    write_trace();
    struct ssreport_report report = begin_report();
    add_loads(&report, 10, 90);
    add_replay(&report);
    finish_report(&report);
    assert_rows(&report, "prediction", 2);
    assert_cell(&report, "prediction", 0, "points", 9);
    assert_cell(&report, "prediction", 0, "seconds", 30);
    assert_about(&report, 0, "inside", 1);
    assert_about(&report, 0, "predicted_iterations_per_second", 5);
    assert_about(&report, 0, "low", 5);
    assert_text(&report, "prediction", 0, "record", "");
    assert_cell(&report, "prediction", 0, "measured_iterations_per_second", NAN);
    assert_about(&report, 1, "predicted_iterations_per_second", 5);
    assert_about(&report, 1, "measured_iterations_per_second", 80 / 15.0);
    assert_about(&report, 1, "difference_percent", 100 * (5 / (80 / 15.0) - 1));
    assert_text(&report, "prediction", 1, "note", "");
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Prediction</h2>");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * Loads above 70 % are unknown, which excludes 5 of the last 10 s: (10 * 2 + 10 * 6 + 5 * 6.5) /
 * 25. The replay counts over the same time: 10 + 30 + 20 iterations in 12.5 s.
 */
static void unknown_loads_are_left_out_of_the_prediction(void **state) {
    (void)state;
    write_trace();
    struct ssreport_report report = begin_report();
    add_loads(&report, 20, 70);
    add_replay(&report);
    finish_report(&report);
    assert_about(&report, 1, "inside", 25 / 30.0);
    assert_about(&report, 1, "outside", 5 / 30.0);
    assert_cell(&report, "prediction", 1, "load_least", 0.2);
    assert_cell(&report, "prediction", 1, "load_most", 0.7);
    assert_about(&report, 1, "predicted_iterations_per_second", 4.5);
    assert_about(&report, 1, "measured_iterations_per_second", 4.8);
    assert_non_null(strstr(
        cell(&report, "prediction", 1, "note")->text, "16.7 % of the trace is not predicted"));
    ssreport_report_free(&report);
    report = begin_report();
    add_loads(&report, 30, 90);
    finish_report(&report);
    assert_about(&report, 0, "inside", 20 / 30.0);
    assert_about(&report, 0, "predicted_iterations_per_second", 6.5);
    ssreport_report_free(&report);
    /*
     * Between the measured load of the outermost step and its target, that step's throughput is
     * used.
     */
    report = begin_report();
    add_loads(&report, 20, 70);
    report.runs[0].steps.items[0].load.mean = 0.21;
    report.runs[0].steps.items[0].throughput = 2.1;
    finish_report(&report);
    assert_about(&report, 0, "inside", 25 / 30.0);
    assert_about(&report, 0, "predicted_iterations_per_second", 4.5 + 10 * 0.1 / 25);
    ssreport_report_free(&report);
}

static void prediction_excludes_free_time(void **state) {
    (void)state;
    write_trace();
    folder_write("trace", "0 20%\n10s 20%\n10s free\n20s 60%\n40s 60%\n");
    struct ssreport_report report = begin_report();
    add_loads(&report, 10, 90);
    finish_report(&report);
    assert_about(&report, 0, "free", 0.25);
    assert_about(&report, 0, "inside", 0.75);
    assert_about(&report, 0, "predicted_iterations_per_second", (2 * 10 + 6 * 20) / 30.0);
    ssreport_report_free(&report);
}

/*
 * A replay is compared with the curve of its own workload and method, and is not part of any curve.
 */
static void replay_is_compared_with_the_curve_of_its_own_method(void **state) {
    (void)state;
    write_trace();
    struct ssreport_report report = begin_report();
    add_loads(&report, 10, 90);
    struct ssreport_run *replay = add_replay(&report);
    free(replay->method);
    replay->method = strdup("cdc");
    /* A replay of another trace: it ends at another load. */
    add_replay(&report)->record.samples[15].target = 0.5;
    for (size_t i = 20; i < 30; i++)
        report.runs[report.run_count - 1].record.samples[i].target = 0.3;
    /* A constant load equal to the beginning of the trace is not a replay. */
    replay = add_replay(&report);
    replay->record.sample_count = 10;
    finish_report(&report);
    assert_rows(&report, "prediction", 1);
    assert_cell(&report, "prediction", 0, "points", 9);
    ssreport_report_free(&report);
}

static void each_placement_has_a_prediction(void **state) {
    (void)state;
    write_trace();
    struct ssreport_report report = begin_report();
    add_loads(&report, 10, 90);
    add_loads(&report, 10, 90);
    for (size_t i = 0; i < report.run_count; i++) {
        report.runs[i].placement = strdup(i < 9 ? "free" : "pinned");
        report.runs[i].steps.items[0].throughput *= i < 9 ? 1 : 2;
    }
    finish_report(&report);
    assert_rows(&report, "prediction", 2);
    assert_about(&report, 0, "predicted_iterations_per_second", 5);
    assert_about(&report, 1, "predicted_iterations_per_second", 10);
    assert_text(&report, "prediction", 1, "placement", "pinned");
    ssreport_report_free(&report);
}

static void prediction_needs_enough_steps(void **state) {
    (void)state;
    write_trace();
    struct ssreport_report report = begin_report();
    add_loads(&report, 20, 50);
    finish_report(&report);
    assert_cell(&report, "prediction", 0, "predicted_iterations_per_second", NAN);
    assert_text(&report, "prediction", 0, "note",
        "no curve through 4 steps: a curve needs at least 5 at different loads");
    ssreport_report_free(&report);
    report = begin_report();
    add_replay(&report);
    finish_report(&report);
    assert_rows(&report, "prediction", 0);
    assert_non_null(strstr(report.notes.text, "nothing is predicted"));
    ssreport_report_free(&report);
    struct ss_error error = {0};
    report = begin_report();
    assert_true(ssreport_report_predict(&report, folder_file("none"), &error) < 0);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(predicted_throughput_is_listed_with_its_replay),
    cmocka_unit_test(unknown_loads_are_left_out_of_the_prediction),
    cmocka_unit_test(prediction_excludes_free_time),
    cmocka_unit_test(replay_is_compared_with_the_curve_of_its_own_method),
    cmocka_unit_test(each_placement_has_a_prediction),
    cmocka_unit_test(prediction_needs_enough_steps))
