/* SPDX-License-Identifier: Apache-2.0 */
#include "caches.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define INDICES_MAX 16

static bool read_word(const char *sys, int index, const char *name, char word[32]) {
    char path[512];
    snprintf(
        path, sizeof path, "%.400s/devices/system/cpu/cpu0/cache/index%d/%s", sys, index, name);
    FILE *stream = fopen(path, "re");
    if (!stream)
        return false;
    bool got = fscanf(stream, "%31s", word) == 1;
    fclose(stream);
    return got;
}

/* Parses "32K", "8M". Returns 0 if invalid. */
static size_t size_of(const char *word) {
    unsigned long number;
    char unit = ' ';
    if (sscanf(word, "%7lu%c", &number, &unit) < 1)
        return 0;
    return (size_t)number << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

struct caches caches_read(const char *sys) {
    struct caches caches = {32 << 10, 1 << 20, 16 << 20};
    size_t sizes[10] = {0};
    for (int index = 0; index < INDICES_MAX; index++) {
        char level[32], type[32], size[32];
        if (!read_word(sys, index, "level", level) || !read_word(sys, index, "type", type) ||
            !read_word(sys, index, "size", size))
            continue;
        if (strcmp(type, "Instruction") != 0 && level[0] >= '1' && level[0] <= '9' && !level[1])
            sizes[level[0] - '0'] = size_of(size);
    }
    caches.first = sizes[1] ? sizes[1] : caches.first;
    caches.second = sizes[2] ? sizes[2] : caches.second;
    if (sizes[1] || sizes[2])
        caches.last = caches.second;
    for (int level = 3; level < 10; level++)
        caches.last = sizes[level] ? sizes[level] : caches.last;
    return caches;
}
