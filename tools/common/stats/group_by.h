/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_GROUP_BY_H
#define STATS_GROUP_BY_H

/*
 * Groups the items of a list by a key, such as the runs of one workload:
 *
 *     SS_OWNED(groups) struct stats_groups groups = stats_group_by(items, count, &key);
 *     for (size_t group = 0; group < groups.count; group++)
 *         for (size_t i = groups.first[group]; i < groups.items; i = groups.next[i])
 *             ...
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <showstopper/contract.h>

struct stats_key {
    size_t size; /* size of an item, in bytes */

    /* Compares like the function of qsort_r(): returns 0 if both items are in one group. */
    int (*compare)(const void *left, const void *right, void *context);

    /* Returns whether an item is in any group; NULL: all items are. */
    bool (*includes)(const void *item, void *context);
    void *context;
};

struct stats_groups {
    size_t count, items;
    size_t *first; /* first item of each group, in ascending order; NULL if memory is exhausted */
    size_t *next;  /* for each item, the next item in its group; `items` after the last */
    size_t *group; /* for each item, its group; `items` if it is not in a group */
};

/* Free the result, for example with SS_OWNED(groups). */
SS_MUST_USE SS_NONNULL(3) struct stats_groups
    stats_group_by(const void *items, size_t count, const struct stats_key *key);

/* Returns the first of several comparison results that is not 0; 0 if all are 0. */
#define STATS_ORDER(...)                                                                           \
    stats_first_order((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static inline int stats_first_order(const int *orders, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (orders[i] != 0)
            return orders[i];
    }
    return 0;
}

/* The arrays are one allocation, at `first`. */
static inline void ss_owned_groups(const struct stats_groups *groups) {
    free(groups->first);
}

#endif
