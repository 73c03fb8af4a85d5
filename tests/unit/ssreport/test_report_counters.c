/* SPDX-License-Identifier: Apache-2.0 */

#include "counters_plots.h"
#include "memory_profile.h"
#include "report_manifest.h"
#include "report_plot.h"

#define HEADING                                                                                    \
    "time,elapsed_seconds,runnable,instructions,cycles,stalled_frontend,stalled_backend,"          \
    "l1d_references,l1d_misses,cache_references,cache_misses,page_faults,context_switches,"        \
    "migrations,task_clock_seconds\n"

/*
 * Writes one row per second of a 30 s record: `first` for 10 s, then `second`. Both arguments lack
 * the time columns.
 */
static void write_counters(const char *path, const char *first, const char *second) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs(HEADING "2026-11-20T09:59:59.000Z,,9,1,1,1,1,1,1,1,1,1,1,1,1\n", stream);
    for (int i = 1; i <= 30; i++)
        fprintf(
            stream, "2026-11-20T10:00:%02d.000Z,%d.000000,%s\n", i, i, i <= 10 ? first : second);
    fclose(stream);
    folder_write(path, text);
    free(text);
}

static void counters_are_added_up_by_run_and_step(void **state) {
    (void)state;
    folder_open();
    folder_write_stairs("a");
    write_counters("a/counters.csv", "2,3000,1000,100,400,50,5,20,10,7,6,5,0.5",
        "4,1000,1000,300,500,50,10,20,2,1,2,3,1.5");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "counters", 1);
    assert_cell(&report, "counters", 0, "seconds", 30);
    assert_cell(&report, "counters", 0, "runnable_mean", (10 * 2 + 20 * 4) / 30.0);
    assert_cell(&report, "counters", 0, "instructions_per_cycle", 50000 / 30000.0);
    /* Excluding edges, the first step covers 2 to 8 s and the second 12 to 18 s. */
    assert_rows(&report, "counters-steps", 3);
    assert_cell(&report, "counters-steps", 0, "seconds", 6);
    assert_cell(&report, "counters-steps", 0, "runnable_mean", 2);
    assert_cell(&report, "counters-steps", 0, "cpus_used", 0.5);
    assert_cell(&report, "counters-steps", 0, "instructions_per_second", 3000);
    assert_cell(&report, "counters-steps", 0, "instructions_per_cycle", 3);
    assert_cell(&report, "counters-steps", 0, "stalled_frontend_per_cycle", 0.1);
    assert_cell(&report, "counters-steps", 0, "stalled_backend_per_cycle", 0.4);
    assert_cell(&report, "counters-steps", 0, "l1d_miss_rate", 0.1);
    assert_cell(&report, "counters-steps", 0, "cache_references_per_second", 20);
    assert_cell(&report, "counters-steps", 0, "cache_misses_per_second", 10);
    assert_cell(&report, "counters-steps", 0, "cache_miss_rate", 0.5);
    assert_cell(&report, "counters-steps", 0, "page_faults_per_second", 7);
    assert_cell(&report, "counters-steps", 0, "context_switches_per_second", 6);
    assert_cell(&report, "counters-steps", 0, "migrations_per_second", 5);
    assert_cell(&report, "counters-steps", 1, "instructions_per_cycle", 1);
    assert_cell(&report, "counters-steps", 1, "cache_miss_rate", 0.1);
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Counters</h2>");
    assert_has(&text, "<caption>Counters by step");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * Counters that the machine lacks are empty, not 0. A counter that was missing for some seconds is
 * averaged over the others.
 */
