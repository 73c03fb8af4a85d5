/* SPDX-License-Identifier: Apache-2.0 */

/* One trace at several speeds. */

#include "report_manifest.h"

static void assert_note(const struct ssreport_run *run, const char *part) {
    if (!strstr(run->record.notes.text, part))
        fail_msg("no '%s' in: %s", part, run->record.notes.text);
}

/* Those that follow it do as many iterations per second; one does not. */
static void speeds_are_held_against_the_original(void **state) {
    (void)state;
    folder_open();
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write_record(names[i]);
    folder_set_iterations("b", 31);
    folder_set_iterations("c", 33);
    folder_set_iterations("d", 60); /* of another repetition: it has no original of its own */
    struct ssreport_report report = gather_rows("c,replay,blocking,pi-uneven,,,,,0.107,18,1,\n"
                                                "b,replay,blocking,pi-uneven,,,,,0.107,1.5,1,\n"
                                                "a,replay,blocking,pi-uneven,,,,,0.107,1,1,\n"
                                                "d,replay,blocking,pi-uneven,,,,,0.107,18,2,\n");
    assert_rows(&report, SSREPORT_REPLAY, 4);
    assert_cell(&report, SSREPORT_REPLAY, 0, "speed", 1);
    assert_cell(&report, SSREPORT_REPLAY, 0, "ratio", 1);
    assert_cell(&report, SSREPORT_REPLAY, 0, "iterations", 30);
    assert_cell(&report, SSREPORT_REPLAY, 0, "error_mean_percent", 2);
    assert_cell(&report, SSREPORT_REPLAY, 0, "error_mse_e4", 4);
    assert_cell(&report, SSREPORT_REPLAY, 0, "error_mse_e4_published_least", 0.34);
    assert_cell(&report, SSREPORT_REPLAY, 0, "error_mse_e4_published_most", 3.28);
    assert_cell(&report, SSREPORT_REPLAY, 1, "ratio", 31 / 30.0);
    assert_text(&report, SSREPORT_REPLAY, 1, "in_proportion", "yes");
    assert_cell(&report, SSREPORT_REPLAY, 2, "speed", 18);
    assert_cell(&report, SSREPORT_REPLAY, 2, "against_speed", 1);
    assert_text(&report, SSREPORT_REPLAY, 2, "in_proportion", "no");
    assert_cell(&report, SSREPORT_REPLAY, 3, "round", 2);
    assert_cell(&report, SSREPORT_REPLAY, 3, "against_speed", 18);
    assert_note(&report.runs[0], "not in proportion to the time scale (+10.0 % against speed 1)");
    assert_null(strstr(report.runs[1].record.notes.text, "proportion"));
    assert_null(strstr(report.runs[3].record.notes.text, "proportion"));
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Replay at several speeds</h2>");
    assert_has(&text, "says nothing about the original");
    assert_has(&text, "pi-uneven     18.00   2.000    4.00   0.34   3.28      1.100   1.100");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* Without the original, the slowest stands for it; what counts no iterations cannot. */
static void without_an_original_the_slowest_replay_stands_for_it(void **state) {
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
    assert_cell(&report, SSREPORT_REPLAY, 0, "ratio", NAN);
    assert_text(&report, SSREPORT_REPLAY, 0, "in_proportion", "");
    assert_cell(&report, SSREPORT_REPLAY, 2, "against_speed", 200);
    assert_cell(&report, SSREPORT_REPLAY, 2, "ratio", 29 / 30.0);
    assert_cell(&report, SSREPORT_REPLAY, 2, "error_mse_e4_published_least", NAN);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(speeds_are_held_against_the_original),
    cmocka_unit_test(without_an_original_the_slowest_replay_stands_for_it))
