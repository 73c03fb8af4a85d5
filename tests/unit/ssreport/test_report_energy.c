/* SPDX-License-Identifier: Apache-2.0 */

#include "pair_plots.h"
#include "report_manifest.h"
#include "report_plot.h"

/*
 * Writes one power sample per second from 09:59:58 to 10:00:33: `first` watts for the first ten
 * seconds of the records, then `second`.
 */
static void write_power(const char *path, int first, int second) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("time,elapsed_seconds,watts\n", stream);
    for (int i = -2; i < 34; i++)
        fprintf(stream, "2026-11-20T%s:%02d.000Z,%d,%d\n", i < 0 ? "09:59" : "10:00",
            i < 0 ? 60 + i : i, i + 3, i <= 10 ? first : second);
    fclose(stream);
    folder_write(path, text);
    free(text);
}

static void energy_is_the_sum_of_power_samples(void **state) {
    (void)state;
    struct ssreport_power samples[] = {
        {0, 1000, 1}, {1, 4, 1}, {2, NAN, 1}, {3, 8, 1}, {4, 1000, 1}};
    struct ssreport_energy energy = {.samples = samples, .count = 5};
    struct ssreport_cost cost = ssreport_energy_between(&energy, 0, 3);
    assert_true(cost.seconds == 2 && cost.unknown == 1);
    assert_true(cost.watts == 6);
    assert_true(fabs(cost.watt_hours - 12 / 3600.0) < 1e-15);
    cost = ssreport_energy_between(&energy, 5, 9);
    assert_true(cost.seconds == 0 && isnan(cost.watts));
}

/* The second row covers three seconds, as a slow command leaves it; the last ones only one. */
static void samples_count_for_the_time_since_the_previous_one(void **state) {
    (void)state;
    struct ssreport_energy energy = {0};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    folder_open();
    folder_write("energy.csv", "time,elapsed_seconds,watts\n2026-11-20T10:00:01.000Z,1,10\n"
                               "2026-11-20T10:00:04.000Z,4,50\n2026-11-20T10:00:06.500Z,6.5,\n"
                               "2026-11-20T10:00:07.000Z,7,20\n2026-11-20T10:00:08.000Z,,20\n");
    assert_int_equal(ssreport_energy_read(&energy, folder_path, &notes, &error), 0);
    struct ssreport_cost cost = ssreport_energy_between(&energy, 0, INFINITY);
    assert_true(cost.seconds == 1 + 3 + 0.5 + 1 && cost.unknown == 2.5);
    assert_true(fabs(cost.watt_hours - (10 + 3 * 50 + 0.5 * 20 + 20) / 3600.0) < 1e-15);
    double second = energy.samples[0].at;
    cost = ssreport_energy_between(&energy, second, second + 3);
    assert_true(cost.seconds == 3 && cost.watts == 50);
    ssreport_energy_free(&energy);
}

/* One digit too many must not make a sample count for weeks. */
static void impossible_time_of_a_sample_is_left_out(void **state) {
    (void)state;
    struct ssreport_energy energy = {0};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    folder_open();
    folder_write("energy.csv", "time,elapsed_seconds,watts\n2026-11-20T10:00:01.000Z,1,10\n"
                               "2026-11-20T10:00:02.000Z,2000000,10\n"
                               "2026-11-20T10:00:03.000Z,3,30\n");
    assert_int_equal(ssreport_energy_read(&energy, folder_path, &notes, &error), 0);
    struct ssreport_cost cost = ssreport_energy_between(&energy, 0, INFINITY);
    assert_true(cost.seconds == 3);
    assert_non_null(strstr(notes.text, "energy.csv:3: invalid row"));
    ssreport_energy_free(&energy);
}

