/* SPDX-License-Identifier: Apache-2.0 */

/* Reads studies with the columns that the experiments write. */

#include "differences.h"
#include "report_manifest.h"

/* Writes a run of a study, with iterations in the record of 30 s, and instances. */
static void write_run(const char *name, const char *columns, int iterations) {
    char path[64], text[1024], record[64];
    snprintf(record, sizeof record, "%s/main", name);
    snprintf(path, sizeof path, "%s/run.json", name);
    snprintf(text, sizeof text,
        "{\"schema\": 1, \"status\": \"done\", \"columns\": {%s}, \"commands\": [{\"record\": "
        "\"main\"}]}",
        columns);
    folder_write(path, text);
    folder_write_record(record);
    folder_set_iterations(record, iterations);
}

static void set_load(const char *name, double load) {
    char path[64], text[8192] = "time,elapsed_seconds,target,load,error,load_ticks,duty\n";
    for (int i = 1; i <= 60; i++)
        sprintf(text + strlen(text), "x,%.6f,%.6f,%.6f,0,%.6f,1\n", i * 0.5, load, load, load);
    snprintf(path, sizeof path, "%s/main/samples.csv", name);
    folder_write(path, text);
}

static struct ssreport_report report_study(void) {
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    assert_int_equal(report.failure_count, 0);
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    return report;
}

/* The length of a replay is a column, and follows from its speed. */
static void replays_of_a_study_are_compared_with_the_original_speed(void **state) {
    (void)state;
    static const char *const traces[] = {"a", "b"};
    folder_open();
    for (int trace = 0; trace < 2; trace++) {
        for (int speed = 1; speed <= 2; speed++) {
            char name[32], columns[300];
            snprintf(name, sizeof name, "%s-%d", traces[trace], speed);
            snprintf(columns, sizeof columns,
                "\"experiment\": \"replay\", \"method\": \"default\", \"workload\": \"serial\", "
                "\"round\": \"1\", \"instances\": \"2\", \"trace\": \"%s\", \"speed\": \"%d\", "
                "\"settle_seconds\": \"0\", \"seconds\": \"%d\"",
                traces[trace], speed, 60 * (trace + 1) / speed);
            write_run(name, columns, 30 + 30 * trace + 6 * (speed - 1));
        }
    }
    struct ssreport_report report = report_study();
    assert_rows(&report, "replay", 4);
    for (size_t row = 0; row < 4; row++) {
        assert_text(&report, "replay", row, "trace", traces[row / 2]);
        assert_cell(&report, "replay", row, "speed", 1 + (double)(row % 2));
        assert_cell(&report, "replay", row, "against_speed", 1);
        assert_text(&report, "replay", row, "in_proportion", row % 2 ? "no" : "yes");
    }
    assert_cell(&report, "replay", 1, "ratio", 1.2);
    assert_cell(&report, "replay", 3, "ratio", 1.1);
    assert_string_equal(
        report.headline.question, "How does the throughput depend on speed, for each trace?");
    ssreport_report_free(&report);
}

/* Writes a run of the experiment throughput with ten iterations at each eighth of the load, and
 * some more. */
static void write_load(const char *method, int instances, double stands_for, int eighth, int more) {
    char name[32], columns[300], represents[40] = "";
    snprintf(name, sizeof name, "%s-%d-%d", method, instances, eighth);
    if (stands_for > 0)
        snprintf(represents, sizeof represents, "\"stands_for\": \"%g\", ", stands_for);
    snprintf(columns, sizeof columns,
        "\"experiment\": \"throughput\", \"method\": \"%s\", \"workload\": \"serial\", "
        "\"round\": \"1\", \"instances\": \"%d\", %s\"target\": \"%g\", \"settle_seconds\": \"1\", "
        "\"seconds\": \"5\"",
        method, instances, represents, eighth / 8.0);
    write_run(name, columns, 10 * eighth + more);
    set_load(name, eighth / 8.0);
}

