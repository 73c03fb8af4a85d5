/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_TEXT_H
#define SHOWSTOPPER_TESTS_TEXT_H

/* Text that a case reads from a stream, or writes to one. */

#include "unit.h"

/* Returns a stream that reads this text. */
static inline FILE *text_read(const char *text) {
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    return stream;
}

static char *text_written;
static FILE *text_stream;

/* Returns a stream; text_end() returns what was written to it. */
static inline FILE *text_begin(void) {
    static size_t size;
    free(text_written);
    text_written = NULL;
    text_stream = open_memstream(&text_written, &size);
    assert_non_null(text_stream);
    return text_stream;
}

/* Closes the stream and returns its text, which is valid until the next text_begin(). */
static inline char *text_end(void) {
    assert_int_equal(fclose(text_stream), 0);
    return text_written;
}

#endif
