/* SPDX-License-Identifier: Apache-2.0 */
#include "json_run.h"

/* Tests of the line-based importers: vmstat, PlanetLab, plain load levels, KRASH profiles. */

#define NAMES "procs ---memory--- -cpu-\n r  b   free us sy id wa st\n"
#define TIMED "procs ---memory--- -cpu- -----timestamp-----\n r  b   free us sy id wa st   UTC\n"

static const struct sstrace_format *const vmstat = &sstrace_format_vmstat;
static const struct sstrace_format *const planetlab = &sstrace_format_planetlab;
static const struct sstrace_format *const levels = &sstrace_format_levels;
static const struct sstrace_format *const krash = &sstrace_format_krash;

static const import_options second = {.every = SS_SECOND};

struct expected {
    const char *text, *place, *part;
};

static void assert_all_blamed(const struct sstrace_format *format, const import_options *options,
    const struct expected *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_blamed(format, options, cases[i].text, cases[i].place, cases[i].part);
}

static void first_vmstat_row_is_skipped_as_average_since_boot(void **state) {
    (void)state;
    struct import_run run = import_file(vmstat, &second, "vmstat.txt");
    assert_levels(&run, 1, LEVELS(95, 94, 100, 64));
    run = import_text(vmstat, &second, NAMES " 1  0  7777 10 10 80  0  0\n");
    assert_not_imported(&run, "the file has no samples");
}

static void vmstat_timestamps_are_used(void **state) {
    (void)state;
    struct import_run run = import_file(vmstat, NULL, "vmstat-t.txt");
    assert_levels(&run, 1, LEVELS(89, 99, 44));
    assert_blamed(vmstat, NULL, NAMES " 1  0  7777 10 10 80  0  0\n", "3:1",
        "expected a time at the end of the line, as vmstat -t writes it");
    run = import_text(vmstat, NULL,
        TIMED "1 0 7 10 10 80 0 0 2026-11-20 23:59:40\n1 0 7 10 10 80 0 0 2026-11-20 23:59:50\n"
              "1 0 7 10 20 70 0 0 2026-11-21 00:00:00\n1 0 7 10 10 60 0 0 2026-11-21 00:00:30\n");
    assert_int_equal(run.gaps, 1);
    assert_imported_record(&run, 0, 0, 20);
    assert_imported_record(&run, 4, 40, 30);
    assert_imported_record(&run, 6, 50, 40);
    import_free(&run);
}

static void vmstat_timestamps_are_ends_of_samples(void **state) {
    (void)state;
    struct import_run run = import_text(vmstat, NULL,
        TIMED "1 0 7 0 0 99 0 0 2026-11-20 10:00:00\n1 0 7 0 0 90 0 0 2026-11-20 10:00:10\n"
              "1 0 7 0 0 80 0 0 2026-11-20 10:00:20\n1 0 7 0 0 70 0 0 2026-11-20 10:00:24\n");
    assert_steps(&run, (const double[]){0, 10, 20, 24}, LEVELS(10, 20, 30));
}

static void repeated_vmstat_headers_are_accepted(void **state) {
    (void)state;
    struct import_run run = import_text(vmstat, &second,
        NAMES "1 0 7 10 10 80 0 0\n1 0 7 10 10 80 0 0\n\n" NAMES "1 0 7 10 10 70 15 0\n"
              "--procs-- -memory- -cpu-\n r b us sy id wa st gu\n1 0 10 10 100 1 0 0\n");
    assert_levels(&run, 1, LEVELS(20, 15, 0));
    run = import_text(vmstat, &second, "r us id\n1 2 3\n1 2 60\n");
    assert_levels(&run, 1, LEVELS(40));
}