/* After more than a day without rows, only the first row is in doubt. */
static void samples_after_a_long_gap_count(void **state) {
    (void)state;
    static const char *const first[] = {"", "2026-11-20T10:00:01.000Z,1,10\n"};
    for (int rows = 0; rows < 2; rows++) {
        struct ssreport_energy energy = {0};
        struct ssreport_notes notes = {0};
        struct ss_error error = {0};
        char text[400];
        snprintf(text, sizeof text,
            "time,elapsed_seconds,watts\n%s"
            "2026-11-22T10:00:00.000Z,172800,10\n2026-11-22T10:00:01.000Z,172801,30\n"
            "2026-11-22T10:00:03.000Z,172803,30\n",
            first[rows]);
        folder_open();
        folder_write("energy.csv", text);
        assert_int_equal(ssreport_energy_read(&energy, folder_path, &notes, &error), 0);
        assert_int_equal(energy.count, rows + 2);
        assert_true(ssreport_energy_between(&energy, 0, INFINITY).seconds == rows + 3);
        assert_non_null(strstr(notes.text, ": invalid row, in "));
        ssreport_energy_free(&energy);
    }
}

static void energy_of_runs_and_steps_is_reported(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    folder_write_record("b");
    folder_write_record("c");
    folder_set_iterations("b", 60);
    write_power("a/energy.csv", 10, 40);
    write_power("b/energy.csv", 30, 30);
    folder_change("b/energy.csv", "10:00:05.000Z,8,30", "10:00:05.000Z,8,");
    struct ssreport_report report = gather_rows("a,throughput,x,default,,,,,,,1,rapl: packages\n"
                                                "b,throughput,x,default,,,,,,,1,\n"
                                                "c,throughput,x,default,,,,,,,1,\n");
    assert_rows(&report, "energy", 3);
    assert_text(&report, "energy", 0, "covers", "rapl: packages");
    assert_cell(&report, "energy", 0, "seconds", 30);
    assert_cell(&report, "energy", 0, "watts", 30);
    assert_cell(&report, "energy", 0, "watt_hours", 0.25);
    assert_cell(&report, "energy", 0, "iterations", 30);
    assert_cell(&report, "energy", 0, "iterations_per_watt_hour", 120);
    assert_text(&report, "energy", 0, "note", "");
    assert_text(&report, "energy", 1, "covers", "not known");
    assert_cell(&report, "energy", 1, "seconds", 29);
    assert_text(&report, "energy", 1, "note", "power is known for 29 of 30 s");
    assert_text(&report, "energy", 2, "note", "no power was recorded");
    assert_cell(&report, "energy", 2, "watt_hours", NAN);
    /* Excluding edges, the first steps cover 2 to 8 s and 12 to 18 s. */
    assert_rows(&report, "energy-steps", 3 + 1);
    assert_cell(&report, "energy-steps", 0, "seconds", 6);
    assert_cell(&report, "energy-steps", 0, "watt_hours", 60 / 3600.0);
    assert_cell(&report, "energy-steps", 0, "iterations_per_watt_hour", 6 / 60.0 * 3600);
    assert_cell(&report, "energy-steps", 1, "target", 0.4);
    assert_cell(&report, "energy-steps", 1, "watts", 40);
    struct text text = print_report(&report);
    assert_has(&text, "<td class=\"text\">rapl: packages</td>");
    assert_has(&text, "<td class=\"text\">no power was recorded</td>");
    assert_has(&text, "<caption>Energy by step</caption>");
    assert_has(&text, "\npower covers rapl: packages\n");
    assert_has(&text, "\npower covers an unknown part of the machine\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* The other command is a generator of requests, not a side of a pair. */
static void power_of_a_service_includes_other_commands(void **state) {
    (void)state;
    folder_open();
    mkdir(folder_file("run"), 0777);
    mkdir(folder_file("run/service"), 0777);
    folder_write_record("run/service");
    write_power("run/energy.csv", 36, 36);
    struct ssreport_report report =
        gather_rows("run/service,latency,serve,1cdc,service,g,,0.5,,,1,rapl\n");
    assert_text(
        &report, "energy", 0, "note", "power of all commands of the run, not of this one alone");
    assert_cell(&report, "energy", 0, "watts", 36);
    assert_cell(&report, "energy", 0, "iterations", NAN);
    ssreport_report_free(&report);
}

/* Power that was lost in half of the time does not halve the energy of the iterations. */
static void iterations_per_watt_hour_assume_the_mean_power_while_it_is_unknown(void **state) {
    (void)state;
    char text[2000] = "time,watts,elapsed_seconds\n";
    folder_open();
    folder_write_stairs("a");
    for (int i = 1; i <= 15; i++)
        sprintf(text + strlen(text), "2026-11-20T10:00:%02d.000Z,10,%d\n", i, i);
    folder_write("a/energy.csv", text);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "energy", 0, "watt_hours", 150 / 3600.0);
    assert_cell(&report, "energy", 0, "iterations_per_watt_hour", 360);
    assert_text(&report, "energy", 0, "note", "power is known for 15 of 29 s");
    assert_cell(&report, "energy-steps", 1, "seconds", 3); /* of 12 to 18 s */
    assert_cell(&report, "energy-steps", 1, "iterations_per_watt_hour", 360);
    assert_cell(&report, "energy-steps", 2, "iterations_per_watt_hour", NAN);
    ssreport_report_free(&report);
}

static void missing_power_measurement_is_reported(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    struct text text = print_report(&report);
    assert_has(&text, "<p><small>Energy: no power was recorded with these runs.</small></p>");
    assert_has(&text, "\nenergy: no power was recorded\n");
    free(text.bytes);
    ssreport_report_free(&report);
    folder_write("a/energy.csv", "time,watt\n1,2\n");
    report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_non_null(strstr(
        report.runs[0].record.notes.text, "power is unknown: energy.csv:1:1: no column 'watts'"));
    ssreport_report_free(&report);
}

/*
 * Foreground and background share one power measurement, so it counts once, for the work of both.
 */
static void power_shared_by_a_pair_counts_once(void **state) {
    (void)state;
    folder_open();
    mkdir(folder_file("pair"), 0777);
    mkdir(folder_file("pair/front"), 0777);
    mkdir(folder_file("pair/back"), 0777);
    folder_write_record("pair/front");
    folder_write_record("pair/back");
    write_power("pair/energy.csv", 36, 36);
    static const char rows[] =
        "pair/front,interference,x,uncontrolled,foreground,g,sets,,,,1,rapl\n"
        "pair/back,interference,%s,default,background,g,sets,,,,1,rapl\n";
    char text[512];
    snprintf(text, sizeof text, rows, "x");
    struct ssreport_report report = gather_rows(text);
    assert_text(&report, "energy", 0, "note", "counted with its background");
    assert_cell(&report, "energy", 0, "iterations", NAN);
    assert_cell(&report, "energy", 1, "iterations", 60);
    assert_cell(&report, "energy", 1, "iterations_per_watt_hour", 200);
    assert_text(&report, "energy", 1, "note", "power and iterations of both programs");
    assert_rows(&report, "energy-steps", 1);
    assert_cell(&report, "energy-steps", 0, "iterations_per_watt_hour", 200);
    ssreport_report_free(&report);
    /* Steps of the foreground get no rows: the energy is listed with the background. */
    folder_write_stairs("pair/front");
    report = gather_rows(text);
    struct text page = print_report(&report);
    assert_has_not(&page, "<caption>Energy by step");
    free(page.bytes);
    ssreport_report_free(&report);
    snprintf(text, sizeof text, rows, "y");
    report = gather_rows(text);
    assert_cell(&report, "energy", 1, "watts", 36);
    assert_cell(&report, "energy", 1, "iterations", NAN);
    assert_text(
        &report, "energy", 1, "note", "power of two programs, whose iterations do not add up");
    ssreport_report_free(&report);
}

static void write_pair(const char *name, int first, int second) {
    char path[64];
    mkdir(folder_file(name), 0777);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", name, i == 0 ? "front" : "back");
        mkdir(folder_file(path), 0777);
        folder_write_stairs(path);
    }
    snprintf(path, sizeof path, "%s/energy.csv", name);
    write_power(path, first, second);
}

