/* SPDX-License-Identifier: Apache-2.0 */
#include "steady.h"

#include <math.h>

#define BATCHES     REQUEST_STEADY_BATCHES
#define BATCHES_MIN 16

/* Batches that differ by less than this, relative to their mean, count as equal. */
#define ALIKE 0.1

/* If the mean number of requests in the service is below this, there is no queue. */
#define NO_QUEUE 0.5

#define RISE 1.25

/* One-sided 5 % quantile of the normal distribution. */
#define QUANTILE 1.645

static void merge(struct request_steady *steady) {
    for (int i = 0; i < BATCHES; i++)
        steady->sums[i] = i < BATCHES / 2 ? steady->sums[2 * i] + steady->sums[2 * i + 1] : 0;
    steady->size *= 2;
}

void request_steady_add(struct request_steady *steady, double seconds) {
    if (steady->size == 0)
        steady->size = 1;
    if (steady->count == BATCHES * steady->size)
        merge(steady);
    steady->sums[steady->count++ / steady->size] += seconds;
    steady->total += seconds;
}

/* Returns the number of complete batches. */
static int batches_of(const struct request_steady *steady) {
    return steady->size ? (int)(steady->count / steady->size) : 0;
}

/* Returns half of von Neumann's ratio: about 1 without correlation, near 0 with a trend. */
static double ratio_of(const struct request_steady *steady, int batches) {
    double mean = 0, squares = 0, steps = 0;
    for (int i = 0; i < batches; i++)
        mean += steady->sums[i] / batches;
    for (int i = 0; i < batches; i++) {
        double off = steady->sums[i] - mean;
        double step = i > 0 ? steady->sums[i] - steady->sums[i - 1] : 0;
        squares += off * off;
        steps += step * step;
    }
    return steps / (2 * squares);
}

static bool are_alike(const struct request_steady *steady, int batches) {
    double min = steady->sums[0], max = min;
    for (int i = 1; i < batches; i++) {
        min = fmin(min, steady->sums[i]);
        max = fmax(max, steady->sums[i]);
    }
    return max - min <= ALIKE * max;
}

bool request_steady_is_reached(const struct request_steady *steady, double elapsed) {
    int batches = batches_of(steady);
    if (batches < BATCHES_MIN)
        return false;
    if (steady->total < NO_QUEUE * elapsed || are_alike(steady, batches))
        return true;
    double deviation = sqrt((batches - 2.0) / (batches * (double)batches - 1));
    return ratio_of(steady, batches) >= 1 - QUANTILE * deviation;
}

bool request_steady_rises(const struct request_steady *steady) {
    int half = batches_of(steady) / 2;
    double first = 0, second = 0;
    for (int i = 0; i < half; i++) {
        first += steady->sums[i];
        second += steady->sums[half + i];
    }
    return second > RISE * first;
}
