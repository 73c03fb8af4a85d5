/* SPDX-License-Identifier: Apache-2.0 */
#include "strands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

#define BLOCK sizeof(struct sstrace_strand_block)

_Static_assert(BLOCK == 1024, "a block fits into pages");

static const char *folder(void) {
    const char *chosen = getenv("TMPDIR");
    return chosen && *chosen ? chosen : "/tmp";
}

static int fail(struct ss_error *error) {
    return ss_error_fail(error,
        "cannot use a temporary file in %s: %s: set TMPDIR to a folder with room",
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

void sstrace_strands_close(struct sstrace_strands *strands) {
    if (strands->file >= 0)
        close(strands->file);
    strands->file = -1;
}

/* Writes the full block and begins the next one, whose number the full block names. */
static int flush(struct sstrace_strand *strand, struct ss_error *error) {
    struct sstrace_strands *strands = strand->strands;
    if (strands->file < 0 && (strands->file = open_file()) < 0)
        return fail(error);
    strand->block.next = strands->blocks++;
    ssize_t written = pwrite(strands->file, &strand->block, BLOCK, (off_t)(strand->last * BLOCK));
    if (written != (ssize_t)BLOCK) {
        errno = written < 0 ? errno : ENOSPC;
        return fail(error);
    }
    strand->last = strand->block.next;
    return 0;
}

static int take(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_strand *strand = (struct sstrace_strand *)sink;
    size_t at = strand->count % SSTRACE_STRAND_RECORDS;
    if (at == 0 && strand->count > 0 && flush(strand, error) != 0)
        return -1;
    strand->block.records[at] = ss_trace_pack(record);
    if (!record->free && strand->first_load == SS_TIME_NEVER)
        strand->first_load = record->time;
    strand->length = record->time;
    strand->count++;
    return 0;
}

static int end(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink, (void)error;
    return 0;
}

void sstrace_strand_open(struct sstrace_strand *strand, struct sstrace_strands *strands) {
    *strand = (struct sstrace_strand){
        .sink = {.take = take, .end = end}, .strands = strands, .first_load = SS_TIME_NEVER};
    strand->first = strand->last = strands->blocks++;
}

/* Returns the block with this number: the last one is in memory, the others are read. */
static const struct sstrace_strand_block *get_block(const struct sstrace_strand *strand,
    uint64_t number, struct sstrace_strand_block *buffer, struct ss_error *error) {
    if (number == strand->last)
        return &strand->block;
    ssize_t got = pread(strand->strands->file, buffer, BLOCK, (off_t)(number * BLOCK));
    if (got == (ssize_t)BLOCK)
        return buffer;
    errno = got < 0 ? errno : EIO;
    fail(error);
    return NULL;
}

int sstrace_strand_play(
    const struct sstrace_strand *strand, struct ss_trace_sink *to, struct ss_error *error) {
    struct sstrace_strand_block buffer;
    const struct sstrace_strand_block *block = NULL;
    uint64_t number = strand->first;
    for (uint64_t i = 0; i < strand->count; i++) {
        size_t at = i % SSTRACE_STRAND_RECORDS;
        if (at == 0) {
            number = block ? block->next : number;
            block = get_block(strand, number, &buffer, error);
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
    spool->strands = (struct sstrace_strands)SSTRACE_STRANDS_NEW;
    sstrace_strand_open(&spool->strand, &spool->strands);
}
