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

#define SSTRACE_SPOOL_BLOCK_RECORDS 63 /* with the number of the next block: 1 KiB */

struct sstrace_spool_file {
    int descriptor;  /* unnamed: gone when it is closed; -1 before the first full block */
    uint64_t blocks; /* number of blocks that are used or reserved */
};

/* A spool file before its first full block. */
#define SSTRACE_SPOOL_FILE_NEW                                                                     \
    { .descriptor = -1 }

struct sstrace_spool_block {
    struct ss_trace_packed records[SSTRACE_SPOOL_BLOCK_RECORDS];
    uint64_t next; /* number of the block that follows */
    uint64_t padding;
};

/* One trace. It must stay where it is, and its file must outlive it. */
struct sstrace_spooled_trace {
    struct ss_trace_sink sink;
    struct sstrace_spool_file *file;
    uint64_t first, last; /* numbers of blocks; the last one is in memory */
    uint64_t count;       /* number of records */
    ss_time first_load;   /* time of the first record that is not `free`; SS_TIME_NEVER: none */
    ss_time length;       /* time of the last record */
    struct sstrace_spool_block block;
};

SS_NONNULL() void sstrace_spool_file_close(struct sstrace_spool_file *file);

/* Begins a trace, which receives its records through its `sink`. */
SS_NONNULL()
void sstrace_spooled_trace_open(
    struct sstrace_spooled_trace *trace, struct sstrace_spool_file *file);

/* Gives all records to another sink, without ending that sink. May be called again. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_spooled_trace_play(
    const struct sstrace_spooled_trace *trace, struct ss_trace_sink *to, struct ss_error *error);

/* A trace that has the file for itself. Close `file`. */
struct sstrace_spool {
    struct sstrace_spool_file file;
    struct sstrace_spooled_trace trace;
};

SS_NONNULL() void sstrace_spool_open(struct sstrace_spool *spool);

#endif
