/* SPDX-License-Identifier: Apache-2.0 */
#include "json_run.h"

/* Output of sadf -j and mpstat -o JSON. */

#define ENVELOPE(host, samples)                                                                    \
    "{\"sysstat\": {\"hosts\": [\n{\"nodename\": \"" host "\", \"statistics\": [\n" samples        \
    "]}]}}\n"
#define STAMP(time)                                                                                \
    "\"timestamp\": {\"date\": \"2026-11-20\", \"time\": \"" time "\", \"interval\": 10}"
#define LOADS(loads)       "\"cpu-load\": [" loads "]"
#define IDLE(cpu, idle)    "{\"cpu\": \"" cpu "\", \"user\": 1, \"iowait\": 0, \"idle\": " idle "}"
#define SADF(time, loads)  "{" STAMP(time) ", " LOADS(loads) "}\n"
#define MPSTAT(time, idle) "{\"timestamp\": \"" time "\", " LOADS(IDLE("all", idle)) "}\n"

static const struct sstrace_format *sadf(void) {
    return find_format("sadf-json");
}

static const struct sstrace_format *mpstat(void) {
    return find_format("mpstat-json");
}

static void mean_of_all_cpus_is_used_for_sadf(void **state) {
    (void)state;
    struct import_run run = import_file(sadf(), NULL, "sadf.json");
    assert_levels(&run, 1, LEVELS(100, 97.99, 100, 100));
}

static void cpu_of_sadf_is_selected(void **state) {
    (void)state;
    struct import_run run = import_file(sadf(), &(import_options){.select = "0"}, "sadf.json");
    assert_levels(&run, 1, LEVELS(100, 97.98, 100, 100));
    run = import_file(sadf(), &(import_options){.select = "vm/1"}, "sadf.json");
    assert_levels(&run, 1, LEVELS(100, 98, 100, 100));
    run = import_file(sadf(), &(import_options){.select = "7"}, "sadf.json");
    assert_not_imported(&run, "has no samples of '7': it has 3 series (vm/all, vm/0, vm/1)");
}

static void restart_in_sadf_json_becomes_a_gap(void **state) {
    (void)state;
    struct import_run run = import_file(sadf(), NULL, "sadf-restart.json");
    assert_int_equal(run.gaps, 1);
    assert_int_equal(run.records.count, 11);
    assert_imported_record(&run, 5, 3, 9.6);
    assert_imported_record(&run, 6, 7, 9.6);
    assert_imported_record(&run, 7, 7, 78.5);
    assert_imported_record(&run, 10, 9, 97.49);
    import_free(&run);
    run = import_file(sadf(), &(import_options){.gaps = SSTRACE_GAPS_FILL}, "sadf-restart.json");
    assert_int_equal(run.records.count, 10);
    import_free(&run);
    run = import_file(sadf(), &(import_options){.gaps = SSTRACE_GAPS_REFUSE}, "sadf-restart.json");
    assert_not_imported(&run, "no samples for 4 s before this one");
}

static void several_sadf_hosts_require_select(void **state) {
    (void)state;
    static const char text[] =
        "{\"sysstat\": {\"hosts\": ["
        "{\"nodename\": \"a\", \"statistics\": [" SADF(
            "10:00:10", IDLE("all", "90")) "]},"
                                           "{\"nodename\": \"b\", \"statistics\": [" SADF(
                                               "10:00:10", IDLE("all", "20")) "]}]}}";
    struct import_run run = import_text(sadf(), NULL, text);
    assert_not_imported(&run, "in has 2 series (a/all, b/all): choose one with --select");
    run = import_text(sadf(), &(import_options){.select = "b/all"}, text);
    assert_levels(&run, 10, LEVELS(80));
    assert_blamed(sadf(), &(import_options){.select = "all"}, text, "2:173",
        "the file has several hosts: give --select a/all or b/all");
}