/* The number of instances of nbench follows from the load. */
static void methods_of_a_study_are_compared_with_the_baseline(void **state) {
    (void)state;
    folder_open();
    for (int eighth = 1; eighth <= 8; eighth++) {
        write_load("nbench", eighth, eighth / 8.0, eighth, 0);
        write_load("default", 10, 0, eighth, eighth);
    }
    struct ssreport_report report = report_study();
    assert_rows(&report, "methods-deviation", 2);
    assert_text(&report, "methods-deviation", 0, "method", "default");
    assert_text(&report, "methods-deviation", 0, "baseline", "nbench");
    assert_cell(&report, "methods-deviation", 0, "compared", 8);
    assert_cell(&report, "methods-deviation", 0, "deviation_mean_percent", 10);
    assert_text(&report, "methods-deviation", 1, "baseline", "itself");
    assert_cell(&report, "methods-deviation", 1, "points", 8);
    ssreport_report_free(&report);
}

/* A method with two numbers of instances is two series, each compared with the baseline. */
static void methods_with_several_numbers_of_instances_have_one_baseline(void **state) {
    (void)state;
    folder_open();
    for (int eighth = 1; eighth <= 8; eighth++) {
        write_load("nbench", eighth, eighth / 8.0, eighth, 0);
        write_load("default", 10, 0, eighth, eighth);
        write_load("default", 20, 0, eighth, 2 * eighth);
    }
    struct ssreport_report report = report_study();
    assert_rows(&report, "methods-deviation", 3);
    assert_text(&report, "methods-deviation", 0, "method", "nbench");
    assert_cell(&report, "methods-deviation", 0, "points", 8);
    assert_text(&report, "methods-deviation", 1, "variant", "instances=10");
    assert_cell(&report, "methods-deviation", 1, "deviation_mean_percent", 10);
    assert_text(&report, "methods-deviation", 2, "variant", "instances=20");
    assert_cell(&report, "methods-deviation", 2, "deviation_mean_percent", 20);
    ssreport_report_free(&report);
}

/* The columns of both studies differ. */
static void curve_of_a_study_predicts_the_replays_of_another(void **state) {
    (void)state;
    static char path[256];
    folder_open();
    for (int eighth = 1; eighth <= 8; eighth++)
        write_load("default", 10, 0, eighth, 0);
    write_run("replay",
        "\"experiment\": \"replay\", \"method\": \"default\", \"workload\": \"serial\", "
        "\"round\": \"1\", \"instances\": \"10\", \"trace\": \"flat\", \"speed\": \"2\", "
        "\"settle_seconds\": \"0\", \"seconds\": \"30\"",
        24);
    folder_write("flat", "0 50%\n60s 50%\n");
    snprintf(path, sizeof path, "%s", folder_file("flat"));
    report_trace = path;
    struct ssreport_report report = report_study();
    report_trace = NULL;
    assert_rows(&report, "prediction", 2);
    assert_cell(&report, "prediction", 1, "speed", 2);
    assert_cell(&report, "prediction", 1, "measured_iterations_per_second", 0.8);
    ssreport_report_free(&report);
}

/* Writes a run through several loads for each of two values of a column, in a study of a set. */
static void write_stairs(const char *study, const char *columns, const char *column, int more) {
    for (int value = 1; value <= 2; value++) {
        char name[32], cells[300], record[64];
        snprintf(name, sizeof name, "%s/%d", study, value);
        snprintf(cells, sizeof cells, "%s\"%s\": \"%d\"", columns, column, value);
        write_run(name, cells, 60 + more * value);
        snprintf(record, sizeof record, "%s/main", name);
        folder_write_stairs(record);
        folder_set_iterations(record, 60 + more * value);
    }
}

static struct ssreport_report compare_studies(const char *columns, const char *column) {
    struct ssreport_report report = begin_report();
    folder_open();
    write_stairs("a", columns, column, 30);
    write_stairs("b", columns, column, 0);
    report.compares = true;
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 1), 0);
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    return report;
}

