/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_TEXT_STREAM_H
#define TEXT_TEXT_STREAM_H

#include <stdio.h>

#include <showstopper/error.h>

/* A text that is written to memory. */
struct ss_text {
    FILE *stream;
    char *bytes;
    size_t size;
};

SS_MUST_USE SS_NONNULL(1) int ss_text_open(struct ss_text *text, struct ss_error *error);

/* Returns the text, which the caller frees. Returns NULL with the error set if it is incomplete. */
SS_MUST_USE SS_NONNULL(1) char *ss_text_close(struct ss_text *text, struct ss_error *error);

#endif
