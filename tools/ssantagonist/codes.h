/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_CODES_H
#define SSANTAGONIST_CODES_H

/*
 * Codes decide in which slots each suspect is throttled; `plan` draws them. All are shifts of one
 * sequence of maximal length: each suspect is throttled in half of the slots, and no code resembles
 * another, even if delayed by a slot. The second half of a run repeats the first with all codes
 * inverted. Without it, the combined effect of two suspects would look like the effect of a third.
 *
 * A slot has rows of about a second. A throttled suspect is stopped for a block at the end of some
 * of them, so that any disturbance when it continues is in the next row. The rows are drawn anew
 * for each slot. Neither the first row nor two in succession have a block, or two blocks would
 * become one; if blocks are needed in more than half of the rows, each row has a shorter one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#define CODES_LENGTH       63 /* slots of one half */
#define CODES_SUSPECTS_MAX 16
#define CODES_GHOSTS       2 /* codes that throttle nothing: any effect they show is chance */
#define CODES_MAX          (CODES_SUSPECTS_MAX + CODES_GHOSTS)
#define CODES_ROWS_MAX     4096

struct codes {
    size_t suspects; /* ghosts come after them */
    size_t slots;    /* 2 CODES_LENGTH, or CODES_LENGTH without the inverted half */
    size_t rows;     /* rows of a slot, at most CODES_ROWS_MAX */
    size_t blocks;   /* blocks of a slot: at most half of `rows`, or all of them */
    uint32_t start;  /* position in the sequence at which the run begins */
    uint32_t shifts[CODES_MAX];
};

/* Returns the number of codes, including ghosts. */
SS_NONNULL() size_t codes_count(const struct codes *codes);

/* Returns whether a suspect with this code is throttled in this slot. */
SS_NONNULL() bool codes_is_throttled(const struct codes *codes, size_t code, size_t slot);

/* Sets for each row of a slot whether a suspect with this code is stopped at its end. */
SS_NONNULL() void codes_draw(const struct codes *codes, size_t code, size_t slot, bool *stopped);

/* Fails unless the blocks of a slot fit in its rows. */
SS_MUST_USE SS_NONNULL() int codes_check_rows(const struct codes *codes, struct ss_error *error);

/* Parses START:SHIFT,... with the shifts of the suspects, then of the ghosts. */
SS_MUST_USE SS_NONNULL() int codes_parse(
    struct codes *codes, const char *text, struct ss_error *error);

/*
 * Writes a load trace for each suspect (s1.trace and so on), and codes.csv with a line for each row
 * and a column for each suspect and ghost.
 */
SS_MUST_USE SS_NONNULL(1, 2) int codes_write(const struct codes *codes, const char *folder,
    double slot, double depth, struct ss_error *error);

#endif
