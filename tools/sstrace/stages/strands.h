/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STRANDS_H
#define SSTRACE_STRANDS_H

/*
 * Traces in a temporary file, until they are known to be complete. Many traces grow in one file, in
 * any order: each is a chain of blocks, and keeps only its last block in memory.
 */

#include <showstopper/contract.h>

#include "trace/compiled.h"
#include "trace/record.h"

#define SSTRACE_STRAND_RECORDS 63 /* with the number of the next block: 1 KiB */

struct sstrace_strands {
    int file;        /* unnamed: gone when it is closed; -1 before the first full block */
    uint64_t blocks; /* number of blocks that are used or reserved */
};

/* Initializes strands without a file. */
#define SSTRACE_STRANDS_NEW                                                                        \
    { .file = -1 }

struct sstrace_strand_block {
    struct ss_trace_packed records[SSTRACE_STRAND_RECORDS];
    uint64_t next; /* number of the block that follows */
    uint64_t padding;
};

/* One trace. It must stay where it is, and the strands must outlive it. */
struct sstrace_strand {
    struct ss_trace_sink sink;
    struct sstrace_strands *strands;
    uint64_t first, last; /* numbers of blocks; the last one is in memory */
    uint64_t count;       /* number of records */
    ss_time first_load;   /* time of the first record that is not `free`; SS_TIME_NEVER: none */
    ss_time length;       /* time of the last record */
    struct sstrace_strand_block block;
};

SS_NONNULL() void sstrace_strands_close(struct sstrace_strands *strands);

/* Begins a trace, which receives its records through its `sink`. */
SS_NONNULL()
void sstrace_strand_open(struct sstrace_strand *strand, struct sstrace_strands *strands);

/* Gives all records to another sink, without ending that sink. May be called again. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_strand_play(
    const struct sstrace_strand *strand, struct ss_trace_sink *to, struct ss_error *error);

/* A trace that has the file for itself. Close its strands. */
struct sstrace_spool {
    struct sstrace_strands strands;
    struct sstrace_strand strand;
};

SS_NONNULL() void sstrace_spool_open(struct sstrace_spool *spool);

#endif