static void vmstat_errors_state_the_expected_input(void **state) {
    (void)state;
    static const struct expected cases[] = {
        // clang-format off
        {"1 0 7 10 10 80 0 0\n", "1:1", "expected a header"},
        {"hello\n", "1:1", "expected the columns of vmstat"},
        {NAMES "1 0 7 10 10 80 0\n", "3:16", "expected 8 fields, one for each name in the header, not 7"},
        {NAMES "1 0 7 10 10 80 0 0 0\n", "3:20", "not 9"},
        {NAMES "1 0 7 10 10 101 0 0\n", "3:13", "expected a whole percentage in column 'id'"},
        {NAMES "1 0 7 10 10 8.5 0 0\n", "3:13", "expected a whole percentage in column 'id'"},
        {NAMES "1 0 7 10 10 80 -1 0\n", "3:16", "expected a whole percentage in column 'wa'"},
        {NAMES "1 0 7 10 10 - 0 0\n", "3:13", "expected a whole percentage in column 'id'"},
        {NAMES "1 0 7 10 10 80 0 0\n1 0 7 10 10 80 30 0\n", "4:13", "the load is -10 %"},
        {TIMED "1 0 7 10 10 80 0 0 2026-11-20 25:00:00\n", "3:20", "YYYY-MM-DD HH:MM:SS"},
        {TIMED "1 0 7 10 10 80 0 0 2026-11-20 15:00:00\n1 0 7 10 10 80 0 0 0\n", "4:20", "expected a time at the end of the line, as before"},
        {NAMES "1 0 7 10 10 80 0 0\n1 0 7 10 10 80 0 0 2026-11-20 15:00:00\n", "4:31", "unexpected time"},
        {"", "1:1", "the file has no samples"},
        // clang-format on
    };
    assert_all_blamed(vmstat, &second, cases, sizeof cases / sizeof *cases);
}

static void truncated_vmstat_keeps_complete_lines(void **state) {
    (void)state;
    size_t size;
    char heard[1024], *text = read_data("vmstat-t.txt", &size);
    for (size_t length = 0; length < size; length++) {
        struct import_run run = import_heard(vmstat, NULL, text, length, heard);
        if (length > 0 && text[length - 1] != '\n')
            assert_non_null(strstr(heard, "ignoring the last line, which is incomplete"));
        assert_true(run.result != 0 || run.used == 2);
        assert_true(run.result == 0 || run.error.status == SS_ERROR_FAILED);
        import_free(&run);
    }
    free(text);
}

static void each_planetlab_line_covers_five_minutes(void **state) {
    (void)state;
    struct import_run run = import_file(planetlab, NULL, "planetlab.txt");
    assert_levels(&run, 300, LEVELS(12, 0, 7, 100, 33));
    run = import_text(planetlab, &second, " 5 \r\n6\r\n\r\n");
    assert_levels(&run, 1, LEVELS(5, 6));
    static const struct expected cases[] = {
        // clang-format off
        {"5\n101\n", "2:1", "expected a whole percentage from 0 to 100"},
        {"5\n 0.5\n", "2:2", "expected a whole percentage from 0 to 100"},
        {"-5\n", "1:1", "expected a whole percentage from 0 to 100"},
        {"99999999999999999999\n", "1:1", "expected a whole percentage from 0 to 100"},
        {"5 6\n", "1:3", "expected one number per line"},
        {"\xff\n", "1:1", "expected a whole percentage from 0 to 100"},
        {"\n\n", "3:1", "the file has no samples"},
        // clang-format on
    };
    assert_all_blamed(planetlab, NULL, cases, sizeof cases / sizeof *cases);
}

static void load_levels_are_read_as_percentages_or_fractions(void **state) {
    (void)state;
    struct import_run run = import_file(levels, &second, "levels.txt");
    assert_levels(&run, 1, LEVELS(12.5, 30, 100, 10));
    run = import_text(levels,
        &(import_options){.every = 60 * SS_SECOND, .unit = SSTRACE_UNIT_FRACTION}, "0.5\n,25\n1\n");
    assert_levels(&run, 60, LEVELS(50, 25, 100));
    run = import_text(levels, &second, "10\nnan\n20\n");
    assert_int_equal(run.bad, 1);
    assert_int_equal(run.gaps, 1);
    assert_imported_record(&run, 0, 0, 10);
    assert_imported_record(&run, 3, 2, 20);
    import_free(&run);
}

static void load_level_errors_state_the_expected_input(void **state) {
    (void)state;
    static const struct expected cases[] = {
        // clang-format off
        {"10\n102\n", "2:1", "the load is 102 %"},
        {"10\n-1\n", "2:1", "the load is -1 %"},
        {"# x\n ten\n", "2:2", "expected a number"},
        {"1,234.5\n", "1:1", "expected a number"},
        {"1e999\n", "1:1", "expected a number"},
        {"1 2\n", "1:3", "expected one number per line"},
        {"# nothing\n", "2:1", "the file has no samples"},
        {"", "1:1", "the file has no samples"},
        // clang-format on
    };
    assert_all_blamed(levels, &second, cases, sizeof cases / sizeof *cases);
    assert_blamed(levels, NULL, "10\n", "1:1", "give --every TIME");
    assert_blamed(levels, &(import_options){.every = SS_SECOND, .unit = SSTRACE_UNIT_FRACTION},
        "0,5\n60\n", "2:1", "--unit says");
    assert_blamed(levels, &(import_options){.every = (ss_time)1 << 62}, "1\n2\n3\n", "1:1",
        "expected a time within 73 years of the first one");
    assert_blamed(levels, &(import_options){.every = (ss_time)1 << 63}, "1\n2\n3\n", "1:1",
        "--every is too long");
}

