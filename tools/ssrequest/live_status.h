/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_BLOCK_H
#define SSREQUEST_BLOCK_H

/* The live view of a run: a few rows on standard error that are redrawn. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#include "rows.h"

/* The most rows that there are. */
#define SSREQUEST_BLOCK_ROWS 4

#define SSREQUEST_BLOCK_TEXT 1024

struct ssrequest_block_values {
    ss_time total;   /* the length of the run; SS_TIME_NEVER: open end */
    uint64_t closed; /* clients; 0: an open loop */
    uint64_t cap;
    const struct ssrequest_second *second; /* the last one */
    const struct ssrequest_tally *tally;   /* of all of the run */
};

/* Rows with line feeds between them, none wider than `width` columns. Returns how many. */
SS_NONNULL()
SS_WRITES(1, 2)
int ssrequest_block_print(
    char *buffer, size_t size, const struct ssrequest_block_values *values, int width);

struct ssrequest_block {
    bool shown;
    int rows; /* on the screen */
};

/* Nothing is shown with `quiet`, nor where standard error is no terminal that moves its cursor. */
SS_NONNULL()
void ssrequest_block_open(struct ssrequest_block *block, bool quiet);

/* Never waits: where the terminal has no room the block stays as it was. */
SS_NONNULL()
void ssrequest_block_draw(
    struct ssrequest_block *block, const struct ssrequest_block_values *values);

/* Removes it; the next output takes its place. */
SS_NONNULL()
void ssrequest_block_close(struct ssrequest_block *block);

#endif
