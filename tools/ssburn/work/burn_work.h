/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_BURN_WORK_H
#define SSBURN_BURN_WORK_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* More units than any run can do; sums of a few such numbers do not overflow. */
#define WORK_UNITS_MAX (UINT64_C(1) << 62)

#define WORK_LINE_BYTES 64
#define WORK_MEMORY_MIN (2 * WORK_LINE_BYTES)

struct work_line;

/*
 * The working set: one cycle through all of its cache lines in random order. Zeroed: empty.
 */
struct work_memory {
    struct work_line *lines;
    size_t count; /* number of cache lines */
};

/* Builds a working set of this many bytes; with 0 bytes, does nothing. */
SS_MUST_USE SS_NONNULL(1) int work_memory_build(
    struct work_memory *memory, uint64_t bytes, struct ss_error *error);
SS_NONNULL() void work_memory_free(struct work_memory *memory);

/*
 * A worker: a thread or a child. With a working set, one unit of work is one step along its cycle,
 * otherwise a round of integer mixing; each unit needs the previous result.
 */
struct worker {
    struct work_line *volatile line; /* NULL without a working set */
    volatile uint64_t mix;           /* volatile, so that compilers do not remove the work */
};

/* Starts a worker, at a position in the working set that depends on its number. */
SS_NONNULL()
void work_begin(struct worker *worker, const struct work_memory *memory, uint64_t number);
SS_NONNULL() void work_do(struct worker *worker, uint64_t units);

#endif