static void several_sadf_cpus_without_all_require_select(void **state) {
    (void)state;
    static const char two[] = ENVELOPE("a", SADF("10:00:10", IDLE("0", "90") "," IDLE("1", "80")));
    struct import_run run = import_text(sadf(), NULL, two);
    assert_not_imported(&run, "in has 2 series (a/0, a/1): choose one with --select");
    run = import_text(sadf(), NULL, ENVELOPE("a", SADF("10:00:10", IDLE("1", "80"))));
    assert_levels(&run, 10, LEVELS(20));
}

static void sadf_json_keys_may_come_in_any_order(void **state) {
    (void)state;
    struct import_run run = import_text(
        sadf(), NULL, ENVELOPE("a", "{" LOADS(IDLE("all", "90")) ", " STAMP("23:59:55") "}"));
    assert_levels(&run, 10, LEVELS(10));
}

static void iowait_counts_as_idle_and_offline_cpus_as_missing(void **state) {
    (void)state;
    struct import_run run = import_text(sadf(), NULL,
        ENVELOPE("a",
            SADF("10:00:10", "{\"cpu\":\"all\",\"user\":20,\"iowait\":30,\"idle\":50}") "," SADF(
                "10:00:20",
                "{\"cpu\":\"all\",\"user\":0,\"iowait\":0,\"idle\":0}") "," SADF("10:00:30",
                "{\"cpu\":\"all\",\"user\":0,\"iowait\":0.01,\"idle\":100}")));
    assert_imported(&run);
    assert_int_equal(run.bad, 1);
    assert_int_equal(run.gaps, 1);
    assert_imported_record(&run, 0, 0, 20);
    assert_imported_record(&run, 4, 30, 0);
    import_free(&run);
}

static void sadf_samples_that_go_backward_are_skipped(void **state) {
    (void)state;
    struct import_run run = import_text(sadf(), NULL,
        ENVELOPE("a",
            SADF("10:00:10", IDLE("all", "90")) "," SADF("10:00:10", IDLE("all", "80")) "," SADF(
                "10:00:00", IDLE("all", "70")) "," SADF("10:00:20", IDLE("all", "60"))));
    assert_int_equal(run.late, 2);
    assert_levels(&run, 10, LEVELS(10, 40));
}

static void sadf_timestamps_replace_missing_intervals(void **state) {
    (void)state;
#define BARE(time, idle)                                                                           \
    "{\"timestamp\": {\"date\": \"2026-11-20\", \"time\": \"" time                                 \
    "\"}, " LOADS(IDLE("all", idle)) "}"
    struct import_run run =
        import_text(sadf(), NULL, ENVELOPE("a", BARE("10:00:05", "90") "," BARE("10:00:10", "70")));
    assert_levels(&run, 5, LEVELS(10, 30));
    assert_blamed(sadf(), NULL,
        ENVELOPE("a", SADF("10:00:10", IDLE("all", "90")) "," BARE("10:00:20", "80")), "4:124",
        "'interval' is missing, but earlier samples have it");
#undef BARE
}

static void mean_of_all_cpus_is_used_for_mpstat(void **state) {
    (void)state;
    struct import_run run = import_file(mpstat(), NULL, "mpstat.json");
    assert_levels(&run, 1, LEVELS(95.48, 100, 88.61));
    run = import_file(mpstat(), &(import_options){.select = "1"}, "mpstat.json");
    assert_levels(&run, 1, LEVELS(94, 100, 88.35));
}

static void mpstat_continues_after_midnight(void **state) {
    (void)state;
    static const char plain[] =
        ENVELOPE("a", MPSTAT("23:59:58", "90") "," MPSTAT("23:59:59", "80") "," MPSTAT(
                          "00:00:00", "70") "," MPSTAT("00:00:01", "60"));
    struct import_run run = import_text(mpstat(), NULL, plain);
    assert_levels(&run, 1, LEVELS(10, 20, 30, 40));
    static const char halves[] = ENVELOPE("a", MPSTAT("11:59:59 PM", "90") "," MPSTAT("12:00:00 AM",
                                                   "80") "," MPSTAT("12:00:01 AM", "70"));
    run = import_text(mpstat(), NULL, halves);
    assert_levels(&run, 1, LEVELS(10, 20, 30));
}