/*
 * Three steps of 10 s with 2 iterations per second in total; seconds 2 to 8 of each count. Power is
 * 20 W, then 40 W for per-chip and 10 W, then 80 W for per-core. Relative to the same step of
 * per-chip, per-core does 2, 0.5 and 0.5 times as many iterations per Wh. Relative to the first
 * step it would be 1, 0.125 and 0.125.
 */
static void energy_of_a_step_is_relative_to_the_same_step_of_per_chip(void **state) {
    (void)state;
    folder_open();
    write_pair("chip", 20, 40);
    write_pair("core", 10, 80);
    write_pair("other", 30, 30);
    struct ssreport_report report =
        gather_rows("core/front,interference,x,uncontrolled,foreground,core,per-core,,,,1,\n"
                    "core/back,interference,x,default,background,core,per-core,,,,1,\n"
                    "chip/front,interference,x,uncontrolled,foreground,chip,per-chip,,,,1,\n"
                    "chip/back,interference,x,default,background,chip,per-chip,,,,1,\n"
                    "other/front,interference,x,uncontrolled,foreground,other,per-core,,,,2,\n"
                    "other/back,interference,x,default,background,other,per-core,,,,2,\n");
    assert_rows(&report, "interference-steps", 9);
    for (size_t i = 0; i < 3; i++)
        assert_cell(&report, "interference-steps", i, "per_watt_hour_relative", 1);
    assert_text(&report, "interference-steps", 3, "placement", "per-core");
    assert_text(&report, "interference-steps", 3, "foreground", "x");
    assert_cell(&report, "interference-steps", 3, "per_watt_hour", 2 / 10.0 * 3600);
    assert_cell(&report, "interference-steps", 3, "per_watt_hour_relative", 2);
    assert_cell(&report, "interference-steps", 4, "per_watt_hour_relative", 0.5);
    assert_cell(&report, "interference-steps", 5, "per_watt_hour_relative", 0.5);
    struct text text;
    begin(&text);
    /* Absolute: 2 iterations per second at 20 and 40 W, and at 10 and 80 W. */
    assert_true(ssreport_plot_energy(text.stream, &report, &report.pairs[0]));
    end(&text);
    assert_has(&text, "$a0up << END\n5 360\n15 180\n25 180\n\n");
    assert_has(&text, "$b0up << END\n5 100\n15 100\n25 100\n\n");
    assert_has(&text, "$a1up << END\n5 720\n15 90\n25 90\n\n");
    assert_has(&text, "$b1up << END\n5 200\n15 50\n25 50\n\n");
    free(text.bytes);
    /* Power of both placements over the same time, next to the mean of each step. */
    begin(&text);
    assert_true(ssreport_plot_placements(text.stream, &report, &report.pairs[0]));
    end(&text);
    assert_has(&text, "\n9 10\n10 10\n11 80\n");
    assert_has(&text, "\n9 20\n10 20\n11 40\n");
    assert_has(&text, "$mean2_0 << END\n2 20\n8 20\n\n12 40\n");
    free(text.bytes);
    /* This round has no per-chip run to compare with. */
    assert_cell(&report, "interference-steps", 6, "per_watt_hour_relative", NAN);
    ssreport_report_free(&report);
}

