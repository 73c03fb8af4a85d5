/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_INDEX_H
#define SSPROFILE_INDEX_H

/* Finds the numbers of things by the hash of what names them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

struct ssprofile_slot {
    uint64_t hash;
    size_t number; /* from 1; 0: free */
};

/* Zeroed: empty. */
struct ssprofile_index {
    struct ssprofile_slot *slots;
    size_t room; /* a power of two */
    size_t count;
};

#define SSPROFILE_HASH_BEGIN UINT64_C(14695981039346656037)

/* Goes on from a hash over a text and its end. */
SS_NONNULL() uint64_t ssprofile_hash(uint64_t hash, const char *text);

/* The number, from 0, for which `is` holds; SIZE_MAX: there is none. */
SS_NONNULL(1, 3)
size_t ssprofile_index_find(const struct ssprofile_index *index, uint64_t hash,
    bool (*is)(const void *context, size_t number), const void *context);

/* False: memory is short. */
SS_NONNULL() bool ssprofile_index_add(struct ssprofile_index *index, uint64_t hash, size_t number);

void ssprofile_index_free(struct ssprofile_index *index);

#endif
