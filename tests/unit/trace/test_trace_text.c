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

static void assert_read(const char *text, const struct ss_trace_record *expected, size_t count) {
    struct ss_trace_records records = read_well(text);
    assert_int_equal(records.count, count);
    for (size_t i = 0; i < count; i++)
        assert_record(&records, i, expected[i].time, expected[i].load, expected[i].free);
    ss_trace_records_free(&records);
    assert_null(records.items);
}

TEST(traces_are_read) {
    static const struct {
        const char *text;
        size_t count;
        struct ss_trace_record records[5];
    } cases[] = {
        {"0 1/10\n20s 6/10\n1M 9/10\n", 3,
            {{0, 0.1, false}, {20 * SS_SECOND, 0.6, false}, {60 * SS_SECOND, 0.9, false}}},
        /* A time with a plus is relative to the previous record. */
        {"+5s 10%\n+5s 20%\n20s 30%\n+0 40%\n+1M 50%\n", 5,
            {{5 * SS_SECOND, 0.1, false}, {10 * SS_SECOND, 0.2, false},
                {20 * SS_SECOND, 0.3, false}, {20 * SS_SECOND, 0.4, false},
                {80 * SS_SECOND, 0.5, false}}},
        /* A free section keeps the previous load. */
        {"0 free\n1s free\n2s 60%\n3s free\n4s free\n", 5,
            {{0, 0, true}, {SS_SECOND, 0, true}, {2 * SS_SECOND, 0.6, false},
                {3 * SS_SECOND, 0.6, true}, {4 * SS_SECOND, 0.6, true}}},
        /* Blanks, comments and a byte order mark are skipped. */
        {"\xef\xbb\xbf# what it is for\r\n\r\n \t 0\t  10%\t\r\n5s 20%# half\r\n\n6s 30%", 3,
            {{0, 0.1, false}, {5 * SS_SECOND, 0.2, false}, {6 * SS_SECOND, 0.3, false}}},
        {"\xef\xbb\xbf\x30 10%\n", 1, {{0, 0.1, false}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("case %zu\n", i);
        assert_read(cases[i].text, cases[i].records, cases[i].count);
    }
}

TEST(trace_errors_name_the_place_and_show_the_line) {
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"0 10%\n\n20 60%\n", "3:1: '20' has no unit: use 20s, 20ms or 20min, in \"20 60%\""},
        {"0 10%\n  20s  1.5 # x\n", "2:8: '1.5' is not a load: it must be between 0 and 1"},
        {"0 10%\n  20s  1.5 # x\n", ", in \"  20s  1.5 \""},
        {"0 10% 5s\n", "1:7: unexpected '5s'"},
        {"0 Free\n", "1:3: 'Free' is not a load: use a number from 0 to 1 "},
        {"0 Free\n", "or the word free, in \"0 Free\""},
        {"0 10%\n5s\n", "2:3: missing load: use TIME LOAD"},
        {"0 10%\r\n5s \r\n", "2:4: missing load"},
        {"0 10%\n+ 5s\n", "2:1: '' is not a time"},
        {"0 10%\n++5s 5%\n", "2:1: '+5s' is not a time"},
        {"0\v10%\n", "1:1: '0 10%' contains white space"},
        {"0 10%\n20s 60%\n19s 10%\n", "3:1: '19s' is before the previous record: use a time of"},
        {"213503d 10%\n+1d 60%\n", "2:1: the time '+1d' is too late"},
        {"0 10%\n+213504d 60%\n", "2:1: the time '213504d' is too long"},
        {"", "1:1: the trace has no record"},
        {"# nothing\n\n", "3:1: the trace has no record"},
        {"\xff\xfe", "1:1: this is UTF-16, but a trace is plain text or UTF-8: convert it"},
        {"0 10%\n\xef\xbb\xbf\n", "2:1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(cases[i].text, "saw.txt:");
        assert_refused(cases[i].text, cases[i].part);
    }
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

/* Free for 10 ns, up to 60 % within 20 ns, a step down, free again; a loop starts at 10 ns. */
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
