/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_INPUT_H
#define TEXT_INPUT_H

/*
 * A file or standard input, unpacked if it is compressed and without a byte order mark, as lines or
 * as a stream.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#define TEXT_HEAD_SIZE 4096

struct text_input {
    const char *name; /* as used in messages */
    FILE *stream;
    struct ss_error *error;

    /* The current line, without its newline and with a final 0. The caller may change it. */
    char *text;
    size_t length;
    uint64_t line; /* number of the current line, from 1; 0 before the first */

    int descriptor;
    size_t head_length, head_used;
    pid_t children[2];    /* unpacking processes; 0 if none */
    const char *unpacker; /* name of the program that unpacks the input; NULL if none */
    size_t capacity;
    bool pending;                  /* the current line was put back */
    bool in_lines;                 /* the input is read line by line */
    size_t unbroken;               /* approximate number of bytes since the last newline */
    char head[TEXT_HEAD_SIZE + 1]; /* the first bytes of the input, not yet returned, and a 0 */
};

/* Opens a file, or standard input if `path` is NULL or "-". Need not be closed after a failure. */
SS_MUST_USE SS_NONNULL(1) int text_input_open(
    struct text_input *input, const char *path, struct ss_error *error);

/* Opens the input at a descriptor, which text_input_close() closes; this closes it on failure. */
SS_MUST_USE SS_NONNULL(1, 3) int text_input_open_descriptor(
    struct text_input *input, int descriptor, const char *name, struct ss_error *error);

/*
 * Reads the next line into `text`. Returns 1, 0 at the end of the file, or -1 with the error set if
 * reading fails, or if the line is longer than 1 MiB or contains a null byte.
 */
SS_NONNULL() int text_input_read_line(struct text_input *input);

/* Puts the current line back: the next call of text_input_read_line() returns it again. */
SS_NONNULL() void text_input_unread_line(struct text_input *input);

/*
 * Sets the error to 'NAME:LINE:COLUMN: MESSAGE, in "LINE"'. Columns count from 1. Always returns
 * -1.
 */
__attribute__((format(printf, 3, 4))) int text_input_blame(
    struct text_input *input, size_t column, const char *format, ...);

/* Closes the input. Fails if unpacking failed, because data may be missing. */
SS_NONNULL() int text_input_close(struct text_input *input);

#endif