/* The last number may have lost digits. */
static void missing_final_newline_in_load_levels_causes_a_warning(void **state) {
    (void)state;
    char heard[1024];
    struct import_run run = import_heard(planetlab, NULL, "5\n99", 4, heard);
    assert_levels(&run, 300, LEVELS(5, 99));
    assert_non_null(strstr(heard, "in:2: the last line has no newline"));
    run = import_heard(levels, &second, "5\n9", 3, heard);
    assert_levels(&run, 1, LEVELS(5, 9));
    assert_non_null(strstr(heard, "in:2: the last line has no newline"));
    run = import_heard(levels, &second, "5\n9\n", 4, heard);
    assert_levels(&run, 1, LEVELS(5, 9));
    assert_string_equal(heard, "");
}

static void files_without_timestamps_are_concatenated(void **state) {
    (void)state;
    const char *const paths[] = {IMPORT_DATA "planetlab.txt", IMPORT_DATA "planetlab.txt"};
    struct import_run run = import_paths(planetlab, NULL, paths, 2);
    assert_levels(&run, 300, LEVELS(12, 0, 7, 100, 33, 12, 0, 7, 100, 33));
    const char *const profiles[] = {IMPORT_DATA "krash.profile", IMPORT_DATA "krash.profile"};
    run = import_paths(krash, &(import_options){.select = "0"}, profiles, 2);
    assert_steps(&run, (const double[]){0, 10, 20, 30, 40}, LEVELS(70, 30, 70, 30));
}

static void krash_load_is_the_mean_of_all_cpus(void **state) {
    (void)state;
    static const double seconds[] = {0, 5, 10, 20};
    struct import_run run = import_file(krash, NULL, "krash.profile");
    assert_int_equal(run.late, 0);
    assert_steps(&run, seconds, LEVELS(35, 60, 20));
    run = import_file(krash, &(import_options){.cpus = 4}, "krash.profile");
    assert_steps(&run, seconds, LEVELS(17.5, 30, 10));
    run = import_file(krash, &(import_options){.cpus = 1}, "krash.profile");
    assert_not_imported(&run, "--cpus allows 1 CPUs");
    run = import_file(krash, &(import_options){.select = "1"}, "krash.profile");
    assert_steps(&run, seconds, LEVELS(0, 50, 10));
    run = import_file(krash, &(import_options){.select = "2"}, "krash.profile");
    assert_not_imported(&run, "has no samples of '2': it has 2 series (0, 1)");
}

static void krash_kill_time_is_optional(void **state) {
    (void)state;
    struct import_run run = import_text(krash, NULL, "0{0 10 2 20 5 30}");
    assert_steps(&run, (const double[]){0, 2, 5, 8}, LEVELS(10, 20, 30));
    run = import_text(krash, &second, "0 { 0 10 2 20 }\n");
    assert_steps(&run, (const double[]){0, 2, 3}, LEVELS(10, 20));
    run = import_text(krash, NULL, "0 { 0 10 2 20 kill 4 }\n");
    assert_steps(&run, (const double[]){0, 2, 4}, LEVELS(10, 20));
    run = import_text(krash, NULL, "kill 1.5 0 { 0 10 2 20 }\n");
    assert_steps(&run, (const double[]){0, 1.5}, LEVELS(10));
}

