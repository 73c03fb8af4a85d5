/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "trace/compiled.h"
#include "trace/file.h"
#include "trace/text.h"

static const struct ss_trace_record examples[] = {
    {0, 0, true},
    {20 * SS_SECOND, 0.1, false},
    {40 * SS_SECOND, 1, false},
    {40 * SS_SECOND, 1.0 / 3, false},
    {60 * SS_SECOND + 1, 1.0 / 3, true},
    {80 * SS_SECOND, 0, false},
};

#define EXAMPLES (sizeof examples / sizeof *examples)
#define SIZE     (sizeof(struct ss_trace_header) + EXAMPLES * sizeof(struct ss_trace_packed) + 8)

/* Compiles `count` examples and returns the number of bytes. */
static size_t compile(unsigned char bytes[SIZE + 1], size_t first, size_t count) {
    FILE *stream = fmemopen(bytes, SIZE + 1, "w");
    struct ss_trace_writer writer;
    ss_trace_writer_open(&writer, stream, count, examples[first + count - 1].time);
    for (size_t i = first; i < first + count; i++) {
        struct ss_trace_packed packed = ss_trace_pack(&examples[i]);
        ss_trace_writer_add(&writer, &packed);
    }
    ss_trace_writer_close(&writer);
    long size = ftell(stream);
    assert_int_equal(fclose(stream), 0);
    return (size_t)size;
}

static int read_bytes(const unsigned char *bytes, size_t size, struct ss_trace_records *records,
    struct ss_error *error) {
    FILE *stream = size > 0 ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "r");
    assert_non_null(stream);
    *records = (struct ss_trace_records){0};
    *error = (struct ss_error){0};
    struct ss_trace_collector collector = ss_trace_collect(records);
    int result = ss_trace_compiled_read(stream, "saw.trace", &collector.sink, error);
    fclose(stream);
    return result;
}

static void assert_refused(const unsigned char *bytes, size_t size, const char *part) {
    struct ss_trace_records records;
    struct ss_error error;
    int result = read_bytes(bytes, size, &records, &error);
    ss_trace_records_free(&records);
    assert_int_equal(result, -1);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    if (!strstr(error.message, part) || !strstr(error.message, "saw.trace"))
        fail_msg("message without '%s': %s", part, error.message);
}

TEST(compiled_traces_are_read_back) {
    unsigned char bytes[SIZE + 1];
    for (size_t first = 0; first < EXAMPLES; first++) {
        size_t size = compile(bytes, first, EXAMPLES - first);
        struct ss_trace_records records;
        struct ss_error error;
        assert_int_equal(read_bytes(bytes, size, &records, &error), 0);
        assert_int_equal(records.count, EXAMPLES - first);
        for (size_t i = 0; i < records.count; i++) {
            assert_int_equal(records.items[i].time, examples[first + i].time);
            assert_that(records.items[i].load, ==, examples[first + i].load);
            assert_int_equal(records.items[i].free, examples[first + i].free);
        }
        ss_trace_records_free(&records);
    }
}

/* Other programs rely on the layout in the manual page. */
TEST(compiled_layout_is_as_documented) {
    unsigned char bytes[SIZE + 1];
    uint64_t word;
    double load;
    uint32_t half;
    assert_int_equal(compile(bytes, 0, EXAMPLES), SIZE);
    assert_memory_equal(bytes, "\x93SSTRACE", 8);
    memcpy(&half, bytes + 8, 4);
    assert_int_equal(half, 0x01020304);
    memcpy(&half, bytes + 12, 4);
    assert_int_equal(half, 1);
    memcpy(&word, bytes + 16, 8);
    assert_int_equal(word, EXAMPLES);
    memcpy(&word, bytes + 24, 8);
    assert_int_equal(word, 80 * SS_SECOND);
    memcpy(&load, bytes + 32 + 8, 8);
    assert_that(load, ==, 0);
    assert_true(signbit(load));
    memcpy(&word, bytes + 32 + 16, 8);
    assert_int_equal(word, 20 * SS_SECOND);
    memcpy(&load, bytes + 32 + 4 * 16 + 8, 8);
    assert_that(load, ==, -1.0 / 3);
}

TEST(truncated_compiled_trace_is_refused) {
    unsigned char bytes[SIZE + 1];
    compile(bytes, 0, EXAMPLES);
    for (size_t size = 0; size < SIZE; size++)
        assert_refused(bytes, size, "truncated");
    bytes[SIZE] = 0;
    assert_refused(bytes, SIZE + 1, "trailing data");
}

