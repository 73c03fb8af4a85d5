/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_COMPILED_H
#define SHOWSTOPPER_TRACE_COMPILED_H

#include <stdio.h>

#include "trace/record.h"

/*
 * The compiled form, as showstopper-trace(5) describes it: a header, records of equal size and a
 * checksum of both, in the byte order of the machine that wrote it.
 */
#define SS_TRACE_MAGIC       "\223SSTRACE"
#define SS_TRACE_MAGIC_FIRST 0x93 /* no text in UTF-8 begins with this byte */
#define SS_TRACE_ORDER       UINT32_C(0x01020304)
#define SS_TRACE_VERSION     UINT32_C(1)

struct ss_trace_header {
    char magic[8];
    uint32_t order;
    uint32_t version;
    uint64_t count;  /* number of records, at least 1 */
    uint64_t length; /* the last record's time, ns */
};

struct ss_trace_packed {
    uint64_t time; /* ns */
    double load;   /* a negative sign, even of a zero, begins a `free` section */
};

_Static_assert(sizeof(struct ss_trace_header) == 32, "part of the file format");
_Static_assert(sizeof(struct ss_trace_packed) == 16, "part of the file format");

struct ss_trace_packed ss_trace_pack(const struct ss_trace_record *record);
struct ss_trace_record ss_trace_unpack(const struct ss_trace_packed *packed);

/*
 * Writes a compiled trace: call `open`, then `add` `count` times, then `close`. The caller checks
 * the stream for write errors.
 */
struct ss_trace_writer {
    FILE *stream;
    uint64_t checksum;
};

void ss_trace_writer_open(
    struct ss_trace_writer *writer, FILE *stream, uint64_t count, ss_time length);
void ss_trace_writer_add(struct ss_trace_writer *writer, const struct ss_trace_packed *packed);
void ss_trace_writer_close(struct ss_trace_writer *writer);

/*
 * Reads a whole trace, up to the end of the stream. The records that the sink received are valid
 * only if this returns 0: the checksum at the end may reveal damage.
 */
int ss_trace_compiled_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error);

#endif
