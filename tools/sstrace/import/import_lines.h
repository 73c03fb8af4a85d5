/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_IMPORT_LINES_H
#define SSTRACE_IMPORT_LINES_H

/* Shared by importers of files without times. */

#include "base/words.h"
#include "import.h"

/*
 * Adds `sample` with the load that is set in it. It begins where it ended before, also in the file
 * before, and lasts for `length`.
 */
static inline int sstrace_lines_add(struct sstrace_samples *samples, struct sstrace_input *input,
    size_t column, struct sstrace_sample *sample, int64_t length) {
    sample->from = sample->to;
    /* Times have a bit more than these. */
    if (length <= 0 || __builtin_add_overflow(sample->from, length, &sample->to))
        return sstrace_input_blame(input, column, "--every is too long");
    return sstrace_samples_add(samples, input, column, sample);
}

/* Where the first sample of a file begins. The samples are spans, so the last one is held. */
static inline int64_t sstrace_lines_begin(struct sstrace_samples *samples) {
    samples->stamp = SSTRACE_STAMP_SPAN;
    if (samples->has_held)
        return samples->held.to;
    return samples->any ? samples->reached : 0;
}

/* Whether the line that was read last has no end, because the file has none or was cut short. */
static inline bool sstrace_lines_open(const struct sstrace_input *input) {
    return feof(input->stream) && input->length > 0;
}

/* The last number of a file may have lost digits; files written by hand often lack the last
 * newline. */
static inline void sstrace_lines_doubt(const struct sstrace_input *input) {
    if (sstrace_lines_open(input))
        fprintf(stderr,
            "sstrace: %s:%llu: the last line has no newline: if the file was cut short, it may be, "
            "too\n",
            ss_words_show(input->name).text, (unsigned long long)input->line);
}

#endif
