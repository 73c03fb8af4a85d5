/* SPDX-License-Identifier: Apache-2.0 */
#include "json_run.h"

static const struct sstrace_format *const csv = &sstrace_format_csv;

struct refusal {
    const char *text;
    import_options options;
    const char *part; /* substring of the message */
};

static void csv_columns_are_recognized_by_name(void **state) {
    (void)state;
    static const char *const texts[] = {
        "time,load\n0,10\n5,20\n10,30\n",
        "# time,load\n0,10\n5,20\n10,30\n",
        "\xef\xbb\xbfTimestamp,CPU usage [%]\r\n0,10\r\n5,20\r\n10,30\r\n",
        "a,epoch,b,cpu_percent,c\nx,0,x,10,x\nx,5,x,20,x\n# a remark\n\nx,10,x,30,x\n",
        "date;idle\n1970-01-01 00:00:00;90\n1970-01-01 00:00:05;80\n1970-01-01 00:00:10;70\n",
        "\"time\"\t\"load\"\n0\t10\n\"5\"\t\"20\"\n10\t 30 \n",
        "\xef\xbb\xbf\"time\",load\n0,10\n5,20\n10,30\n",
        "time | util\n0 | 10\n5 | 20\n10 | 30",
        "time load\n0   10\n  5\t20\n10 30  \n",
        "timestamp_ms,load_ratio\n1000,0.1\n6000,0.2\n11000,0.3\n",
        "# made by hand\ntime,load\n0,10%\n5,20 %\n10,30%\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct import_run run = import_text(csv, NULL, texts[i]);
        assert_levels(&run, 5, LEVELS(10, 20, 30));
    }
}

static void csv_columns_can_be_chosen_by_options(void **state) {
    (void)state;
    static const char text[] = "when,a,b,time\n0,10,90,7\n5,20,80,8\n10,30,70,9\n";
    static const import_options options[] = {
        {.time_column = "when", .load_column = "a"},
        {.time_column = "1", .load_column = "2"},
        {.time_column = "WHEN", .idle_column = "b"},
        {.time_column = "1", .idle_column = "3", .separator = ","},
        {.time_column = "when", .load_column = "a", .unit = SSTRACE_UNIT_PERCENT},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct import_run run = import_text(csv, &options[i], text);
        assert_levels(&run, 5, LEVELS(10, 20, 30));
    }
}

static void csv_without_a_header_is_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0,10\n5,20\n10,30\n",
        ("\xef\xbb\xbf"
         "0,10\n5,20\n10,30\n"),
        "# made by hand\n0,10\n5,20\n10,30\n",
    };
    struct import_run run;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        run = import_text(csv, NULL, texts[i]);
        assert_levels(&run, 5, LEVELS(10, 20, 30));
    }
    run = import_text(csv, &(import_options){.every = 5 * SS_SECOND}, "10\n20\n30\n");
    assert_levels(&run, 5, LEVELS(10, 20, 30));
    run = import_text(csv, &(import_options){.time_column = "3", .load_column = "1"},
        "10,x,0\n20,x,5\n30,x,10\n");
    assert_levels(&run, 5, LEVELS(10, 20, 30));
    /* Numbers in the first row are data even if they equal the option's column numbers. */
    run = import_text(
        csv, &(import_options){.time_column = "1", .load_column = "2"}, "0,2\n5,10\n10,30\n");
    assert_levels(&run, 5, LEVELS(2, 10, 30));
    run = import_text(csv, NULL,
        "2026-01-01 00:00:00,NA\n2026-01-01 00:00:05,20\n"
        "2026-01-01 00:00:10,30\n");
    assert_levels(&run, 5, LEVELS(20, 30));
}

