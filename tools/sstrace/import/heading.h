/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_HEADING_H
#define SSTRACE_HEADING_H

/* The columns of a table that is not of a known format: their names, and what they seem to be. */

#include <showstopper/contract.h>

#include "base/words.h"
#include "fields.h"
#include "samples.h"

struct sstrace_heading {
    struct sstrace_input header; /* a line of names; no text without names */
    char separator;
    bool is_first_row; /* the first row is that line */
    size_t count;
};

enum sstrace_meaning {
    SSTRACE_MEANS_TIME,
    SSTRACE_MEANS_LOAD,
    SSTRACE_MEANS_IDLE,
    SSTRACE_MEANS_SERIES,
};

struct sstrace_guess {
    size_t number;  /* of the first column of that meaning, from 1; 0 if absent */
    size_t matches; /* how many there are */
};

/*
 * Looks at the first row, where `input` stands, and at the last comment above it: is one of them a
 * line of names? -1: its quotes are wrong, or no memory.
 */
SS_NONNULL(1, 2, 5)
int sstrace_heading_open(struct sstrace_heading *heading, struct sstrace_input *input,
    char separator, const char *comment, const struct sstrace_import_options *options);

SS_NONNULL()
void sstrace_heading_close(struct sstrace_heading *heading);

/* By name or by number from 1; -1 if there is no such column. */
SS_NONNULL()
int sstrace_heading_find(const struct sstrace_heading *heading, struct sstrace_input *input,
    const char *wanted, size_t *number);

SS_NONNULL()
struct sstrace_guess sstrace_heading_guess(
    const struct sstrace_heading *heading, enum sstrace_meaning meaning);

/* The name as written, shortened; "" without names. */
SS_NONNULL()
struct ss_words_shown sstrace_heading_name(const struct sstrace_heading *heading, size_t number);

/* Fails with the question and the columns there are. Always returns -1. */
SS_NONNULL()
int sstrace_heading_ask(
    const struct sstrace_heading *heading, struct sstrace_input *input, const char *question);

/* The unit that a name implies. */
SS_NONNULL()
enum sstrace_unit sstrace_heading_unit(const struct sstrace_heading *heading, size_t number);
SS_NONNULL()
int64_t sstrace_heading_time_unit(const struct sstrace_heading *heading, size_t number);

#endif