static void krash_errors_state_the_expected_input(void **state) {
    (void)state;
    static const struct expected cases[] = {
        // clang-format off
        {"", "1:1", "expected CPU { SECONDS PERCENT ... }"},
        {"0 { }", "1:1", "expected CPU { SECONDS PERCENT ... }"},
        {"0 { 0 10 }", "1:1", "the profile does not say when it ends"},
        {"0 10", "1:3", "expected '{', not '10'"},
        {"0 { 0 10", "1:9", "expected SECONDS PERCENT or '}', not the end of the file"},
        {"0 { 0", "1:6", "expected a load, not the end of the file"},
        {"0 { 0 10 } }", "1:12", "expected cpu, profile, kill, NAME = VALUE or the number of a CPU, not '}'"},
        {"cpu {\n0 { 0 10 }\n", "2:11", "expected '}', not the end of the file"},
        {"profile }", "1:9", "expected '{', not '}'"},
        {"cpu { all_name 5 }", "1:16", "expected '=', not '5'"},
        {"cpu { all_name = }", "1:18", "expected a value, not '}'"},
        {"0 { 5 10 5 20 }", "1:10", "expected a time after the previous one, not '5'"},
        {"0 { -1 10 }", "1:5", "expected a number of seconds, not '-1'"},
        {"0 { 1e300 10 }", "1:5", "expected a number of seconds, not '1e300'"},
        {"0 { 0 ten }", "1:7", "expected a number"},
        {"0 { 0 101 }", "1:7", "expected a load from 0 to 100 %, not '101'"},
        {"0 { 0 1e999 }", "1:7", "expected a number"},
        {"0 { 0 nan }", "1:7", "expected a load from 0 to 100 %, not 'nan'"},
        {"0 { 0 1 }\n0 { 0 1 }", "2:1", "this CPU appears twice"},
        {"kill", "1:5", "expected a number of seconds, not the end of the file"},
        {"kill 0", "1:6", "expected a number of seconds above 0"},
        {"\xff\xfe", "1:1", "cpu, profile, kill"},
        {"99999999999999999999 { 0 1 }", "1:1", "or the number of a CPU, not"},
        // clang-format on
    };
    assert_all_blamed(krash, NULL, cases, sizeof cases / sizeof *cases);
}

/* All CPUs must be complete up to the last bracket; only the optional `kill` may be lost. */
static void truncated_krash_profile_is_refused_or_causes_a_warning(void **state) {
    (void)state;
    size_t size;
    char heard[1024], *text = read_data("krash.profile", &size);
    size_t whole = (size_t)(strstr(text, "kill") - text);
    for (size_t length = 0; length < size; length++) {
        struct import_run run = import_heard(krash, NULL, text, length, heard);
        if (length < whole - 1)
            assert_not_imported(&run, "expected");
        else if (run.result == 0 && text[length - 1] != '\n')
            assert_non_null(strstr(heard, "the last line has no newline"));
        import_free(&run);
    }
    free(text);
}

static void krash_profile_with_too_many_cpus_is_refused(void **state) {
    (void)state;
    char *text = malloc(100000), *at = text;
    assert_non_null(text);
    for (int i = 0; i < 1025; i++)
        at += sprintf(at, "%d { 0 50 1 100 }\n", i);
    assert_blamed(krash, NULL, text, "1025:1", "too many CPUs (at most 1024)");
    *strstr(text, "1024 {") = '\0';
    struct import_run run = import_text(krash, NULL, text);
    assert_levels(&run, 1, LEVELS(50, 100));
    free(text);
}

static void line_based_formats_are_detected(void **state) {
    (void)state;
    size_t size;
    char *text = read_data("vmstat.txt", &size), *profile = read_data("krash.profile", &size);
    assert_true(vmstat->detect(text) && !vmstat->detect(profile));
    assert_true(krash->detect(profile) && !krash->detect(text));
    assert_true(krash->detect("0\n{") && krash->detect("#a\n#b\n cpu{"));
    assert_false(krash->detect("{\"a\":1}") || krash->detect("12\n13\n") || krash->detect("#"));
    assert_false(vmstat->detect("procs memory") || vmstat->detect("") || vmstat->detect("12\n"));
    assert_null(planetlab->detect);
    assert_null(levels->detect);
    free(text);
    free(profile);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(first_vmstat_row_is_skipped_as_average_since_boot),
    cmocka_unit_test(vmstat_timestamps_are_used),
    cmocka_unit_test(vmstat_timestamps_are_ends_of_samples),
    cmocka_unit_test(repeated_vmstat_headers_are_accepted),
    cmocka_unit_test(vmstat_errors_state_the_expected_input),
    cmocka_unit_test(truncated_vmstat_keeps_complete_lines),
    cmocka_unit_test(each_planetlab_line_covers_five_minutes),
    cmocka_unit_test(load_levels_are_read_as_percentages_or_fractions),
    cmocka_unit_test(load_level_errors_state_the_expected_input),
    cmocka_unit_test(missing_final_newline_in_load_levels_causes_a_warning),
    cmocka_unit_test(files_without_timestamps_are_concatenated),
    cmocka_unit_test(krash_load_is_the_mean_of_all_cpus),
    cmocka_unit_test(krash_kill_time_is_optional),
    cmocka_unit_test(krash_errors_state_the_expected_input),
    cmocka_unit_test(truncated_krash_profile_is_refused_or_causes_a_warning),
    cmocka_unit_test(krash_profile_with_too_many_cpus_is_refused),
    cmocka_unit_test(line_based_formats_are_detected))
