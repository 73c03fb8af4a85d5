/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/compiled.h"

#include <errno.h>
#include <math.h>

#include "base/words.h"

/* Number of records that are read at once. */
#define BATCH 4096

struct ss_trace_packed ss_trace_pack(const struct ss_trace_record *record) {
    return (struct ss_trace_packed){
        .time = record->time, .load = copysign(record->load, record->free ? -1 : 1)};
}

struct ss_trace_record ss_trace_unpack(const struct ss_trace_packed *packed) {
    return (struct ss_trace_record){
        .time = packed->time, .load = fabs(packed->load), .free = signbit(packed->load)};
}

/*
 * Mixes bytes into the checksum, word by word. Each step is invertible for a given word, so a
 * change of one word always changes the result. The shift carries upper bits down, which
 * multiplication never does.
 */
static uint64_t mix(uint64_t checksum, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        checksum = (checksum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        checksum ^= checksum >> 32;
    }
    return checksum;
}

static void write_bytes(struct ss_trace_writer *writer, const void *bytes, size_t size) {
    writer->checksum = mix(writer->checksum, bytes, size);
    fwrite_unlocked(bytes, size, 1, writer->stream);
}

void ss_trace_writer_open(
    struct ss_trace_writer *writer, FILE *stream, uint64_t count, ss_time length) {
    struct ss_trace_header header = {
        .order = SS_TRACE_ORDER, .version = SS_TRACE_VERSION, .count = count, .length = length};
    memcpy(header.magic, SS_TRACE_MAGIC, sizeof header.magic);
    *writer = (struct ss_trace_writer){.stream = stream};
    write_bytes(writer, &header, sizeof header);
}

void ss_trace_writer_add(struct ss_trace_writer *writer, const struct ss_trace_packed *packed) {
    write_bytes(writer, packed, sizeof *packed);
}

void ss_trace_writer_close(struct ss_trace_writer *writer) {
    uint64_t checksum = writer->checksum;
    fwrite(&checksum, sizeof checksum, 1, writer->stream);
}

struct reader {
    FILE *stream;
    struct ss_words_shown name;
    struct ss_trace_header header;
    struct ss_error *error;
    uint64_t checksum;
    ss_time last; /* time of the previous record */
};

static int refuse_trace(struct reader *reader, const char *why) {
    if (ferror(reader->stream))
        return ss_error_fail(
            reader->error, "cannot read %s: %s", reader->name.text, strerror(errno));
    return ss_error_fail(reader->error,
        "%s is not a valid compiled trace: %s: compile it again from its text", reader->name.text,
        why);
}

static int read_header(struct reader *reader) {
    struct ss_trace_header *header = &reader->header;
    if (fread(header, sizeof *header, 1, reader->stream) != 1)
        return refuse_trace(reader, "truncated header");
    if (memcmp(header->magic, SS_TRACE_MAGIC, sizeof header->magic) != 0)
        return ss_error_fail(reader->error, "%s is not a compiled trace", reader->name.text);

    if (header->order == __builtin_bswap32(SS_TRACE_ORDER))
        return ss_error_fail(reader->error,
            "%s was compiled on a machine with the other byte order: dump it there with sstrace "
            "--dump, and compile the text here",
            reader->name.text);
    if (header->order != SS_TRACE_ORDER)
        return refuse_trace(reader, "invalid byte order");

    if (header->version != SS_TRACE_VERSION)
        return ss_error_fail(reader->error,
            "%s is a compiled trace of version %u, and this program reads version %u: compile it "
            "again from its text",
            reader->name.text, header->version, SS_TRACE_VERSION);
    if (header->count == 0)
        return refuse_trace(reader, "no record");

    reader->checksum = mix(0, header, sizeof *header);
    return 0;
}

static int deliver(struct reader *reader, const struct ss_trace_packed *packed, size_t count,
    struct ss_trace_sink *sink) {
    for (size_t i = 0; i < count; i++) {
        struct ss_trace_record record = ss_trace_unpack(&packed[i]);
        bool is_load = record.load == 0 || (record.load >= SS_TRACE_LOAD_MIN && record.load <= 1);
        if (record.time < reader->last || record.time > reader->header.length || !is_load)
            return refuse_trace(reader, "invalid record");
        reader->last = record.time;
        if (sink->take(sink, &record, reader->error) != 0)
            return -1;
    }
    return 0;
}

static int read_records(struct reader *reader, struct ss_trace_sink *sink) {
    struct ss_trace_packed batch[BATCH];
    for (uint64_t left = reader->header.count; left > 0;) {
        size_t count = left < BATCH ? (size_t)left : BATCH;
        if (fread(batch, sizeof *batch, count, reader->stream) != count)
            return refuse_trace(reader, "truncated");
        reader->checksum = mix(reader->checksum, batch, count * sizeof *batch);
        if (deliver(reader, batch, count, sink) != 0)
            return -1;
        left -= count;
    }
    return 0;
}

static int read_end(struct reader *reader) {
    uint64_t checksum;
    if (fread(&checksum, sizeof checksum, 1, reader->stream) != 1)
        return refuse_trace(reader, "truncated");
    if (checksum != reader->checksum || reader->last != reader->header.length ||
        reader->last == SS_TIME_NEVER)
        return refuse_trace(reader, "checksum mismatch");
    if (getc(reader->stream) != EOF || ferror(reader->stream))
        return refuse_trace(reader, "trailing data after the end");
    return 0;
}

int ss_trace_compiled_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error) {
    struct reader reader = {.stream = stream, .name = ss_words_show(name), .error = error};
    if (read_header(&reader) != 0 || read_records(&reader, sink) != 0)
        return -1;
    return read_end(&reader);
}
