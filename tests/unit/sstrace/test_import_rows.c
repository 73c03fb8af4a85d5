/* SPDX-License-Identifier: Apache-2.0 */
#include "json_run.h"

#define SADF_HEADER   "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n"
#define SSLOAD_HEADER "time,elapsed_seconds,target,load,error,load_ticks\n"
#define SADF_TIME     "2026-11-20 14:50:"

struct refusal {
    const struct sstrace_format *format;
    const char *text;
    import_options options;
    const char *part; /* substring of the message */
};

static struct import_run run_file(const struct sstrace_format *format, const char *name) {
    return import_file(format, NULL, name);
}

static struct import_run select_from(
    const struct sstrace_format *format, const char *select, const char *name) {
    return import_file(format, &(import_options){.select = select}, name);
}

static void sadf_csv_skips_restarts_and_comments(void **state) {
    (void)state;
    struct import_run run = run_file(&sstrace_format_sadf, "sadf-restart.csv");
    assert_imported(&run);
    assert_int_equal(run.used, 7);
    assert_int_equal(run.gaps, 1);
    assert_int_equal(run.series, 1);
    static const double steps[][2] = {{0, 98.25}, {2, 98.25}, {2, 80.66}, {4, 80.66}, {4, 81.84},
        {9, 81.84}, {9, 89.5}, {11, 89.5}, {11, 100}, {13, 100}, {227, 100}, {227, 100}, {228, 100},
        {228, 98.5}, {229, 98.5}};
    assert_int_equal(run.records.count, sizeof steps / sizeof *steps);
    for (size_t i = 0; i < run.records.count; i++)
        assert_imported_record(&run, i, steps[i][0], steps[i][1]);
    import_free(&run);
}

static void sadf_csv_uses_all_cpus_unless_one_is_selected(void **state) {
    (void)state;
    static const char *const files[] = {
        "sadf-all-cpus.csv", "sadf-one-line.csv", "sadf-two-activities.csv", "sadf-local.csv"};
    for (size_t i = 0; i < 4; i++) {
        struct import_run run = run_file(&sstrace_format_sadf, files[i]);
        assert_levels(&run, 1, LEVELS(99.5, 98.5));
    }
    static const char *const names[][2] = {{"all", "box"}, {"box/all", "all"}};
    for (size_t i = 0; i < 4; i++) {
        struct import_run run =
            select_from(&sstrace_format_sadf, names[i / 2][i % 2], "sadf-one-line.csv");
        assert_levels(&run, 1, LEVELS(99.5, 98.5));
    }
    for (size_t i = 0; i < 2; i++) {
        struct import_run run = select_from(&sstrace_format_sadf, "1", files[i]);
        assert_levels(&run, 1, LEVELS(100, 97.03));
        run = select_from(&sstrace_format_sadf, "box/0", files[i]);
        assert_levels(&run, 1, LEVELS(99, 100));
    }
    struct import_run run = select_from(&sstrace_format_sadf, "7", "sadf-all-cpus.csv");
    assert_not_imported(&run, "no samples of '7': it has 3 series (box/all, box/0, box/1)");
}

static void sadf_csv_skips_other_activities(void **state) {
    (void)state;
    struct import_run run = import_text(&sstrace_format_sadf, NULL,
        "# hostname;interval;timestamp;kbmemfree\na;1;5;4\n# hostname;interval;timestamp;CPU;MHz\n"
        "a;1;5;0;2400\n" SADF_HEADER "a;1;5;-1;10;0;0;0;0;90\na;1;5;0;20;0;0;0;0;80\n");
    assert_levels(&run, 1, LEVELS(10));
}

static void sadf_csv_without_all_uses_the_only_cpu(void **state) {
    (void)state;
    struct import_run run = run_file(&sstrace_format_sadf, "sadf-epoch-cpu0.csv");
    assert_levels(&run, 1, LEVELS(99, 100));
    run = import_text(
        &sstrace_format_sadf, NULL, SADF_HEADER "a;1;5;0;1;0;0;0;0;99\na;1;5;1;1;0;0;0;0;99\n");
    assert_not_imported(&run, "2 series (a/0, a/1)");
}

