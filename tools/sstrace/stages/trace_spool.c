/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

#define BLOCK sizeof(struct sstrace_spool_block)

_Static_assert(BLOCK == 1024, "blocks do not straddle pages");

static const char *folder(void) {
    const char *chosen = getenv("TMPDIR");
    return chosen && *chosen ? chosen : "/tmp";
}

static int fail(struct ss_error *error) {
    return ss_error_fail(error,
        "cannot use a temporary file in %s: %s: set TMPDIR to a folder with free space",
        ss_words_show(folder()).text, strerror(errno));
}

/* Opens an unnamed file, even if the file system lacks O_TMPFILE. */
static int open_file(void) {
    int descriptor = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return descriptor;

    SS_OWNED(free) char *path = NULL;
    if (asprintf(&path, "%s/sstrace.XXXXXX", folder()) < 0) {
        path = NULL;
        return -1;
    }

    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

void sstrace_spool_file_close(struct sstrace_spool_file *file) {
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

/* Writes the full block, which contains the number of the next one, and begins the next one. */
static int flush(struct sstrace_spooled_trace *trace, struct ss_error *error) {
    struct sstrace_spool_file *file = trace->file;
    if (file->descriptor < 0 && (file->descriptor = open_file()) < 0)
        return fail(error);

    trace->block.next = file->blocks++;
    ssize_t written = pwrite(file->descriptor, &trace->block, BLOCK, (off_t)(trace->last * BLOCK));
    if (written != (ssize_t)BLOCK) {
        errno = written < 0 ? errno : ENOSPC;
        return fail(error);
    }

    trace->last = trace->block.next;
    return 0;
}

static int take(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_spooled_trace *trace = (struct sstrace_spooled_trace *)sink;
    size_t at = trace->count % SSTRACE_SPOOL_BLOCK_RECORDS;
    if (at == 0 && trace->count > 0 && flush(trace, error) != 0)
        return -1;

    trace->block.records[at] = ss_trace_pack(record);
    if (!record->free && trace->first_load == SS_TIME_NEVER)
        trace->first_load = record->time;
    trace->length = record->time;
    trace->count++;
    return 0;
}

static int end(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink, (void)error;
    return 0;
}

void sstrace_spooled_trace_open(
    struct sstrace_spooled_trace *trace, struct sstrace_spool_file *file) {
    *trace = (struct sstrace_spooled_trace){
        .sink = {.take = take, .end = end}, .file = file, .first_load = SS_TIME_NEVER};
    trace->first = trace->last = file->blocks++;
}

/* Returns the block with this number. Reads it into `buffer` unless it is the last one. */
static const struct sstrace_spool_block *get_block(const struct sstrace_spooled_trace *trace,
    uint64_t number, struct sstrace_spool_block *buffer, struct ss_error *error) {
    if (number == trace->last)
        return &trace->block;

    ssize_t got = pread(trace->file->descriptor, buffer, BLOCK, (off_t)(number * BLOCK));
    if (got == (ssize_t)BLOCK)
        return buffer;

    errno = got < 0 ? errno : EIO;
    fail(error);
    return NULL;
}

int sstrace_spooled_trace_play(
    const struct sstrace_spooled_trace *trace, struct ss_trace_sink *to, struct ss_error *error) {
    struct sstrace_spool_block buffer;
    const struct sstrace_spool_block *block = NULL;
    uint64_t number = trace->first;

    for (uint64_t i = 0; i < trace->count; i++) {
        size_t at = i % SSTRACE_SPOOL_BLOCK_RECORDS;
        if (at == 0) {
            number = block ? block->next : number;
            block = get_block(trace, number, &buffer, error);
        }
        if (!block)
            return -1;
        struct ss_trace_record record = ss_trace_unpack(&block->records[at]);
        if (to->take(to, &record, error) != 0)
            return -1;
    }

    return 0;
}

void sstrace_spool_open(struct sstrace_spool *spool) {
    spool->file = (struct sstrace_spool_file)SSTRACE_SPOOL_FILE_NEW;
    sstrace_spooled_trace_open(&spool->trace, &spool->file);
}
