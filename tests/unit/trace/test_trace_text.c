/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "trace/text.h"
#include "unit.h"

static int read_stream(
    FILE *stream, const char *name, struct ss_trace_records *records, struct ss_error *error) {
    *records = (struct ss_trace_records){0};
    struct ss_trace_collector collector = ss_trace_collect(records);
    int result = ss_trace_text_read(stream, name, &collector.sink, error);
    if (result != 0)
        ss_trace_records_free(records);
    return result;
}

static int read_bytes(
    const char *text, size_t size, struct ss_trace_records *records, struct ss_error *error) {
    FILE *stream = size > 0 ? fmemopen((void *)text, size, "r") : fopen("/dev/null", "r");
    assert_non_null(stream);
    int result = read_stream(stream, "saw.txt", records, error);
    fclose(stream);
    return result;
}

static struct ss_trace_records read_well(const char *text) {
    struct ss_trace_records records;
    struct ss_error error = {0};
    assert_succeeds(read_bytes(text, strlen(text), &records, &error), error);
    return records;
}

static void assert_refused_bytes(const char *text, size_t size, const char *part) {
    struct ss_trace_records records;
    struct ss_error error = {0};
    assert_fails(read_bytes(text, size, &records, &error), error, part);
    assert_null(records.items);
    assert_int_equal(records.count, 0);
}

static void assert_refused(const char *text, const char *part) {
    assert_refused_bytes(text, strlen(text), part);
}

static void assert_record(
    const struct ss_trace_records *records, size_t index, ss_time time, double load, bool free) {
    assert_that(index, <, records->count);
    const struct ss_trace_record *record = &records->items[index];
    if (record->time != time || record->load != load || record->free != free)
        fail_msg("record %zu is %llu %g%s", index, (unsigned long long)record->time, record->load,
            record->free ? " free" : "");
}

TEST(published_saw_trace_is_read) {
    struct ss_trace_records records = read_well("0 1/10\n20s 6/10\n40s 1/10\n1M 9/10\n80s 4/10\n"
                                                "100s 9/10\n2M 1/10\n");
    assert_int_equal(records.count, 7);
    static const double loads[] = {0.1, 0.6, 0.1, 0.9, 0.4, 0.9, 0.1};
    for (size_t i = 0; i < 7; i++)
        assert_record(&records, i, i * 20 * SS_SECOND, loads[i], false);
    ss_trace_records_free(&records);
    assert_null(records.items);
}

TEST(example_traces_are_valid) {
    static const char *const paths[] = {
        PROJECT_SOURCE_DIR "/traces/saw.txt", PROJECT_SOURCE_DIR "/traces/steps.txt"};
    for (size_t i = 0; i < 2; i++) {
        FILE *stream = fopen(paths[i], "r");
        assert_non_null(stream);
        assert_int_equal(fgetc(stream), '#');
        rewind(stream);
        struct ss_trace_records records;
        assert_int_equal(read_stream(stream, paths[i], &records, NULL), 0);
        assert_that(records.count, >, 1);
        ss_trace_records_free(&records);
        fclose(stream);
    }
}

TEST(time_with_a_plus_is_relative_to_the_previous_record) {
    struct ss_trace_records records = read_well("+5s 10%\n+5s 20%\n20s 30%\n+0 40%\n+1M 50%\n");
    assert_record(&records, 0, 5 * SS_SECOND, 0.1, false);
    assert_record(&records, 1, 10 * SS_SECOND, 0.2, false);
    assert_record(&records, 2, 20 * SS_SECOND, 0.3, false);
    assert_record(&records, 3, 20 * SS_SECOND, 0.4, false);
    assert_record(&records, 4, 80 * SS_SECOND, 0.5, false);
    ss_trace_records_free(&records);
}

TEST(free_section_keeps_the_previous_load) {
    struct ss_trace_records records = read_well("0 free\n1s free\n2s 60%\n3s free\n4s free\n");
    assert_record(&records, 0, 0, 0, true);
    assert_record(&records, 1, SS_SECOND, 0, true);
    assert_record(&records, 2, 2 * SS_SECOND, 0.6, false);
    assert_record(&records, 3, 3 * SS_SECOND, 0.6, true);
    assert_record(&records, 4, 4 * SS_SECOND, 0.6, true);
    ss_trace_records_free(&records);
}

TEST(blanks_and_comments_in_traces_are_ignored) {
    struct ss_trace_records records = read_well(
        "# what it is for\r\n\r\n \t 0\t  10%\t\r\n5s 20%# half\r\n   # more\r\n\n6s 30%");
    assert_int_equal(records.count, 3);
    assert_record(&records, 0, 0, 0.1, false);
    assert_record(&records, 1, 5 * SS_SECOND, 0.2, false);
    assert_record(&records, 2, 6 * SS_SECOND, 0.3, false);
    ss_trace_records_free(&records);
}