/* Only loads are steps of one pair: the other columns have a row for each of their values. */
static void sets_are_compared_by_each_value_of_the_axis(void **state) {
    (void)state;
    static const char *const columns[] = {
        "", "\"experiment\": \"throughput\", \"workload\": \"serial\", \"method\": \"default\", "};
    static const char *const names[] = {"size", "instances"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ssreport_report report = compare_studies(columns[i], names[i]);
        assert_rows(&report, "comparison", 2);
        for (size_t row = 0; row < 2; row++) {
            char variant[40];
            snprintf(variant, sizeof variant, "%s=%zu", names[i], row + 1);
            assert_text(&report, "comparison", row, "variant", variant);
            assert_cell(&report, "comparison", row, "steps", 3);
            assert_cell(&report, "comparison", row, "left_out", 0);
        }
        assert_near(cell(&report, "comparison", 0, "ratio_median")->number, 1.5, 1e-6);
        assert_near(cell(&report, "comparison", 1, "ratio_median")->number, 2, 1e-6);
        ssreport_report_free(&report);
    }
    struct ssreport_report report = compare_studies("", "load");
    assert_rows(&report, "comparison", 1);
    assert_text(&report, "comparison", 0, "variant", "");
    assert_cell(&report, "comparison", 0, "steps", 6);
    ssreport_report_free(&report);
}

/* Tables for programs and the terminal name each value, also that of methods without control. */
static void values_of_the_axis_are_named_in_all_tables_of_two_sets(void **state) {
    (void)state;
    struct ssreport_report report = compare_studies("", "size");
    for (size_t row = 0; row < 6; row++)
        assert_text(&report, "ratios", row, "variant", row < 3 ? "size=1" : "size=2");
    struct text text = print_report(&report);
    char *table = strstr(text.bytes, "\nthroughput, first set / second set\n");
    assert_non_null(table);
    assert_non_null(strstr(table, "variant"));
    assert_non_null(strstr(table, "size=1"));
    assert_non_null(strstr(table, "size=2"));
    free(text.bytes);
    ssreport_report_free(&report);
    report = compare_studies("\"method\": \"nbench\", \"stands_for\": \"0.5\", ", "instances");
    assert_rows(&report, "comparison", 2);
    assert_text(&report, "comparison", 0, "variant", "instances=1");
    assert_text(&report, "comparison", 1, "variant", "instances=2");
    ssreport_report_free(&report);
    report = begin_report();
    folder_open();
    write_stairs("a", "", "size", 0);
    folder_write_record("b");
    report.compares = true;
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 1), 0);
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    for (size_t row = 0; row < 6; row++)
        assert_text(&report, "unmatched", row, "variant", row < 3 ? "size=1" : "size=2");
    assert_text(&report, "unmatched", 6, "variant", "");
    ssreport_report_free(&report);
}

/* Neither 512, 1024 and 1G nor the order of runs leave a point in two rows. */
static void values_with_and_without_units_are_points_of_their_own(void **state) {
    (void)state;
    static const char *const orders[][9] = {
        {"1024", "1G", "1G", "1024", "1024", "512", "1G", "512", "512"},
        {"1G", "512", "1024", "1G", "1G", "1024", "1024", "512", "512"},
    };
    for (size_t order = 0; order < sizeof orders / sizeof *orders; order++) {
        folder_open();
        for (int i = 0; i < 9; i++) {
            char name[32], columns[64];
            snprintf(name, sizeof name, "run%d", i);
            snprintf(columns, sizeof columns, "\"memory\": \"%s\", \"round\": \"%d\"",
                orders[order][i], i + 1);
            write_run(name, columns, 30);
        }
        struct ssreport_report report = report_study();
        assert_rows(&report, "study", 3);
        assert_text(&report, "study", 0, "memory", "512");
        assert_text(&report, "study", 1, "memory", "1024");
        for (size_t row = 0; row < 3; row++)
            assert_cell(&report, "study", row, "rounds", 3);
        ssreport_report_free(&report);
    }
}

