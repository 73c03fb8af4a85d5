/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_CPUS_H
#define SHOWSTOPPER_BASE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

#define SS_CPUS_MAX 8192

/*
 * Size of a buffer for any list. The longest list has pairs such as "8189-8190,": 10 bytes for
 * three CPUs.
 */
#define SS_CPUS_TEXT_SIZE (4 * SS_CPUS_MAX)

/* A set of CPUs by number. All zero: the empty set. */
struct ss_cpus {
    uint64_t bits[SS_CPUS_MAX / 64];
};

SS_NONNULL() bool ss_cpus_has(const struct ss_cpus *cpus, uint32_t cpu);
SS_NONNULL() void ss_cpus_add(struct ss_cpus *cpus, uint32_t cpu);

SS_NONNULL() bool ss_cpus_are_equal(const struct ss_cpus *left, const struct ss_cpus *right);

/* Removes all CPUs that are not in `other`. */
SS_NONNULL() void ss_cpus_intersect(struct ss_cpus *cpus, const struct ss_cpus *other);
SS_NONNULL() uint32_t ss_cpus_count(const struct ss_cpus *cpus);

/* Returns the largest CPU number; 0 if the set is empty. */
SS_NONNULL() uint32_t ss_cpus_last(const struct ss_cpus *cpus);

/* Returns the first CPU of `cpus` that is not in `allowed`; SS_CPUS_MAX if all are. */
SS_NONNULL()
uint32_t ss_cpus_first_outside(const struct ss_cpus *cpus, const struct ss_cpus *allowed);

/* Parses a list as the kernel prints it, or with the strides of taskset: 0-3,8,10-14:2. */
SS_NONNULL(1, 2) int ss_cpus_parse(const char *text, struct ss_cpus *cpus, struct ss_error *error);

/* Prints a list. If it does not fit, the buffer ends with "..." after the last number that does. */
SS_WRITES(1, 2) void ss_cpus_print(char *buffer, size_t size, const struct ss_cpus *cpus);

#endif
