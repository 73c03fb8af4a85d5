/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "fuzz_records.h"
#include "trace/text.h"

static int read_text(
    const void *text, size_t size, struct ss_trace_records *records, struct ss_error *error) {
    FILE *stream = fuzz_stream(text, size);
    *records = (struct ss_trace_records){0};
    struct ss_trace_collector collector = ss_trace_collect(records);
    int result = ss_trace_text_read(stream, "trace", &collector.sink, error);
    fclose(stream);
    return result;
}

/* A trace that is written must be read back unchanged. */
static void check_written(const struct ss_trace_records *records) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    FUZZ_CHECK(stream);
    for (size_t i = 0; i < records->count; i++) {
        const struct ss_trace_record *record = &records->items[i];
        FUZZ_CHECK(!record->free || record->load == (i > 0 ? record[-1].load : 0));
        ss_trace_text_write(stream, record);
    }
    fclose(stream);
    struct ss_trace_records again;
    FUZZ_CHECK(read_text(text, size, &again, NULL) == 0);
    FUZZ_CHECK(again.count == records->count);
    for (size_t i = 0; i < again.count; i++) {
        FUZZ_CHECK(again.items[i].time == records->items[i].time);
        FUZZ_CHECK(again.items[i].load == records->items[i].load);
        FUZZ_CHECK(again.items[i].free == records->items[i].free);
    }
    ss_trace_records_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ss_trace_records records;
    struct ss_error error = {0};
    if (read_text(data, size, &records, &error) == 0) {
        fuzz_records(&records);
        check_written(&records);
    } else {
        FUZZ_CHECK(error.status == SS_ERROR_FAILED && !strpbrk(error.message, "\n\r"));
    }
    ss_trace_records_free(&records);
    return 0;
}