static void sadf_csv_distinguishes_hosts(void **state) {
    (void)state;
    static const char text[] =
        SADF_HEADER "a;1;5;-1;10;0;0;0;0;90\n" SADF_HEADER "b;1;5;-1;20;0;0;0;0;80\n"
                    "b;-1;6;LINUX-RESTART\t(2 CPU)\n"
                    "b;1;6;-1;30;0;0;0;0;70\n";
    struct import_run run = import_text(&sstrace_format_sadf, NULL, text);
    assert_not_imported(&run, "2 series (a, b): choose one with --select");
    run = import_text(&sstrace_format_sadf, &(import_options){.select = "all"}, text);
    assert_not_imported(
        &run, "in:4:7: there are several hosts: choose with --select a/all or b/all");
    run = import_text(&sstrace_format_sadf, &(import_options){.select = "b"}, text);
    assert_levels(&run, 1, LEVELS(20, 30));
    run = import_text(&sstrace_format_sadf, &(import_options){.select = "a/all"}, text);
    assert_levels(&run, 1, LEVELS(10));
}

static void sadf_csv_skips_samples_of_offline_cpus(void **state) {
    (void)state;
    struct import_run run = import_text(&sstrace_format_sadf, NULL,
        SADF_HEADER "a;1;5;0;10;0;0;5;0;85\na;1;6;0;0.00;0;0;0;0;0.00\n"
                    "a;1;7;0;0;0;0;0.01;0;100.00\n");
    assert_int_equal(run.bad, 1);
    assert_int_equal(run.gaps, 1);
    assert_imported(&run);
    assert_imported_record(&run, 1, 1, 10);
    assert_imported_record(&run, 4, 3, 0);
    import_free(&run);
}

static void google_task_loads_of_a_machine_are_added_up(void **state) {
    (void)state;
    /* First interval: 0.0625 + 0.125 + 0.25 / 2. Second interval: 0.5 + 0.25 / 5. */
    struct import_run run =
        select_from(&sstrace_format_google_2011, "4155527081", "google-2011.csv");
    assert_levels(&run, 300, LEVELS(31.25, 55));
    run = select_from(&sstrace_format_google_2011, "329150663", "google-2011.csv");
    assert_levels(&run, 300, LEVELS(12.5));
    run = run_file(&sstrace_format_google_2011, "google-2011.csv");
    assert_not_imported(&run, "2 series (4155527081, 329150663)");
}

static void google_sums_above_100_percent_are_reported(void **state) {
    (void)state;
    static const char text[] = "600000000,900000000,1,0,m,0.7\n600000000,900000000,2,0,m,0.7\n"
                               "900000000,1200000000,1,0,m,0.5\n900000000,1200000000,2,0,m,0.5\n";
    char heard[1024];
    struct import_run run =
        import_heard(&sstrace_format_google_2011, NULL, text, sizeof text - 1, heard);
    assert_levels(&run, 300, LEVELS(100, 100));
    assert_string_equal(heard, "sstrace: in: sums above 100 %, limited to it: 1\n");
}

static void newer_cluster_tables_are_imported(void **state) {
    (void)state;
    /* First interval: 0.0625 + 0.125 + 0.5 / 2. */
    struct import_run run =
        select_from(&sstrace_format_google_2019, "92469744092", "google-2019.csv");
    assert_levels(&run, 300, LEVELS(43.75, 3.125));
    run = select_from(&sstrace_format_alibaba_2021, "ecd8a876344d673d", "alibaba-2021.csv");
    assert_levels(&run, 30, LEVELS(12.5, 25));
    run = select_from(&sstrace_format_alibaba_2022, "NODE_10632", "alibaba-2022.csv");
    assert_levels(&run, 60, LEVELS(26, 50, 25));
    run = run_file(&sstrace_format_alibaba_2022, "alibaba-2022.csv");
    assert_not_imported(&run, "has 3 series (NODE_10632, NODE_11517, NODE_12)");
}