static void csv_units_are_converted_by_options(void **state) {
    (void)state;
    static const char text[] = "time,load\n0,50\n5,100\n10,300\n";
    struct import_run run =
        import_text(csv, &(import_options){.unit = SSTRACE_UNIT_CORES, .cpus = 4}, text);
    assert_levels(&run, 5, LEVELS(12.5, 25, 75));
    run = import_text(
        csv, &(import_options){.unit = SSTRACE_UNIT_FRACTION}, "time,load\n0,0.5\n5,1\n10,0.25\n");
    assert_levels(&run, 5, LEVELS(50, 100, 25));
    run = import_text(
        csv, &(import_options){.unit = SSTRACE_UNIT_PERCENT}, "time,load\n0,0.5\n5,1\n10,0.25\n");
    assert_levels(&run, 5, LEVELS(0.5, 1, 0.25));
    run = import_text(csv, &(import_options){.unit = SSTRACE_UNIT_FRACTION},
        "time,idle\n0,0.5\n5,1.005\n10,0.25\n");
    assert_levels(&run, 5, LEVELS(50, 0, 75));
    run = import_text(csv, NULL, "time,load\n0,0\n5,0\n");
    assert_levels(&run, 5, LEVELS(0, 0));
    run = import_text(csv, &(import_options){.time_unit = "us"}, "time,load\n0,5\n5,6\n");
    assert_levels(&run, 5e-6, LEVELS(5, 6));
}

static void german_csv_with_quotes_and_several_machines_is_read(void **state) {
    (void)state;
    import_options options = {.time_column = "Zeit",
        .load_column = "CPU-Last [%]",
        .series_column = "Rechner",
        .select = "Kiste \"A\""};
    struct import_run run = import_file(csv, &options, "csv-german.csv");
    assert_int_equal(run.series, 2);
    assert_levels(&run, 10, LEVELS(12.5, 37.5, 50));
    options.select = NULL;
    run = import_file(csv, &options, "csv-german.csv");
    assert_not_imported(&run, "has 2 series (Kiste \"A\", Kiste B): choose one with --select");
    options.select = "Kiste C";
    run = import_file(csv, &options, "csv-german.csv");
    assert_not_imported(&run, "no samples of 'Kiste C'");
    run = import_text(csv, NULL, "time,host,load\n0,a,1\n0,b,2\n5,a,3\n5,b,4\n");
    assert_not_imported(&run, "2 series (a, b)");
}

static void ambiguous_thousands_comma_is_refused(void **state) {
    (void)state;
    import_options options = {.unit = SSTRACE_UNIT_PERCENT};
    struct import_run run = import_text(csv, &options, "time;load\n0;1,000\n5;2,000\n");
    assert_not_imported(
        &run, ":2:3: ambiguous comma, either a decimal point or a separator of thousands");
    run = import_text(csv, &options, "time;load\n0;2,5\n5;10,500\n10;1\n");
    assert_levels(&run, 5, LEVELS(2.5, 10.5, 1));
    run = import_text(csv, &options, "time;load\n0;0,500\n5;1,250\n10;+1\n");
    assert_levels(&run, 5, LEVELS(0.5, 1.25, 1));
    run = import_text(csv, &options, "time;load\n0;2,5\n5;-1,000 %\n10;1\n");
    assert_not_imported(&run, ":3:3: ");
    run = import_text(csv, &options, "time,load\n0,\"1,000\"\n5,2\n");
    assert_not_imported(&run, ":2:4: expected a number");
}

static void csv_times_of_day_continue_after_midnight(void **state) {
    (void)state;
    struct import_run run =
        import_text(csv, NULL, "time,load\n23:59:50,10\n23:59:55,20\n00:00:00,30\n00:00:05,40\n");
    assert_levels(&run, 5, LEVELS(10, 20, 30, 40));
    run = import_text(csv, NULL, "time,load\n11:59:55 PM,10\n12:00:00 AM,20\n");
    assert_levels(&run, 5, LEVELS(10, 20));
}

static void missing_csv_samples_become_gaps(void **state) {
    (void)state;
    static const char text[] = "time,load\n5,10\n10,20\n15,nan\n20,-\n25,40\n30,\n35,50\n";
    struct import_run run = import_text(csv, NULL, text);
    assert_imported(&run);
    assert_int_equal(run.bad, 3);
    assert_int_equal(run.gaps, 2);
    static const double kept[][2] = {{0, 10}, {5, 10}, {5, 20}, {10, 20}, {20, 20}, {20, 40},
        {25, 40}, {30, 40}, {30, 50}, {35, 50}};
    for (size_t i = 0; i < 10; i++)
        assert_imported_record(&run, i, kept[i][0], kept[i][1]);
    import_free(&run);
    run = import_text(csv, &(import_options){.gaps = SSTRACE_GAPS_FILL}, text);
    assert_imported(&run);
    assert_imported_record(&run, 3, 10, 20);
    assert_imported_record(&run, 4, 20, 40);
    import_free(&run);
    run = import_text(csv, &(import_options){.gaps = SSTRACE_GAPS_REFUSE}, text);
    assert_not_imported(&run, "in:6:1: no samples for 10 s before this one");
}

