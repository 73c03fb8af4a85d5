/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TRACE_SPOOL_H
#define SSTRACE_TRACE_SPOOL_H

/*
 * Stores traces in a temporary file until they are known to be complete. Many traces can grow in
 * one file at the same time: each is a chain of blocks, of which only the last is in memory.
 */

#include <showstopper/contract.h>

#include "trace/compiled.h"
#include "trace/record.h"

#define SSTRACE_SPOOL_BLOCK_RECORDS 63 /* makes a block 1 KiB long */

struct sstrace_spool_file {
    int descriptor;  /* unnamed, so closing it deletes it; -1 until a block is full */
    uint64_t blocks; /* number of blocks that are used or reserved */
};

/* Initializer. The file is created when the first block is full. */
#define SSTRACE_SPOOL_FILE_NEW                                                                     \
    { .descriptor = -1 }

struct sstrace_spool_block {
    struct ss_trace_packed records[SSTRACE_SPOOL_BLOCK_RECORDS];
    uint64_t next; /* number of the next block of this trace */
    uint64_t padding;
};

/* One trace. It must not be moved, and must not outlive its file. */
struct sstrace_spooled_trace {
    struct ss_trace_sink sink;
    struct sstrace_spool_file *file;
    uint64_t first, last; /* numbers of blocks; the last one is in memory */
    uint64_t count;       /* number of records */
    ss_time first_load;   /* time of the first record that is not `free`, or SS_TIME_NEVER */
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

/* A trace that is alone in its file. The caller closes `file`. */
struct sstrace_spool {
    struct sstrace_spool_file file;
    struct sstrace_spooled_trace trace;
};

SS_NONNULL() void sstrace_spool_open(struct sstrace_spool *spool);

#endif