/* Two studies of one plan: only on the first machine does per-core need twice the power. */
static void energy_is_relative_to_per_chip_of_the_same_study(void **state) {
    (void)state;
    static const char rows[] =
        "chip/front,interference,x,uncontrolled,foreground,a,per-chip,,,,1,\n"
        "chip/back,interference,x,default,background,a,per-chip,,,,1,\n"
        "core/front,interference,x,uncontrolled,foreground,b,per-core,,,,1,\n"
        "core/back,interference,x,default,background,b,per-core,,,,1,\n";
    static const struct {
        const char *study, *manifest, *chip, *core;
        int watts;
    } studies[] = {{"1", "1/manifest.csv", "1/chip", "1/core", 20},
        {"2", "2/manifest.csv", "2/chip", "2/core", 40}};
    struct ssreport_report report = begin_report();
    folder_open();
    for (size_t i = 0; i < 2; i++) {
        write_manifest(studies[i].manifest, rows);
        write_pair(studies[i].chip, studies[i].watts, studies[i].watts);
        write_pair(studies[i].core, 40, 40);
        assert_int_equal(ssreport_gather(&report, folder_file(studies[i].study), 0), 0);
    }
    finish_report(&report);
    assert_rows(&report, "interference-steps", 4 * 3);
    assert_cell(&report, "interference-steps", 6, "per_watt_hour_relative", 0.5);
    assert_cell(&report, "interference-steps", 9, "per_watt_hour_relative", 1);
    ssreport_report_free(&report);
}

