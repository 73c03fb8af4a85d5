/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_LOSS_H
#define SSANTAGONIST_LOSS_H

/*
 * Decides whether the victim loses too much while a suspect is stopped, compared with the last rows
 * in which the suspect ran. Figures are logarithms; larger is better, and -INFINITY means that the
 * victim does not answer.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>

#define LOSS_MAX 0.3 /* a loss of this fraction of the figure, or more, is too large */

/* Initialize to zero. */
struct loss {
    double mean, variance; /* of the last rows in which the suspect ran */
    double rows;           /* number of those rows, up to a limit */
    bool had_no_loss;      /* the last row in which the suspect ran had no large loss */
    double sum;            /* of the changes in the last `blocks` blocks */
    uint64_t blocks;       /* number of successive blocks with too large a loss */
};

/* Adds a row in which the suspect runs. */
SS_NONNULL() void loss_add_row(struct loss *loss, double figure);

/*
 * Adds a block. Returns true if at least `blocks` successive ones show too large a loss, and their
 * mean is clearly beyond the noise. A loss that began before the block does not count: a slow
 * phase, or another suspect, may be the cause. A victim that does not answer always counts.
 */
SS_NONNULL() bool loss_add_block(struct loss *loss, double figure, uint64_t blocks);

#endif
