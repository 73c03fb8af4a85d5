/* SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes the importer that FORMAT names. The last byte of the input chooses its options. */

#include "fuzz.h"
#include "fuzz_records.h"
#include "import.h"

/* An importer would start a child process to decompress the input. */
static bool is_packed(const uint8_t *data, size_t size) {
    return size > 1 && (data[0] == 0x1f || data[0] == 0xfd || data[0] == 0x28);
}

static struct sstrace_import_options choose(uint8_t byte) {
    struct sstrace_import_options options = {
        .gaps = (enum sstrace_gaps)(byte % 3),
        .every = byte & 4 ? 10 * SS_SECOND : 0,
        .unit = byte & 8 ? SSTRACE_UNIT_PERCENT : SSTRACE_UNIT_DEFAULT,
        .select = byte & 16 ? "0" : NULL,
    };
    if ((byte & 32) && options.unit == SSTRACE_UNIT_DEFAULT) {
        options.unit = SSTRACE_UNIT_CORES;
        options.cpus = 2;
    }
    if (byte & 64) {
        options.time_column = "1";
        options.load_column = "2";
    }
    if (byte & 128)
        options.series_column = "3";
    return options;
}

static int import(struct text_input *input, const struct sstrace_import_options *options,
    struct ss_trace_sink *sink) {
    struct sstrace_samples samples;
    sstrace_samples_open(&samples, options, sink);
    int result = FORMAT.import(&FORMAT, input, &samples);
    if (result == 0)
        result = sstrace_samples_end(&samples, input);
    sstrace_samples_close(&samples);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct text_input input;
    struct ss_trace_records records = {0};
    struct ss_trace_collector collector = ss_trace_collect(&records);
    struct ss_error error = {0};
    if (is_packed(data, size))
        return 0;
    struct sstrace_import_options options = choose(size > 0 ? data[size - 1] : 0);
    char path[32];
    int file = fuzz_file(data, size, path);
    int result = text_input_open_descriptor(&input, file, "input", &error);
    if (result == 0)
        result = import(&input, &options, &collector.sink);
    if (FORMAT.detect && size > 0)
        FORMAT.detect(input.head);
    FUZZ_CHECK(text_input_close(&input) == 0);
    if (result == 0)
        fuzz_records(&records);
    else
        FUZZ_CHECK(error.status == SS_ERROR_FAILED && !strpbrk(error.message, "\n\r"));
    ss_trace_records_free(&records);
    return 0;
}