static void power_plot_includes_the_mean_of_each_step(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_false(find_plot("Power")->applies(&report.runs[0]));
    ssreport_report_free(&report);
    write_power("a/energy.csv", 10, 40);
    report = make_report(folder_file("a"));
    struct text text = write_plot(&report.runs[0], "Power");
    assert_has(&text, "\n5 10\n");
    assert_has(&text, "\n11 40\n");
    assert_has(&text, "\n2 10\n8 10\n"); /* mean of the first step, without its edges */
    assert_has(&text, "\n12 40\n18 40\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * Writes idle.csv from 10:00:01 to 10:00:30: in the first ten seconds, CPUs are active for 20 and
 * 40 % of the time in turn, and the rest is half C1 and half C6; then active for 90 % and in C1.
 */
static void write_idle(const char *path) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("time,elapsed_seconds,active,frequency_mhz,C1,C6\n", stream);
    for (int i = 1; i <= 30; i++)
        fprintf(stream, "2026-11-20T10:00:%02d.000Z,%d,%s\n", i, i,
            i > 10  ? "0.9000,2100.000,1.0000,0.0000"
            : i % 2 ? "0.2000,1400.000,0.5000,0.5000"
                    : "0.4000,1400.000,0.5000,0.5000");
    fclose(stream);
    folder_write(path, text);
    free(text);
}

static void idle_state_residency_and_power_are_reported_by_step(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    folder_write_record("b");
    write_power("a/energy.csv", 10, 40);
    write_idle("a/idle.csv");
    for (int i = 1; i <= 20; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "Z,%.6f,0.%d00000,0.480000", i * 0.5, 3);
        snprintf(to, sizeof to, "Z,%.6f,0.%d00000,0.300000", i * 0.5, 3);
        folder_change("a/samples.csv", from, to);
    }
    struct ssreport_report report = gather_rows("a,throughput,x,default,,,per-chip,,,,1,rapl\n"
                                                "b,throughput,x,default,,,,,,,1,\n");
    /* Two states, for the run and for each of three steps; b has no samples. */
    assert_rows(&report, "idle-states", 2 + 3 * 2);
    assert_cell(&report, "idle-states", 0, "step", NAN);
    assert_cell(&report, "idle-states", 0, "active", (10 * 0.3 + 20 * 0.9) / 30);
    assert_text(&report, "idle-states", 0, "state", "C1");
    assert_text(&report, "idle-states", 1, "state", "C6");
    assert_cell(&report, "idle-states", 1, "share", 10 * 0.7 * 0.5 / (10 * 0.7 + 20 * 0.1));
    assert_cell(&report, "idle-states", 1, "residency", 10 * 0.7 * 0.5 / 30);
    /* The first step counts seconds 3 to 8. */
    assert_cell(&report, "idle-states", 2, "step", 1);
    assert_cell(&report, "idle-states", 2, "seconds", 6);
    assert_cell(&report, "idle-states", 2, "watts", 10);
    assert_cell(&report, "idle-states", 2, "active", 0.3);
    assert_cell(&report, "idle-states", 2, "active_deviation", 0.1 * sqrt(6 / 5.0));
    assert_cell(&report, "idle-states", 2, "frequency_mhz", 1400);
    assert_cell(&report, "idle-states", 3, "share", 0.5);
    assert_cell(&report, "idle-states", 3, "residency", 0.35);
    assert_cell(&report, "idle-states", 4, "watts", 40);
    assert_cell(&report, "idle-states", 4, "residency", 0.1);
    assert_cell(&report, "idle-states", 5, "residency", 0);
    size_t row = ssreport_findings_first(&report, "idle", false);
    assert_int_not_equal(row, SSREPORT_NO_ROW);
    assert_string_equal(ssreport_finding_at(&report, row).sentence,
        "a, per-chip: at loads of 30 and 48 %, CPUs were in C6 for 35.0 and 0.0 % of the time, and "
        "the power 10.0 and 40.0 W.");
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Idle states</h2>");
    free(text.bytes);
    assert_false(find_plot("Idle states of the CPUs")->applies(&report.runs[1]));
    text = write_plot(&report.runs[0], "Idle states of the CPUs");
    assert_has(&text, "\n5 20 60 100\n");
    assert_has(&text, "\n12 90 100 100\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* C6 has 90 of 100 parts of the idle time; from 10:00:21 to 10:00:30, there is no idle time. */
static void seconds_with_more_idle_time_weigh_more(void **state) {
    (void)state;
    char text[4000] = "time,elapsed_seconds,active,frequency_mhz,C1,C6\n";
    folder_open();
    folder_write_record("a");
    for (int i = 1; i <= 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
            "2026-11-20T10:00:%02d.000Z,%d,%s\n", i, i,
            i > 20  ? "1.0000,2100,,"
            : i % 2 ? "0.9000,1400,1.0000,0.0000"
                    : "0.1000,1400,0.0000,1.0000");
    folder_write("a/idle.csv", text);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "idle-states", 0, "active", 2 / 3.0);
    assert_cell(&report, "idle-states", 0, "share", 0.1);
    assert_cell(&report, "idle-states", 1, "share", 0.9);
    assert_cell(&report, "idle-states", 1, "share_deviation", sqrt(20 / 19.0) / 2);
    assert_cell(&report, "idle-states", 1, "residency", 0.3);
    ssreport_report_free(&report);
}

static void invalid_samples_of_idle_states_are_reported(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    write_idle("a/idle.csv");
    folder_change("a/idle.csv", "10:00:05.000Z,5,0.2000", "10:00:05.000Z,5,1.2000");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "idle-states", 0, "seconds", 29);
    assert_non_null(strstr(report.runs[0].record.notes.text, "idle.csv:6:"));
    ssreport_report_free(&report);
    folder_write("a/idle.csv", "time,elapsed_seconds,C1\n");
    report = make_report(folder_file("a"));
    assert_rows(&report, "idle-states", 0);
    assert_non_null(strstr(report.runs[0].record.notes.text, "idle states are unknown: idle.csv"));
    ssreport_report_free(&report);
}

