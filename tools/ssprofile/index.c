/* SPDX-License-Identifier: Apache-2.0 */
#include "index.h"

#include <stdlib.h>

/* FNV-1a. */
uint64_t ssprofile_hash(uint64_t hash, const char *text) {
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    while (*text++);
    return hash;
}

/* Its low bits say little of the last characters. */
static size_t place_of(uint64_t hash, size_t room) {
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 29) & (room - 1);
}

size_t ssprofile_index_find(const struct ssprofile_index *index, uint64_t hash,
    bool (*is)(const void *context, size_t number), const void *context) {
    if (index->room == 0)
        return SIZE_MAX;
    for (size_t at = place_of(hash, index->room);; at = (at + 1) & (index->room - 1)) {
        const struct ssprofile_slot *slot = &index->slots[at];
        if (slot->number == 0)
            return SIZE_MAX;
        if (slot->hash == hash && is(context, slot->number - 1))
            return slot->number - 1;
    }
}

static void put(struct ssprofile_index *index, struct ssprofile_slot slot) {
    size_t at = place_of(slot.hash, index->room);
    while (index->slots[at].number != 0)
        at = (at + 1) & (index->room - 1);
    index->slots[at] = slot;
}

/* At most two of three slots are taken. */
static bool make_room(struct ssprofile_index *index) {
    struct ssprofile_index larger = {.room = index->room ? 2 * index->room : 4};
    if (3 * (index->count + 1) <= 2 * index->room)
        return true;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    larger.count = index->count;
    for (size_t i = 0; i < index->room; i++) {
        if (index->slots[i].number != 0)
            put(&larger, index->slots[i]);
    }
    free(index->slots);
    *index = larger;
    return true;
}

bool ssprofile_index_add(struct ssprofile_index *index, uint64_t hash, size_t number) {
    if (!make_room(index))
        return false;
    put(index, (struct ssprofile_slot){hash, number + 1});
    index->count++;
    return true;
}

void ssprofile_index_free(struct ssprofile_index *index) {
    free(index->slots);
    *index = (struct ssprofile_index){0};
}
