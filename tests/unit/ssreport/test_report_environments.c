/* SPDX-License-Identifier: Apache-2.0 */

#include "report_manifest.h"
#include "report_plot.h"

/* The first and the last sample are outside of the run, which lasts from 10:00:00 to 10:00:30. */
static const char host_load[] = "time,elapsed_seconds,target,load,error,load_ticks\n"
                                "2026-11-20T10:00:00.000Z,0,,0.1,,0.1\n"
                                "2026-11-20T10:00:10.000Z,10,,0.5,,0.5\n"
                                "2026-11-20T10:00:20.000Z,20,,0.6,,0.6\n"
                                "2026-11-20T10:00:30.000Z,30,,0.7,,0.7\n"
                                "2026-11-20T10:00:40.000Z,40,,0.9,,0.9\n";

static void host_load_is_reported_next_to_the_load_inside(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write_record("b");
    folder_write("a/host-load.csv", host_load);
    folder_write("manifest.csv", "run,environment,measured_in\na,lxc,inside\nb,,\n");
    struct ssreport_report report = make_report(folder_path);
    assert_rows(&report, "environments", 1);
    assert_text(&report, "environments", 0, "environment", "lxc");
    assert_text(&report, "environments", 0, "measured_in", "inside");
    assert_cell(&report, "environments", 0, "load_mean", 0.48);
    assert_cell(&report, "environments", 0, "host_load_mean", 0.6);
    assert_cell(&report, "environments", 0, "load_difference", -0.12);
    assert_cell(&report, "environments", 0, "host_samples", 3);
    assert_cell(&report, "environments", 0, "vcpus", NAN);
    assert_cell(&report, "environments", 0, "clock_difference_end_seconds", NAN);
    ssreport_report_free(&report);
}

/* A run of ssbatch has these files before the folder of the record is made. */
static void host_load_may_be_next_to_the_record(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a.host-load.csv", host_load);
    folder_write("manifest.csv", "run,environment,measured_in\na,lxc,inside\n");
    struct ssreport_report report = make_report(folder_path);
    assert_cell(&report, "environments", 0, "host_load_mean", 0.6);
    ssreport_report_free(&report);
    folder_write("a.host-load.csv", "time,load\nnow,0.5\n");
    report = make_report(folder_path);
    assert_non_null(strstr(report.runs[0].record.notes.text, "a.host-load.csv"));
    ssreport_report_free(&report);
}

static void slash_after_the_name_of_a_record_has_no_effect(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a.host-load.csv", host_load);
    struct ssreport_report report = make_report(folder_file("a//"));
    assert_cell(&report, "environments", 0, "host_load_mean", 0.6);
    assert_string_equal(report.runs[0].record.name, folder_file("a"));
    ssreport_report_free(&report);
}

static void slash_after_a_name_in_a_manifest_has_no_effect(void **state) {
    (void)state;
    char manifest[400];
    folder_open();
    folder_write_record("a");
    folder_write("a.host-load.csv", host_load);
    snprintf(manifest, sizeof manifest, "run,method\na/,x\n%s/,y\n", folder_file("a"));
    folder_write("manifest.csv", manifest);
    struct ssreport_report report = make_report(folder_path);
    assert_rows(&report, "environments", 2);
    for (size_t row = 0; row < 2; row++) {
        assert_cell(&report, "environments", row, "host_load_mean", 0.6);
        assert_string_equal(report.runs[row].record.folder, folder_file("a"));
    }
    ssreport_report_free(&report);
}

