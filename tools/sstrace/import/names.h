/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_NAMES_H
#define SSTRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/* Numbers names in the order in which they appear. Empty and unlimited if zeroed. */
struct sstrace_names {
    struct sstrace_name *entries; /* open addressing; at least half of them are empty */
    size_t capacity;
    size_t count;
    size_t max; /* later names have no number; 0 for no limit */
};

/*
 * Returns the number of a name, from 0, and adds it if it is new. Returns SIZE_MAX for a new name
 * if there are too many or memory is exhausted. Names are stored as hashes of 64 bits: two with the
 * same hash would count as one.
 */
SS_NONNULL() size_t sstrace_names_number(struct sstrace_names *names, const char *name);

SS_NONNULL() void sstrace_names_close(struct sstrace_names *names);

#endif