#define MPSTAT_DAY(date)                                                                           \
    "{\"sysstat\": {\"hosts\": [{\"date\": \"" date                                                \
    "\", \"statistics\": [" MPSTAT("10:00:00", "90") "," MPSTAT("10:00:10", "80") "]}]}}"

/* Each file holds one run; only the dates show that they are a day apart. */
static void mpstat_files_are_placed_by_their_dates(void **state) {
    (void)state;
    static const char *const files[][2] = {
        {MPSTAT_DAY("11/20/26"), MPSTAT_DAY("11/21/26")},
        {MPSTAT_DAY("11/20/2026"), MPSTAT_DAY("11/21/2026")},
        {MPSTAT_DAY("2026-11-20"), MPSTAT_DAY("2026-11-21")},
    };
    for (size_t i = 0; i < 3; i++) {
        struct import_run run = import_pair(mpstat(), NULL, files[i][0], files[i][1]);
        assert_imported(&run);
        assert_int_equal(run.late, 0);
        assert_imported_record(&run, run.records.count - 1, 86400 + 20, 20);
        import_free(&run);
    }
}

/* One file needs no date. */
static void mpstat_files_without_a_known_date_are_refused(void **state) {
    (void)state;
    static const char *const files[][2] = {
        {MPSTAT_DAY("20.11.2026"), MPSTAT_DAY("21.11.2026")},
        {MPSTAT_DAY("20/11/2026"), MPSTAT_DAY("21/11/2026")},
        {MPSTAT_DAY("12/11/2026"), MPSTAT_DAY("13/11/2026")},
        {MPSTAT_DAY("20.11.2026"), MPSTAT_DAY("2026-11-21")},
    };
    for (size_t i = 0; i < 4; i++) {
        struct import_run run = import_pair(mpstat(), NULL, files[i][0], files[i][1]);
        assert_not_imported(&run, "has no date in a known form");
        run = import_text(mpstat(), NULL, files[i][0]);
        assert_levels(&run, 10, LEVELS(10, 20));
    }
}

static void file_with_only_earlier_samples_is_refused(void **state) {
    (void)state;
    struct import_run run =
        import_pair(mpstat(), NULL, MPSTAT_DAY("2026-11-21"), MPSTAT_DAY("2026-11-20"));
    assert_not_imported(&run, "all samples are before the end of the previous file");
    static const char later[] = ENVELOPE("a", SADF("10:00:20", IDLE("all", "80")));
    run = import_pair(sadf(), NULL, later, ENVELOPE("a", SADF("10:00:10", IDLE("all", "90"))));
    assert_not_imported(&run, "all samples are before the end of the previous file");
    /* A file may overlap the previous one, or lack the selected CPU. */
    run = import_pair(sadf(), NULL, later,
        ENVELOPE("a", SADF("10:00:20", IDLE("all", "80")) "," SADF("10:00:30", IDLE("all", "70"))));
    assert_int_equal(run.late, 1);
    assert_levels(&run, 10, LEVELS(20, 30));
    run = import_pair(sadf(), &(import_options){.select = "all"}, later,
        ENVELOPE("a", SADF("10:00:10", IDLE("0", "90"))));
    assert_levels(&run, 10, LEVELS(20));
}

/* A truncated file is accepted with a warning and all complete samples, wherever it was cut. */
static void truncated_mpstat_keeps_complete_samples_and_warns(void **state) {
    (void)state;
    size_t size;
    char heard[1024], *text = read_data("mpstat.json", &size);
    uint64_t used = 0;
    for (size_t length = 0; length <= size; length++) {
        struct import_run run = import_heard(mpstat(), NULL, text, length, heard);
        assert_true(run.result == 0 || run.error.status == SS_ERROR_FAILED);
        if (run.result == 0 && length + 1 < size)
            assert_non_null(strstr(heard, "the file is truncated"));
        if (run.result == 0) {
            assert_that(run.used, >=, used);
            assert_that(run.used, <=, 3);
            used = run.used;
        } else {
            assert_int_equal(used, 0);
        }
        import_free(&run);
    }
    assert_int_equal(used, 3);
    assert_null(strstr(heard, "cut short"));
    free(text);
}

