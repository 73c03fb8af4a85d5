/* SPDX-License-Identifier: Apache-2.0 */
#include "loss.h"

#include <math.h>

/* The reference is a running mean over REFERENCE_ROWS. Before REFERENCE_MIN, no block is judged. */
#define REFERENCE_MIN  5
#define REFERENCE_ROWS 20

/* The mean loss must exceed its standard error by this factor. */
#define CLEAR_FACTOR 4

static bool is_too_large(double change) {
    return change <= log(1 - LOSS_MAX);
}

void loss_add_row(struct loss *loss, double figure) {
    double change = figure - loss->mean;

    loss->had_no_loss = !is_too_large(change);
    if (!isfinite(figure))
        return;

    loss->rows = fmin(loss->rows + 1, REFERENCE_ROWS);
    loss->mean += change / loss->rows;
    loss->variance += (change * (figure - loss->mean) - loss->variance) / loss->rows;
}

bool loss_add_block(struct loss *loss, double figure, uint64_t blocks) {
    double change = figure - loss->mean;

    if (loss->rows < REFERENCE_MIN)
        return false;
    if (!is_too_large(change)) {
        loss->sum = 0;
        loss->blocks = 0;
        return false;
    }
    if (!loss->had_no_loss && isfinite(figure))
        return false;

    loss->had_no_loss = false;
    loss->sum += change;
    loss->blocks++;
    double count = (double)loss->blocks;
    double variance = loss->variance * loss->rows / (loss->rows - 1);
    double deviation = sqrt(variance * (1 / count + 1 / loss->rows));
    return loss->blocks >= blocks && -loss->sum / count >= CLEAR_FACTOR * deviation;
}
