/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_GROW_H
#define SHOWSTOPPER_BASE_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for `needed` items in an array with room for `room`, like ALLOC_GROW of git:
 *
 *     if (!SS_GROW(list->items, list->count + 1, list->room))
 *         return ss_error_memory(error);
 *     list->items[list->count++] = item;
 *
 * The room grows by at least a half, so that appending takes constant time on average. Small arrays
 * get no spare room, because there are many of them. An array begins as NULL with a room of 0. If
 * memory is exhausted, the result is false, and the array and its room are unchanged. The arguments
 * are evaluated several times.
 */
#define SS_GROW(items, needed, room)                                                               \
    ((needed) <= (room) || (ss_grow(&(items), ss_grown(room, needed), sizeof *(items)) &&          \
                               (((room) = (__typeof__(room))ss_grown(room, needed)), true)))

static inline size_t ss_grown(size_t room, size_t needed) {
    size_t grown = room + room / 2;
    return grown > needed ? grown : needed;
}

/*
 * Changes the room of an array to `room` items. `array` points to a pointer of any type. Copies
 * that pointer with memcpy(), because access through a void ** would break the aliasing rules.
 */
static inline bool ss_grow(void *array, size_t room, size_t size) {
    void *items;
    size_t bytes;
    if (__builtin_mul_overflow(room, size, &bytes))
        return false;
    memcpy(&items, array, sizeof items);
    /* Not reallocarray(): the analyzer of gcc 12 assumes that it frees the array if it fails. */
    items = realloc(items, bytes);
    if (!items)
        return false;
    memcpy(array, &items, sizeof items);
    return true;
}

#endif