/* A foreground in two placements, next to a background at two loads. */
static void counters_are_drawn_against_the_load_of_the_background(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    folder_open();
    for (size_t i = 0; i < 4; i++) {
        char path[32];
        folder_write_stairs(names[i]);
        snprintf(path, sizeof path, "%s/samples.csv", names[i]);
        for (int j = 1; j <= 20; j++) {
            char from[64], to[64];
            snprintf(from, sizeof from, "Z,%.6f,0.300000,0.480000", j * 0.5);
            snprintf(to, sizeof to, "Z,%.6f,0.300000,0.300000", j * 0.5);
            folder_change(path, from, to);
        }
    }
    write_counters("a/counters.csv", "2,3000,1000,,,,,,,7,6,5,0.5", "4,1000,1000,,,,,,,1,2,3,1.5");
    write_counters("c/counters.csv", "2,2000,1000,,,,,,,7,6,5,0.5", "4,1000,2000,,,,,,,1,2,3,1.5");
    struct ssreport_report report =
        gather_rows("a,interference,x,uncontrolled,foreground,chip,per-chip,,,,1,\n"
                    "b,interference,y,default,background,chip,per-chip,,,,1,\n"
                    "c,interference,x,uncontrolled,foreground,core,per-core,,,,1,\n"
                    "d,interference,y,default,background,core,per-core,,,,1,\n");
    struct text text;
    begin(&text);
    assert_true(
        ssreport_counters_plots_write(text.stream, ssreport_table(&report, "counters-steps"), 0));
    end(&text);
    /* Instructions per cycle with both placements. Misses were not counted. */
    assert_has(&text, "$c1_0 << END\n30 3\n48 1\n48 1\nNaN NaN\nEND\n");
    assert_has(&text, "$c1_1 << END\n30 2\n48 0.5\n48 0.5\nNaN NaN\nEND\n");
    assert_has(&text, "\"instructions/cycle\"");
    assert_has_not(&text, "misses");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void misses_of_the_second_cache_are_reported_if_counted(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    folder_write("a/counters.csv", "elapsed_seconds,l2_references,l2_misses\n1,100,20\n2,300,60\n");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "counters", 0, "l2_misses_per_second", 40);
    assert_cell(&report, "counters", 0, "l2_miss_rate", 0.2);
    ssreport_report_free(&report);
}

static void runnable_threads_are_drawn_over_time(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    write_counters("a/counters.csv", "2,1,1,1,1,1,1,1,1,1,1,1,1", "4,1,1,1,1,1,1,1,1,1,1,1,1");
    struct ssreport_report report = make_report(folder_file("a"));
    struct text text =
        write_plot(&report.runs[0], "Runnable threads over time; dashed: number of CPUs");
    assert_has(&text, "\n10 2\n11 4\n");
    assert_has(&text, "graph 0, first 4 to graph 1, first 4"); /* the number of CPUs */
    free(text.bytes);
    ssreport_report_free(&report);
}

static void missing_counters_are_empty_and_not_zero(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    write_counters("a/counters.csv", "2,,,,,,,,,7,,5,0.5", "2,,,,,,,,,7,30,5,0.5");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "counters", 0, "instructions_per_cycle", NAN);
    assert_cell(&report, "counters", 0, "cache_miss_rate", NAN);
    assert_cell(&report, "counters", 0, "page_faults_per_second", 7);
    /* The first known value also covers the seconds before it. */
    assert_cell(&report, "counters", 0, "context_switches_per_second", 20 * 30 / 30.0);
    ssreport_report_free(&report);
    /* Most records have no counters, so their absence is not worth a note. */
    unlink(folder_file("a/counters.csv"));
    report = make_report(folder_file("a"));
    assert_rows(&report, "counters", 0);
    assert_null(strstr(report.runs[0].record.notes.text, "counters"));
    struct text text = print_report(&report);
    assert_has_not(&text, "<h2>Counters</h2>");
    free(text.bytes);
    ssreport_report_free(&report);
    folder_write("a/counters.csv", "elapsed\n1\n");
    report = make_report(folder_file("a"));
    assert_non_null(
        strstr(report.runs[0].record.notes.text, "counters are unknown: counters.csv:1:1: no"));
    ssreport_report_free(&report);
}