/* Two samples are missing before the one at 60 s, and two before the one at 90 s. */
static void two_equal_gaps_do_not_change_the_interval(void **state) {
    (void)state;
    struct import_run run =
        import_text(csv, NULL, "time,load\n0,10\n10,20\n20,30\n30,40\n60,50\n90,60\n100,70\n");
    assert_imported(&run);
    assert_int_equal(run.gaps, 2);
    assert_imported_record(&run, 8, 60, 40);
    assert_imported_record(&run, 9, 60, 50);
    import_free(&run);
    /* The first distance may be too short, or a gap. */
    run = import_text(csv, NULL, "time,load\n0,10\n4,20\n14,30\n24,40\n34,50\n44,60\n");
    assert_int_equal(run.gaps, 1);
    import_free(&run);
    run = import_text(csv, NULL, "time,load\n0,10\n30,20\n40,30\n50,40\n80,50\n110,60\n");
    assert_int_equal(run.gaps, 2);
    import_free(&run);
}

static void csv_rows_out_of_order_are_skipped(void **state) {
    (void)state;
    struct import_run run =
        import_text(csv, NULL, "time,load\n0,10\n5,20\n5,99\n4,99\n10,30\n0,99\n");
    assert_int_equal(run.late, 3);
    assert_levels(&run, 5, LEVELS(10, 20, 30));
}

static void csv_files_without_times_are_concatenated(void **state) {
    (void)state;
    struct import_run run = import_text(
        csv, &(import_options){.every = 5 * SS_SECOND}, "load,host\n10,a\n20,a\n30,a\n");
    assert_levels(&run, 5, LEVELS(10, 20, 30));
    static const char *const paths[] = {IMPORT_DATA "csv-levels.csv", IMPORT_DATA "csv-levels.csv"};
    run = import_paths(csv, &(import_options){.every = 5 * SS_SECOND}, paths, 2);
    assert_levels(&run, 5, LEVELS(10, 20, 10, 20));
    run = import_text(csv, &(import_options){.every = 5 * SS_SECOND, .select = "b"},
        "load,host\n10,a\n20,b\n30,a\n40,b\n");
    assert_levels(&run, 5, LEVELS(20, 40));
}

/* The last number may have lost digits. */
static void csv_line_without_final_newline_is_read_with_a_warning(void **state) {
    (void)state;
    static const char text[] = "time,load\n0,10\n5,20\n10,45\n";
    char heard[1024];
    struct import_run run = import_heard(csv, NULL, text, sizeof text - 3, heard);
    assert_levels(&run, 5, LEVELS(10, 20, 4));
    assert_non_null(strstr(heard, "in:4: the last line has no newline and may be truncated"));
    run = import_heard(csv, NULL, text, sizeof text - 1, heard);
    assert_levels(&run, 5, LEVELS(10, 20, 45));
    assert_string_equal(heard, "");
}

static void csv_unit_is_a_word_of_the_heading(void **state) {
    (void)state;
    static const struct {
        const char *name, *numbers[2];
    } columns[] = {{"cpu_saturation", {"25", "50"}}, {"Iterations", {"25", "50"}},
        {"cpu_saturation_pct", {"0.25", "0.5"}}, {"load_ratio", {"0.25", "0.5"}},
        {"ratio", {"0.25", "0.5"}}, {"cpuratio", {"0.25", "0.5"}}, {"Ratio-1", {"0.25", "0.5"}},
        {"busyRatioOfCpu", {"0.25", "0.5"}}, {"load (fraction)", {"0.25", "0.5"}}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char text[128];
        snprintf(text, sizeof text, "time,%s\n0,%s\n5,%s\n", columns[i].name, columns[i].numbers[0],
            columns[i].numbers[1]);
        struct import_run run = import_text(csv, &(import_options){.load_column = "2"}, text);
        if (i == 2)
            assert_levels(&run, 5, LEVELS(0.25, 0.5));
        else
            assert_levels(&run, 5, LEVELS(25, 50));
    }
}