static void truncated_sadf_json_is_refused(void **state) {
    (void)state;
    size_t size;
    char heard[1024], *text = read_data("sadf.json", &size);
    for (size_t length = 0; length + 1 < size; length++) {
        struct import_run run = import_heard(sadf(), NULL, text, length, heard);
        assert_not_imported(
            &run, length ? "unexpected end of file" : "in:1:1: expected JSON, found nothing");
    }
    free(text);
}

static void sysstat_errors_state_the_expected_input(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *part;
    } cases[] = {
        // clang-format off
        {"{\"sysstat\": 5}", "1:13", "'sysstat' must be an object, but it is a number"},
        {"{\"sysstat\": {\"hosts\": {}}}", "1:23", "'hosts' must be a list, but it is an object"},
        {"[]", "1:1", "expected an object, not a list"},
        {"{}", "1:3", "sysstat.hosts[].statistics[] with a cpu-load"},
        {ENVELOPE("a", "{}"), "4:1", "sysstat.hosts[].statistics[] with a cpu-load"},
        {ENVELOPE("a", "7"), "3:1", "expected an object, not a number"},
        {ENVELOPE("a", "{\"timestamp\": \"10:00:00\"}"), "3:15", "'timestamp' must be an object, but it is a string"},
        {ENVELOPE("a", SADF("noon", IDLE("all", "1"))), "3:46", "'2026-11-20 noon' is not a time"},
        {ENVELOPE("a", SADF("10:00:10", IDLE("all", "\"1\""))), "3:135", "'idle' must be a number, but it is a string"},
        {ENVELOPE("a", SADF("10:00:10", IDLE("all", "[1]"))), "3:135", "'idle' must be a number, but it is a list"},
        {ENVELOPE("a", SADF("10:00:10", IDLE("all", "1e999"))), "3:135", "the number '1e999' is out of range"},
        {ENVELOPE("a", SADF("10:00:10", IDLE("all", "-2"))), "3:135", "the load is 102 %"},
        {ENVELOPE("a", SADF("10:00:10", IDLE("all", "102"))), "3:135", "the load is -2 %"},
        {ENVELOPE("a", SADF("10:00:10", "{\"cpu\": 0, \"idle\": 1}")), "3:96", "'cpu' must be a string, but it is a number"},
        {ENVELOPE("a", SADF("10:00:10", "{\"idle\": 1}")), "3:98", "'cpu' is missing in this object"},
        {ENVELOPE("a", SADF("10:00:10", "{\"cpu\": \"all\"}")), "3:101", "'idle' is missing in this object"},
        {ENVELOPE("a", SADF("10:00:10", IDLE("all", "1") "," IDLE("all", "1"))), "3:186", "duplicate load of 'all'"},
        {ENVELOPE("a", "{" LOADS(IDLE("all", "1")) "}"), "3:65", "'timestamp' is missing in this object"},
        {"{\"sysstat\": nothing}", "1:13", "invalid JSON: invalid string in json text"},
        {"{\"sysstat\": {}} more", "1:17", "invalid JSON"},
        {"{\"sysstat\":\n {},,}", "2:5", "invalid JSON"},
        {"{\"a\": \"\xff\"}", "1:8", "invalid bytes in UTF8 string"},
        {"{\"a\":\n\"\001\"}", "2:1", "invalid JSON"},
        {"  \n\n", "3:1", "expected JSON, found nothing"},
        {"\xef\xbb\xbf{\"sysstat\": 5}", "1:13", "'sysstat' must be an object"},
        // clang-format on
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_blamed(sadf(), NULL, cases[i].text, cases[i].place, cases[i].part);
}

static void excessive_json_depth_and_length_are_refused(void **state) {
    (void)state;
    size_t size = (size_t)3 << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, '[', size);
    text[size] = '\0';
    memcpy(text, "{\"a\":", 5);
    assert_blamed(sadf(), NULL, text, "1:69", "nested too deeply (at most 64)");
    memset(text + 5, 'a', size - 5);
    text[5] = '"';
    struct import_run run = import_text(sadf(), NULL, text);
    assert_not_imported(&run, "a string or white space is longer than 1048576 bytes");
    memset(text + 5, '1', size - 5);
    run = import_text(sadf(), NULL, text);
    assert_not_imported(&run, "a string or white space is longer than 1048576 bytes");
    memset(text, '[', size);
    assert_blamed(sadf(), NULL, text, "1:1", "expected an object, not a list");
    free(text);
}