TEST(byte_order_mark_of_a_trace_is_skipped) {
    struct ss_trace_records records = read_well("\xef\xbb\xbf"
                                                "0 10%\n5s 20%\n");
    assert_int_equal(records.count, 2);
    assert_record(&records, 0, 0, 0.1, false);
    ss_trace_records_free(&records);
    records = read_well("\xef\xbb\xbf# a comment\n0 10%\n5s 20%\n");
    assert_int_equal(records.count, 2);
    ss_trace_records_free(&records);
    assert_refused("\xff\xfe"
                   "0",
        "saw.txt:1:1: this is UTF-16, but a trace is plain text or UTF-8: convert it");
    assert_refused("\xff\xfe", "saw.txt:1:1: this is UTF-16");
    assert_refused("0 10%\n\xef\xbb\xbf"
                   "5s 20%\n",
        "saw.txt:2:1: ");
}

TEST(trace_errors_name_the_place_and_show_the_line) {
    assert_refused("0 10%\n\n20 60%\n",
        "saw.txt:3:1: '20' has no unit: use 20s, 20ms or 20min, in \"20 60%\"");
    assert_refused("0 10%\n  20s  1.5 # x\n",
        "saw.txt:2:8: '1.5' is not a load: it must be between 0 and 1 (60%, 0.6 or 6/10), in "
        "\"  20s  1.5 \"");
    assert_refused("0 10% 5s\n", "saw.txt:1:7: unexpected '5s'");
    assert_refused("0 Free\n", "saw.txt:1:3: 'Free' is not a load: use a number from 0 to 1 ");
    assert_refused("0 Free\n", "or the word free, in \"0 Free\"");
    assert_refused("0 10%\n5s\n", "saw.txt:2:3: missing load: use TIME LOAD");
    assert_refused("0 10%\r\n5s \r\n", "saw.txt:2:4: missing load");
    assert_refused("0 10%\n+ 5s\n", "saw.txt:2:1: '' is not a time");
    assert_refused("0 10%\n++5s 5%\n", "saw.txt:2:1: '+5s' is not a time");
    assert_refused("0\v10%\n", "saw.txt:1:1: '0 10%' contains white space");
}

TEST(decreasing_trace_times_are_refused) {
    assert_refused("0 10%\n20s 60%\n19s 10%\n",
        "saw.txt:3:1: '19s' is before the previous record: use a time of 20s or more");
}

TEST(excessive_trace_times_are_refused) {
    assert_refused("213503d 10%\n+1d 60%\n", "saw.txt:2:1: the time '+1d' is too late");
    assert_refused("0 10%\n+213504d 60%\n", "saw.txt:2:1: the time '213504d' is too long");
}

TEST(trace_without_records_is_refused) {
    assert_refused("", "saw.txt:1:1: the trace has no record");
    assert_refused("# nothing\n\n", "saw.txt:3:1: the trace has no record");
}

TEST(zero_bytes_in_a_trace_are_refused) {
    static const char text[] = "0 10%\n20s \0 60%\n";
    assert_refused_bytes(text, sizeof text - 1, "saw.txt:2:5: the line contains a null byte");
}

TEST(long_trace_lines_are_refused_but_not_long_comments) {
    size_t size = 1000000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    memcpy(text, "0 10%", 5);
    memcpy(text + size - 7, "\n9s 20%", 7);
    assert_refused_bytes(text, size, "saw.txt:1:4097: the line has more than 4096 characters");
    text[5] = '#';
    struct ss_trace_records records;
    assert_int_equal(read_bytes(text, size, &records, NULL), 0);
    assert_int_equal(records.count, 2);
    ss_trace_records_free(&records);
    free(text);
}

TEST(unreadable_trace_files_are_refused) {
    FILE *stream = fopen("/", "r");
    assert_non_null(stream);
    struct ss_trace_records records;
    struct ss_error error = {0};
    assert_fails(
        read_stream(stream, "/", &records, &error), error, "cannot read /: Is a directory");
    fclose(stream);
}

/* Free for 10 s, up to 60 % within 20 s, a step down, free again; a loop starts at 10 s. */
TEST(load_of_a_trace_is_returned_for_a_time) {
    struct ss_trace_record items[] = {{.time = 0, .free = true}, {.time = 10, .load = 0.2},
        {.time = 30, .load = 0.6}, {.time = 30, .load = 0.4},
        {.time = 40, .load = 0.4, .free = true}, {.time = 50, .load = 0.8}};
    const struct ss_trace_records records = {.items = items, .count = 6};
    static const struct {
        ss_time time;
        double once, looped;
    } cases[] = {
        {0, NAN, NAN},
        {9, NAN, NAN},
        {10, 0.2, 0.2},
        {20, 0.4, 0.4},
        {30, 0.4, 0.4},
        {45, NAN, NAN},
        {50, 0.8, 0.2},
        {60, 0.8, 0.4},
        {85, 0.8, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double loads[] = {ss_trace_load_at(&records, cases[i].time, false),
            ss_trace_load_at(&records, cases[i].time, true)};
        double expected[] = {cases[i].once, cases[i].looped};
        for (int loops = 0; loops < 2; loops++) {
            if (isnan(expected[loops]))
                assert_true(isnan(loads[loops]));
            else
                assert_near(loads[loops], expected[loops], 1e-12);
        }
    }
    assert_true(isnan(ss_trace_load_at(&(struct ss_trace_records){0}, 0, true)));
}

UNIT_RUN
