/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_LINES_H
#define SHOWSTOPPER_BASE_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#define SS_LINES_SIZE 65536

/*
 * A file that always ends with a whole line. Lines are buffered and written together. If the disk
 * is full after a part of them, the whole lines in that part are kept and the others count as lost.
 * Later lines are still attempted.
 */
struct ss_lines {
    int file;               /* -1: not open; lines are dropped */
    int err;                /* errno of the first failure, or 0 */
    uint64_t waiting, lost; /* number of lines in the buffer, number of lost lines */
    off_t size;             /* offset of the end of the last line in the file */
    /*
     * For a non-blocking pipe: a descriptor that ends the wait for room when it becomes readable.
     * -1 if writes block.
     */
    int interrupt;
    bool given_up; /* `interrupt` became readable while the pipe was full */
    size_t used;
    char bytes[SS_LINES_SIZE];
};

/* Creates the file `name` in `folder`; it must not exist. Returns 0 or a negative errno. */
SS_NONNULL() int ss_lines_open(struct ss_lines *lines, int folder, const char *name);

/* Takes ownership of an empty file that is open for writing. */
SS_NONNULL() void ss_lines_adopt(struct ss_lines *lines, int file);

/*
 * Returns where to write the next line, with room for `size` bytes, at most SS_LINES_SIZE. After
 * writing, pass the end of the line, after its only line feed, to ss_lines_end().
 */
SS_NONNULL() char *ss_lines_begin(struct ss_lines *lines, size_t size);
SS_NONNULL() void ss_lines_end(struct ss_lines *lines, const char *end);

SS_NONNULL() void ss_lines_flush(struct ss_lines *lines);
void ss_lines_close(struct ss_lines *lines);

#endif
