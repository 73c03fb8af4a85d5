/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of --split: many traces in one file, and the names of the files that they become. */

#include "split.h"
#include "trace_spool.h"
#include "unit.h"

#define TRACES  3
#define RECORDS (2 * SSTRACE_SPOOL_BLOCK_RECORDS + 1) /* two full blocks and a partial one */

/* Returns record `at` of trace `which`, which differs from all records of other traces. */
static struct ss_trace_record make_record(size_t which, size_t at) {
    return (struct ss_trace_record){
        .time = at * 1000 + which, .load = (double)at / RECORDS, .free = at % 7 == which};
}

TEST(interleaved_rows_are_split_into_complete_traces) {
    static const size_t counts[TRACES] = {RECORDS, SSTRACE_SPOOL_BLOCK_RECORDS, 1};
    struct sstrace_spool_file file = SSTRACE_SPOOL_FILE_NEW;
    struct sstrace_spooled_trace traces[TRACES];
    struct ss_error error = {0};
    for (size_t which = 0; which < TRACES; which++)
        sstrace_spooled_trace_open(&traces[which], &file);
    for (size_t at = 0; at < RECORDS; at++) {
        for (size_t which = 0; which < TRACES && at < counts[which]; which++) {
            struct ss_trace_record record = make_record(which, at);
            assert_int_equal(traces[which].sink.take(&traces[which].sink, &record, &error), 0);
        }
    }
    for (size_t which = 0; which < TRACES; which++) {
        struct ss_trace_records records = {0};
        struct ss_trace_collector collector = ss_trace_collect(&records);
        assert_int_equal(sstrace_spooled_trace_play(&traces[which], &collector.sink, &error), 0);
        assert_int_equal(records.count, counts[which]);
        for (size_t at = 0; at < records.count; at++) {
            struct ss_trace_record expected = make_record(which, at);
            assert_int_equal(records.items[at].time, expected.time);
            assert_near(records.items[at].load, expected.load, 0);
            assert_int_equal(records.items[at].free, expected.free);
        }
        ss_trace_records_free(&records);
    }
    sstrace_spool_file_close(&file);
}

TEST(machine_names_are_escaped_in_file_names) {
    static const char *const names[][2] = {
        {"m_1932", "m_1932.trace"},
        {"node-7.example.org", "node-7.example.org.trace"},
        {"yNf/R3X8+w==", "yNf%2FR3X8+w==.trace"},
        {"..", "%2E..trace"},
        {"a b%", "a%20b%25.trace"},
    };
    struct ss_error error = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[256];
        assert_int_equal(sstrace_split_name(file, names[i][0], ".trace", &error), 0);
        assert_string_equal(file, names[i][1]);
    }
}

TEST(missing_and_too_long_machine_names_are_refused) {
    char name[251], file[256];
    struct ss_error error = {0};
    assert_int_equal(sstrace_split_name(file, "", ".trace", &error), -1);
    memset(name, 'm', sizeof name);
    name[249] = '\0';
    assert_int_equal(sstrace_split_name(file, name, ".trace", &error), 0);
    assert_int_equal(strlen(file), 255);
    name[249] = 'm';
    name[250] = '\0';
    assert_int_equal(sstrace_split_name(file, name, ".trace", &error), -1);
}

UNIT_RUN
