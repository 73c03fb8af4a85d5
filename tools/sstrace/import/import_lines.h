/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_IMPORT_LINES_H
#define SSTRACE_IMPORT_LINES_H

/* Helpers for importers of lines, and of files without times. */

#include "base/words.h"
#include "fields.h"
#include "import.h"

/*
 * Adds `sample`, whose load the caller has set. It begins at the end of the previous sample, even
 * if that was in the previous file, and lasts for `length`.
 */
static inline int sstrace_lines_add(struct sstrace_samples *samples, struct text_input *input,
    size_t column, struct sstrace_sample *sample, int64_t length) {
    sample->from = sample->to;
    /* Sample times are signed, so they overflow earlier than trace times. */
    if (length <= 0 || __builtin_add_overflow(sample->from, length, &sample->to))
        return text_input_blame(input, column, "--every is too long");
    return sstrace_samples_add(samples, input, column, sample);
}

/* Returns the start of the first sample of a file: the end of the previous file, or 0. */
static inline int64_t sstrace_lines_begin(struct sstrace_samples *samples) {
    samples->stamp = SSTRACE_STAMP_SPAN;
    if (samples->has_held)
        return samples->held.to;
    return samples->any ? samples->reached : 0;
}

/*
 * Returns whether the current line is the last one and has no newline, because the writer omitted
 * it or the file was cut short.
 */
static inline bool sstrace_lines_lacks_newline(const struct text_input *input) {
    return feof(input->stream) && input->length > 0;
}

/*
 * Warns if the last line has no newline, because its number may have lost digits. This is not an
 * error, because files written by hand often lack the newline.
 */
static inline void sstrace_lines_warn(const struct text_input *input) {
    if (sstrace_lines_lacks_newline(input))
        fprintf(stderr, "sstrace: %s:%llu: the last line has no newline and may be truncated\n",
            ss_words_show(input->name).text, (unsigned long long)input->line);
}

/* Reads the next row like text_table_next(), with the warning of sstrace_lines_warn(). */
static inline int sstrace_lines_next_row(struct text_table *table) {
    int more = text_table_next(table);
    if (more > 0)
        sstrace_lines_warn(table->input);
    return more;
}

#endif