static void azure_import_selects_one_of_interleaved_machines(void **state) {
    (void)state;
    struct import_run run = select_from(&sstrace_format_azure,
        "4WstS6Ub3GzHun4Mzb6BxLldKvkEkws2SZ9tbBV3kfLzOd+QRVETcgqLjtc3mCbD", "azure.csv");
    assert_levels(&run, 300, LEVELS(3, 50, 100));
    run = run_file(&sstrace_format_azure, "azure.csv");
    assert_not_imported(&run, "has 2 series (yNf/R3X8");
    run = select_from(&sstrace_format_alibaba_2017, "1034", "alibaba-2017.csv");
    assert_levels(&run, 300, LEVELS(24.5, 30.25, 31));
    run = run_file(&sstrace_format_alibaba_2017, "alibaba-2017.csv");
    assert_not_imported(&run, "has 2 series (1034, 1035)");
    run = import_text(
        &sstrace_format_azure, NULL, "timestamp,vm,min,max,avg\n0,a,1,1,10\n300,a,2,2,20\n");
    assert_levels(&run, 300, LEVELS(10, 20));
}

static void alibaba_samples_marked_invalid_become_gaps(void **state) {
    (void)state;
    struct import_run run = select_from(&sstrace_format_alibaba_2018, "m_1932", "alibaba-2018.csv");
    assert_int_equal(run.bad, 2);
    assert_int_equal(run.gaps, 1);
    assert_imported(&run);
    assert_imported_record(&run, 3, 20, 43);
    assert_imported_record(&run, 4, 40, 43);
    assert_imported_record(&run, 5, 40, 100);
    assert_imported_record(&run, 6, 50, 100);
    import_free(&run);
}

static void bitbrains_time_unit_is_inferred_from_magnitude(void **state) {
    (void)state;
    assert_true(sstrace_format_bitbrains.detect("Timestamp [ms];\tCPU cores;\t"));
    assert_false(sstrace_format_bitbrains.detect("Timestamp,x"));
    struct import_run run = run_file(&sstrace_format_bitbrains, "bitbrains.csv");
    assert_levels(&run, 300, LEVELS(20, 10, 90));
    run = import_text(&sstrace_format_bitbrains, NULL,
        "Timestamp [ms];\tCPU usage [%]\n1376314846000;\t20\n1376315146000;\t10\n");
    assert_levels(&run, 300, LEVELS(20, 10));
}

#define MARK "\xef\xbb\xbf"

/* Editors and spreadsheets write the byte order mark before UTF-8. */
static void byte_order_mark_before_a_table_is_skipped(void **state) {
    (void)state;
    struct import_run run = import_text(&sstrace_format_bitbrains, NULL,
        MARK "Timestamp [ms];\tCPU usage [%]\n1376314846000;\t20\n1376315146000;\t10\n");
    assert_levels(&run, 300, LEVELS(20, 10));
    run = import_text(&sstrace_format_ssload, NULL, MARK SSLOAD_HEADER "x,1,,0.1,,\nx,2,,0.2,,\n");
    assert_levels(&run, 1, LEVELS(10, 20));
    run = import_text(&sstrace_format_sadf, NULL, MARK SADF_HEADER "a;1;5;-1;10;0;0;0;0;90\n");
    assert_levels(&run, 1, LEVELS(10));
    run = import_text(&sstrace_format_sadf, NULL, MARK);
    assert_not_imported(&run, "in:1:1: the file has no samples");
}

#define PER_CPU_HEADER "time,elapsed_seconds,target,load,error,load_ticks,cpu,user\n"
#define PER_CPU(time, all, first, second)                                                          \
    "x," time ",," all ",,,all,0\nx," time ",," first ",,,0,0\nx," time ",," second ",,,1,0\n"