/* A foreground has no steps; its counters are split at the steps of its background. */
static void foreground_counters_are_split_at_background_steps(void **state) {
    (void)state;
    folder_open();
    folder_write_record("front");
    folder_write_stairs("back");
    write_counters("front/counters.csv", "1,,,,,,,,,,,,0.5", "1,,,,,,,,,,,,1.5");
    struct ssreport_report report =
        gather_rows("front,interference,x,uncontrolled,foreground,g,per-core,,,,1,\n"
                    "back,interference,y,default,background,g,per-core,,,,1,\n");
    assert_rows(&report, "counters-steps", 3);
    assert_cell(&report, "counters-steps", 0, "target", 0.3);
    assert_cell(&report, "counters-steps", 0, "cpus_used", 0.5);
    assert_cell(&report, "counters-steps", 1, "cpus_used", 1.5);
    assert_non_null(strstr(cell(&report, "counters-steps", 0, "steps_of")->text, "back"));
    ssreport_report_free(&report);
}

/*
 * Writes a record of 30 s with stairs that paused after 15 s for a minute. The row after the pause
 * has 12 runnable threads, all others 2.
 */
static void write_paused(const char *name) {
    char path[64], from[64], to[64], *text;
    size_t size;
    folder_write_stairs(name);
    snprintf(path, sizeof path, "%s/events.jsonl", name);
    folder_write(path, "{\"elapsed_seconds\":15,\"event\":\"paused\"}\n"
                       "{\"elapsed_seconds\":75,\"event\":\"continued\"}\n"
                       "{\"elapsed_seconds\":90,\"event\":\"ending\"}\n");
    snprintf(path, sizeof path, "%s/samples.csv", name);
    for (int i = 60; i > 30; i--) {
        snprintf(from, sizeof from, "Z,%.6f,", i * 0.5);
        snprintf(to, sizeof to, "Z,%.6f,", i * 0.5 + 60);
        folder_change(path, from, to);
    }
    FILE *stream = open_memstream(&text, &size);
    fputs("elapsed_seconds,runnable,instructions,task_clock_seconds\n", stream);
    for (int i = 1; i <= 30; i++)
        fprintf(stream, "%d,%d,1000,0.6\n", i <= 15 ? i : i + 60, i == 16 ? 12 : 2);
    fclose(stream);
    snprintf(path, sizeof path, "%s/counters.csv", name);
    folder_write(path, text);
    free(text);
}