/* A trace that is the same in all runs of a set only distinguishes the sets. */
static void sets_with_a_trace_each_are_compared(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    folder_open();
    write_stairs("a", "\"experiment\": \"replay\", \"trace\": \"x\", ", "speed", 30);
    write_stairs("b", "\"experiment\": \"replay\", \"trace\": \"y\", ", "speed", 0);
    report.compares = true;
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 1), 0);
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    assert_rows(&report, "comparison", 2);
    assert_rows(&report, "unmatched", 0);
    ssreport_report_free(&report);
}

/* Two studies of one plan, of which one is from a machine that is ten times as fast. */
static void rounds_of_two_studies_are_compared_within_each(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    folder_open();
    for (int study = 1; study <= 2; study++) {
        for (int speed = 1; speed <= 2; speed++) {
            for (int kind = 1; kind <= 2; kind++) {
                char name[32], columns[200];
                snprintf(name, sizeof name, "%d/%d-%d", study, speed, kind);
                snprintf(columns, sizeof columns,
                    "\"experiment\": \"replay\", \"workload\": \"w\", \"round\": \"1\", "
                    "\"speed\": \"%d\", \"kind\": \"%d\"",
                    speed, kind);
                write_run(name, columns, (study == 1 ? 10 : 100) * kind);
            }
        }
        assert_int_equal(ssreport_gather(&report, folder_file(study == 1 ? "1" : "2"), 0), 0);
    }
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    assert_rows(&report, "replay", 8);
    for (size_t row = 0; row < 8; row++)
        assert_text(&report, "replay", row, "in_proportion", "yes");
    assert_rows(&report, "study", 4);
    assert_text(&report, "study", 2, "kind", "2");
    assert_cell(&report, "study", 2, "rounds", 2);
    assert_cell(&report, "study", 2, "relative", 2);
    assert_cell(&report, "study", 2, "relative_high", 2);
    ssreport_report_free(&report);
}

/* Longer than the room for the question. */
static void question_shortens_long_names_of_columns(void **state) {
    (void)state;
    char columns[700], want[200], name[331];
    folder_open();
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int value = 1; value <= 2; value++) {
        snprintf(columns, sizeof columns, "\"%s\": \"%d\", \"kind\": \"%s\"", name, value,
            value == 1 ? "a" : "b");
        write_run(value == 1 ? "a" : "b", columns, 30 * value);
    }
    struct ssreport_report report = report_study();
    snprintf(want, sizeof want, "How does the throughput depend on %.60s, for each kind?", name);
    assert_string_equal(report.headline.question, want);
    ssreport_report_free(&report);
}

/* Otherwise, nothing would distinguish the rows. */
static void columns_with_the_name_of_a_figure_are_kept(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"low\": \"1\", \"set\": \"x\", \"plan_set\": \"v\"", 30);
    write_run("b", "\"low\": \"2\", \"set\": \"y\", \"plan_set\": \"w\"", 60);
    struct ssreport_report report = report_study();
    assert_rows(&report, "study", 2);
    assert_text(&report, "study", 1, "plan_low", "2");
    assert_text(&report, "study", 1, "plan_plan_set", "y");
    assert_text(&report, "study", 1, "plan_set", "w");
    assert_cell(&report, "study", 1, "set", 1);
    assert_cell(&report, "study", 1, "low", NAN);
    ssreport_report_free(&report);
}

/* Runs of duet are reported in blocks, whichever study is named first. */
static void runs_next_to_a_duet_are_listed(void **state) {
    (void)state;
    static const char *const names[] = {"duet", "other"};
    folder_open();
    write_run("duet/a", "\"experiment\": \"duet\", \"side\": \"a\"", 30);
    write_run("other/b", "\"size\": \"1\"", 30);
    for (int first = 0; first < 2; first++) {
        struct ssreport_report report = begin_report();
        assert_int_equal(ssreport_gather(&report, folder_file(names[first]), 0), 0);
        assert_int_equal(ssreport_gather(&report, folder_file(names[!first]), 0), 0);
        assert_int_equal(ssreport_differences_find(&report), 0);
        finish_report(&report);
        struct text text;
        begin(&text);
        ssreport_text_print(text.stream, &report);
        end(&text);
        assert_has(&text, "\nother/b/main                 60");
        assert_has_not(&text, "\nduet/a/main                  60");
        free(text.bytes);
        ssreport_report_free(&report);
    }
}

