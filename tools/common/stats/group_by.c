/* SPDX-License-Identifier: Apache-2.0 */
#include "group_by.h"

struct sorting {
    const char *items;
    const struct stats_key *key;
};

/* Compares two items; equal items keep their order. */
static int compare_items(const void *left, const void *right, void *context) {
    const struct sorting *sorting = context;
    size_t one = *(const size_t *)left, other = *(const size_t *)right;
    int order = sorting->key->compare(sorting->items + one * sorting->key->size,
        sorting->items + other * sorting->key->size, sorting->key->context);
    return order ? order : (one > other) - (one < other);
}

/*
 * Sets `next`, and sets `group` to the first item of each group. `sorted` has items of one group
 * next to each other.
 */
static void link_items(
    struct stats_groups *groups, const size_t *sorted, size_t count, const struct sorting *by) {
    for (size_t i = 0; i < count; i++) {
        size_t item = sorted[i];
        const char *at = by->items + item * by->key->size;
        bool follows = i > 0 && by->key->compare(by->items + sorted[i - 1] * by->key->size, at,
                                    by->key->context) == 0;
        groups->group[item] = follows ? groups->group[sorted[i - 1]] : item;
        if (follows)
            groups->next[sorted[i - 1]] = item;
    }
}

struct stats_groups stats_group_by(const void *items, size_t count, const struct stats_key *key) {
    struct sorting sorting = {.items = items, .key = key};
    size_t used = 0;
    struct stats_groups groups = {
        .items = count, .first = calloc(3 * count + 1, sizeof *groups.first)};
    if (!groups.first)
        return groups;
    groups.next = groups.first + count;
    groups.group = groups.next + count;
    for (size_t i = 0; i < count; i++) {
        groups.group[i] = groups.next[i] = count;
        if (!key->includes || key->includes(sorting.items + i * key->size, key->context))
            groups.first[used++] = i;
    }
    qsort_r(groups.first, used, sizeof *groups.first, compare_items, &sorting);
    link_items(&groups, groups.first, used, &sorting);
    /* The first item of a group precedes the others, so its number is known when they need it. */
    for (size_t i = 0; i < count; i++) {
        if (groups.group[i] == i) {
            groups.first[groups.count] = i;
            groups.group[i] = groups.count++;
        } else if (groups.group[i] < count) {
            groups.group[i] = groups.group[groups.group[i]];
        }
    }
    return groups;
}