/* The guest's clock is 100 s ahead: 10:01:40 in the guest is 10:00:00 on the host. */
static void guest_times_are_converted_to_the_host_clock(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/guest-clock.csv", "when,host_seconds,guest_seconds,difference_seconds\n"
                                      "start,1000.5,1100.5,100\nend,1030.5,1130.75,100.25\n");
    folder_write("a/guest-vcpus.csv", "vcpu,host_cpu_seconds,wall_seconds\n0,14.5,31\n1,16.5,31\n");
    FILE *stream = fopen(folder_file("a/host-load.csv"), "w");
    fputs("time,elapsed_seconds,target,load,error,load_ticks\n"
          "2026-11-20T09:58:10.000Z,0,,0.1,,0.1\n2026-11-20T09:58:30.000Z,20,,0.8,,0.8\n"
          "2026-11-20T10:00:10.000Z,120,,0.1,,0.1\n",
        stream);
    fclose(stream);
    folder_write("a/energy.csv", "time,elapsed_seconds,watts\n2026-11-20T09:58:30.000Z,20,7.5\n"
                                 "2026-11-20T10:00:10.000Z,120,70\n");
    folder_write("manifest.csv", "run,environment,measured_in\na,kvm,inside\n");
    struct ssreport_report report = make_report(folder_path);
    assert_cell(&report, "environments", 0, "host_load_mean", 0.8);
    assert_cell(&report, "environments", 0, "clock_difference_start_seconds", 100);
    assert_cell(&report, "environments", 0, "clock_difference_end_seconds", 100.25);
    assert_cell(&report, "environments", 0, "vcpus", 2);
    assert_cell(&report, "environments", 0, "vcpu_host_cpu_seconds", 31);
    assert_cell(&report, "environments", 0, "vcpu_wall_seconds", 62);
    assert_cell(&report, "environments", 0, "vcpu_load", 0.5);
    assert_cell(&report, "energy", 0, "watts", 7.5);
    ssreport_report_free(&report);
    /* A record made on the host needs no correction. */
    folder_write("manifest.csv", "run,environment,measured_in\na,kvm,host\n");
    report = make_report(folder_path);
    assert_cell(&report, "environments", 0, "host_load_mean", 0.1);
    ssreport_report_free(&report);
}

/* A broken row is reported and skipped. */
static void load_of_each_cpu_is_drawn(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_change("a/events.jsonl", "0.000000", "10.000000");
    folder_write("a/cpus.csv", "time,elapsed_seconds,cpu0,cpu3\n"
                               "x,5.0,0.9,0.9\nx,10.0,0.9,0.9\nx,15.0,0.25,0.5\n"
                               "x,20.0,0.35,\nx,25.0,0.5\nx,40.0,0.9,0.9\nx,30.0,0.9,0.");
    struct ssreport_report report = make_report(folder_file("a"));
    if (!strstr(report.runs[0].record.notes.text, "cpus.csv:6: invalid row (and"))
        fail_msg("notes: %s", report.runs[0].record.notes.text);
    /* The picture shows the whole run in steps of half a second. */
    struct text text = write_plot(&report.runs[0], "Load of each CPU over time");
    assert_has(&text, "\n4.5 5 -0.5 0.5 90\n");
    assert_has(&text, "\n14.5 15 0.5 1.5 50\n");
    assert_has_not(&text, "\n19.5 20 0.5 1.5");
    free(text.bytes);
    /* With fewer samples than columns, there would be a gap after each sample. */
    report.runs[0].record.sample_count = 6;
    text = write_plot(&report.runs[0], "Load of each CPU over time");
    assert_has(&text, "\n0.5 1 -0.5 0.5 90\n1 1.5 -0.5 0.5 25\n1.5 2 -0.5 0.5 35\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void steal_time_is_shown_if_recorded(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    struct text text = print_report(&report);
    assert_cell(&report, "runs", 0, "steal_mean", NAN);
    assert_has_not(&text, "steal");
    free(text.bytes);
    ssreport_report_free(&report);
    folder_change(
        "a/summary.json", "\"iterations\": 30", "\"iterations\": 30, \"steal_mean\": 0.125");
    report = make_report(folder_file("a"));
    text = print_report(&report);
    assert_cell(&report, "runs", 0, "steal_mean", 0.125);
    assert_has(&text, ">steal,\u00a0%</th>");
    assert_has(&text, "<td>12.50</td>");
    free(text.bytes);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(host_load_is_reported_next_to_the_load_inside),
    cmocka_unit_test(host_load_may_be_next_to_the_record),
    cmocka_unit_test(slash_after_the_name_of_a_record_has_no_effect),
    cmocka_unit_test(slash_after_a_name_in_a_manifest_has_no_effect),
    cmocka_unit_test(guest_times_are_converted_to_the_host_clock),
    cmocka_unit_test(load_of_each_cpu_is_drawn),
    cmocka_unit_test(steal_time_is_shown_if_recorded))