static void ssload_rows_of_cpus_are_selected(void **state) {
    (void)state;
    static const char text[] =
        PER_CPU_HEADER PER_CPU("1", "0.5", "0.25", "0.75") PER_CPU("2", "0.25", "0.125", "0.375");
    struct import_run run = import_text(&sstrace_format_ssload, NULL, text);
    assert_int_equal(run.late, 0);
    assert_levels(&run, 1, LEVELS(50, 25));
    run = import_text(&sstrace_format_ssload, &(import_options){.select = "all"}, text);
    assert_levels(&run, 1, LEVELS(50, 25));
    run = import_text(&sstrace_format_ssload, &(import_options){.select = "1"}, text);
    assert_levels(&run, 1, LEVELS(75, 37.5));
    run = import_text(&sstrace_format_ssload, &(import_options){.select = "2"}, text);
    assert_not_imported(&run, "no samples of '2': it has 3 series (all, 0, 1)");
    run = import_text(&sstrace_format_ssload, NULL,
        PER_CPU_HEADER "x,1,,0.5,,,0,0\nx,1,,0.25,,,1,0\nx,2,,0.5,,,0,0\nx,2,,0.25,,,1,0\n");
    assert_not_imported(&run, "has 2 series (0, 1): choose one with --select");
}

static void ssload_samples_are_imported(void **state) {
    (void)state;
    assert_true(sstrace_format_ssload.detect(SSLOAD_HEADER "x"));
    assert_true(
        sstrace_format_ssload.detect("time,elapsed_seconds,target,load,error,load_ticks,x"));
    assert_false(sstrace_format_ssload.detect("time,load\n"));
    struct import_run run = run_file(&sstrace_format_ssload, "ssload.csv");
    assert_levels(&run, 0.5, LEVELS(25, 37.5, 100));
    run = import_text(&sstrace_format_ssload, NULL,
        "time,elapsed_seconds,target,load,error,load_ticks,duty\nx,1,0.5,0.25,0,,1\n"
        "x,2,0.5,0.5,0,,1\nx,3,,,0,,1\nx,4,,0.75,0,,1\n");
    assert_int_equal(run.bad, 1);
    assert_imported(&run);
    assert_imported_record(&run, 3, 2, 50);
    assert_imported_record(&run, 4, 3, 50);
    assert_imported_record(&run, 6, 4, 75);
    import_free(&run);
}

/* The elapsed time begins again in each file; the files are 30 s apart. */
static void ssload_files_are_placed_by_their_dates(void **state) {
    (void)state;
    static const char first[] = SSLOAD_HEADER "2026-11-20T14:50:01.000Z,1.000,,0.1,,\n"
                                              "2026-11-20T14:50:02.000Z,2.000,,0.2,,\n";
    struct import_run run = import_pair(&sstrace_format_ssload, NULL, first,
        SSLOAD_HEADER "2026-11-20T14:50:33.000Z,1.000,,0.3,,\n"
                      "2026-11-20T14:50:34.400Z,2.000,,0.4,,\n");
    assert_int_equal(run.gaps, 1);
    assert_int_equal(run.late, 0);
    assert_imported(&run);
    assert_int_equal(run.records.count, 9);
    assert_imported_record(&run, 4, 32, 20);
    assert_imported_record(&run, 5, 32, 30);
    assert_imported_record(&run, 8, 34, 40);
    import_free(&run);
    run = import_pair(&sstrace_format_ssload, NULL, first,
        SSLOAD_HEADER "2026-11-20T14:50:03.000Z,1.000,,0.3,,\n");
    assert_steps(&run, (const double[]){0, 1, 2, 3}, LEVELS(10, 20, 30));
    run = import_pair(&sstrace_format_ssload, NULL, first, first);
    assert_not_imported(&run, "all samples are before the end of the previous file");
    run = import_pair(&sstrace_format_ssload, NULL, first, SSLOAD_HEADER "x,1,,0.3,,\n");
    assert_not_imported(&run, "has no date in a known form");
    run = import_pair(&sstrace_format_ssload, NULL, SSLOAD_HEADER "x,1,,0.3,,\n", first);
    assert_not_imported(&run, "has no date in a known form");
}

