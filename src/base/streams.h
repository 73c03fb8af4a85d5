/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_STREAMS_H
#define SHOWSTOPPER_BASE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Opens /dev/null, read-only and close-on-exec, in place of standard streams that are closed. Call
 * this first; otherwise another file would get such a descriptor.
 */
void ss_streams_open_missing(void);

/*
 * Returns whether a write to `file` would not block. A terminal may have room for only a part of a
 * longer write, which then blocks.
 */
bool ss_streams_has_room(int file);

/*
 * Opens a terminal again, for writes that never block. O_NONBLOCK cannot be set on `file`: other
 * programs share its open file description and rely on blocking writes. Returns -1 if `file` is not
 * a terminal, or cannot be opened, as after su(1).
 */
int ss_streams_open_unblocked(int file);

/* Writes all bytes. Returns false and sets errno on failure. */
SS_MUST_USE bool ss_streams_write_all(int file, const void *bytes, size_t size);

/*
 * Copies from the current offset of `from` to that of `to`. Returns the number of bytes, or -1 with
 * errno set: EFBIG if there are more than `max`.
 */
SS_MUST_USE off_t ss_streams_copy(int from, int to, off_t max);

/* Closes both ends of a pipe. Ignores a negative descriptor. */
void ss_streams_close_pair(const int ends[2]);

/* Prefix of all messages about lost output. */
#define SS_STREAMS_LOST_PREFIX "standard output: "

/* Returns why standard output could not be written. `err` is an errno, or 0 if unknown. */
const char *ss_streams_explain(int err);

/* Fails if standard output is closed, for programs whose result comes much later. */
int ss_streams_check_output(struct ss_error *error);

/*
 * Flushes standard output. Fails with status 125 if any output was lost, now or earlier. Call this
 * last.
 */
int ss_streams_flush(struct ss_error *error);

#endif
