/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_GROUP_BY_H
#define STATS_GROUP_BY_H

/*
 * Items of a list that belong together, as those of one workload do:
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
    size_t size; /* of an item */

    /* As of qsort_r(): 0 if both are of one group. */
    int (*compare)(const void *left, const void *right, void *context);

    /* Whether an item is in any group; NULL: all are. */
    bool (*includes)(const void *item, void *context);
    void *context;
};

struct stats_groups {
    size_t count, items;
    size_t *first; /* item of each group; groups are in the order of these. NULL: no memory */
    size_t *next;  /* for each item: the next one of its group; `items` after the last */
    size_t *group; /* of each item; `items` if it is in none */
};

SS_NONNULL(3)
struct stats_groups stats_group_by(const void *items, size_t count, const struct stats_key *key);

/* The first of these results of comparisons that is not 0. */
#define STATS_ORDER(...)                                                                           \
    stats_first_order((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static inline int stats_first_order(const int *orders, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (orders[i] != 0)
            return orders[i];
    }
    return 0;
}

/* `first` owns all. */
static inline void ss_owned_groups(const struct stats_groups *groups) {
    free(groups->first);
}

#endif