static void collectd_values_are_read_as_ticks_or_percent(void **state) {
    (void)state;
    assert_true(sstrace_format_collectd.detect("epoch,value\n1"));
    assert_false(sstrace_format_collectd.detect("epoch,value,x\n1"));
    struct import_run run = run_file(&sstrace_format_collectd, "collectd-cpu-idle-2026-11-20");
    static const double times[] = {0, 1.003, 2.001, 3.001, 4.001};
    double loads[4];
    static const double rises[] = {2, 20, 18, 40};
    for (size_t i = 0; i < 4; i++)
        loads[i] = 100 - rises[i] / (times[i + 1] - times[i]);
    assert_steps(&run, times, loads, 4);
    run = run_file(&sstrace_format_collectd, "collectd-percent-idle-2026-11-20");
    assert_imported(&run);
    assert_int_equal(run.used, 5);
    assert_imported_record(&run, 0, 0, 100 - 0.990099);
    assert_imported_record(&run, 9, 5.003, 100 - 40.40404);
    import_free(&run);
    run = run_file(&sstrace_format_collectd, "collectd-cpu-user-2026-11-20");
    assert_not_imported(&run, "collectd-cpu-user-2026-11-20:1:1: expected a file of idle time");
}

static struct import_run run_idle(const char *name, const char *text) {
    return import_named(&sstrace_format_collectd, NULL, name, text, strlen(text));
}

static void collectd_restarts_become_gaps(void **state) {
    (void)state;
    struct import_run run = run_idle("box/cpu-0/cpu-idle-2026-11-20",
        "epoch,value\n100,5000\n110,5500\n120,nan\n130,6000\n140,50\n140,60\n139,70\n"
        "150,1050\n160,2090\n");
    assert_int_equal(run.gaps, 1);
    assert_int_equal(run.bad, 1);
    assert_int_equal(run.late, 2);
    assert_int_equal(run.series, 1);
    assert_imported(&run);
    assert_imported_record(&run, 1, 10, 50);
    assert_imported_record(&run, 2, 10, 75);
    assert_imported_record(&run, 3, 30, 75);
    assert_imported_record(&run, 5, 40, 0);
    assert_imported_record(&run, 8, 60, 0);
    import_free(&run);
    run = run_idle("cpu-idle", "epoch,value\n100,5000\n110,7000\n");
    assert_not_imported(
        &run, "cpu-idle:3:5: the counter rose by 2000 in 10 s, but a CPU has only 1000 ticks");
}

static void collectd_rows_out_of_order_are_skipped(void **state) {
    (void)state;
    struct import_run run = run_idle(
        "cpu-idle", "epoch,value\n1000,5000\n1010,5500\n1010,5500\n1005,5600\n1020,6000\n");
    assert_int_equal(run.late, 2);
    assert_levels(&run, 10, LEVELS(50, 50));
}

static void rising_small_collectd_values_are_counters(void **state) {
    (void)state;
    static const char rising[] = "epoch,value\n0,0\n10,10\n20,60\n30,100";
    struct import_run run = run_idle("cpu-idle", rising);
    assert_levels(&run, 10, LEVELS(99, 95, 96));
    run = run_idle("percent-idle", rising);
    assert_levels(&run, 10, LEVELS(100, 90, 40, 0));
    run = run_idle("cpu-idle", "epoch,value\n0,0\n10,60\n20,10\n30,100");
    assert_levels(&run, 10, LEVELS(100, 40, 90, 0));
}

