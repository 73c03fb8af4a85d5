/* SPDX-License-Identifier: Apache-2.0 */
#include "strands.h"

#include <errno.h>
#include <unistd.h>

#include "spool.h"

#define BLOCK sizeof(struct sstrace_strand_block)

_Static_assert(BLOCK == 1024, "a block fits into pages");

int sstrace_strands_open(struct sstrace_strands *strands, struct ss_error *error) {
    *strands = (struct sstrace_strands){.file = sstrace_spool_file()};
    return strands->file >= 0 ? 0 : sstrace_spool_fail(error);
}

void sstrace_strands_close(struct sstrace_strands *strands) {
    if (strands->file >= 0)
        close(strands->file);
    strands->file = -1;
}

/* Writes the full block and begins the next one, whose number the full block names. */
static int flush(struct sstrace_strand *strand, struct ss_error *error) {
    struct sstrace_strands *strands = strand->strands;
    strand->block.next = strands->blocks++;
    ssize_t written = pwrite(strands->file, &strand->block, BLOCK, (off_t)(strand->last * BLOCK));
    if (written != (ssize_t)BLOCK) {
        errno = written < 0 ? errno : ENOSPC;
        return sstrace_spool_fail(error);
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
    strand->count++;
    return 0;
}

static int end(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink, (void)error;
    return 0;
}

void sstrace_strand_open(struct sstrace_strand *strand, struct sstrace_strands *strands) {
    *strand = (struct sstrace_strand){.sink = {.take = take, .end = end}, .strands = strands};
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
    sstrace_spool_fail(error);
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