static void long_sysstat_host_names_are_refused(void **state) {
    (void)state;
    static const size_t lengths[] = {255, 256, 5000};
    for (size_t i = 0; i < 3; i++) {
        char *text = around("{\"sysstat\": {\"hosts\": [{\"nodename\":\n\"", lengths[i],
            "\", \"statistics\": [" SADF("10:00:10", IDLE("all", "90")) "]}]}}");
        struct import_run run = import_text(sadf(), NULL, text);
        if (lengths[i] > 255)
            assert_not_imported(&run, "in:2:1: 'nodename' has more than 255 characters");
        else
            assert_levels(&run, 10, LEVELS(10));
        free(text);
    }
}

static void out_of_range_sysstat_times_are_refused(void **state) {
    (void)state;
    static const char text[] = "{\"sysstat\": {\"hosts\": [{\"date\": \"2260-01-01\",\n"
                               "\"statistics\": [" MPSTAT("2260-01-01 00:00:00", "90") "]}]}}";
    assert_blamed(mpstat(), NULL, text, "2:117", "a time is out of range");
    assert_blamed(sadf(), NULL,
        ENVELOPE("a",
            "{\"timestamp\": {\"date\": \"1700-01-01\", \"time\": \"00:00:00\", \"interval\": "
            "9e9}, " LOADS(IDLE("all", "90")) "}"),
        "3:140", "a time is out of range");
    assert_blamed(sadf(), NULL, ENVELOPE("a", "{\"timestamp\": {\"interval\": -1}}"), "3:28",
        "'interval' must be a number of seconds, not -1");
}

static void sadf_and_mpstat_json_are_detected(void **state) {
    (void)state;
    static const char *const names[] = {"sadf.json", "sadf-restart.json", "mpstat.json"};
    for (size_t i = 0; i < 3; i++) {
        size_t size;
        char *text = read_data(names[i], &size);
        assert_int_equal(sadf()->detect(text), i < 2);
        assert_int_equal(mpstat()->detect(text), i == 2);
        assert_false(sadf()->detect(text + 1) || mpstat()->detect(text + 1));
        free(text);
    }
}

// clang-format off
JSON_MAIN(
    cmocka_unit_test(mean_of_all_cpus_is_used_for_sadf),
    cmocka_unit_test(cpu_of_sadf_is_selected),
    cmocka_unit_test(restart_in_sadf_json_becomes_a_gap),
    cmocka_unit_test(several_sadf_hosts_require_select),
    cmocka_unit_test(several_sadf_cpus_without_all_require_select),
    cmocka_unit_test(sadf_json_keys_may_come_in_any_order),
    cmocka_unit_test(iowait_counts_as_idle_and_offline_cpus_as_missing),
    cmocka_unit_test(sadf_samples_that_go_backward_are_skipped),
    cmocka_unit_test(sadf_timestamps_replace_missing_intervals),
    cmocka_unit_test(mean_of_all_cpus_is_used_for_mpstat),
    cmocka_unit_test(mpstat_continues_after_midnight),
    cmocka_unit_test(mpstat_files_are_placed_by_their_dates),
    cmocka_unit_test(mpstat_files_without_a_known_date_are_refused),
    cmocka_unit_test(file_with_only_earlier_samples_is_refused),
    cmocka_unit_test(truncated_mpstat_keeps_complete_samples_and_warns),
    cmocka_unit_test(truncated_sadf_json_is_refused),
    cmocka_unit_test(sysstat_errors_state_the_expected_input),
    cmocka_unit_test(excessive_json_depth_and_length_are_refused),
    cmocka_unit_test(long_sysstat_host_names_are_refused),
    cmocka_unit_test(out_of_range_sysstat_times_are_refused),
    cmocka_unit_test(sadf_and_mpstat_json_are_detected))