/* Each text is cut after a digit of its last number. */
static void missing_final_newline_in_tables_causes_a_warning(void **state) {
    (void)state;
    static const struct {
        const struct sstrace_format *format;
        const char *text;
    } cut[] = {
        {&sstrace_format_azure, "0,a,1,9,45\n300,a,1,9,4"},
        {&sstrace_format_alibaba_2017, "0,1,45\n300,1,4"},
        {&sstrace_format_ssload, SSLOAD_HEADER "x,1,,0.45,,1\nx,2,,0.45,,1"},
        {&sstrace_format_sadf, SADF_HEADER "a;1;5;-1;10;0;0;0;0;90\na;1;6;-1;10;0;0;0;0;9"},
    };
    char heard[1024];
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        struct import_run run =
            import_heard(cut[i].format, NULL, cut[i].text, strlen(cut[i].text), heard);
        assert_imported(&run);
        if (!strstr(heard, "the last line has no newline and may be truncated"))
            fail_msg("%s: no warning: %s", cut[i].format->name, heard);
        import_free(&run);
    }
}

// clang-format off
static const struct refusal refusals[] = {
    {&sstrace_format_sadf, "", {0}, "in:1:1: the file has no samples"},
    {&sstrace_format_sadf, SADF_HEADER, {0}, "in:2:1: the file has no samples"},
    {&sstrace_format_sadf, "a;1;5;-1;10;0;0;0;0;90\n", {0}, "in:1:1: expected the header '# hostname;interval;timestamp;CPU;...'"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;5\n", {0}, "in:2:6: expected host;interval"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;5;-1;10;0;0;0", {0}, "in:2:18: expected 6 figures for the CPU, not 4"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;5;-1;10;0;0;0;0;90;1\n", {0}, "in:2:24: unexpected text: the header names 10 fields"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;5;-1;10;0;x;0;0;90\n", {0}, "in:2:15: expected a percentage"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;5;-1;10;0;0;0;0;105\n", {0}, "in:2:21: the load is -5 %"},
    {&sstrace_format_sadf, SADF_HEADER "a;x;5;-1;10;0;0;0;0;90\n", {0}, "in:2:3: expected an interval in seconds"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;noon;-1;10;0;0;0;0;90\n", {0}, "in:2:5: expected a time"},
    {&sstrace_format_sadf, SADF_HEADER "a;1;5;eth0;10;0;0;0;0;90\n", {0}, "in:2:7: expected the number of a CPU"},
    {&sstrace_format_sadf, "# hostname;interval;timestamp;kbmemfree\na;1;5;4\n", {0}, "in:2:1: the file has no CPU statistics: create it with sadf -d FILE -- -u"},
    {&sstrace_format_sadf, "# hostname;interval;timestamp;CPU;%iowait;%idle[...];kbmemfree\n", {0}, "in:1:54: with sadf -h, expected only CPUs"},
    {&sstrace_format_google_2011, "600000000,900000000,3418309,0,4155527081,high,0\n", {0}, "in:1:42: expected a number"},
    {&sstrace_format_google_2011, "600000000,1200000000,3418309,0,4155527081,0.5,0\n", {0}, "in:1:11: expected an end time at most 300 s after the start"},
    {&sstrace_format_google_2011, "600000000,900000000,3418309,0,41\n", {0}, "in:1:33: the row has 5 fields, but 6 are expected"},
    {&sstrace_format_azure, "0,a,1,1,10\n300,a,2,2\n", {0}, "in:2:10: the row has 4 fields, but 5 are expected"},
    {&sstrace_format_azure, "0,a,1,1,10\n300,a,2,2,120\n", {0}, "in:2:11: the load is 120 %"},
    {&sstrace_format_azure, "0,a,1,1,10\nx,a,1,1,y\n", {0}, "in:2:1: expected a time"},
    {&sstrace_format_alibaba_2018, "m,0,10\nm,10,-1\nm,20,102\n", {0}, "in:3:6: the load is 102 %"},
    {&sstrace_format_bitbrains, "time;load\n0;1\n", {0}, "in:1:1: the first line must begin with 'Timestamp [ms];'"},
    {&sstrace_format_bitbrains, "Timestamp [ms];load\n0;1\n", {0}, "in:1:1: there is no column 'CPU usage [%]'"},
    {&sstrace_format_ssload, SSLOAD_HEADER "x,1,,0.5,\n", {0}, "in:2:10: the row has 5 fields, but 6 are expected"},
    {&sstrace_format_ssload, SSLOAD_HEADER "x,1,,5,,\n", {0}, "in:2:6: the load is 500 %"},
    {&sstrace_format_ssload, SSLOAD_HEADER, {0}, "in:2:1: the file has no samples"},
    {&sstrace_format_ssload, SSLOAD_HEADER, {.select = "a"}, "only one series"},
};
// clang-format on

static void row_import_errors_name_line_and_column(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct import_run run =
            import_text(refusals[i].format, &refusals[i].options, refusals[i].text);
        assert_not_imported(&run, refusals[i].part);
    }
    struct import_run run = run_idle("cpu-idle", "epoch,idle\n");
    assert_not_imported(&run, "cpu-idle:1:1: expected the header epoch,value");
    run = run_idle("cpu-idle", "epoch,value\n1,2,3\n");
    assert_not_imported(&run, "cpu-idle:2:6: the row has 3 fields, but 2 are expected");
    run = run_idle("cpu-idle", "epoch,value\nx,2\n");
    assert_not_imported(&run, "cpu-idle:2:1: expected a time in seconds");
    run = run_idle("cpu-idle", "epoch,value\n");
    assert_not_imported(&run, "cpu-idle:2:1: the file has no samples");
}

static void sadf_csv_is_detected(void **state) {
    (void)state;
    assert_true(sstrace_format_sadf.detect(SADF_HEADER));
    assert_true(sstrace_format_sadf.detect(
        "box;-1;" SADF_TIME "29 UTC;LINUX-RESTART\t(2 CPU)\n" SADF_HEADER));
    assert_false(sstrace_format_sadf.detect("time,load\n"));
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(sadf_csv_skips_restarts_and_comments),
    cmocka_unit_test(sadf_csv_uses_all_cpus_unless_one_is_selected),
    cmocka_unit_test(sadf_csv_skips_other_activities),
    cmocka_unit_test(sadf_csv_without_all_uses_the_only_cpu),
    cmocka_unit_test(sadf_csv_distinguishes_hosts),
    cmocka_unit_test(sadf_csv_skips_samples_of_offline_cpus),
    cmocka_unit_test(sadf_csv_is_detected),
    cmocka_unit_test(google_task_loads_of_a_machine_are_added_up),
    cmocka_unit_test(google_sums_above_100_percent_are_reported),
    cmocka_unit_test(newer_cluster_tables_are_imported),
    cmocka_unit_test(azure_import_selects_one_of_interleaved_machines),
    cmocka_unit_test(alibaba_samples_marked_invalid_become_gaps),
    cmocka_unit_test(bitbrains_time_unit_is_inferred_from_magnitude),
    cmocka_unit_test(byte_order_mark_before_a_table_is_skipped),
    cmocka_unit_test(ssload_samples_are_imported),
    cmocka_unit_test(ssload_rows_of_cpus_are_selected),
    cmocka_unit_test(ssload_files_are_placed_by_their_dates),
    cmocka_unit_test(collectd_values_are_read_as_ticks_or_percent),
    cmocka_unit_test(collectd_restarts_become_gaps),
    cmocka_unit_test(collectd_rows_out_of_order_are_skipped),
    cmocka_unit_test(rising_small_collectd_values_are_counters),
    cmocka_unit_test(missing_final_newline_in_tables_causes_a_warning),
    cmocka_unit_test(row_import_errors_name_line_and_column))
// clang-format on
