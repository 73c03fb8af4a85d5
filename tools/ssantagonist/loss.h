/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_LOSS_H
#define SSANTAGONIST_LOSS_H

/*
 * Whether the victim loses too much while a suspect is stopped, compared with the last rows in
 * which the suspect ran. Figures are logarithms; a larger one is better, and that of a victim that
 * does not answer is -INFINITY.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>

#define LOSS_MAX 0.3 /* a larger fraction of the figure is too much */

/* Zero at the beginning. */
struct loss {
    double mean, variance; /* of the last rows in which the suspect ran */
    double rows;           /* number of these, limited */
    bool is_well;          /* no loss in the last row in which the suspect ran */
    double sum;            /* of the changes in the last blocks */
    uint64_t blocks;       /* number of these: successive blocks, each with too large a loss */
};

/* Adds a row in which the suspect runs. */
SS_NONNULL() void loss_while_running(struct loss *loss, double figure);

/*
 * Adds a block. Returns true if at least `blocks` successive ones show too large a loss, and their
 * mean is clearly beyond the noise. A loss that has begun before the block does not count: a slow
 * phase, or another suspect, may be the cause. Silence always does.
 */
SS_NONNULL() bool loss_while_stopped(struct loss *loss, double figure, uint64_t blocks);

#endif
