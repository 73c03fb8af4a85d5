/* SPDX-License-Identifier: Apache-2.0 */
#include "burn_work.h"

#include <stdlib.h>

struct work_line {
    struct work_line *next;
    char rest[WORK_LINE_BYTES - sizeof(struct work_line *)];
};

_Static_assert(sizeof(struct work_line) == WORK_LINE_BYTES, "one step touches one cache line");

/*
 * Returns the state after a round of xorshift with a multiplication (Marsaglia; Vigna), which costs
 * about as much as typical integer code with dependent instructions.
 */
static inline uint64_t mix_round(uint64_t x) {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/*
 * Links the lines by Sattolo's shuffle, which makes a single cycle: a walk visits all lines before
 * it returns to one.
 */
static void shuffle(struct work_line *lines, size_t count) {
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < count; i++)
        lines[i].next = &lines[i];

    for (size_t i = count - 1; i > 0; i--) {
        random = mix_round(random);
        size_t other = (size_t)((random >> 11) % i);
        struct work_line *next = lines[i].next;
        lines[i].next = lines[other].next;
        lines[other].next = next;
    }
}

int work_memory_build(struct work_memory *memory, uint64_t bytes, struct ss_error *error) {
    *memory = (struct work_memory){0};
    if (bytes == 0)
        return 0;

    size_t count = (size_t)(bytes / WORK_LINE_BYTES);
    struct work_line *lines = NULL;
    if (bytes <= SIZE_MAX / 2)
        lines = aligned_alloc(WORK_LINE_BYTES, count * WORK_LINE_BYTES);
    if (!lines)
        return ss_error_fail(error, "--memory: out of memory: use a smaller size");

    shuffle(lines, count);
    *memory = (struct work_memory){lines, count};
    return 0;
}

void work_memory_free(struct work_memory *memory) {
    free(memory->lines);
    *memory = (struct work_memory){0};
}

void work_begin(struct worker *worker, const struct work_memory *memory, uint64_t number) {
    worker->line = NULL;
    worker->mix = number + 1;
    if (memory->count > 0)
        worker->line = &memory->lines[number * UINT64_C(0x9e3779b97f4a7c15) % memory->count];
}

/* Not inlined: calibration and the work itself must use the same machine code. */
__attribute__((noinline)) void work_do(struct worker *worker, uint64_t units) {
    if (worker->line) {
        struct work_line *line = worker->line;
        for (uint64_t i = 0; i < units; i++)
            line = line->next;
        worker->line = line;
    } else {
        uint64_t mix = worker->mix;
        for (uint64_t i = 0; i < units; i++)
            mix = mix_round(mix);
        worker->mix = mix;
    }
}