// clang-format off
static const struct refusal refusals[] = {
    {"", {0}, "in:1:1: the file has no samples"},
    {"\n# nothing\n", {0}, "in:3:1: the file has no samples"},
    {"time,load\n", {0}, "in:2:1: the file has no samples"},
    {"time,load\n0,10\n5\n", {0}, "in:3:2: the row has 1 field, but 2 are expected (is the file truncated?), in \"5\""},
    {"time,load,a\n0,10\n5,20\n", {0}, "in:2:5: the row has 2 fields, but 3 are expected"},
    {"time,a,load\n0,1,10\n5,1", {0}, "in:3:4: the row has 2 fields, but 3 are expected"},
    {"time,load,a\n0,10,x\n5,12,5,x\n", {0}, "in:3:9: the row has 4 fields, but 3 are expected"},
    {"time,load,a\n0,10,x\n5,12,\"5,x\",y\n", {0}, "in:3:13: the row has 4 fields"},
    {"time,load,a\n0,10,x\n5,\"12,x\n", {0}, "in:3:3: the quote must be closed"},
    {"time,load\n0,\"10\"x\n", {0}, "in:2:7: a closing quote must be followed"},
    {"time,load\n0,10\n5,x20\n", {0}, "in:3:3: expected a number, in \"5,x20\""},
    {"time,load\n0,10\n5,0x20\n", {0}, "in:3:3: expected a number"},
    {"time,load\n0,10\n5,inf\n", {0}, "in:3:3: expected a number"},
    {"time,load\n0,10\n5,1e999\n", {0}, "in:3:3: expected a number"},
    {"time,load\n0,10\n5,\"1,5\"\n", {0}, "in:3:4: expected a number"},
    {"time,load\n0,10\n5,150\n", {0}, "in:3:3: the load is 150 %"},
    {"time,load\n0,10\n5,-3\n", {0}, "in:3:3: the load is -3 %"},
    {"time,idle\n0,10\n5,105\n", {0}, "in:3:3: the load is -5 %"},
    {"time,load\n0,10\nsoon,20\n", {0}, "in:3:1: expected a time: YYYY"},
    {"time,load\n0,10\n,20\n", {0}, "in:3:1: expected a time"},
    {"time,load\n1435781430781,10\n", {0}, "in:2:1: expected a time: YYYY-MM-DD HH:MM:SS, HH:MM:SS or seconds since 1970, or --time-unit"},
    {"time,load\n0,0.1\n5,1\n", {0}, "in:3:3: no number in this column is above 1: give --unit fraction or --unit percent"},
    {"time,load_fraction\n0,0.1\n5,10\n", {0}, "in:3:3: the load is 1000 %"},
    {"time,load\n0,0.1\n5,10\n", {.unit = SSTRACE_UNIT_CORES}, "--unit cores requires --cpus"},
    {"time,user,sys\n0,10,3\n", {0}, "in:1:1: no column is clearly the load: give --load-column or --idle-column: the columns are time, user, sys, in"},
    {"time,cpu,idle\n0,1,3\n", {0}, "no column is clearly the load"},
    {"time,cpu,load\n0,1,3\n", {0}, "no column is clearly the load"},
    {"when,load,x\n0,10,3\n", {0}, "in:1:1: no column is clearly the time"},
    {"0,10,3\n", {0}, "no column is clearly the time: give --time-column, or --every TIME if no column has times: the columns have no names, only numbers 1 to 3"},
    {"time,load\n0,10\n", {.load_column = "cpu"}, "in:1:1: there is no column 'cpu': the columns are time, load, in"},
    {"time,load\n0,10\n", {.load_column = "3"}, "there is no column '3'"},
    {"0,10\n", {.time_column = "time"}, "there is no column 'time': the columns have no names, only numbers 1 to 2"},
    {"time,load\n0,10\n", {.select = "a"}, "in:1:1: no column clearly names the series for --select"},
    {"time,load\n0,10\n", {.load_column = "2", .idle_column = "2"}, "not both"},
    {"time,load\n0,10\n", {.separator = "ab"}, "'ab' cannot separate fields"},
    {"time,load\n0,10\n", {.separator = ""}, "'' cannot separate fields"},
    {"time,load\n0,10\n", {.separator = "1"}, "'1' cannot separate fields"},
    {"time,load\n0,10\n", {.time_unit = "m"}, "'m' is not a unit of time"},
    {"time,load\n0,10\n", {0}, "in has a single sample"},
};
// clang-format on

