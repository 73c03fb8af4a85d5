/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "fuzz_records.h"
#include "trace/compiled.h"

/* Corrects the checksum of the input, because a fuzzer would hardly find a valid one. */
static size_t seal(const uint8_t *data, size_t size, uint8_t *sealed) {
    struct ss_trace_packed packed;
    struct ss_trace_header header;
    size_t count = size / sizeof packed;
    if (count < 3)
        return 0;
    memcpy(&header, data, sizeof header);
    FILE *stream = fmemopen(sealed, size + 64, "w");
    FUZZ_CHECK(stream);
    struct ss_trace_writer writer;
    ss_trace_writer_open(&writer, stream, count - 2, header.length);
    for (size_t i = 2; i < count; i++) {
        memcpy(&packed, data + i * sizeof packed, sizeof packed);
        ss_trace_writer_add(&writer, &packed);
    }
    ss_trace_writer_close(&writer);
    fclose(stream);
    return (count + 1) * sizeof packed - 8;
}

static void read_bytes(const uint8_t *bytes, size_t size) {
    struct ss_trace_records records = {0};
    struct ss_trace_collector collector = ss_trace_collect(&records);
    struct ss_error error = {0};
    FILE *stream = fuzz_stream(bytes, size);
    if (ss_trace_compiled_read(stream, "trace", &collector.sink, &error) == 0)
        fuzz_records(&records);
    else
        FUZZ_CHECK(error.status == SS_ERROR_FAILED && !strpbrk(error.message, "\n\r"));
    ss_trace_records_free(&records);
    fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_bytes(data, size);
    uint8_t *sealed = calloc(1, size + 64);
    FUZZ_CHECK(sealed);
    size_t length = seal(data, size, sealed);
    if (length > 0)
        read_bytes(sealed, length);
    free(sealed);
    return 0;
}
