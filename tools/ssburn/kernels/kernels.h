/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_KERNELS_H
#define SSBURN_KERNELS_H

/* Small programs that each press one part of a machine, and check what they compute. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "caches.h"

enum kernel_size {
    KERNEL_NO_MEMORY,
    KERNEL_L1,
    KERNEL_L2,
    KERNEL_LAST,
    KERNEL_MEMORY,
    KERNEL_FIXED
};

/* The data of a kernel. */
struct kernel_hand {
    void *memory; /* NULL: it needs none */
    size_t bytes;
    uint64_t state;      /* where the last round has left off */
    int descriptors[4];  /* -1: not open */
    const void *private; /* more of its own */
};

struct kernel {
    const char *name, *class;
    const char *help;

    /* Does a fixed amount of work, the same on every machine; false: the result is wrong. */
    bool (*round)(struct kernel_hand *hand);

    enum kernel_size size;
    size_t bytes; /* KERNEL_FIXED */

    bool (*open)(struct kernel_hand *hand); /* NULL: nothing is to be done; false: errno says why */
    void (*close)(struct kernel_hand *hand); /* NULL: likewise; memory is freed by kernel_close() */
};

/* All kernels, then NULL. */
extern const struct kernel *const kernels[];

SS_MUST_USE SS_NONNULL(1, 2, 3) int kernel_open(const struct kernel *kernel,
    const struct caches *caches, struct kernel_hand *hand, struct ss_error *error);
SS_NONNULL()
void kernel_close(const struct kernel *kernel, struct kernel_hand *hand);

/* The compiler and its flags. */
const char *kernel_compiler(void);

/* Takes a result out of the optimizer's sight, so that work is neither left out nor done once. */
#define KERNEL_OPAQUE(value) __asm__ volatile("" : "+r"(value))
#define KERNEL_MEMORY_SEEN() __asm__ volatile("" ::: "memory")

/* A round of xorshift with a multiplication (Marsaglia; Vigna). */
static inline uint64_t kernel_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