static void write_replay(const char *name, int speed, int kind, int iterations) {
    char columns[200];
    snprintf(columns, sizeof columns,
        "\"experiment\": \"replay\", \"workload\": \"w\", \"round\": \"1\", \"speed\": \"%d\", "
        "\"kind\": \"k%d\"",
        speed, kind);
    write_run(name, columns, iterations);
}

/* The machine of the second study is ten times as fast. */
static void replays_are_compared_with_the_slowest_of_their_study(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    folder_open();
    write_replay("1/a", 1, 1, 6);
    write_replay("2/b", 2, 1, 60);
    write_replay("2/c", 4, 1, 60);
    write_replay("3/d", 2, 1, 6); /* a study of one speed, compared with the first study */
    for (int study = 1; study <= 3; study++)
        assert_int_equal(
            ssreport_gather(&report, folder_file((char[]){(char)('0' + study), 0}), 0), 0);
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    assert_rows(&report, "replay", 4);
    for (size_t row = 0; row < 4; row++) {
        bool is_second =
            table_cell_at(ssreport_table(&report, "replay"), row, "iterations")->number > 9;
        assert_cell(&report, "replay", row, "ratio", 1);
        assert_cell(&report, "replay", row, "against_speed", is_second ? 2 : 1);
    }
    ssreport_report_free(&report);
}

/* A plan may repeat a run within a round. */
static void repeated_runs_of_a_round_are_compared_with_the_first(void **state) {
    (void)state;
    static const int iterations[] = {6, 12, 18};
    struct ssreport_report report;
    folder_open();
    for (int kind = 1; kind <= 2; kind++) {
        for (int i = 0; i < 3; i++)
            write_replay(
                (char[]){(char)('a' + 3 * (kind - 1) + i), 0}, 1, kind, kind * iterations[i]);
    }
    report = report_study();
    assert_rows(&report, "replay", 6);
    assert_cell(&report, "replay", 0, "ratio", 1);
    assert_cell(&report, "replay", 1, "ratio", 2);
    assert_cell(&report, "replay", 2, "ratio", 3);
    assert_rows(&report, "study", 2);
    assert_cell(&report, "study", 1, "relative", 4); /* 2, 4 and 6 times the first run */
    ssreport_report_free(&report);
}

/* Writes a run with a target whose record and study say how much other processes used. */
static void write_disturbed(
    const char *name, const char *more, double record, double study, double load) {
    char path[64], columns[200], text[300];
    snprintf(columns, sizeof columns, "\"load\": \"%.0f\"%s", 100 * load, more);
    write_run(name, columns, 30 + (int)(100 * load));
    set_load(name, load);
    snprintf(path, sizeof path, "%s/run.json", name);
    snprintf(text, sizeof text, "\"status\": \"done\", \"others\": %g", study / 100);
    folder_change(path, "\"status\": \"done\"", text);
    snprintf(path, sizeof path, "%s/main/summary.json", name);
    snprintf(text, sizeof text,
        "{\"verdict\": {\"reasons\": \"?\", \"checks\": ["
        "{\"check\": \"samples_off\", \"result\": \"invalid\", \"figure\": %d, \"invalid\": 30},"
        "{\"check\": \"others\", \"result\": \"invalid\", \"figure\": %g, \"invalid\": 10},"
        "{\"check\": \"samples\", \"result\": \"?\", \"figure\": %d, \"invalid\": 1}]}, ",
        record > 10 && !*more ? 99 : 0, record, *more ? 0 : 60);
    folder_change(path, "{", text);
}

