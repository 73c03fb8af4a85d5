/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_KERNELS_H
#define SSBURN_KERNELS_H

/*
 * Small programs that each stress one part of a machine, and check their results. A new one is a
 * struct kernel in kernel_CLASS.c, a line in kernels.def, and a line in
 * tools/ssprofile/batteries/own.txt, so that ssprofile measures it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* The sizes of the first CPU's data caches, in bytes. */
struct caches {
    size_t first, second, last;
};

/*
 * Reads the tree below `path`, usually "/sys". A missing first or second size becomes 32 KiB or 1
 * MiB. Without a third level, the last is the second, or 16 MiB if the tree has no size.
 */
SS_NONNULL() struct caches caches_read(const char *path);

enum kernel_size {
    KERNEL_NO_MEMORY,
    KERNEL_L1,
    KERNEL_L2,
    KERNEL_LAST,
    KERNEL_MEMORY,
    KERNEL_FIXED
};

/* The data of a running kernel. */
struct kernel_data {
    void *memory; /* NULL if not needed */
    size_t bytes;
    uint64_t state;     /* carried from round to round: a position, a counter or a seed */
    int descriptors[2]; /* -1 if not open */
    int failure;        /* errno of a system call that failed in a round; 0 if none did */
};

struct kernel {
    const char *name, *class;
    const char *help;

    /*
     * Does a fixed amount of work, which is the same on every machine. Returns false if the result
     * is wrong or, with `failure` set, if a system call failed.
     */
    bool (*round)(struct kernel_data *data);

    enum kernel_size size;
    size_t bytes; /* size for KERNEL_FIXED */

    bool (*open)(
        struct kernel_data *data); /* NULL if not needed; returns false with errno set on failure */
};

/* All kernels; the last entry is NULL. */
extern const struct kernel *const kernels[];

SS_MUST_USE SS_NONNULL(1, 2, 3) int kernel_open(const struct kernel *kernel,
    const struct caches *caches, struct kernel_data *data, struct ss_error *error);
SS_NONNULL() void kernel_close(struct kernel_data *data);

/* Returns the compiler and its flags. */
const char *kernel_compiler(void);

/*
 * Hides a value from the optimizer, which then neither removes the work nor hoists it out of the
 * loop.
 */
#define KERNEL_OPAQUE(value)      __asm__ volatile("" : "+r"(value))
#define KERNEL_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

/* Returns the next number of a xorshift generator with a multiplication (Marsaglia; Vigna). */
static inline uint64_t kernel_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