TEST(every_flipped_bit_of_a_compiled_trace_is_detected) {
    unsigned char bytes[SIZE + 1];
    compile(bytes, 0, EXAMPLES);
    for (size_t bit = 0; bit < SIZE * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_refused(bytes, SIZE, "compiled");
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void negate_load(unsigned char *bytes, size_t record) {
    struct ss_trace_packed packed;
    unsigned char *at = bytes + sizeof(struct ss_trace_header) + record * sizeof packed;
    memcpy(&packed, at, sizeof packed);
    packed.load = -packed.load;
    memcpy(at, &packed, sizeof packed);
}

/* Words that a sum or a product alone would not distinguish from the original. */
TEST(changes_do_not_cancel_out_in_the_checksum) {
    unsigned char bytes[SIZE + 1];
    compile(bytes, 1, 3);
    negate_load(bytes, 0);
    negate_load(bytes, 1);
    assert_refused(bytes, 32 + 3 * 16 + 8, "checksum");
    compile(bytes, 1, 3);
    unsigned char kept[8];
    memcpy(kept, bytes + 32 + 24, 8);
    memcpy(bytes + 32 + 24, bytes + 32 + 40, 8);
    memcpy(bytes + 32 + 40, kept, 8);
    assert_refused(bytes, 32 + 3 * 16 + 8, "checksum");
}

TEST(foreign_byte_order_or_version_of_a_trace_is_reported) {
    unsigned char bytes[SIZE + 1];
    compile(bytes, 0, EXAMPLES);
    uint32_t order = __builtin_bswap32(SS_TRACE_ORDER);
    memcpy(bytes + 8, &order, 4);
    assert_refused(bytes, SIZE, "other byte order");
    compile(bytes, 0, EXAMPLES);
    bytes[offsetof(struct ss_trace_header, version)] = bytes[15] = 2;
    assert_refused(bytes, SIZE, "version");
}

/* Appends a correct checksum to an invalid trace. */
static void seal(unsigned char *bytes, const struct ss_trace_packed *packed, size_t count) {
    FILE *stream = fmemopen(bytes, SIZE + 1, "w");
    struct ss_trace_writer writer;
    ss_trace_writer_open(&writer, stream, count, packed[count - 1].time);
    for (size_t i = 0; i < count; i++)
        ss_trace_writer_add(&writer, &packed[i]);
    ss_trace_writer_close(&writer);
    fclose(stream);
}

TEST(invalid_compiled_records_are_refused) {
    static const struct ss_trace_packed bad[][2] = {
        {{5, 0.5}, {4, 0.5}},
        {{5, 0.5}, {6, 1.1}},
        {{5, NAN}, {6, 0.5}},
        {{5, INFINITY}, {6, 0.5}},
        {{5, 1e-300}, {6, 0.5}},
        {{5, 0.5}, {UINT64_MAX, 0.5}},
    };
    unsigned char bytes[SIZE + 1];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        seal(bytes, bad[i], 2);
        assert_refused(bytes, 32 + 2 * 16 + 8, "compiled");
    }
    memset(bytes, 0, sizeof bytes);
    compile(bytes, 0, 1);
    memset(bytes + offsetof(struct ss_trace_header, count), 0, 8);
    assert_refused(bytes, 32 + 8, "no record");
}

/* A load that is written as text must be read back to the last bit. */
TEST(loads_are_unchanged_by_conversion_to_text) {
    for (int i = 0; i < 20000; i++) {
        double load = fabs(sin(i)) * pow(10, -(i % 9));
        if (load < SS_TRACE_LOAD_MIN)
            continue;
        struct ss_trace_record record = {.time = (ss_time)i * 1234567, .load = load};
        ss_trace_text_write(text_begin(), &record);
        const char *text = text_end();
        struct ss_trace_records records = {0};
        struct ss_trace_collector collector = ss_trace_collect(&records);
        FILE *stream = text_read(text);
        assert_int_equal(ss_trace_read(stream, "text", &collector.sink, NULL), 0);
        fclose(stream);
        assert_int_equal(records.items[0].time, record.time);
        if (records.items[0].load != load)
            fail_msg("%.17g became %s", load, text);
        ss_trace_records_free(&records);
    }
}

TEST(loads_are_written_with_few_digits) {
    static const char *const loads[] = {"0", "1", "0.1", "0.07", "0.95", "0.000000001"};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct ss_trace_record record = {.load = strtod(loads[i], NULL)};
        ss_trace_text_write(text_begin(), &record);
        const char *text = text_end();
        assert_memory_equal(text, "0 ", 2);
        assert_memory_equal(text + 2, loads[i], strlen(loads[i]));
        assert_string_equal(text + 2 + strlen(loads[i]), "\n");
    }
}

UNIT_RUN
