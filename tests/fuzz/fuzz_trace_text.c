/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "trace_text.h"
#include "units.h"

static void check_records(const struct ss_trace_records *records) {
    FUZZ_CHECK(records->count > 0 && records->count <= records->capacity);
    for (size_t i = 0; i < records->count; i++) {
        const struct ss_trace_record *record = &records->items[i];
        const struct ss_trace_record *before = i > 0 ? record - 1 : NULL;
        FUZZ_CHECK(record->load >= 0 && record->load <= 1);
        FUZZ_CHECK(record->time != SS_TIME_NEVER);
        FUZZ_CHECK(!before || record->time >= before->time);
        FUZZ_CHECK(!record->free || record->load == (before ? before->load : 0));
    }
}

/* Written out in the plainest form, a trace is read back as it was. */
static void check_written(const struct ss_trace_records *records) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    FUZZ_CHECK(stream);
    for (size_t i = 0; i < records->count; i++) {
        char time[32];
        ss_units_print_time(time, sizeof time, records->items[i].time);
        if (records->items[i].free)
            fprintf(stream, "%s free\n", time);
        else
            fprintf(stream, "%s %.25f\n", time, records->items[i].load);
    }
    fclose(stream);
    stream = fmemopen(text, size, "r");
    FUZZ_CHECK(stream);
    struct ss_trace_records again;
    FUZZ_CHECK(ss_trace_text_read(stream, "again", &again, NULL) == 0);
    FUZZ_CHECK(again.count == records->count);
    for (size_t i = 0; i < again.count; i++) {
        FUZZ_CHECK(again.items[i].time == records->items[i].time);
        FUZZ_CHECK(again.items[i].free == records->items[i].free);
    }
    ss_trace_records_free(&again);
    fclose(stream);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FILE *stream = size > 0 ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "r");
    FUZZ_CHECK(stream);
    struct ss_trace_records records;
    struct ss_error error = {0};
    if (ss_trace_text_read(stream, "trace", &records, &error) == 0) {
        check_records(&records);
        check_written(&records);
    } else {
        FUZZ_CHECK(error.status == 2 && !strpbrk(error.message, "\n\r"));
        FUZZ_CHECK(!records.items);
    }
    ss_trace_records_free(&records);
    fclose(stream);
    return 0;
}