static void pauses_are_excluded_from_counted_seconds(void **state) {
    (void)state;
    folder_open();
    write_paused("a");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "counters", 0, "seconds", 30);
    assert_cell(&report, "counters", 0, "instructions_per_second", 1000);
    assert_cell(&report, "counters", 0, "cpus_used", 0.6);
    assert_cell(&report, "counters", 0, "runnable_mean", (29 * 2 + 12) / 30.0);
    /* The pause is in the middle of the second step. */
    assert_rows(&report, "counters-steps", 3);
    assert_cell(&report, "counters-steps", 1, "seconds", 6);
    assert_cell(&report, "counters-steps", 1, "instructions_per_second", 1000);
    assert_cell(&report, "counters-steps", 1, "runnable_mean", (5 * 2 + 12) / 6.0);
    assert_cell(&report, "counters-steps", 2, "seconds", 6);
    struct text text =
        write_plot(&report.runs[0], "Runnable threads over time; dashed: number of CPUs");
    assert_has(&text, "\n15 2\n16 12\n17 2\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* The background did not pause: its third step falls into the pause of the foreground. */
static void foreground_pauses_are_excluded_from_background_steps(void **state) {
    (void)state;
    folder_open();
    write_paused("front");
    folder_write_stairs("back");
    struct ssreport_report report =
        gather_rows("front,interference,x,uncontrolled,foreground,g,per-core,,,,1,\n"
                    "back,interference,y,default,background,g,per-core,,,,1,\n");
    assert_rows(&report, "counters-steps", 3);
    assert_cell(&report, "counters-steps", 1, "seconds", 3);
    assert_cell(&report, "counters-steps", 1, "instructions_per_second", 1000);
    assert_cell(&report, "counters-steps", 2, "seconds", NAN);
    ssreport_report_free(&report);
}

static struct text write_profile(const char *path) {
    struct ssreport_report report = make_report(folder_file(path));
    struct text text;
    struct ss_error error = {0};
    begin(&text);
    if (ssreport_profile_write(text.stream, &report.runs[0], &error) < 0)
        fputs(error.message, text.stream);
    end(&text);
    ssreport_report_free(&report);
    return text;
}

/*
 * Two instances with a duty of 0.6 may run for 1.2 s in each second. With 0.6 s of CPU time each
 * instance uses half a thread: one thread for half of its 0.6 s, then none. With 2.4 s each
 * instance uses two threads.
 */
static void memory_profile_describes_one_running_instance(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    write_counters(
        "a/counters.csv", "9,1,100,1,25,1,1,9,6,1,1,1,0.6", "9,1,100,1,50,1,1,9,6,1,1,1,2.4");
    struct text text = write_profile("a");
    assert_has(
        &text, "0.000000s 1 10 0.250000\n0.300000s 0 10 0.250000\n0.600000s 1 10 0.250000\n");
    assert_has(&text, "\n6.000000s 2 2.5 0.500000\n6.600000s 2 2.5 0.500000\n");
    assert_has(&text, "\n17.400000s 2 2.5 0.500000\n18.000000s 0 0 0\n");
    free(text.bytes);
    /* Without hardware counters, the profile has only two columns. */
    write_counters("a/counters.csv", "9,,,,,,,,,,,,0.6", "9,1,,1,50,1,1,9,6,1,1,1,2.4");
    text = write_profile("a");
    assert_has(&text, "0.000000s 1\n0.300000s 0\n0.600000s 1\n");
    assert_has(&text, "\n17.400000s 2\n18.000000s 0\n");
    free(text.bytes);
    /* Seconds without counts take the values of neighboring seconds. */
    write_counters("a/counters.csv", "9,,,,,,,,,,,,0.6", "9,1,100,1,50,1,1,9,6,1,1,1,2.4");
    text = write_profile("a");
    assert_has(&text, "\n6.600000s 2 2.5 0.500000\n");
    assert_has(&text, "\n0.300000s 0 ");
    free(text.bytes);
    /* Without CPU time, the runnable threads are used: 3.6 in 1.2 s. */
    write_counters("a/counters.csv", "3.6,,,,,,,,,,,,", "3.6,,,,,,,,,,,,");
    text = write_profile("a");
    assert_has(&text, "0.000000s 3\n0.600000s 3\n");
    free(text.bytes);
    write_counters("a/counters.csv", ",,,,,,,,,,,,", ",,,,,,,,,,,,");
    text = write_profile("a");
    assert_has(&text, "records neither the CPU time nor the runnable threads");
    free(text.bytes);
    unlink(folder_file("a/counters.csv"));
    text = write_profile("a");
    assert_has(&text, "has no counters.csv, from which a profile is made: record with --counters");
    free(text.bytes);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(counters_are_added_up_by_run_and_step),
    cmocka_unit_test(counters_are_drawn_against_the_load_of_the_background),
    cmocka_unit_test(misses_of_the_second_cache_are_reported_if_counted),
    cmocka_unit_test(runnable_threads_are_drawn_over_time),
    cmocka_unit_test(missing_counters_are_empty_and_not_zero),
    cmocka_unit_test(foreground_counters_are_split_at_background_steps),
    cmocka_unit_test(pauses_are_excluded_from_counted_seconds),
    cmocka_unit_test(foreground_pauses_are_excluded_from_background_steps),
    cmocka_unit_test(memory_profile_describes_one_running_instance))
