/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PAIR_ORDER_H
#define SSBATCH_PAIR_ORDER_H

/* Which workloads run beside each other, and in which order. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/error.h>

struct ssbatch_pair {
    size_t front, back; /* indices of names */
};

/* Zero-initialized: empty. */
struct ssbatch_pairs {
    const char **names; /* owned; the texts are the caller's. In the order in which they appear */
    size_t name_count, name_room;
    struct ssbatch_pair *items; /* owned; each pair once */
    size_t count, room;
};

/*
 * Adds the pairs that `form` describes: each of the workloads before each of them ("all"); each two
 * of them once, so turned that each is in front as often as behind, or once more ("symmetric"); a
 * list "A:B,C:D" of FRONT:BACK; or, if `form` is NULL, each of the workloads before each of
 * `background`. The lists end with NULL. Free the pairs in either case.
 */
SS_NONNULL(1, 3, 4)
int ssbatch_pairs_add(struct ssbatch_pairs *pairs, char *form, char *const *workloads,
    char *const *background, struct ss_error *error);

void ssbatch_pairs_free(struct ssbatch_pairs *pairs);

/*
 * Writes a line "FRONT BACK PLACE ROUND" for each pair in each place and round. The order is
 * balanced, so that a study that is interrupted, or a machine that changes, favors nothing: after
 * any line, the numbers of times that each name was in front in each place differ by at most one,
 * and likewise behind. This requires that all names are in equally many pairs, and each is as often
 * in front as behind; otherwise counts differ accordingly. `places` ends with NULL.
 */
SS_NONNULL(1, 2, 3)
int ssbatch_pairs_print(FILE *stream, const struct ssbatch_pairs *pairs, char *const *places,
    uint64_t rounds, struct ss_error *error);

#endif