/* The kernel may report no idle states. */
static void machine_without_idle_states_has_no_finding_about_them(void **state) {
    (void)state;
    char text[2000] = "time,elapsed_seconds,active,frequency_mhz\n";
    folder_open();
    folder_write_stairs("a");
    folder_change("a/samples.csv", "Z,5.000000,0.300000,0.48", "Z,5.000000,0.300000,0.38");
    for (int i = 1; i <= 30; i++)
        sprintf(text + strlen(text), "2026-11-20T10:00:%02d.000Z,%d,0.5000,1400\n", i, i);
    folder_write("a/idle.csv", text);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "idle-states", 0);
    assert_int_equal(ssreport_findings_first(&report, "idle", false), SSREPORT_NO_ROW);
    ssreport_report_free(&report);
}

/* The samples next to both sides of a pair are listed once, for the background. */
static void idle_states_of_paired_runs_are_listed_once(void **state) {
    (void)state;
    folder_open();
    write_pair("pair", 36, 36);
    write_idle("pair/idle.csv");
    struct ssreport_report report =
        gather_rows("pair/front,interference,x,uncontrolled,foreground,g,sets,,,,1,\n"
                    "pair/back,interference,y,default,background,g,sets,,,,1,\n");
    assert_rows(&report, "idle-states", 2 + 3 * 2);
    assert_non_null(strstr(cell(&report, "idle-states", 0, "record")->text, "pair/back"));
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(idle_state_residency_and_power_are_reported_by_step),
    cmocka_unit_test(seconds_with_more_idle_time_weigh_more),
    cmocka_unit_test(invalid_samples_of_idle_states_are_reported),
    cmocka_unit_test(machine_without_idle_states_has_no_finding_about_them),
    cmocka_unit_test(idle_states_of_paired_runs_are_listed_once),
    cmocka_unit_test(energy_of_a_step_is_relative_to_the_same_step_of_per_chip),
    cmocka_unit_test(energy_is_relative_to_per_chip_of_the_same_study),
    cmocka_unit_test(power_plot_includes_the_mean_of_each_step),
    cmocka_unit_test(energy_is_the_sum_of_power_samples),
    cmocka_unit_test(samples_count_for_the_time_since_the_previous_one),
    cmocka_unit_test(impossible_time_of_a_sample_is_left_out),
    cmocka_unit_test(samples_after_a_long_gap_count),
    cmocka_unit_test(energy_of_runs_and_steps_is_reported),
    cmocka_unit_test(iterations_per_watt_hour_assume_the_mean_power_while_it_is_unknown),
    cmocka_unit_test(power_of_a_service_includes_other_commands),
    cmocka_unit_test(missing_power_measurement_is_reported),
    cmocka_unit_test(power_shared_by_a_pair_counts_once))
