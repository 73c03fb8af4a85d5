/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>

struct sstrace_name {
    uint64_t hash; /* 0 if empty */
    size_t number;
};

/* FNV-1a. */
static uint64_t hash_of(const char *name) {
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return value ? value : 1;
}

/* Returns the entry with this hash, or the empty one for it. */
static struct sstrace_name *find(const struct sstrace_names *names, uint64_t hash) {
    size_t at = hash & (names->capacity - 1);
    while (names->entries[at].hash && names->entries[at].hash != hash)
        at = (at + 1) & (names->capacity - 1);
    return &names->entries[at];
}

static bool grow(struct sstrace_names *names) {
    struct sstrace_names larger = *names;
    larger.capacity = names->capacity ? names->capacity * 2 : 64;
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->entries[i].hash)
            *find(&larger, names->entries[i].hash) = names->entries[i];
    }
    free(names->entries);
    *names = larger;
    return true;
}

size_t sstrace_names_number(struct sstrace_names *names, const char *name) {
    uint64_t hash = hash_of(name);
    if (names->capacity > 0 && find(names, hash)->hash)
        return find(names, hash)->number;
    if ((names->max > 0 && names->count == names->max) ||
        ((names->count + 1) * 2 > names->capacity && !grow(names)))
        return SIZE_MAX;
    *find(names, hash) = (struct sstrace_name){hash, names->count};
    return names->count++;
}

void sstrace_names_close(struct sstrace_names *names) {
    free(names->entries);
    *names = (struct sstrace_names){0};
}
