/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PAIR_ORDER_H
#define SSBATCH_PAIR_ORDER_H

/* The pairs of workloads that run together, and their order. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/error.h>

struct ssbatch_pair {
    size_t front, back; /* indexes of names */
};

/* Pairs of workloads. Zero-initialized: empty. */
struct ssbatch_pairs {
    const char **names; /* owned, in order of appearance; the caller owns the texts */
    size_t name_count, name_room;
    struct ssbatch_pair *items; /* owned; each pair once */
    size_t count, room;
};

/*
 * Adds the pairs that `form` describes. "all" pairs each workload in front with each workload at
 * the back. "symmetric" has each pair once, turned so that every workload is in front as often as
 * at the back, or once more. A list "A:B,C:D" has FRONT:BACK pairs. NULL pairs each workload in
 * front with each of `background` at the back. The lists end with NULL. Free the pairs in either
 * case.
 */
SS_MUST_USE SS_NONNULL(1, 3, 4) int ssbatch_pairs_add(struct ssbatch_pairs *pairs, char *form,
    char *const *workloads, char *const *background, struct ss_error *error);

void ssbatch_pairs_free(struct ssbatch_pairs *pairs);

/*
 * Writes a line "FRONT BACK PLACE ROUND" for each pair in each place and round, in a balanced
 * order, so that neither the interruption of a study nor a change of the machine favors a workload:
 * after any line, the number of times in front in a place differs by at most one between names, and
 * so does the number of times at the back. If names are in unequal numbers of pairs, or not equally
 * often in front and at the back, counts differ accordingly. `places` ends with NULL.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_pairs_print(FILE *stream,
    const struct ssbatch_pairs *pairs, char *const *places, uint64_t rounds,
    struct ss_error *error);

#endif
