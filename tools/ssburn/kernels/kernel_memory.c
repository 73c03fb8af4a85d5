/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels for caches and memory: walks measure latency, streams bandwidth. */

#include <string.h>

#include "kernels.h"

#define STEPS 20000

/*
 * A cache line of the walk, which is one cycle through all lines in random order. Each line
 * contains its position in the cycle.
 */
struct line {
    uint32_t next;
    uint32_t position;
    char rest[56];
};

_Static_assert(sizeof(struct line) == 64, "one step touches one cache line");

/* Links the lines by Sattolo's shuffle, which makes a single cycle. */
static bool walk_open(struct kernel_data *data) {
    struct line *lines = data->memory;
    uint32_t count = (uint32_t)(data->bytes / sizeof *lines);
    uint64_t random = 1;

    for (uint32_t i = 0; i < count; i++)
        lines[i].next = i;

    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = (uint32_t)((kernel_random(&random) >> 32) % i), next = lines[i].next;
        lines[i].next = lines[other].next;
        lines[other].next = next;
    }

    for (uint32_t i = 0, at = 0; i < count; i++, at = lines[at].next)
        lines[at].position = i;
    return true;
}

static bool walk_round(struct kernel_data *data) {
    const struct line *lines = data->memory;
    uint32_t count = (uint32_t)(data->bytes / sizeof *lines), at = (uint32_t)data->state;
    uint64_t expected = ((uint64_t)lines[at].position + STEPS) % count;
    for (int i = 0; i < STEPS; i++)
        at = lines[at].next;
    data->state = at;
    return lines[at].position == expected;
}

const struct kernel kernel_latency_l1 = {"latency-l1", "cache",
    "a walk through half of the L1 cache", walk_round, KERNEL_L1, 0, walk_open};
const struct kernel kernel_latency_l2 = {"latency-l2", "cache",
    "a walk through half of the L2 cache", walk_round, KERNEL_L2, 0, walk_open};
const struct kernel kernel_latency_last = {"latency-last", "cache",
    "a walk through half of the last cache", walk_round, KERNEL_LAST, 0, walk_open};
const struct kernel kernel_latency_memory = {"latency-memory", "memory",
    "a walk through memory, beyond all caches", walk_round, KERNEL_MEMORY, 0, walk_open};

/* Bytes that a round streams, starting where the last round ended. */
#define PIECE ((size_t)256 << 10)

static size_t take_piece(struct kernel_data *data, size_t room, size_t piece) {
    size_t at = (size_t)data->state;
    if (at + piece > room)
        at = 0;
    data->state = at + piece;
    return at;
}

static bool count_open(struct kernel_data *data) {
    uint64_t *words = data->memory;
    for (size_t i = 0; i < data->bytes / 8; i++)
        words[i] = i;
    return true;
}

/* Sums the words, which are consecutive numbers, and checks the sum. */
static bool sum_words(const uint64_t *words, size_t first, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    return sum == (uint64_t)count * first + (uint64_t)count * (count - 1) / 2;
}

static bool read_round(struct kernel_data *data) {
    size_t piece = data->bytes < PIECE ? data->bytes : PIECE;
    bool right = true;

    for (size_t done = 0; done < PIECE; done += piece) {
        /* The last piece is shorter if the cache does not divide PIECE. */
        size_t length = piece < PIECE - done ? piece : PIECE - done;
        size_t at = take_piece(data, data->bytes, length);
        KERNEL_COMPILER_BARRIER();
        right &= sum_words((const uint64_t *)data->memory + at / 8, at / 8, length / 8);
    }

    return right;
}

const struct kernel kernel_read_l1 = {
    "read-l1", "cache", "summing numbers in the L1 cache", read_round, KERNEL_L1, 0, count_open};
const struct kernel kernel_read_l2 = {
    "read-l2", "cache", "summing numbers in the L2 cache", read_round, KERNEL_L2, 0, count_open};
const struct kernel kernel_read_memory = {"read-memory", "memory",
    "summing numbers in memory, beyond all caches", read_round, KERNEL_MEMORY, 0, count_open};

static bool write_round(struct kernel_data *data) {
    size_t at = take_piece(data, data->bytes, PIECE);
    uint8_t *bytes = (uint8_t *)data->memory + at, value = (uint8_t)(at >> 18);
    memset(bytes, value, PIECE);
    KERNEL_COMPILER_BARRIER();
    return bytes[0] == value && bytes[PIECE / 2] == value && bytes[PIECE - 1] == value;
}

const struct kernel kernel_write_memory = {
    "write-memory", "memory", "filling memory, beyond all caches", write_round, KERNEL_MEMORY};

/* Copies from the first half to the second. */
static bool copy_round(struct kernel_data *data) {
    size_t half = data->bytes / 2, at = take_piece(data, half, PIECE);
    const uint8_t *from = (const uint8_t *)data->memory + at;
    uint8_t *to = (uint8_t *)data->memory + half + at;
    memcpy(to, from, PIECE);
    KERNEL_COMPILER_BARRIER();
    return memcmp(to, from, 64) == 0 && memcmp(to + PIECE - 64, from + PIECE - 64, 64) == 0;
}

const struct kernel kernel_copy_memory = {"copy-memory", "memory",
    "copying memory, beyond all caches", copy_round, KERNEL_MEMORY, 0, count_open};

/* Prepares a = b + 3 c, in which each array is a third of the memory. */
static bool triad_open(struct kernel_data *data) {
    size_t third = data->bytes / 24;
    double *b = (double *)data->memory + third, *c = b + third;
    for (size_t i = 0; i < third; i++) {
        b[i] = (double)(i & 1023);
        c[i] = 2;
    }
    return true;
}

static bool triad_round(struct kernel_data *data) {
    size_t third = data->bytes / 24, count = PIECE / 8, at = take_piece(data, third, count);
    double *a = (double *)data->memory + at;
    const double *b = a + third, *c = b + third;
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + 3 * c[i];
    KERNEL_COMPILER_BARRIER();
    return a[0] == (double)(at & 1023) + 6 && a[count - 1] == (double)((at + count - 1) & 1023) + 6;
}

const struct kernel kernel_triad_memory = {"triad-memory", "memory",
    "sums and products of streams in memory", triad_round, KERNEL_MEMORY, 0, triad_open};

static bool update_round(struct kernel_data *data) {
    uint64_t *words = data->memory, mask = 1;
    while (2 * mask <= data->bytes / 8)
        mask *= 2;
    mask--;

    /* Making the same changes twice restores the original. */
    uint64_t seed = ++data->state, before = words[seed & mask];
    for (int twice = 0; twice < 2; twice++) {
        uint64_t random = seed;
        for (int i = 0; i < 5000; i++) {
            uint64_t value = kernel_random(&random);
            words[value >> 20 & mask] ^= value;
        }
        KERNEL_COMPILER_BARRIER();
    }

    return words[seed & mask] == before;
}

const struct kernel kernel_update_memory = {
    "update-memory", "memory", "changing words at random in memory", update_round, KERNEL_MEMORY};