static void csv_unit_of_time_is_a_word_of_the_heading(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } tables[] = {{"a,minutes,percent\nx,0,10\nx,2.5,20\nx,5,30\n", 150},
        {"minute,load\n0,10\n1,20\n2,30\n", 60}, {"min,load\n0,10\n1,20\n2,30\n", 60},
        {"a,t_min,load\nx,0,10\nx,1,20\nx,2,30\n", 60}, {"time (min),load\n0,10\n1,20\n2,30\n", 60},
        {"a,hours,cpu\nx,0,10\nx,1.5,20\nx,3,30\n", 5400},
        {"a,t [ms],pct\nx,0,10\nx,5,20\nx,10,30\n", 0.005},
        {"elapsed_h,load\n0,10\n1,20\n2,30\n", 3600}, {"5min,load\n0,10\n1,20\n2,30\n", 1},
        {"Tmin,time,percent,load\n9,0,90,10\n9,1,90,20\n9,2,90,30\n", 1},
        {"minutes,time,load\n0,0,10\n0,1,20\n0,2,30\n", 1}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct import_run run = import_text(csv, NULL, tables[i].text);
        assert_levels(&run, tables[i].seconds, LEVELS(10, 20, 30));
    }

    struct import_run run =
        import_text(csv, &(import_options){.time_unit = "min"}, "time,load\n0,10\n1,20\n2,30\n");
    assert_levels(&run, 60, LEVELS(10, 20, 30));
    run = import_text(csv, &(import_options){.time_column = "uptime_ms"},
        "uptime_ms,load\n0,10\n1000,20\n2000,30\n");
    assert_levels(&run, 1, LEVELS(10, 20, 30));
}

static void csv_errors_name_line_and_column(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct import_run run = import_text(csv, &refusals[i].options, refusals[i].text);
        assert_not_imported(&run, refusals[i].part);
    }
}

static void csv_numbers_are_rounded_only_once(void **state) {
    (void)state;
    static const char *const texts[] = {"0.1", "99.999999999999999999999", "12.345678901234567",
        "1e-3", "+5.5", "100", "0.000000000000000000000000123e24", "4503599627370497.5e-15",
        "12345678901234567890123e-21"};
    static const double values[] = {0.1, 100, 12.345678901234567, 0.001, 5.5, 100, 0.123,
        4503599627370497.5e-15, 12345678901234567890123e-21};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[128];
        snprintf(text, sizeof text, "time,load_pct\n0,%s\n1,%s\n", texts[i], texts[i]);
        struct import_run run = import_text(csv, NULL, text);
        assert_imported(&run);
        if (run.records.items[0].load != values[i] / 100)
            fail_msg("%s is %.17g", texts[i], run.records.items[0].load * 100);
        import_free(&run);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(csv_columns_are_recognized_by_name),
    cmocka_unit_test(csv_columns_can_be_chosen_by_options),
    cmocka_unit_test(csv_without_a_header_is_read),
    cmocka_unit_test(csv_units_are_converted_by_options),
    cmocka_unit_test(german_csv_with_quotes_and_several_machines_is_read),
    cmocka_unit_test(ambiguous_thousands_comma_is_refused),
    cmocka_unit_test(csv_times_of_day_continue_after_midnight),
    cmocka_unit_test(missing_csv_samples_become_gaps),
    cmocka_unit_test(two_equal_gaps_do_not_change_the_interval),
    cmocka_unit_test(csv_rows_out_of_order_are_skipped),
    cmocka_unit_test(csv_files_without_times_are_concatenated),
    cmocka_unit_test(csv_line_without_final_newline_is_read_with_a_warning),
    cmocka_unit_test(csv_unit_is_a_word_of_the_heading),
    cmocka_unit_test(csv_unit_of_time_is_a_word_of_the_heading),
    cmocka_unit_test(csv_errors_name_line_and_column),
    cmocka_unit_test(csv_numbers_are_rounded_only_once))
// clang-format on
