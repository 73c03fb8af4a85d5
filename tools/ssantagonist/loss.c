/* SPDX-License-Identifier: Apache-2.0 */
#include "loss.h"

#include <math.h>

/* The reference is the mean of the last rows. A block before the minimum is not judged. */
#define REFERENCE_MIN  5
#define REFERENCE_ROWS 20

/* The mean loss must exceed its standard error by this factor. */
#define CLEAR 4

void loss_while_running(struct loss *loss, double figure) {
    if (!isfinite(figure))
        return;
    loss->rows = fmin(loss->rows + 1, REFERENCE_ROWS);
    double change = figure - loss->mean;
    loss->mean += change / loss->rows;
    loss->variance += (change * (figure - loss->mean) - loss->variance) / loss->rows;
}

bool loss_while_stopped(struct loss *loss, double figure, uint64_t blocks) {
    double change = figure - loss->mean;

    if (loss->rows < REFERENCE_MIN)
        return false;
    if (change > log(1 - LOSS_MAX)) {
        loss->sum = 0;
        loss->blocks = 0;
        return false;
    }

    loss->sum += change;
    loss->blocks++;
    double count = (double)loss->blocks;
    double variance = loss->variance * loss->rows / (loss->rows - 1);
    double deviation = sqrt(variance * (1 / count + 1 / loss->rows));
    return loss->blocks >= blocks && -loss->sum / count >= CLEAR * deviation;
}
