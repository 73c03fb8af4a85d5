/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STRANDS_H
#define SSTRACE_STRANDS_H

/*
 * Many traces in one temporary file, which grow in any order. Each trace is a chain of blocks, and
 * keeps only its last block in memory.
 */

#include <showstopper/contract.h>

#include "trace/compiled.h"
#include "trace/record.h"

#define SSTRACE_STRAND_RECORDS 63 /* with the number of the next block: 1 KiB */

struct sstrace_strands {
    int file;        /* an unnamed file */
    uint64_t blocks; /* number of blocks that are used or reserved */
};

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
    struct sstrace_strand_block block;
};

SS_MUST_USE SS_NONNULL(1) int sstrace_strands_open(
    struct sstrace_strands *strands, struct ss_error *error);

SS_NONNULL()
void sstrace_strands_close(struct sstrace_strands *strands);

/* Begins a trace, which receives its records through its `sink`. */
SS_NONNULL()
void sstrace_strand_open(struct sstrace_strand *strand, struct sstrace_strands *strands);

/* Gives all records to another sink, without ending that sink. May be called again. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_strand_play(
    const struct sstrace_strand *strand, struct ss_trace_sink *to, struct ss_error *error);

#endif
