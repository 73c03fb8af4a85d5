/* SPDX-License-Identifier: Apache-2.0 */

#include "report_manifest.h"

static void assert_note(const struct ssreport_run *run, const char *part) {
    if (!strstr(run->record.notes.text, part))
        fail_msg("no '%s' in: %s", part, run->record.notes.text);
}

static struct ssreport_run read_run(const char *name) {
    const struct ssreport_settings settings = {
        .edge = SSREPORT_EDGE_DEFAULT, .interval = 6, .confidence = 0.95};
    struct ssreport_run run;
    struct ss_error error = {0};
    if (ssreport_run_read(&run, folder_file(name), name, &settings, &error) < 0)
        fail_msg("%s: %s", name, error.message);
    return run;
}

/* Replays that follow the trace keep their iterations per second; one of them does not. */
static void replays_are_compared_with_the_original_speed(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_record(names[i]);
    folder_set_iterations("b", 31);
    folder_set_iterations("c", 33);
    folder_set_iterations("d", 60); /* from another repetition, which has no original */
    struct ssreport_report report = gather_rows("c,replay,blocking,pi-uneven,,,,,0.107,18,1,\n"
                                                "b,replay,blocking,pi-uneven,,,,,0.107,1.5,1,\n"
                                                "a,replay,blocking,pi-uneven,,,,,0.107,1,1,\n"
                                                "d,replay,blocking,pi-uneven,,,,,0.107,18,2,\n");
    assert_rows(&report, "replay", 4);
    assert_cell(&report, "replay", 0, "speed", 1);
    assert_cell(&report, "replay", 0, "ratio", 1);
    assert_cell(&report, "replay", 0, "iterations", 30);
    assert_cell(&report, "replay", 0, "error_mean_percent", 2);
    assert_cell(&report, "replay", 0, "error_mse_e4", 4);
    assert_cell(&report, "replay", 0, "error_mse_e4_published_least", 0.34);
    assert_cell(&report, "replay", 0, "error_mse_e4_published_most", 3.28);
    assert_cell(&report, "replay", 1, "ratio", 31 / 30.0);
    assert_text(&report, "replay", 1, "in_proportion", "yes");
    assert_cell(&report, "replay", 2, "speed", 18);
    assert_cell(&report, "replay", 2, "against_speed", 1);
    assert_text(&report, "replay", 2, "in_proportion", "no");
    assert_cell(&report, "replay", 3, "round", 2);
    assert_cell(&report, "replay", 3, "against_speed", 18);
    assert_note(&report.runs[0], "not in proportion to the time scale (+10.0 % against speed 1)");
    assert_null(strstr(report.runs[1].record.notes.text, "proportion"));
    assert_null(strstr(report.runs[3].record.notes.text, "proportion"));
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Replay at several speeds</h2>");
    assert_has(&text, "says nothing about the original");
    assert_has(&text, "pi-uneven                   18.00   2.000   4.000      1.100  1.1000");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * Without an original, the slowest replay serves as the reference, unless it counts no iterations.
 */
static void slowest_replay_is_the_reference_without_an_original(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_write_record("c");
    folder_change("a/summary.json", "\"iterations\": 30", "\"iterations\": null");
    folder_write("a/iterations.csv", "instance,start,end\n");
    folder_set_iterations("c", 29);
    struct ssreport_report report = gather_rows("a,replay,x,default,,,,,,100,1,\n"
                                                "b,replay,x,default,,,,,,200,1,\n"
                                                "c,replay,x,default,,,,,,300,1,\n");
    assert_cell(&report, "replay", 0, "ratio", NAN);
    assert_text(&report, "replay", 0, "in_proportion", "");
    assert_cell(&report, "replay", 2, "against_speed", 200);
    assert_cell(&report, "replay", 2, "ratio", 29 / 30.0);
    assert_cell(&report, "replay", 2, "error_mse_e4_published_least", NAN);
    ssreport_report_free(&report);
}

/* 29.7 iterations of 1.01 s fit in 30 s: the 30th is unfinished. */
static void replay_counts_an_unfinished_iteration_in_part(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    char text[2048] = "instance,start,end\n";
    for (int i = 0; i < 29; i++)
        sprintf(text + strlen(text), "0,%.6f,%.6f\n", i * 1.01, (i + 1) * 1.01);
    folder_write("a/iterations.csv", text);
    struct ssreport_run run = read_run("a");
    if (!(fabs(run.figures.throughput - 1 / 1.01) < 1e-9))
        fail_msg("throughput %.12g", run.figures.throughput);
    assert_true(fabs(run.figures.iteration.mean - 1.01) < 1e-9);
    /* The last interval also includes its part. */
    assert_int_equal(run.rates.count, 5);
    assert_true(fabs(run.rates.parts[4] - 1 / 1.01) < 1e-9);
    ssreport_run_free(&run);
    /* An instance that exited has no unfinished iteration. */
    folder_write("a/events.jsonl", "{\"elapsed_seconds\":29.5,\"event\":\"instance_ended\","
                                   "\"instance\":0,\"value\":0}\n");
    run = read_run("a");
    assert_true(fabs(run.figures.throughput - 29 / 30.0) < 1e-9);
    ssreport_run_free(&run);
}

/* A single iteration of 30 s spans three steps of 10 s. */
static void fitted_line_excludes_steps_shorter_than_their_iterations(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    struct ssreport_run run = read_run("a");
    assert_int_equal(run.exceeded, 0);
    assert_null(strstr(run.record.notes.text, "left out of the fit"));
    ssreport_run_free(&run);
    folder_write("a/iterations.csv", "instance,start,end\n0,0,30\n1,0,29\n");
    run = read_run("a");
    size_t steps = run.steps.count;
    assert_int_equal(run.exceeded, steps);
    assert_int_equal(run.fit.count, 0);
    char note[160];
    snprintf(note, sizeof note, "%zu of %zu steps are left out of the fit", steps, steps);
    assert_note(&run, note);
    ssreport_run_free(&run);
}

/* An iteration that is stopped during a step of target 0 is neither a point nor a fault. */
static void fitted_line_excludes_idle_steps_without_a_note(void **state) {
    (void)state;
    char iterations[1000] = "instance,start,end\n0,10,20.5\n";
    for (int second = 0; second < 9; second++)
        sprintf(iterations + strlen(iterations), "0,%d,%d\n0,%d.5,%d.5\n", second, second + 1,
            second + 20, second + 21);
    folder_open();
    folder_write_steps("a", 3, 0);
    folder_write("a/iterations.csv", iterations);
    struct ssreport_run run = read_run("a");
    assert_int_equal(run.steps.count, 3);
    assert_int_equal(run.fit.count, 2);
    assert_null(strstr(run.record.notes.text, "left out of the fit"));
    ssreport_run_free(&run);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(replays_are_compared_with_the_original_speed),
    cmocka_unit_test(slowest_replay_is_the_reference_without_an_original),
    cmocka_unit_test(replay_counts_an_unfinished_iteration_in_part),
    cmocka_unit_test(fitted_line_excludes_steps_shorter_than_their_iterations),
    cmocka_unit_test(fitted_line_excludes_idle_steps_without_a_note))