static void invalid_records_give_no_answer(void **state) {
    (void)state;
    folder_open();
    write_disturbed("a", "", 81, 85, 0.2);
    write_disturbed("b", "", 99, 99, 0.8);
    struct ssreport_report report = report_study();
    assert_headline(&report, "How does the throughput depend on load?",
        "All 2 records are invalid, the first because of load of other processes 81 % (invalid "
        "above 10). Repeat them on a quiet machine.");
    ssreport_report_free(&report);
    write_disturbed("b", "", 0, 0, 0.8);
    write_disturbed("c", "", 5, 5, 0.8);
    report = report_study();
    assert_string_equal(ssreport_findings_answer(&report),
        "Of 3 records 1 is invalid and 1 is disturbed by other processes; --leave-out invalid "
        "answers without the invalid ones. It is 1.667 /s at load=20 and 3.667 /s (3.667 to 3.667) "
        "at load=80.");
    ssreport_report_free(&report);
}

/* A record counts its neighbor as another process, and has no sample if the program ends early. */
static void neighbors_and_short_launches_make_no_record_invalid(void **state) {
    (void)state;
    folder_open();
    write_disturbed("a", ", \"experiment\": \"duet\", \"metric\": \"time\"", 50, 1, 0.2);
    struct ssreport_report report = report_study();
    assert_text(&report, "verdicts", 0, "verdict", "valid");
    assert_near(report.runs[0].record.verdict.verdict.evidence.figures[SS_CHECK_OTHERS], 1, 1e-9);
    ssreport_report_free(&report);
}

/* The second of three loads is invalid: each picture of points rings it and says why. */
static void points_of_invalid_runs_have_rings(void **state) {
    (void)state;
    static const char *const loads[] = {"0.25", "0.5", "0.75"};
    SKIP_UNLESS(system("gnuplot --version >/dev/null 2>&1") == 0, "gnuplot: not installed");
    for (int invalid = 0; invalid < 2; invalid++) {
        struct ssreport_report report = begin_report();
        struct ss_error without = {0};
        struct text text;
        folder_open();
        for (int i = 0; i < 3; i++) {
            char name[] = {(char)('a' + i), '\0'}, columns[200];
            snprintf(columns, sizeof columns,
                "\"experiment\": \"throughput\", \"method\": \"default\", \"workload\": \"x\", "
                "\"round\": \"1\", \"target\": \"%s\"",
                loads[i]);
            write_run(name, columns, 30 * (i + 1));
            set_load(name, atof(loads[i]));
        }
        assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
        assert_int_equal(ssreport_differences_find(&report), 0);
        if (invalid)
            report.runs[1].record.verdict.verdict.finding = SS_INVALID;
        finish_report(&report);
        begin(&text);
        ssreport_page_print(text.stream, &report, &without);
        end(&text);
        static const char *const names[] = {
            ">with invalid runs<", ">invalid or disturbed<", ">invalid runs<"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_int_equal(strstr(text.bytes, names[i]) != NULL, invalid);
        free(text.bytes);
        ssreport_report_free(&report);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(points_of_invalid_runs_have_rings),
    cmocka_unit_test(replays_of_a_study_are_compared_with_the_original_speed),
    cmocka_unit_test(methods_of_a_study_are_compared_with_the_baseline),
    cmocka_unit_test(methods_with_several_numbers_of_instances_have_one_baseline),
    cmocka_unit_test(curve_of_a_study_predicts_the_replays_of_another),
    cmocka_unit_test(values_with_and_without_units_are_points_of_their_own),
    cmocka_unit_test(sets_with_a_trace_each_are_compared),
    cmocka_unit_test(rounds_of_two_studies_are_compared_within_each),
    cmocka_unit_test(replays_are_compared_with_the_slowest_of_their_study),
    cmocka_unit_test(repeated_runs_of_a_round_are_compared_with_the_first),
    cmocka_unit_test(invalid_records_give_no_answer),
    cmocka_unit_test(neighbors_and_short_launches_make_no_record_invalid),
    cmocka_unit_test(question_shortens_long_names_of_columns),
    cmocka_unit_test(columns_with_the_name_of_a_figure_are_kept),
    cmocka_unit_test(runs_next_to_a_duet_are_listed),
    cmocka_unit_test(values_of_the_axis_are_named_in_all_tables_of_two_sets),
    cmocka_unit_test(sets_are_compared_by_each_value_of_the_axis))
