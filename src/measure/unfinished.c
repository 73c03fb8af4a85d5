/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/unfinished.h"

#include <math.h>

/* An iteration that takes longer than previous ones is assumed to be nearly done. */
#define PART_MAX 0.99

double ss_unfinished_length(const struct ss_unfinished *unfinished) {
    double min = unfinished->elapsed / PART_MAX;
    return unfinished->mean < min ? min : unfinished->mean;
}

double ss_unfinished_part(const struct ss_unfinished *unfinished) {
    double length = ss_unfinished_length(unfinished);
    return length > 0 ? unfinished->counted / length : 0;
}

double ss_unfinished_part_max(const struct ss_unfinished *unfinished) {
    return unfinished->elapsed > 0 ? unfinished->counted / unfinished->elapsed : 0;
}

double ss_unfinished_part_deviation(const struct ss_unfinished *unfinished) {
    /* The deviation of a uniform distribution between 0 and the maximum. */
    double max = ss_unfinished_part_max(unfinished) / sqrt(12);
    double length = ss_unfinished_length(unfinished);
    if (isnan(unfinished->deviation) || !(length > unfinished->elapsed / PART_MAX))
        return max;
    return fmin(max, ss_unfinished_part(unfinished) * unfinished->deviation / length);
}
